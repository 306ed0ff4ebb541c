"""Cold first runs: they read from disk what later runs found in the page cache, and their scores differ.

Both are required: reading alone does no harm, and a score alone is no cause.

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
class ColdStart:
    """Cold first runs.

    Attributes:
        n: number of cold runs.
        read: amount that they read together, in the unit of the input.
        later: amount that a typical later run read.
        change: their typical score over that of the later runs, minus 1.
    """

    n: int
    read: float
    later: float
    change: float


def find_cold_start(read: Sequence[float], scores: Sequence[float], least: float) -> ColdStart | None:
    """Find the cold runs at the start of a series.

    None if the first run was not cold, more than half were, or fewer than three came later.

    Args:
        read: amount that each run read, in order.
        scores: of the same runs, above zero.
        least: amount below which a run counts as having read nothing.

    >>> find_cold_start([300.0, 0, 0, 0], [1.2, 1.0, 1.001, 0.999], least=1).n
    1
    >>> find_cold_start([300.0, 300.0, 300.0, 300.0], [1.2, 1.0, 1.001, 0.999], least=1) is None
    True
    """
    enough = max(least, LESS * read[0]) if read else least
    n = next((n for n, amount in enumerate(read) if amount < enough), len(read))
    if n == 0 or n > len(read) // 2 or len(read) - n < FEWEST_LATER:
        return None
    later = float(np.median(read[n:]))
    change = _score_change(scores[:n], scores[n:])
    if later > LESS * read[0] or change is None:
        return None
    return ColdStart(n, float(sum(read[:n])), later, math.expm1(change))


def _score_change(first: Sequence[float], later: Sequence[float]) -> float | None:
    """Return the log ratio of the first scores to the later ones; None if chance explains it."""
    if min(*first, *later) <= 0:
        return None
    logs = np.log(later)
    change = float(np.log(first).mean() - logs.mean())
    spread = float(logs.std(ddof=1)) * math.sqrt(1 / len(first) + 1 / len(later))
    return change if abs(change) > max(math.log1p(SAME), t_quantile(1 - _CHANCE, len(later) - 1) * spread) else None
