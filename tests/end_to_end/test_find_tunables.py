"""`find tunables` as a user has it, on a machine whose times are made up."""

import json
import subprocess
import sys
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from tests.kit.command import in_process, simulated

# A level of a gains, one of b loses; c and d do nothing.
LEVELS = {"a": (1, 2, 3), "b": (1, 2, 3), "c": (0, 1), "d": ("x", "y", "z")}
WALLS = {
    f"true {a} {b} {c} {d}": 0.1 * (0.9 if a == 2 else 1.0) * (1.08 if b == 3 else 1.0)
    for a, b, c, d in product(*LEVELS.values())
}
SETTINGS = [word for name, levels in LEVELS.items() for word in ("--factor", f"{name}={','.join(map(str, levels))}")]
COMMAND = ("--", "true", "{a}", "{b}", "{c}", "{d}")


def find(folder: Path, *arguments: object, expect: tuple[int, ...] = (0, 5)) -> "subprocess.CompletedProcess[str]":
    done = in_process("find", "tunables", *arguments, cwd=folder, env=simulated(folder, WALLS))
    assert done.returncode in expect, done.stderr
    return done


def test_two_of_four_matter_and_the_gain_is_confirmed(tmp_path: Path) -> None:
    done = find(tmp_path, *SETTINGS, "--max-reruns", 0, "--json", "-o", "results", *COMMAND)
    found: dict[str, Any] = json.loads(done.stdout)
    assert found["matter"] == ["a", "b"] and found["decided"]
    (gain,) = found["combinations"]
    assert gain["levels"] == {"a": 2} and gain["gain"]["low"] < 1 / 0.9 < gain["gain"]["high"]
    study = (tmp_path / "results" / "study.toml").read_text()
    assert 'question = "tunables"' in study
    report = in_process("report", "results", "--tables", cwd=tmp_path)
    assert "Settings against the default" in report.stdout


def test_too_few_runs_are_told_before_they_are_made(tmp_path: Path) -> None:
    done = find(tmp_path, *SETTINGS, "--max-runs", 8, "-o", "results", *COMMAND)
    assert "7 settings; 8 runs at most, too few to compare them: the first block has 10" in done.stderr
    assert "8 runs, less than a block, cannot compare 7 settings" in done.stdout


def unwatched(folder: Path) -> dict[str, str]:
    """An environment whose probe reads nothing of the machine: it can call no run disturbed."""
    program = folder / "unwatched-probe"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m scalograph.run.hosts.python_probe "$@"\n')
    program.chmod(0o755)
    return {"SCALOGRAPH_PROBE": str(program)}


# The score is the work that was counted, not a time: however busy this machine is, it is the same.
SOURCE = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int is(const char *name, const char *value) { const char *v = getenv(name); return v && !strcmp(v, value); }
int main(void) {
    volatile long done = 0;
    long n = 20000;
    if (is("POOL", "big")) n /= 8;
    if (is("CHECKS", "2")) n *= 6;
    for (long i = 0; i < n; i++) done++;
    printf("steps %ld\n", done);
    return is("MODE", "broken") ? 3 : 0;
}
"""
VARIABLES = {"POOL": "small,big", "CHECKS": "0,1,2", "MODE": "plain,broken"} | {f"IDLE_{k}": "a,b" for k in range(5)}


def test_a_program_that_two_of_eight_variables_change(tmp_path: Path) -> None:
    (tmp_path / "prog.c").write_text(SOURCE)
    subprocess.run(["cc", "-O1", "-o", "prog", "prog.c"], cwd=tmp_path, check=True)
    settings = [word for name, levels in VARIABLES.items() for word in ("--env", f"{name}={levels}")]
    figure = ("--response", "steps(steps):lower: steps ([0-9]+)", "--max-reruns", 0, "--max-runs", 30)
    words = (*settings, *figure, "--json", "-o", "out", "--", "./prog")
    done = in_process("find", "tunables", *words, cwd=tmp_path, env=unwatched(tmp_path))
    found = json.loads(done.stdout)
    assert {*found["matter"]} == {"pool", "checks"}
    (broken,) = [one for one in found["settings"] if one["factor"] == "mode"]
    assert broken["n_failed"] == broken["n"] > 5 and broken["fails_p"] < 0.001 and broken["left_out"]
    gains = {(one["factor"], one["level"]): one["gain"] and one["gain"]["value"] for one in found["settings"]}
    assert gains["pool", "big"] == pytest.approx(8) and gains["checks", 2] == pytest.approx(1 / 6)
