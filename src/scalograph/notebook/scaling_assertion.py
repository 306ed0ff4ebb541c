"""Assert a program's scaling in a test: it passes, fails, or is skipped where not measurable."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from tempfile import TemporaryDirectory
from typing import Any
from unittest import SkipTest

from scalograph.analysis.estimate import Estimate
from scalograph.errors import Exit
from scalograph.text.quantities import times

# Another test may measure: one at a time does.
_WAIT = ("--wait-lock", "10m")
# With these `measure` prints a document; a busy machine ends in NO_ANSWER.
_MEASURED = (Exit.DONE, Exit.NO_ANSWER, Exit.CONFIGURATION_FAILED)


def assert_scales(
    command: Sequence[str], threads: Sequence[int] = (1, 2, 4), at_least: float = 1.5, *, runs: int = 10,
    budget: str = "5min", per_worker: bool = False, options: Sequence[str] = (),
) -> Estimate:  # fmt: skip
    """Assert the speedup of a command with the most threads over the fewest.

    The whole interval of the speedup has to lie at `at_least` or above; the test fails if it lies below. It is skipped
    (`unittest.SkipTest`, which pytest knows too) if the interval holds `at_least`, if most runs were disturbed, or if
    the machine has not enough CPUs for such a speedup.

    Args:
        command: an argv in which `{threads}` is replaced; no shell.
        threads: counts, two or more.
        at_least: speedup of the most over the fewest.
        runs: of each count.
        budget: no block of runs begins past it.
        per_worker: whether each thread does the same work; else all counts do.
        options: further options of `measure`.

    Returns:
        The speedup, with its interval.

    Raises:
        AssertionError: it scales less, or the command fails.
        SkipTest: that could not be measured here.
        ValueError: an argument is wrong, or the host refuses; says what and why.
    """
    counts = sorted({*threads})
    if len(counts) < 2 or counts[0] < 1:
        raise ValueError(f"threads: found {[*threads]}, expected two or more counts from 1 on")
    if not any("{threads}" in word for word in command):
        raise ValueError(f"command: found no {{threads}} in {[*command]}, expected it in place of the count")
    n_cpus = len(os.sched_getaffinity(0))
    if at_least > n_cpus:
        raise SkipTest(f"a speedup of {at_least:g} takes more CPUs than the {n_cpus} that there are")
    swept = ["--threads", ",".join(map(str, counts)), "--runs", str(runs), "--budget", budget, *_WAIT, *options]
    return judge_speedup(_measure([*swept, *(["--per-worker"] if per_worker else []), "--", *command]), at_least)


def judge_speedup(measured: Mapping[str, Any], at_least: float) -> Estimate:
    """Return the speedup that `measure --json` printed.

    Raises AssertionError where its interval lies below `at_least`, SkipTest where it has none or one that holds
    `at_least`, or the runs are unusable.
    """
    document = measured["speedup"]
    if measured["verdict"] == "unusable" or not document or document["low"] is None:
        raise SkipTest(f"inconclusive: {measured['sentence']}")
    speedup = Estimate(**{**document, "warnings": tuple(document["warnings"])})
    reached = speedup.reaches(at_least)
    if reached is None:
        raise SkipTest(f"inconclusive: speedup {times(speedup)}, at least {at_least:g} asked; more runs may decide")
    if not reached:
        raise AssertionError(f"speedup {times(speedup)}, expected at least {at_least:g}")
    return speedup


def _measure(arguments: Sequence[str]) -> dict[str, Any]:
    with TemporaryDirectory(prefix="scalograph-") as folder:
        argv = [sys.executable, "-m", "scalograph", "measure", "--json", "-o", f"{folder}/results", *arguments]
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode not in _MEASURED:
        # Lines of progress stand before the error and its hint.
        *_, error = f"\n{done.stderr}".rpartition("\nerror: ")
        raise ValueError(error.strip() or f"scalograph measure ended with {done.returncode}")
    document: dict[str, Any] = json.loads(done.stdout)
    if done.returncode == Exit.CONFIGURATION_FAILED:
        raise AssertionError(next(iter(document["runs"]["failures"]), document["sentence"]))
    return document
