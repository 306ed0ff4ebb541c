"""Did the first runs read from disk what the later ones found in memory, and did it show in their scores?

Iterations warm up a process; runs warm up a machine: its page cache, its disks. The first runs are named where both
are measured: they read and the later ones did not, and their scores lie apart. Reading alone is no harm, and a score
alone is no cause.

Source: the rule is this project's own; that first executions differ is T. Kalibera and R. Jones, Rigorous benchmarking
in reasonable time, ISMM 2013. Scores lie apart where the first ones leave Student's prediction interval of the others.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from scalograph.analysis.students_t import t_quantile

FEWEST_LATER = 3
# A later run reads less than this share of what the first one read.
LESS = 0.1
# Scores lie apart by more than so much, and by more than chance brings about once in a hundred times.
SAME = 0.01
_CHANCE = 0.01


@dataclass(frozen=True, slots=True)
class Cold:
    """First runs that were cold.

    Attributes:
        n: how many.
        read: by all of them together, in the unit that was given.
        later: by a typical later one.
        change: their typical score over that of the later ones, less 1.
    """

    n: int
    read: float
    later: float
    change: float


def cold(read: Sequence[float], scores: Sequence[float], least: float) -> Cold | None:
    """The cold runs at the start of a series.

    Args:
        read: what each run read, in the order in which they were made.
        scores: of the same runs, above zero; comparable with each other.
        least: a run that read less than this read nothing to speak of; the unit of `read`.

    Returns:
        None where the first run was not cold, where more than half were, or where fewer than three came later.

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
    """Runs until the first that read little."""
    enough = max(least, LESS * read[0]) if read else least
    return next((n for n, amount in enumerate(read) if amount < enough), len(read))


def _apart(first: Sequence[float], later: Sequence[float]) -> float | None:
    """Log ratio of the first scores to the later ones; None where chance explains it."""
    if min(*first, *later) <= 0:
        return None
    logs = np.log(later)
    change = float(np.log(first).mean() - logs.mean())
    spread = float(logs.std(ddof=1)) * math.sqrt(1 / len(first) + 1 / len(later))
    return change if abs(change) > max(math.log1p(SAME), t_quantile(1 - _CHANCE, len(later) - 1) * spread) else None
