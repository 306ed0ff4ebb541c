"""Readers who leave before we have said all, as `head` does, and streams that are closed or full: no study ends."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.kit.command import environment, machine, shell, study
from tests.kit.results import events_in


def unheard(folder: Path, *arguments: str | Path, stderr: bool = False) -> subprocess.CompletedProcess[str]:
    """A command whose stdout, or stderr, nobody reads; the other one is told."""
    reader, writer = os.pipe()
    os.close(reader)
    streams = {"stdout": subprocess.PIPE, "stderr": writer} if stderr else {"stdout": writer, "stderr": subprocess.PIPE}
    argv = ["scalograph", *map(str, arguments)]
    try:
        return subprocess.run(argv, cwd=folder, env=environment(), text=True, check=False, **streams)  # type: ignore[call-overload, no-any-return]
    finally:
        os.close(writer)


@machine
def test_a_study_whose_streams_nobody_reads_or_are_closed_and_full_is_whole(tmp_path: Path) -> None:
    study(tmp_path, '["true", "{n}"]')
    assert unheard(tmp_path, "run", "study.toml", "-o", "unread", stderr=True).returncode in (0, 5)
    closed = shell("exec scalograph run study.toml -o closed <&- >/dev/full 2>&-", cwd=tmp_path)
    assert closed.returncode in (3, 5)
    for results in (tmp_path / "unread", tmp_path / "closed"):
        found = events_in(results)
        assert found[0]["event"] == "study" and found[-1]["reason"] == "complete"
        assert (results / "findings.json").exists()


def test_a_complaint_that_nobody_reads_keeps_its_exit_code(tmp_path: Path) -> None:
    assert unheard(tmp_path, "check", "nothing.toml", stderr=True).returncode == 2


@pytest.mark.parametrize("arguments", [("doctor", "--json"), ("doctor",), ("study", "thread-scaling", "--show")])
def test_results_that_nobody_reads_are_no_error(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    done = unheard(tmp_path, *arguments)
    assert done.returncode == 0, done.stderr
    assert "rror" not in done.stderr


# A command whose streams are closed or full, its exit code, and what its one line says, where it has one.
STREAMS = [
    ("--version >/dev/full", 3, ""),
    ("study --list >/dev/full", 3, "No space left"),
    ("--help >&-", 0, None),
    ("chek 2>&-", 2, None),
]


@pytest.mark.parametrize(("line", "code", "told"), STREAMS)
def test_a_command_whose_streams_are_closed_or_full_keeps_its_code(
    tmp_path: Path, line: str, code: int, told: str | None
) -> None:
    done = shell(f"exec scalograph {line}", cwd=tmp_path)
    n_lines = 0 if told is None else 1
    assert (done.returncode, done.stderr.count("\n"), "Traceback" in done.stderr) == (code, n_lines, False)
    assert (told or "") in done.stderr
