"""Plausibility checks of a curve: flags for what the CPUs cannot have done.

A flag rests on the ends of intervals, never on a value alone: noise that could explain it prevents it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from scalograph.analysis.estimate import Estimate
from scalograph.analysis.speedup_points import PLAY, Work

PhysicsGate = Literal[
    "speedup above the CPUs", "efficiency rises", "time below the CPU time", "baseline off the CPU",
    "CPU time depends on the CPUs", "work differs", "believes in other CPUs",
]  # fmt: skip

BUSY = 0.97  # below this share of its time on a CPU the baseline waited, and speedups over it include that
CPU_TIME_PLAY = 0.05  # relative difference of CPU times that starting workers explain (caches, clock)


@dataclass(frozen=True, slots=True)
class ObservedLevel:
    """One level of a curve: `n` workers on `n_cpus` allowed CPUs, with times in seconds.

    `cpu` and `work` (units of work) are those of all workers together; `believed_cpus` is what the program reports.
    """

    n: int
    n_cpus: int
    wall: Estimate | None = None
    cpu: Estimate | None = None
    speedup: Estimate | None = None
    work: int | None = None
    believed_cpus: int | None = None

    @property
    def usable_cpus(self) -> int:
        return min(self.n, self.n_cpus)


@dataclass(frozen=True, slots=True)
class PhysicsFlag:
    """Flag of one check at one level."""

    gate: PhysicsGate
    n: int
    text: str


def physics_flags(curve: Sequence[ObservedLevel], baseline: int, work: Work, waits: bool = False) -> list[PhysicsFlag]:
    """Return the flags of a curve, with levels in any order: what cannot be true, or is not as declared.

    `waits`: whether the baseline left CPUs idle that it was given: then more workers may outgrow the CPUs.

    >>> one, two = ObservedLevel(1, 1, work=100), ObservedLevel(2, 2, work=150)
    >>> [o.text for o in physics_flags([one, two], 1, "total")]
    ['does 150 units of work where 1 does 100: more workers, other work: not the same program']
    """
    levels = sorted(curve, key=lambda level: level.n)
    base = next((level for level in levels if level.n == baseline), None)
    flags = [*(() if waits else _flag_speedups(levels, baseline)), *_flag_cpu_counts(levels)]
    fast = {objection.n for objection in flags if objection.gate == "speedup above the CPUs"}
    slower = [level for level in levels if level.n not in fast]  # the others have this flag
    flags += _flag_rising_efficiency(slower)
    if base is not None:
        flags += [*_flag_idle_baseline(base), *_flag_short_times(slower, base, work), *_flag_work(levels, base, work)]
    return sorted(flags, key=lambda objection: objection.n)


def _flag_speedups(levels: Iterable[ObservedLevel], baseline: int) -> Iterator[PhysicsFlag]:
    for level in levels:
        growth = level.usable_cpus / min(baseline, level.n_cpus)
        low = level.speedup.low if level.speedup else None
        if low is not None and low > growth * (1 + PLAY):
            text = f"a speedup of at least {low:.3g} on {growth:g} times the CPUs: the baseline is slow, or caches grow"
            yield PhysicsFlag("speedup above the CPUs", level.n, text)


def _flag_rising_efficiency(levels: Sequence[ObservedLevel]) -> Iterator[PhysicsFlag]:
    """Flag rising efficiency, for n <= CPUs only: beyond that, more workers balance better."""
    best: ObservedLevel | None = None
    for level in levels:
        gain = level.speedup
        if gain is None or gain.low is None or gain.high is None or level.n > level.n_cpus:
            continue
        ceiling = best.speedup.high / best.n if best and best.speedup and best.speedup.high is not None else None
        if best is not None and ceiling is not None and gain.low / level.n > ceiling * (1 + PLAY):
            text = f"efficiency rises from at most {ceiling:.3g} at {best.n} to at least {gain.low / level.n:.3g}"
            yield PhysicsFlag("efficiency rises", level.n, text)
        if ceiling is None or gain.high / level.n < ceiling:
            best = level


def _flag_short_times(levels: Iterable[ObservedLevel], base: ObservedLevel, work: Work) -> Iterator[PhysicsFlag]:
    needed, base_wall = _low(base.cpu), _low(base.wall)
    if needed is not None and base_wall is not None:
        needed = min(needed, base_wall * base.usable_cpus)  # helper threads (a compiler, a collector) add to it
    for level in levels:
        wall = level.wall.high if level.wall else None
        if needed is None or wall is None or level.n == base.n:
            continue
        times = level.n / base.n if work == "per-worker" else 1.0
        if wall * level.usable_cpus < needed * times:
            need = f"{times:g} x {needed:.3g}" if work == "per-worker" else f"{needed:.3g}"
            had = f"{wall:.3g} s on {level.usable_cpus} CPU{'s' * (level.usable_cpus > 1)}"
            yield PhysicsFlag("time below the CPU time", level.n, f"needs {need} s of CPU time and had at most {had}")


def _flag_idle_baseline(base: ObservedLevel) -> Iterator[PhysicsFlag]:
    wall, cpu = _low(base.wall), base.cpu.high if base.cpu else None
    if wall is None or cpu is None or cpu >= BUSY * wall * base.usable_cpus:
        return
    share = 100 * cpu / (wall * base.usable_cpus)
    text = f"the baseline was on a CPU for at most {share:.3g}% of its time: speedup over it contains its waiting"
    yield PhysicsFlag("baseline off the CPU", base.n, text)


def _flag_work(levels: Iterable[ObservedLevel], base: ObservedLevel, work: Work) -> Iterator[PhysicsFlag]:
    for level in levels:
        if level.work is None or base.work is None:
            continue
        # Compared as products: the work per worker need not be an integer.
        ours, theirs = (level.work * base.n, base.work * level.n) if work == "per-worker" else (level.work, base.work)
        if ours != theirs:
            whose = " a worker" if work == "per-worker" else ""
            done = f"{round(level.work / level.n, 3):,.15g}" if whose else f"{level.work:,}"
            declared = f"{round(base.work / base.n, 3):,.15g}" if whose else f"{base.work:,}"
            text = f"does {done} units of work{whose} where {base.n} does {declared}: "
            yield PhysicsFlag("work differs", level.n, text + "more workers, other work: not the same program")


def _flag_cpu_counts(levels: Iterable[ObservedLevel]) -> Iterator[PhysicsFlag]:
    for level in levels:
        if level.believed_cpus is not None and level.believed_cpus != level.n_cpus:
            text = f"the program believes in {level.believed_cpus} CPUs and was given {level.n_cpus}"
            yield PhysicsFlag("believes in other CPUs", level.n, text)


def cpu_time_across(baselines: Mapping[int, Estimate]) -> dict[int, PhysicsFlag]:
    """Flag CPU counts on which the CPU time of the baseline differs from that on the fewest.

    Args:
        baselines: allowed CPUs -> CPU seconds of the baseline level there; `n` of a flag is the number of CPUs.
    """
    counts = sorted(baselines)
    flags: dict[int, PhysicsFlag] = {}
    for n_cpus in counts[1:]:
        fewest, here = baselines[counts[0]], baselines[n_cpus]
        if fewest.low is None or fewest.high is None or here.low is None or here.high is None:
            continue
        if here.low > fewest.high * (1 + CPU_TIME_PLAY) or here.high < fewest.low * (1 - CPU_TIME_PLAY):
            text = f"the baseline takes {here.value:.3g} s of CPU time on {n_cpus} CPUs and {fewest.value:.3g} s on "
            text += f"{counts[0]}: the same program should take the same"
            flags[n_cpus] = PhysicsFlag("CPU time depends on the CPUs", n_cpus, text)
    return flags


def _low(estimate: Estimate | None) -> float | None:
    return estimate.low if estimate else None
