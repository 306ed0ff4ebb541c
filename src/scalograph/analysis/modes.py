"""Do runs fall into two modes, so that no run takes what is typical of all?"""

import math
from typing import NamedTuple

import numpy as np

from scalograph.analysis.center import FloatArray, Scores, has_logs, present
from scalograph.analysis.step import common_step

# Fewer runs show no modes, a mode has at least this share of them and three; fewer are outliers.
FEWEST, LEAST_SHARE, LEAST_RUNS = 8, 0.2, 3
MODES_OF_FEW = f"runs have two modes: an interval takes {FEWEST} runs or more, there are {{}}"
# Empty space between modes over the mean deviation within them: so much over the count of runs, but at least 2. Of
# normal, lognormal, slowed and drifting runs 4 to 5 % have more (benchmarks/statistics_ab.py).
EMPTY, LEAST_EMPTY = 44.0, 2.0
# A machine that changes once has two levels one after the other: fewer changes are no modes.
CHANGES = 3
# Values on a grid are farther apart than their spread: modes are apart by more steps than this.
STEPS_APART = 1.5


class Modes(NamedTuple):
    """Two groups of runs with empty space between them.

    Attributes:
        low: median of the lower group, in the unit of the scores.
        high: that of the higher one.
        share_low: share of the runs in the lower one, 0 to 1.
        n: runs in all.
    """

    low: float
    high: float
    share_low: float
    n: int


def modes(scores: Scores) -> Modes | None:
    """Return the two modes of runs in the order in which they were made; None where no two are shown.

    >>> modes([100, 101, 77, 99, 100, 78, 101, 77, 100, 99])
    Modes(low=77.0, high=100.0, share_low=0.3, n=10)
    >>> modes(range(100, 120)) is None
    True
    """
    values, _ = present(scores)
    if values.size < FEWEST or not has_logs(values):
        return None
    ordered = np.sort(values)
    n_low = _split(np.log(ordered))
    if not n_low or np.count_nonzero(np.diff(values < ordered[n_low])) < CHANGES:
        return None
    step = common_step(values)
    if step is not None and ordered[n_low] - ordered[n_low - 1] < STEPS_APART * step:
        return None
    low, high = float(np.median(ordered[:n_low])), float(np.median(ordered[n_low:]))
    return Modes(low, high, n_low / values.size, int(values.size))


def _split(logs: FloatArray) -> int:
    """Runs below the widest empty space for the spread beside it, of sorted logs; 0 where it is not wide enough."""
    n = logs.size
    least = max(LEAST_RUNS, math.ceil(LEAST_SHARE * n))
    counts = np.arange(least, n - least + 1)
    if not counts.size:
        return 0
    sums = np.concatenate([[0.0], np.cumsum(logs)])
    spread = (_deviation(sums, np.zeros_like(counts), counts) + _deviation(sums, counts, np.full_like(counts, n))) / n
    wide = logs[counts] - logs[counts - 1] - max(EMPTY / n, LEAST_EMPTY) * spread
    best = int(np.argmax(wide))
    return int(counts[best]) if wide[best] > 0 else 0


def _deviation(sums: FloatArray, first: np.ndarray, end: np.ndarray) -> FloatArray:
    """Sum of the distances from the median of each stretch of sorted values, from their running sums."""
    below, above = (first + end) // 2, (first + end + 1) // 2
    return np.asarray(sums[end] - sums[above] - sums[below] + sums[first])
