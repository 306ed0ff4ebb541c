"""Command lines and files that are refused, each with its exit code and what its message says (refusals.toml)."""

from pathlib import Path

import pytest

from tests.kit import ROOT
from tests.kit.refusals import Refusal, check, rows
from tests.unit.cli.test_compare import journal

CORPUS = ROOT / "tests/unit/cli/refusals.toml"


@pytest.mark.parametrize("refusal", rows(CORPUS, "journals"))
def test_beside_results(tmp_path: Path, refusal: Refusal) -> None:
    journal(tmp_path, "a")
    check(refusal, tmp_path)
