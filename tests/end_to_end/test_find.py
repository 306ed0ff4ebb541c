"""`find effective-cpus` as a user has it. Others run here too: no verdict and no probability is asserted."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.kit.command import in_process, simulated

N_CPUS = len(os.sched_getaffinity(0))
# A search that finds no answer in so many runs says so, as one on a noisy machine does: both are asserted.
ONCE = ("--max-reruns", 0, "--max-runs", 12)
# Divides a fixed work over so many processes, and says how many CPUs it believes in.
PROGRAM = """\
import os
import sys

n, believed = int(sys.argv[1]), sys.argv[2]
print(f"using {believed} cores")
for _ in range(n):
    if os.fork() == 0:
        x = 1
        for _ in range(400_000 // n):
            x = x * 1103515245 + 12345 & 0x7FFFFFFF
        os._exit(0)
for _ in range(n):
    os.wait()
"""

pytestmark = pytest.mark.skipif(N_CPUS < 2, reason="one CPU: there is nothing to search")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "burn.py").write_text(PROGRAM)
    return tmp_path


def find(folder: Path, *arguments: object, expect: tuple[int, ...] = (0, 5)) -> "subprocess.CompletedProcess[str]":
    """`scalograph find effective-cpus` in few runs."""
    done = in_process("find", "effective-cpus", *ONCE, *arguments, cwd=folder)
    assert done.returncode in expect, done.stderr
    return done


def document(done: "subprocess.CompletedProcess[str]") -> dict[str, Any]:
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_one_process_uses_one_cpu_whatever_it_believes(folder: Path) -> None:
    told = ("--json", "--response", "believed_cpus: using ([0-9]+) cores")
    found = document(find(folder, *told, "-o", "results", "--", sys.executable, "burn.py", "1", "64"))
    # Runs that differ too much on a noisy machine end the search without an answer.
    assert (found["mask"], found["believed"], found["workers"]) == (N_CPUS, 64, None)
    assert 0 < found["used"]["value"] < 1.5
    assert found["runs"]["n_done"] >= 8 or not found["decided"]
    assert found["limit_sentence"] and (found["decided"] or found["limit"] == "not sure")


def test_what_takes_as_long_on_each_count_uses_one_cpu(tmp_path: Path) -> None:
    """On a machine whose times are made up: on a real one the CPUs may differ in what others leave of them."""
    done = in_process(
        "find", "effective-cpus", "--json", "--", "true", cwd=tmp_path, env=simulated(tmp_path, {"true": 0.1})
    )
    found = document(done)
    assert (done.returncode, found["decided"], found["k_eff"]) == (0, True, 1), done.stderr


def test_as_many_processes_as_cpus_and_the_answer_on_the_terminal(folder: Path) -> None:
    command = ("--", sys.executable, "burn.py", "{threads}", "0")
    done = find(folder, "--threads", N_CPUS, "-o", "results", "--tables", *command)
    lines = done.stdout.splitlines()
    assert "Effective CPUs" in done.stdout and "Levels that were measured" in done.stdout
    assert lines[-1] == "again   scalograph run results/study.toml"
    (one,) = json.loads((folder / "results" / "findings.json").read_text())["parts"]["effective-cpus"]["data"]["groups"]
    if one["decided"]:
        assert 1 <= one["k_eff"] <= N_CPUS
    else:  # runs that differ too much on a noisy machine end the search without an answer, which is said
        assert one["limit"] == "not sure" and one["sentence"]
    assert one["workers"] == N_CPUS
    assert 'question = "effective-cpus"' in (folder / "results" / "study.toml").read_text()


def test_the_study_that_it_keeps_is_planned_and_resumed(folder: Path) -> None:
    find(folder, "--max-runs", 3, "--max-cpus", 4096, "-o", "first", "--", "sleep", "0.02")
    study = folder / "first" / "study.toml"
    assert 'levels = "1:all"' in study.read_text()
    plan = in_process("plan", study, "--json", cwd=folder)
    assert json.loads(plan.stdout)["question"] == "effective-cpus"
    more = in_process("run", study, "--resume", "--max-runs", "10", "-o", "first", cwd=folder)
    assert more.returncode in (0, 5), more.stderr
    found = json.loads((folder / "first" / "findings.json").read_text())
    assert 3 < found["runs"]["n_done"] + found["runs"]["n_repeated"] <= 10
    report = in_process("report", "first", "--tables", cwd=folder)
    assert report.returncode == 0 and "Effective CPUs" in report.stdout


def test_a_program_that_fails_on_all_cpus(folder: Path) -> None:
    script = f"test $(nproc) -ne {N_CPUS}"
    done = find(folder, "--shell", "--", script, expect=(4,))
    assert "failed  2 \N{MULTIPLICATION SIGN} the command exited with 1" in done.stdout
    assert f"level {N_CPUS} failed 2 times: left out" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (("--", "./no-such"), 3, 'command: no program "'),
        (("--threads", "2", "--", "true"), 2, "--threads: a factor that nothing uses"),
        (("--max-cpus", "1", "--", "true"), 2, "Invalid value for '--max-cpus'"),
        (("--response", "x", "--", "true"), 2, "--response: 'x', expected NAME(UNIT):DIRECTION: PLACE"),
        ((), 2, "Missing argument"),
    ],
)
def test_bad_input_is_one_message_and_nothing_is_left(
    arguments: tuple[str, ...], code: int, told: str, folder: Path
) -> None:
    done = find(folder, *arguments, expect=(code,))
    assert told in done.stderr
    assert "Traceback" not in done.stderr
    assert not (folder / "scalograph-results").exists()


def test_help_of_the_group_names_what_it_finds(folder: Path) -> None:
    done = in_process("find", "--help", cwd=folder)
    assert done.returncode == 0 and "effective-cpus" in done.stdout
