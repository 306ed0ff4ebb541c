"""How much steadier is an A/A ratio under contention if waiting is subtracted and runs are interleaved? (target 7)

One program under two labels on one CPU, while a neighbor of random duty comes and goes on both. The usual way: all of
A, then all of B, wall times. Ours: A and B by turns, wall time less the time in which the run was ready and had no CPU.
What is compared is how much the ratio of five and five runs varies from round to round; it should always be 1.
"""

import random
import statistics
from itertools import product
from math import log, sqrt
from pathlib import Path

from probe_common import Figure, probe, ratio
from probe_rounds import Round, main
from verdict_common import CPUS, SEED, Work, coming_and_going, neighbors

SECONDS, RUNS = 0.2, 5
TAKEN = ("wall", "wall less wait")
ORDERS = ("sequential", "interleaved")
Times = dict[str, float]


def one_round(folder: Path, number: int) -> Round:
    """The logs of the ratios of one comparison in each order, with and without the wait."""
    work, draw = Work(folder), random.Random(SEED * 1000 + number)
    argv = work.argv(SECONDS, 1)
    found = {}
    for order in draw.sample(sorted(ORDERS), len(ORDERS)):
        with neighbors(work.program, coming_and_going(draw, 0.75)):
            runs = [(label, _times(argv)) for label in labels(order)]
        for taken in TAKEN if all(times for _, times in runs) else ():
            found[f"{order}, {taken}"] = [log_ratio(runs, taken)]
    return found


def labels(order: str) -> str:
    """The labels of ten runs: AAAAABBBBB, or AB and BA by turns."""
    return "A" * RUNS + "B" * RUNS if order == "sequential" else ("ABBA" * RUNS)[: 2 * RUNS]


def _times(argv: list[str]) -> Times:
    """Empty where the kernel grants no switch records."""
    run = probe(argv, cpus=CPUS[:1])
    if run["wait_ns"] is None:
        return {}
    return {"wall": run["wall_ns"], "wall less wait": run["wall_ns"] - run["wait_ns"]}


def log_ratio(runs: list[tuple[str, Times]], taken: str) -> float:
    """Log of the ratio of the geometric means."""
    a, b = ([log(times[taken]) for label, times in runs if label == which] for which in "AB")
    return statistics.fmean(a) - statistics.fmean(b)


def figures(found: Round) -> list[Figure]:
    """Standard deviation of each kind of ratio, then the one that counts."""
    table, sd = [], dict[str, float]()
    for name in (f"{order}, {taken}" for order, taken in product(ORDERS, TAKEN)):
        values = found.get(name, [])
        n = len(values)
        if n > 1:
            sd[name] = statistics.stdev(values)
        value = 100 * sd[name] if n > 1 else None
        note = f"known to {100 / sqrt(2 * (n - 1)):.0f}% of it" if n > 1 else "no switch records"
        table.append(Figure(f"sd of the A/A ratio: {name}", value, "%", None, note, n))
    value = ratio(sd.get("interleaved, wall less wait"), sd.get("sequential, wall"))
    return [*table, Figure("7: the last over the first", value, "x", ("<=", 0.1), "", table[-1].n)]


if __name__ == "__main__":
    main("probe_wait_ratio", one_round, figures, rounds=(150, 5))
