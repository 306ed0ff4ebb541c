"""Whatever is wrong with a command line: one message that says what to do, the documented exit code, nothing left."""

from pathlib import Path

import pytest

from tests.kit.refusals import Refusal, check, rows


@pytest.mark.parametrize("refusal", rows(Path(__file__).parent / "refusals.toml"))
def test_it_is_one_message_and_nothing_is_left(tmp_path: Path, refusal: Refusal) -> None:
    check(refusal, tmp_path)
    assert not (tmp_path / "scalograph-results").exists()
