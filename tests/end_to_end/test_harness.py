"""Harnesses as commands: what they print of a run is the figure of that run."""

import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.kit.results import complete, findings_in


def measured(folder: Path, response: str, *command: str) -> dict[str, Any]:
    """The findings of two starts of a harness."""
    options = ("--runs", 2, "--max-reruns", 0, "--response", response, "-o", "results")
    complete("measure", *options, "--", *command, cwd=folder)
    return findings_in(folder / "results")


@pytest.mark.skipif(not shutil.which("hyperfine"), reason="hyperfine is missing: apt-get install hyperfine")
def test_hyperfine_measures_and_its_runs_are_judged(tmp_path: Path) -> None:
    asked = ["hyperfine", "-N", "--style", "none", "--runs", "2", "--export-json", "/dev/stdout", "sleep 0.02"]
    found = measured(tmp_path, "time:lower: @hyperfine", *asked)
    (point,) = found["curves"][0]["points"]
    scores = point["responses"]["time"]["scores"]
    assert len(scores) == 2 and all(score >= 0.02 for score in scores)
    assert found["study"]["responses"][0]["name"] == "time" and found["study"]["responses"][0]["unit"] == "s"


def test_pyperf_prints_its_results(tmp_path: Path) -> None:
    once = ("--pipe", "1", "--quiet", "--processes", "1", "--values", "1", "--warmups", "0", "--loops", "1")
    asked = (sys.executable, "-m", "pyperf", "command", *once, "--", "sleep", "0.02")
    found = measured(tmp_path, "time:lower: @pyperf", *asked)
    (point,) = found["curves"][0]["points"]
    assert all(score >= 0.02 for score in point["responses"]["time"]["scores"])


def test_a_harness_that_prints_something_else_has_failed(tmp_path: Path) -> None:
    asked = ("--runs", 2, "--max-reruns", 0, "--response", "rate:higher: @sysbench")
    done = complete("measure", *asked, "--", "echo", "x", cwd=tmp_path, codes=(4,))
    assert "found no such output, expected the output of sysbench 1" in " ".join(done.stdout.split())
