"""A test of scaling: which intervals pass, which fail, and what is skipped."""

import json
import subprocess
from functools import partial
from typing import Any
from unittest import SkipTest

import pytest

import scalograph
from scalograph.cli import scaling_assertion
from scalograph.cli.scaling_assertion import judge_speedup
from scalograph.errors import Exit
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
