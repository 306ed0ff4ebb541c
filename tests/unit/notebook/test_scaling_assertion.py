"""A test of scaling: which intervals pass, which fail, and what is skipped."""

import importlib
import inspect
import json
import os
import subprocess
from functools import partial
from pathlib import Path
from typing import Any
from unittest import SkipTest

import pytest

import scalograph
from scalograph.errors import Exit
from scalograph.notebook import scaled_function, scaling_assertion
from scalograph.notebook.scaling_assertion import judge_speedup
from tests.kit.refusals import refuses


def measured(value: float, low: float | None, high: float | None, verdict: str = "reliable") -> dict[str, Any]:
    told = {"value": value, "low": low, "high": high, "confidence": 0.95, "n": 10, "method": "t", "warnings": []}
    return {"verdict": verdict, "sentence": "60 runs.", "speedup": told}


def test_only_a_whole_interval_decides() -> None:
    assert judge_speedup(measured(1.8, 1.7, 1.9), 1.5).value == 1.8
    with pytest.raises(AssertionError, match=r"speedup 1.30× \[1.20, 1.40\], expected at least 1.5"):
        judge_speedup(measured(1.3, 1.2, 1.4), 1.5)
    refuses(SkipTest, "inconclusive", judge_speedup, measured(1.5, 1.4, 1.6), 1.5)
    unmeasured = {**measured(1.0, 1.0, 1.0), "speedup": None}
    for document in (measured(3.0, 2.9, 3.1, "unusable"), measured(3.0, None, None), unmeasured):
        refuses(SkipTest, "inconclusive: 60 runs", judge_speedup, document, 1.5)


def test_wrong_arguments_and_a_command_that_fails_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    scales = partial(scalograph.assert_scales, at_least=1)
    refuses(ValueError, r"no \{threads\}", scales, ["./prog"])
    refuses(ValueError, "two or more counts", scales, ["./prog", "{threads}"], threads=[2])
    with pytest.raises(ValueError, match=r"^--budget soon is not valid\nhint: use a number with a unit"):
        scales(["true", "{threads}"], budget="soon")
    monkeypatch.setattr(scaling_assertion.os, "sched_getaffinity", lambda _: {0, 1})
    refuses(SkipTest, "takes more CPUs than the 2", scalograph.assert_scales, ["./prog", "{threads}"], at_least=3)
    printed = json.dumps({"sentence": "No run succeeded.", "runs": {"failures": {"the command exited with 3": 4}}})
    ended = subprocess.CompletedProcess([], Exit.CONFIGURATION_FAILED, printed, "CPU busy at the start of block 1\n")
    monkeypatch.setattr(scaling_assertion.subprocess, "run", lambda *_, **__: ended)
    with pytest.raises(AssertionError, match=r"^the command exited with 3$"):
        scalograph.assert_scales(["./prog", "{threads}"], at_least=1)


MODULE = """
from pathlib import Path
from scalograph import scales

class Group:
    @staticmethod
    @scales(threads=(1, 3), at_least=1.2, runs=7)
    def test_it(threads):
        "It says with how many."
        Path(__file__).with_name("called").write_text(str(threads))

test_it = Group.test_it
"""


def test_a_decorated_function_is_a_test_whose_runs_call_it_in_a_fresh_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "test_group.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    asked: list[Any] = []
    monkeypatch.setattr(scaled_function, "assert_scales", lambda *words, **named: asked.append((words, named)))
    module = importlib.import_module("test_group")
    assert module.test_it.__name__ == "test_it" and module.test_it.__doc__ == "It says with how many."
    assert not inspect.signature(module.test_it).parameters, "pytest would look for a fixture"
    module.test_it()
    ((command, threads, at_least), named) = asked[0]
    assert (threads, at_least, named["runs"]) == ((1, 3), 1.2, 7) and "--events" in named["options"]
    path = next(word for word in named["options"] if word.startswith("PYTHONPATH=")).partition("=")[2]
    argv = [word.replace("{threads}", "3") for word in command]
    env = {**os.environ, "PYTHONPATH": path, "SCALOGRAPH_EVENTS": str(tmp_path / "events")}
    subprocess.run(argv, env=env, check=True, cwd=tmp_path / "..")
    assert (tmp_path / "called").read_text() == "3"
    ready, iteration = (tmp_path / "events").read_text().splitlines()
    start, end = map(int, iteration.split()[2:4])
    assert ready == "ready" and start <= end
