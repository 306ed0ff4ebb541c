"""What the benchmarks of verdicts share: the work, neighbors that play a schedule, a record as the journal holds it."""

import os
import random
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import sqrt
from pathlib import Path
from statistics import median
from typing import Any

import msgspec
from probe_common import build, probe
from scipy.stats import binom

from scalograph.analysis.estimate import Estimate
from scalograph.protocol.record import Record
from scalograph.verdict.judge import Judgment, judge

CPUS = sorted(os.sched_getaffinity(0))[:2]
SEED = 20
DUTIES = (10, 25, 50, 100)
# Milliseconds, then the share of every 40 ms for which the neighbor is busy, in percent.
Segment = tuple[int, int]
# What the neighbor of each CPU plays.
Scene = Sequence[Sequence[Segment]]
FLAG = {"disturbed": 1.0, "clean": 0.0}
UNDECIDED = 0.5


class Work:
    """The fixed work of `verdict_work.c`.

    Attributes:
        program: as compiled.
        per_second: turns of the loop that one thread does in a second of CPU time, from the fastest of five short runs.
    """

    def __init__(self, folder: Path) -> None:
        os.sched_setaffinity(0, CPUS)  # whatever is launched from here on stays on them
        self.program = build("verdict_work", folder)
        kept = folder / "per_second"
        if not kept.exists():
            argv = [self.program, "50000000", "1"]
            kept.write_text(str(50_000_000 / min(launch(argv)[1] for _ in range(5))))
        self.per_second = float(kept.read_text())

    def argv(self, seconds: float, threads: int, *more: str) -> list[str]:
        """The command that takes one thread so many seconds, divided over the threads."""
        return [self.program, str(int(self.per_second * seconds)), str(threads), *more]


def pace(wall_s: float, argv: list[str]) -> float:
    """Seconds for 10**9 turns: comparable between rounds that measured the turns of a second anew."""
    return wall_s / int(argv[1]) * 1e9


def launch(argv: list[str]) -> tuple[float, float]:
    """Seconds that a command takes, and its CPU time, launched with nothing around it."""
    begin = time.perf_counter()
    _, status, used = os.wait4(os.posix_spawn(argv[0], argv, {}), 0)
    end = time.perf_counter()
    if os.waitstatus_to_exitcode(status) != 0:
        raise SystemExit(f"{argv[0]}: failed, expected exit code 0")
    return end - begin, used.ru_utime + used.ru_stime


def record(argv: list[str], **fields: Any) -> Record:
    """The record of one run."""
    run = probe(argv, cpus=CPUS, **fields)
    events = run.pop("events")
    parts = {kind: [e for e in events if e["event"] == kind] for kind in ("header", "copy")}
    return msgspec.convert({"header": parts["header"][0], "copies": parts["copy"], "run": run}, Record)


def flagged(judgment: Judgment) -> float:
    """1 where the run is called disturbed, 0 where clean, between them where nobody can tell."""
    return FLAG.get(judgment.verdict, UNDECIDED)


def judged(argv: list[str], **fields: Any) -> tuple[float, float]:
    """Seconds of one run, and its flag."""
    found = record(argv, **fields)
    return (found.run.wall_ns or 0) / 1e9, flagged(judge(found))


@contextmanager
def neighbors(program: str, scene: Scene) -> Iterator[None]:
    """A neighbor on each CPU that plays its part of the scene, from its beginning."""
    running = []
    for cpu, part in zip(CPUS, scene, strict=False):
        if any(percent for _, percent in part):
            numbers = [str(number) for segment in part for number in segment]
            running.append(subprocess.Popen([program, "play", str(cpu), *numbers]))
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()


def steady(duty: int, n_cpus: int) -> Scene:
    """The same duty on the first CPUs, for ever."""
    return [[(1000, duty if i < n_cpus else 0)] for i in range(len(CPUS))]


def coming_and_going(draw: random.Random, busy: float) -> Scene:
    """A neighbor that is there for a share of the time, on one CPU or both, a third of a second to three at a time."""
    parts: list[list[Segment]] = [[] for _ in CPUS]
    for _ in range(24):
        ms, duty, where = draw.randrange(300, 3000), draw.choice(DUTIES), draw.choice([(0,), (1,), (0, 1)])
        there = draw.random() < busy
        for i, part in enumerate(parts):
            part.append((ms, duty if there and i in where else 0))
    return parts


def bursts(draw: random.Random, busy: float) -> Scene:
    """Return neighbors on each CPU that work all the time or not at all, 0.2 to 3 s at a time, each for itself."""
    return [[(draw.randrange(200, 3000), 100 * (draw.random() < busy)) for _ in range(24)] for _ in CPUS]


def typical(values: Sequence[float]) -> Estimate:
    """The median, with the ends of its 95% interval: order statistics, at least six of them."""
    ordered, n = sorted(values), len(values)
    k = int(binom.ppf(0.025, n, 0.5)) if n else 0
    ends = (ordered[k - 1], ordered[n - k]) if k else (None, None)
    return Estimate(median(ordered) if n else None, *ends, 0.95, n, "median, order statistics")


def percent(flags: Sequence[float]) -> float | None:
    """Share of runs that are flagged."""
    return 100 * sum(flag == 1.0 for flag in flags) / len(flags) if flags else None


def wilson(hits: int, n: int, z: float = 1.96) -> tuple[float, float]:
    """Ends of the 95% interval of a share of n >= 1 cases, in percent.

    Source: E. B. Wilson, Probable inference, the law of succession, and statistical inference, JASA 22 (1927).
    """
    p, square = hits / n, z * z / n
    middle, half = p + square / 2, z * sqrt(p * (1 - p) / n + square / (4 * n))
    return 100 * max(0.0, middle - half) / (1 + square), 100 * min(1.0 + square, middle + half) / (1 + square)
