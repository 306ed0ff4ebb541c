"""Did the first runs read from disk what later runs found in memory, and did their scores show it?

Iterations warm up a process; runs warm up a machine: its page cache and its disks. The first runs are reported if they
read and the later ones did not, and if their scores differ too. Reading alone does no harm, and a score alone is no
cause.

Source: the rule is this project's own; that first executions differ is T. Kalibera and R. Jones, Rigorous benchmarking
in reasonable time, ISMM 2013. Scores differ if the first ones lie outside Student's prediction interval of the others.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from scalograph.analysis.quantiles import t_quantile

FEWEST_LATER = 3
# A later run reads less than this share of what the first one read.
LESS = 0.1
# Scores differ by more than this, and by more than chance causes once in a hundred times.
SAME = 0.01
_CHANCE = 0.01


@dataclass(frozen=True, slots=True)
class Cold:
    """First runs that were cold.

    Attributes:
        n: how many.
        read: amount that all of them together read, in the unit of the input.
        later: amount that a typical later run read.
        change: their typical score over that of the later runs, minus 1.
    """

    n: int
    read: float
    later: float
    change: float


def cold(read: Sequence[float], scores: Sequence[float], least: float) -> Cold | None:
    """Find the cold runs at the start of a series.

    Args:
        read: amount that each run read, in the order of the runs.
        scores: of the same runs, above zero; comparable with each other.
        least: a run that read less than this counts as having read nothing; in the unit of `read`.

    Returns:
        None if the first run was not cold, more than half were cold, or fewer than three came later.

    >>> cold([300.0, 0, 0, 0], [1.2, 1.0, 1.001, 0.999], least=1).n
    1
    >>> cold([300.0, 300.0, 300.0, 300.0], [1.2, 1.0, 1.001, 0.999], least=1) is None
    True
    """
    n = _leading(read, least)
    if n == 0 or n > len(read) // 2 or len(read) - n < FEWEST_LATER:
        return None
    later = float(np.median(read[n:]))
    change = _apart(scores[:n], scores[n:])
    if later > LESS * read[0] or change is None:
        return None
    return Cold(n, float(sum(read[:n])), later, math.expm1(change))


def _leading(read: Sequence[float], least: float) -> int:
    """Count the runs before the first that read little."""
    enough = max(least, LESS * read[0]) if read else least
    return next((n for n, amount in enumerate(read) if amount < enough), len(read))


def _apart(first: Sequence[float], later: Sequence[float]) -> float | None:
    """Return the log ratio of the first scores to the later ones; None if chance explains it."""
    if min(*first, *later) <= 0:
        return None
    logs = np.log(later)
    change = float(np.log(first).mean() - logs.mean())
    spread = float(logs.std(ddof=1)) * math.sqrt(1 / len(first) + 1 / len(later))
    return change if abs(change) > max(math.log1p(SAME), t_quantile(1 - _CHANCE, len(later) - 1) * spread) else None
