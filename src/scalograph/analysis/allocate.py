"""Allocation of measuring time to runs, iterations and baseline runs."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from scalograph.analysis.center import Scores, finite_scores, has_logs

MOST = 1000  # iterations per run; a longer run is a soak test


@dataclass(frozen=True, slots=True)
class Allocation:
    """Iterations per run after warm-up; None if the pilot was too small, with the reason in `warnings`."""

    iterations: int | None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Spread:
    """Noise within and between runs, as standard deviations of logs (0.03 is 3%).

    Attributes:
        within: between iterations of a run.
        between: between runs, the noise that iterations cannot average away; 0 if it cannot be seen.
    """

    within: float
    between: float


def iterations_per_run(
    cost_start: float, cost_iteration: float, sd_within: float, sd_between: float, most: int = MOST
) -> Allocation:
    """Return the iterations per run that give the narrowest interval: m* = sqrt(C/c) s_within / s_between.

    Args:
        cost_start: C, cost of a run before its first counted iteration (start and warm-up), any unit.
        cost_iteration: c, cost of an iteration, same unit, above zero.
        sd_within: standard deviation between iterations of a run, on logs.
        sd_between: standard deviation between runs, on logs.
        most: upper limit, which applies if runs do not differ.

    Raises:
        ValueError: a cost or spread is out of range.

    Source: T. Kalibera and R. Jones, Rigorous benchmarking in reasonable time, ISMM 2013, section 6.

    >>> iterations_per_run(100.0, 1.0, 0.02, 0.04).iterations
    5
    """
    for name, value in (("cost_start", cost_start), ("sd_within", sd_within), ("sd_between", sd_between)):
        if not value >= 0:
            raise ValueError(f"{name}: found {value}, expected 0 or more")
    if not cost_iteration > 0:
        raise ValueError(f"cost_iteration: found {cost_iteration}, expected more than 0")
    if sd_within == 0:
        return Allocation(1)
    if sd_between == 0:
        return Allocation(most, ("runs differ by no more than their iterations: as many as allowed",))
    best = math.sqrt(cost_start / cost_iteration) * sd_within / sd_between
    return Allocation(max(1, min(most, round(best))))


def spread(runs: Sequence[Scores]) -> tuple[Spread | None, tuple[str, ...]]:
    """Estimate the noise within and between the runs of one configuration, from iterations after warm-up.

    The variance between runs is that of the run means minus the part that iterations explain, at least zero.
    Without two runs of two iterations, None with the reason. Iterations are above zero; runs may differ in length.

    >>> spread([[1.0, 1.0]])[1]
    ('need >= 2 runs of 2 iterations for the noise between runs, have 1',)
    """
    values = [x for x, _ in map(finite_scores, runs) if x.size >= 2]
    if len(values) < 2:
        return None, (f"need >= 2 runs of 2 iterations for the noise between runs, have {len(values)}",)
    if not has_logs(*values):
        return None, ("an iteration <= 0 has no log: no relative noise",)
    logs = [np.log(x) for x in values]
    degrees = sum(x.size - 1 for x in logs)
    within = sum(float(np.square(x - x.mean()).sum()) for x in logs) / degrees
    harmonic = len(logs) / sum(1 / x.size for x in logs)
    between = float(np.var([x.mean() for x in logs], ddof=1)) - within / harmonic
    return Spread(math.sqrt(within), math.sqrt(max(0.0, between))), ()


def baseline_repeats(repeats: int, columns: int) -> int:
    """Return the runs of a baseline that is compared with `columns` configurations of `repeats` runs each.

    It is sqrt(columns) times as many (C. W. Dunnett, J. Am. Statist. Assoc. 50, 1955). Raises ValueError below 0.

    >>> baseline_repeats(5, 4), baseline_repeats(5, 0)
    (10, 5)
    """
    if repeats < 0 or columns < 0:
        raise ValueError(f"baseline: found {repeats} repeats, {columns} columns, expected 0 or more")
    return math.ceil(repeats * math.sqrt(max(1, columns)) - 1e-9)
