"""`find cliff` as a user has it, on a machine whose times are made up."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.kit.command import in_process, simulated

WALLS = {f"true {threads}": 0.16 if threads >= 20 else 0.08 for threads in range(1, 65)}
COMMAND = ("--range", "1:64", "-o", "results", "--", "true", "{threads}")


def find(folder: Path, *arguments: object, expect: tuple[int, ...] = (0, 5)) -> "subprocess.CompletedProcess[str]":
    done = in_process("find", "cliff", "--max-reruns", 0, *arguments, cwd=folder, env=simulated(folder, WALLS))
    assert done.returncode in expect, done.stderr
    return done


def test_where_the_time_jumps_as_one_document(tmp_path: Path) -> None:
    found: dict[str, Any] = json.loads(find(tmp_path, "--json", *COMMAND).stdout)
    low, high = found["interval"]
    assert found["decided"] and found["probability"] >= 0.95 and found["runs"] <= 60
    assert low < 20 <= high and low <= found["location"] <= high
    study = (tmp_path / "results" / "study.toml").read_text()
    assert 'question = "cliff"' in study and 'levels = "1:64"' in study


def test_a_search_that_runs_out_says_so(tmp_path: Path) -> None:
    found = json.loads(find(tmp_path, "--max-runs", 12, "--json", *COMMAND).stdout)
    assert not found["decided"] and "the search ended after 12 runs" in found["answer"][0]


def test_the_answer_on_the_terminal_and_its_report(tmp_path: Path) -> None:
    done = find(tmp_path, "--max-runs", 14, "--tables", *COMMAND)
    assert "Levels that were measured" in done.stdout
    assert done.stdout.splitlines()[-1] == "again   scalograph run results/study.toml"
    report = in_process("report", "results", "--table", "cliff-levels", cwd=tmp_path)
    assert report.returncode in (0, 5) and "Levels that were measured" in report.stdout
    plan = in_process("plan", "results/study.toml", "--json", cwd=tmp_path)
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
