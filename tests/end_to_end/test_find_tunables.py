"""`find tunables` as a user has it, on a machine whose times are made up."""

import json
import subprocess
from itertools import product
from pathlib import Path
from typing import Any

from .shell import in_process, simulated

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
