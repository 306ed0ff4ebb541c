"""`scalograph gate` in a build: its exit code, and what it writes for people."""

from pathlib import Path

import pytest

from scalograph.errors import Exit
from tests.golden.command import scalograph
from tests.kit.findings import CONFIGURATIONS, write_journal
from tests.kit.records import recorded
from tests.unit.cli.test_compare import journal
from tests.unit.exchange.instruments import exported, timed


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
    assert written.startswith("before\n### slower: ") and "**slow is slower than kept: 20" in written
    assert "| ratio |" in written or "| :-- |" in written
    assert scalograph(["gate", "kept", "--against", "kept", "--format", "md"], kept).code == Exit.DONE


def test_what_is_not_measurable_has_a_code_of_its_own_which_may_be_let_pass(kept: Path) -> None:
    asked = ["gate", "busy", "--against", "kept", "--format", "json"]
    assert scalograph(asked, kept).code == Exit.INCONCLUSIVE
    assert scalograph([*asked, "--allow-inconclusive"], kept).code == Exit.DONE


@pytest.mark.parametrize(
    ("source", "more", "ending"),
    [
        ("slow", (), "gate    FAIL: slower (exit code 7)"),
        ("busy", (), "gate    FAIL: inconclusive (exit code 8)"),
        ("busy", ("--allow-inconclusive",), "gate    PASS: inconclusive"),
        ("kept", (), "gate    PASS: equivalent"),
    ],
)
def test_the_last_line_tells_what_becomes_of_the_build(
    kept: Path, source: str, more: tuple[str, ...], ending: str
) -> None:
    said = scalograph(["gate", source, "--against", "kept", "--margin", "5%", *more], kept)
    assert said.printed.rstrip().splitlines()[-1] == ending


def write_timed(folder: Path, name: str, **commands: tuple[float, int]) -> None:
    """Write a file of hyperfine: seconds and exit code of ten runs of each command."""
    every = [
        timed(command, [seconds * (1 + i % 3 / 1000) for i in range(10)], exit_codes=[code] * 10)
        for command, (seconds, code) in commands.items()
    ]
    exported(folder, *every, name=name)


GOOD, BROKEN = (0.02, 0), (0.0006, 127)


@pytest.mark.parametrize(
    ("new", "more", "code", "told"),
    [
        ({"prog": BROKEN}, (), Exit.CONFIGURATION_FAILED, "prog failed in 10 of 10 runs, other is missing."),
        ({"prog": BROKEN, "other": GOOD}, (), Exit.CONFIGURATION_FAILED, "prog failed in 10 of 10 runs."),
        ({"other": GOOD}, (), Exit.CONFIGURATION_FAILED, "Inconclusive: in new.json, prog is missing."),
        ({"other": (0.01, 0)}, (), Exit.CONFIGURATION_FAILED, "Inconclusive: in new.json, prog is missing."),
        ({"other": (0.04, 0)}, (), Exit.CONFIGURATION_FAILED, "In new.json, prog is missing."),
        ({"other": GOOD}, ("--allow-inconclusive",), Exit.CONFIGURATION_FAILED, "prog is missing."),
        ({"other": GOOD}, ("--allow-missing", "prog"), Exit.DONE, "As allowed, prog failed or is missing."),
        ({"other": (0.04, 0)}, ("--allow-missing", "prog"), Exit.SLOWER, "new.json is slower"),
        ({"prog": GOOD, "other": GOOD}, (), Exit.DONE, "is equivalent to"),
        ({"other": GOOD}, ("--allow-missing", "prg"), Exit.STUDY, 'did you mean "prog"?'),
    ],
)
def test_what_failed_or_is_missing_fails_the_build(
    tmp_path: Path, new: dict[str, tuple[float, int]], more: tuple[str, ...], code: Exit, told: str
) -> None:
    write_timed(tmp_path, "old.json", prog=GOOD, other=GOOD)
    write_timed(tmp_path, "new.json", **new)
    said = scalograph(["gate", "new.json", "--against", "old.json", "--summary", "s.md", *more], tmp_path)
    assert said.code == code, said.printed
    assert told in " ".join(" ".join(said.printed.splitlines()[:6]).split())
    if code == Exit.CONFIGURATION_FAILED:
        assert said.printed.splitlines()[-1] == "gate    FAIL: failed or missing (exit code 4)"
        assert (tmp_path / "s.md").read_text().startswith("### failed or missing: ")


def test_a_configuration_of_ours_that_failed_or_was_not_run_fails_the_build(tmp_path: Path) -> None:
    failed = [(CONFIGURATIONS[3], recorded(status="failed", reason="exit code 1"))] * 6
    others = [(t, recorded(1 + i / 100)) for t in CONFIGURATIONS if t != CONFIGURATIONS[3] for i in range(6)]
    kept = [(CONFIGURATIONS[3], recorded(1 + i / 100)) for i in range(6)]
    for name, runs in (("kept", [*others, *kept]), ("failed", [*others, *failed]), ("fewer", others)):
        (tmp_path / name).mkdir()
        write_journal(tmp_path / name / "journal.jsonl", runs)
    for name, told in (("failed", "failed in 6 of 6 runs."), ("fewer", "is missing.")):
        asked = ["gate", name, "--against", "kept", "--margin", "50%"]
        said = scalograph(asked, tmp_path)
        assert said.code == Exit.CONFIGURATION_FAILED
        assert f"Inconclusive: in {name}, threads=2 lock=cas {told}" in " ".join(said.printed.split())
        assert scalograph([*asked, "--allow-missing", "threads=2 lock=cas"], tmp_path).code == Exit.DONE
        compared = scalograph(["compare", "kept", name, "--margin", "50%"], tmp_path)
        assert compared.code == (Exit.CONFIGURATION_FAILED if name == "failed" else Exit.INCONCLUSIVE)
        assert "is equivalent" not in compared.printed
