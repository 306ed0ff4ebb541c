"""`find cliff` as a user has it. Others run here too, so the program sleeps: only its waking up is late."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from .shell import degraded, scalograph

SCRIPT = "if [ {threads} -ge 20 ]; then sleep 0.16; else sleep 0.08; fi"
ONCE = ("--max-reruns", 0)


def find(folder: Path, *arguments: object, expect: tuple[int, ...] = (0, 5)) -> "subprocess.CompletedProcess[str]":
    done = scalograph("find", "cliff", *ONCE, *arguments, cwd=folder, env=degraded(folder))
    assert done.returncode in expect, done.stderr
    return done


def test_where_the_time_jumps_as_one_document(tmp_path: Path) -> None:
    done = find(tmp_path, "--json", "--range", "1:64", "-o", "results", "--shell", "--", SCRIPT)
    found: dict[str, Any] = json.loads(done.stdout)
    assert {"location", "interval", "runs", "probability"} <= set(found)
    if found["decided"]:  # a busy machine may leave it open, which is said
        low, high = found["interval"]
        assert low < 20 <= high and low <= found["location"] <= high and found["probability"] >= 0.95
        assert found["runs"] <= 60
    else:
        assert "not decided after" in found["answer"][0].lower()
    study = (tmp_path / "results" / "study.toml").read_text()
    assert 'question = "cliff"' in study and 'levels = "1:64"' in study


def test_the_answer_on_the_terminal_and_its_report(tmp_path: Path) -> None:
    done = find(tmp_path, "--range", "1:64", "--max-runs", 14, "-o", "results", "--shell", "--", SCRIPT)
    assert "Levels that were measured" in done.stdout
    assert done.stdout.splitlines()[-2:] == ["Report: results/report.html", "Study: results/study.toml"]
    report = scalograph("report", "results", cwd=tmp_path)
    assert report.returncode in (0, 5) and "Levels that were measured" in report.stdout
    plan = scalograph("plan", "results/study.toml", "--json", cwd=tmp_path)
    assert json.loads(plan.stdout)["question"] == "cliff"


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (("--range", "512", "--", "true", "{threads}"), 2, "--range: '512', expected LOW:HIGH"),
        (("--range", "9:3", "--", "true", "{threads}"), 2, "--range: '9:3', expected LOW:HIGH"),
        (("--range", "1:3", "--", "true", "{threads}"), 2, "3 levels, expected at least 5"),
        (("--", "true"), 2, "--threads: a factor that nothing uses"),
        (("--factor", "size", "--", "true", "{threads}"), 2, "threads"),
    ],
)
def test_bad_input_is_one_message_and_nothing_is_left(
    arguments: tuple[str, ...], code: int, told: str, tmp_path: Path
) -> None:
    done = find(tmp_path, *arguments, expect=(code,))
    assert told in done.stderr and "Traceback" not in done.stderr
    assert not (tmp_path / "scalograph-results").exists()
