"""A reader who leaves before we have said all, as `head` does: that is no error, and ends no study."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.kit.command import environment, machine, study
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
def test_progress_that_nobody_reads_ends_no_study(tmp_path: Path) -> None:
    file = study(tmp_path, '["true", "{n}"]')
    done = unheard(tmp_path, "run", file, "-o", "results", stderr=True)
    assert done.returncode in (0, 5)
    assert events_in(tmp_path / "results")[-1]["reason"] == "complete"


def test_a_complaint_that_nobody_reads_keeps_its_exit_code(tmp_path: Path) -> None:
    assert unheard(tmp_path, "check", "nothing.toml", stderr=True).returncode == 2


@pytest.mark.parametrize("arguments", [("doctor", "--json"), ("doctor",), ("study", "thread-scaling", "--show")])
def test_results_that_nobody_reads_are_no_error(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    done = unheard(tmp_path, *arguments)
    assert done.returncode == 0, done.stderr
    assert "rror" not in done.stderr


def test_output_onto_a_full_disk_is_told_in_one_line() -> None:
    with Path("/dev/full").open("w") as full:
        command = ["scalograph", "study", "--list"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, env=environment(), text=True, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (3, 1) and "No space left" in done.stderr


@machine
def test_a_study_whose_streams_are_closed_and_full_is_whole(tmp_path: Path) -> None:
    study(tmp_path, '["true", "{n}"]')
    argv = ["bash", "-c", "exec scalograph run study.toml -o results <&- >/dev/full 2>&-"]
    assert subprocess.run(argv, cwd=tmp_path, env=environment(), check=False).returncode in (3, 5)
    found = events_in(tmp_path / "results")
    assert found[0]["event"] == "study" and found[-1]["reason"] == "complete"
    assert (tmp_path / "results" / "findings.json").exists()


@pytest.mark.parametrize(("arguments", "code"), [("--version >/dev/full", 3), ("--help >&-", 0), ("chek 2>&-", 2)])
def test_a_command_whose_streams_are_closed_or_full_keeps_its_code(arguments: str, code: int) -> None:
    argv = ["bash", "-c", f"exec scalograph {arguments}"]
    done = subprocess.run(argv, env=environment(), capture_output=True, check=False)
    assert (done.returncode, done.stderr.count(b"\n"), b"Traceback" in done.stderr) == (code, code == 3, False)
