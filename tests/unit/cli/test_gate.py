"""`scalograph gate` in a build: its exit code, and what it writes for people."""

from pathlib import Path

import pytest

from scalograph.errors import Exit

from ...golden.command import scalograph
from .test_compare import journal


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    for name, slower, disturbed in (("kept", 1.0, 0), ("slow", 1.2, 0), ("busy", 1.0, 4)):
        journal(tmp_path, name, slower, disturbed)
    return tmp_path


def test_a_slower_result_fails_the_build_and_says_so_in_the_summary(kept: Path) -> None:
    (kept / "summary.md").write_text("before\n")
    said = scalograph(["gate", "slow", "--against", "kept", "--summary", "summary.md"], kept)
    assert said.code == Exit.SLOWER
    written = (kept / "summary.md").read_text()
    assert written.startswith("before\n### slower: ") and "**slow is slower: it takes 20" in written
    assert "| ratio |" in written or "| :-- |" in written
    assert scalograph(["gate", "kept", "--against", "kept", "--format", "md"], kept).code == Exit.DONE


def test_what_is_not_measurable_has_a_code_of_its_own_which_may_be_let_pass(kept: Path) -> None:
    asked = ["gate", "busy", "--against", "kept", "--format", "json"]
    assert scalograph(asked, kept).code == Exit.NOT_MEASURABLE
    assert scalograph([*asked, "--allow-unmeasurable"], kept).code == Exit.DONE


@pytest.mark.parametrize(
    ("source", "more", "ending"),
    [
        ("slow", (), "gate    slower: failed (exit code 7)"),
        ("busy", (), "gate    not measurable: failed (exit code 8)"),
        ("busy", ("--allow-unmeasurable",), "gate    not measurable: passed"),
        ("kept", (), "gate    the same: passed"),
    ],
)
def test_the_last_line_tells_what_becomes_of_the_build(
    kept: Path, source: str, more: tuple[str, ...], ending: str
) -> None:
    said = scalograph(["gate", source, "--against", "kept", "--margin", "5%", *more], kept)
    assert said.printed.rstrip().splitlines()[-1] == ending


def test_mistakes_are_refused(kept: Path) -> None:
    said = scalograph(["gate", "slow", "--against", "kept", "--format", "xml"], kept)
    assert said.code == Exit.STUDY and "one of text, md, json" in said.printed
    said = scalograph(["gate", "slow", "--against", "kept", "--summary", "no/folder.md"], kept)
    assert said.code == Exit.HOST and "cannot be written" in said.printed
