"""A study killed at any moment resumes without losing a finished run."""

import json
import signal
import subprocess
import time
from pathlib import Path

import pytest

from .shell import environment, in_process, machine, study


def events(folder: Path) -> list[dict[str, object]]:
    text = (folder / "journal.jsonl").read_text()
    return [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]


def runs(folder: Path) -> list[object]:
    return [event["run"] for event in events(folder) if event["event"] == "run"]


def under_way(tmp_path: Path, *before: str, after: int = 3) -> "subprocess.Popen[str]":
    """A study of which some runs are finished; `before` is what starts its command."""
    file = study(tmp_path, '["sleep", "0.05{n}"]', runs=8)
    argv = [*before, "scalograph", "run", str(file), "-o", "results"]
    process = subprocess.Popen(argv, cwd=tmp_path, env=environment(), stderr=subprocess.PIPE, text=True)
    journal = tmp_path / "results" / "journal.jsonl"
    limit = time.monotonic() + 60
    while not journal.exists() or journal.read_bytes().count(b'"event":"verdict"') < after:
        assert process.poll() is None and time.monotonic() < limit
        time.sleep(0.01)
    return process


def ended(process: "subprocess.Popen[str]") -> tuple[int, str]:
    """The exit code and what was said."""
    said = process.communicate(timeout=60)[1]
    return process.returncode, said


@machine
@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 143), (signal.SIGKILL, -signal.SIGKILL)],
)
def test_it_goes_on_where_it_was(tmp_path: Path, number: signal.Signals, code: int) -> None:
    process = under_way(tmp_path)
    process.send_signal(number)
    returned, said = ended(process)
    assert returned == code, said
    before = runs(tmp_path / "results")
    assert 3 <= len(before) < 16
    if number != signal.SIGKILL:
        assert "nothing finished is lost" in said and "--resume" in said
        assert events(tmp_path / "results")[-1]["reason"] == "interrupted"
    again = in_process("run", "study.toml", "-o", "results", "--resume", cwd=tmp_path)
    assert again.returncode in (0, 5), again.stderr
    after = runs(tmp_path / "results")
    assert after[: len(before)] == before
    planned = [json.loads(line)["run"] for line in (tmp_path / "results" / "design.jsonl").read_text().splitlines()[1:]]
    assert [run for run in after if "r" not in str(run)] == planned  # a disturbed run is repeated as NAMEr1
    assert len(set(after)) == len(after)


@machine
def test_under_nohup_and_in_the_background_only_sigterm_ends_it(tmp_path: Path) -> None:
    process = under_way(tmp_path, "sh", "-c", 'trap "" HUP INT; exec "$@"', "sh")
    process.send_signal(signal.SIGHUP)
    process.send_signal(signal.SIGINT)
    n_before = len(runs(tmp_path / "results"))
    limit = time.monotonic() + 60
    while len(runs(tmp_path / "results")) < n_before + 2:
        assert process.poll() is None and time.monotonic() < limit
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    returned, said = ended(process)
    assert returned == 143 and "nothing finished is lost" in said, said
    assert {event["reason"] for event in events(tmp_path / "results") if event["event"] == "end"} == {"interrupted"}


def test_other_factors_are_another_study(tmp_path: Path) -> None:
    file = study(tmp_path, '["true", "{n}"]')
    assert in_process("run", file, "-o", "results", cwd=tmp_path).returncode in (0, 5)
    before = (tmp_path / "results" / "journal.jsonl").read_bytes()
    file.write_text(file.read_text().replace('"1,2"', '"1,2,3"'))
    accept = ["--accept-difference", "study_hash", "--accept-difference", "treatments"]
    again = in_process("run", file, "-o", "results", "--resume", *accept, cwd=tmp_path)
    assert again.returncode == 2 and "resume: treatments" in again.stderr and "start anew" in again.stderr
    assert (tmp_path / "results" / "journal.jsonl").read_bytes() == before


def test_an_edited_program_is_another_study(tmp_path: Path) -> None:
    program = tmp_path / "prog"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    file = study(tmp_path, '["./prog", "{n}"]')
    assert in_process("run", file, "-o", "results", cwd=tmp_path).returncode in (0, 5)
    program.write_text("#!/bin/sh\nexit 0\n")
    again = in_process("run", file, "-o", "results", "--resume", cwd=tmp_path)
    assert again.returncode == 2 and "resume: study_hash" in again.stderr


@machine
def test_nothing_is_left_running(tmp_path: Path) -> None:
    file = study(tmp_path, '["sleep", "77.{n}7"]', runs=1, timeout="60s")
    process = subprocess.Popen(["scalograph", "run", str(file), "-o", "results"], cwd=tmp_path, env=environment())
    limit = time.monotonic() + 30
    while subprocess.run(["pgrep", "-f", r"^sleep 77\.[12]7"], capture_output=True, check=False).returncode:
        assert time.monotonic() < limit
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=30) == 130
    assert subprocess.run(["pgrep", "-f", r"^sleep 77\.[12]7"], capture_output=True, check=False).returncode == 1


def test_a_finished_study_resumes_to_nothing(tmp_path: Path) -> None:
    file = study(tmp_path, '["true", "{n}"]')
    assert in_process("run", file, "-o", "results", cwd=tmp_path).returncode in (0, 5)
    before = runs(tmp_path / "results")
    assert in_process("run", file, "-o", "results", "--resume", cwd=tmp_path).returncode in (0, 5)
    assert runs(tmp_path / "results") == before
