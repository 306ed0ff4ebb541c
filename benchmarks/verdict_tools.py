"""The tools that report a speedup, each driven as its manual says: n runs at one thread, n at two, T(1)/T(2)."""

import json
import re
import shutil
import statistics
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from verdict_common import launch

RUNS = 5
INSTALL = {
    "hyperfine": "cargo install hyperfine, or apt install hyperfine",
    "pyperf": "pip install pyperf",
    "perf": "apt install linux-perf, or linux-tools",
}


@dataclass(frozen=True, slots=True)
class Told:
    """What a tool reports of a pair of commands.

    Attributes:
        speedup: of the second over the first.
        warned: whether it says that its figures may not be right.
    """

    speedup: float
    warned: bool


Tool = Callable[[Path, list[str], list[str]], Told]


def hyperfine(folder: Path, one: list[str], two: list[str]) -> Told:
    """Ratio of the means; it warns of outliers and of a slow first run."""
    out = folder / "hyperfine.json"
    asked = ["hyperfine", "--style", "basic", "--runs", str(RUNS), "--export-json", str(out)]
    done = _run([*asked, " ".join(one), " ".join(two)])
    first, second = (result["mean"] for result in json.loads(out.read_text())["results"])
    return Told(first / second, "Warning" in done.stdout + done.stderr)


def pyperf(folder: Path, one: list[str], two: list[str]) -> Told:
    """Ratio of the means, from a process for each run; it warns where the standard deviation is large."""
    means, words = [], ""
    for argv in (one, two):
        out = folder / "pyperf.json"
        out.unlink(missing_ok=True)
        asked = ["pyperf", "command", "--processes", str(RUNS), "--values", "1", "--warmups", "0", "--loops", "1"]
        done = _run([*asked, "--output", str(out), "--", *argv])
        means.append(pyperf_mean(out.read_text()))
        words += done.stdout + done.stderr
    return Told(means[0] / means[1], "WARNING" in words)


def pyperf_mean(text: str) -> float:
    """Of the values of a result file, in seconds; a run that only calibrates has none."""
    runs = json.loads(text)["benchmarks"][0]["runs"]
    return statistics.fmean(value for run in runs for value in run.get("values", ()))


def perf_stat(_folder: Path, one: list[str], two: list[str]) -> Told:
    """Ratio of the means of `perf stat -r`; it prints their spread and warns of nothing."""
    asked = ["perf", "stat", "-e", "task-clock", "-r", str(RUNS)]
    first, second = (perf_stat_mean(_run([*asked, *argv]).stderr) for argv in (one, two))
    return Told(first / second, warned=False)


def perf_stat_mean(text: str) -> float:
    """Elapsed seconds on average, as printed."""
    found = re.search(r"([0-9.]+) \+- [0-9.]+ seconds time elapsed", text)
    if not found:
        raise SystemExit(f'perf stat: found {text!r}, expected "seconds time elapsed"; run it by hand')
    return float(found[1])


def single(_folder: Path, one: list[str], two: list[str]) -> Told:
    """One run each and no spread, as sysbench does with `--events N --threads 1`, then 2."""
    return Told(launch(one)[0] / launch(two)[0], warned=False)


TOOLS: Mapping[str, Tool] = {
    "hyperfine": hyperfine,
    "pyperf": pyperf,
    "perf stat -r": perf_stat,
    "one run each": single,
}


def missing() -> list[str]:
    """Tools that are not on PATH, in words, with the command that installs each."""
    return [f"{name} is left out, it is not on PATH: {fix}" for name, fix in INSTALL.items() if not shutil.which(name)]


def at_hand() -> dict[str, Tool]:
    """Those of `TOOLS` that can be run here."""
    return {name: tool for name, tool in TOOLS.items() if name == "one run each" or shutil.which(name.split()[0])}


def _run(argv: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(argv, capture_output=True, text=True, check=True)
