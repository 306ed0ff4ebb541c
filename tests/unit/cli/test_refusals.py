"""Command lines and files that are refused, each with its exit code and what its message says (refusals.toml)."""

from pathlib import Path

import pytest

from tests.kit import ROOT
from tests.kit.refusals import Refusal, check, rows
from tests.unit.cli.test_compare import journal


@pytest.mark.parametrize("refusal", rows(ROOT / "tests/unit/cli/refusals.toml"))
def test_it_is_refused(tmp_path: Path, refusal: Refusal) -> None:
    if "odd.json" in refusal.files:
        journal(tmp_path, "a")
    check(refusal, tmp_path)
