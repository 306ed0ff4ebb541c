"""What does watching cost? CPU time of the probe, and the wall time of a watched run against a bare one.

Two programs: a thread for each CPU, and 32 for each, which preempt each other a few hundred times a second, each time
with a record. The probe's own CPU time during the window stands in the record (`observer_ns`); what it does to the run
shows only in its wall time, A and B by turns. How often the probe wakes up is read from the kernel's count of its
voluntary switches, of a long run less a short one, so that start and end cancel.
"""

import random
import resource
from itertools import product
from pathlib import Path

from probe_common import Figure, median
from probe_rounds import Round, main
from verdict_common import CPUS, SEED, Work, launch, pace, record

from scalograph.analysis.ratios import paired_ratio

THREADS = {"a thread a CPU": len(CPUS), "32 threads a CPU": 32 * len(CPUS)}
LENGTHS = (1.0, 3.0)
WAYS = {"no timeline": False, "timeline": True}
COST, WAKEUPS = 0.1, 100  # percent; a second


def one_round(folder: Path, number: int) -> Round:
    """Each program and length bare and watched in both ways, in an order drawn from the number of the round."""
    work, draw = Work(folder), random.Random(SEED * 1000 + number)
    found: dict[str, list[float]] = {}
    for program, threads in THREADS.items():
        for length in LENGTHS:
            argv = work.argv(length * len(CPUS), threads)
            for way in draw.sample(["bare", *WAYS], 1 + len(WAYS)):
                name = f"{length:g} s, {program}, {way}"
                found.update({f"{key} {name}": [value] for key, value in _measured(argv, way).items()})
    return found


def _measured(argv: list[str], way: str) -> dict[str, float]:
    if way == "bare":
        return {"pace": pace(launch(argv)[0], argv)}
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_nvcsw
    run = record(argv, timeline=WAYS[way]).run
    switches = resource.getrusage(resource.RUSAGE_CHILDREN).ru_nvcsw - before
    lasted = (run.wall_ns or 0) / 1e9
    cost = 100 * (run.observer_ns or 0) / (run.cpu_ns or 1)
    return {"pace": pace(lasted, argv), "lasted": lasted, "switches": switches, "cost": cost}


def figures(found: Round) -> list[Figure]:
    """For each program and way: CPU time and wall time at each length, then the wake-ups."""
    table = []
    for program, way in product(THREADS, WAYS):
        for length in LENGTHS:
            table += [_cost(found, f"{length:g} s, {program}", way), _longer(found, f"{length:g} s, {program}", way)]
        table.append(_wakeups(found, f"{program}, {way}"))
    return table


def _cost(found: Round, name: str, way: str) -> Figure:
    costs = found[f"cost {name}, {way}"]
    usual = name.endswith(next(iter(THREADS))) and not WAYS[way]
    target, note = ("<=", COST) if usual else None, f"largest {max(costs):.3f}%"
    return Figure(f"{name}, {way}: CPU time of the probe", median(costs), "%", target, note, len(costs))


def _longer(found: Round, name: str, way: str) -> Figure:
    """How much longer a watched run takes than a bare one of the same round."""
    bare, watched = found[f"pace {name}, bare"], found[f"pace {name}, {way}"]
    ratio = paired_ratio(watched, bare, trim=0.1 if len(bare) >= 10 else 0.0)
    if ratio.value is None or ratio.low is None or ratio.high is None:
        return Figure(f"{name}, {way}: longer than bare", None, "%", None, "; ".join(ratio.warnings), len(bare))
    note = f"95%: {100 * (ratio.low - 1):+.2f} to {100 * (ratio.high - 1):+.2f}%"
    return Figure(f"{name}, {way}: longer than bare", 100 * (ratio.value - 1), "%", None, note, len(bare))


def _wakeups(found: Round, name: str) -> Figure:
    """Of a long run less the short one of the same round."""
    (few, many), (short, long) = (
        [found[f"{key} {length:g} s, {name}"] for length in LENGTHS] for key in ("switches", "lasted")
    )
    rates = [(b - a) / (d - c) for a, b, c, d in zip(few, many, short, long, strict=True)]
    return Figure(
        f"{name}: wake-ups a second", median(rates), "/s", ("<=", WAKEUPS), f"at most {max(rates):.0f}", len(rates)
    )


if __name__ == "__main__":
    main("verdict_cost", one_round, figures, rounds=(55, 2))
