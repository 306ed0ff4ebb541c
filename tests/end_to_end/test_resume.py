"""A study killed at any moment resumes without losing a finished run."""

import json
import signal
import subprocess
import time
from pathlib import Path

import pytest

from .shell import environment, scalograph, study


def events(folder: Path) -> list[dict[str, object]]:
    text = (folder / "journal.jsonl").read_text()
    return [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]


def runs(folder: Path) -> list[object]:
    return [event["run"] for event in events(folder) if event["event"] == "run"]


def stopped(tmp_path: Path, number: int, after: int = 3) -> tuple[int, str]:
    """Start a study, send it a signal when some runs are finished; its exit code and stderr."""
    file = study(tmp_path, '["sleep", "0.1{n}"]', runs=8)
    process = subprocess.Popen(
        ["scalograph", "run", str(file), "-o", "results"],
        cwd=tmp_path,
        env=environment(),
        stderr=subprocess.PIPE,
        text=True,
    )
    journal = tmp_path / "results" / "journal.jsonl"
    limit = time.monotonic() + 60
    while not journal.exists() or journal.read_bytes().count(b'"event":"verdict"') < after:
        assert process.poll() is None and time.monotonic() < limit
        time.sleep(0.02)
    process.send_signal(number)
    said = process.communicate(timeout=60)[1]
    return process.returncode, said


@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 143), (signal.SIGKILL, -signal.SIGKILL)],
)
def test_it_goes_on_where_it_was(tmp_path: Path, number: signal.Signals, code: int) -> None:
    returned, said = stopped(tmp_path, number)
    assert returned == code, said
    before = runs(tmp_path / "results")
    assert 3 <= len(before) < 16
    if number != signal.SIGKILL:
        assert "nothing finished is lost" in said and "--resume" in said
        assert events(tmp_path / "results")[-1]["reason"] == "interrupted"
    again = scalograph("run", "study.toml", "-o", "results", "--resume", cwd=tmp_path)
    assert again.returncode in (0, 5), again.stderr
    after = runs(tmp_path / "results")
    assert after[: len(before)] == before
    planned = [json.loads(line)["run"] for line in (tmp_path / "results" / "design.jsonl").read_text().splitlines()[1:]]
    assert [run for run in after if "r" not in str(run)] == planned  # a disturbed run is repeated as NAMEr1
    assert len(set(after)) == len(after)


def test_other_factors_are_another_study(tmp_path: Path) -> None:
    file = study(tmp_path, '["true", "{n}"]')
    assert scalograph("run", file, "-o", "results", cwd=tmp_path).returncode in (0, 5)
    before = (tmp_path / "results" / "journal.jsonl").read_bytes()
    file.write_text(file.read_text().replace('"1,2"', '"1,2,3"'))
    accept = ["--accept-difference", "study_hash", "--accept-difference", "treatments"]
    again = scalograph("run", file, "-o", "results", "--resume", *accept, cwd=tmp_path)
    assert again.returncode == 2 and "resume: treatments" in again.stderr and "start anew" in again.stderr
    assert (tmp_path / "results" / "journal.jsonl").read_bytes() == before


def test_an_edited_program_is_another_study(tmp_path: Path) -> None:
    program = tmp_path / "prog"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    file = study(tmp_path, '["./prog", "{n}"]')
    assert scalograph("run", file, "-o", "results", cwd=tmp_path).returncode in (0, 5)
    program.write_text("#!/bin/sh\nexit 0\n")
    again = scalograph("run", file, "-o", "results", "--resume", cwd=tmp_path)
    assert again.returncode == 2 and "resume: study_hash" in again.stderr


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
    assert scalograph("run", file, "-o", "results", cwd=tmp_path).returncode in (0, 5)
    before = runs(tmp_path / "results")
    assert scalograph("run", file, "-o", "results", "--resume", cwd=tmp_path).returncode in (0, 5)
    assert runs(tmp_path / "results") == before
