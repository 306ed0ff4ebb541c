"""Which level is the best, and which cannot be told apart from it? All intervals hold at once."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from scalograph.analysis.center import (
    IDENTICAL,
    Center,
    Scores,
    center,
    has_logs,
    present,
)
from scalograph.analysis.estimate import Estimate, check_confidence, exp
from scalograph.analysis.simultaneous import welch_level
from scalograph.analysis.students_t import satterthwaite, t_quantile

METHOD = "typical score over that of the best of the others, multiple comparisons with the best"


@dataclass(frozen=True, slots=True)
class Contender:
    """One level among others.

    Attributes:
        level: of the factor.
        over_best: its typical score over that of the best of the others; an interval that begins at 1 means that this
            level is not the best, one that ends at 1 that it is the only best, one that holds 1 that it may be.
        may_be_best: whether it cannot be told apart from the best.
    """

    level: float
    over_best: Estimate
    may_be_best: bool


def contenders(samples: Mapping[float, Scores], confidence: float = 0.95) -> list[Contender]:
    """Each level against the best of the others, lower scores being better, in the order given.

    Levels that may be the best are a confidence set: it holds the true best with `confidence` or more.

    Args:
        samples: level -> scores of its runs, all in one unit and above zero.
        confidence: of all intervals at once.

    Returns:
        Empty below two levels, or where one has fewer than two scores or one without a log: nothing can be said then.

    Raises:
        ValueError: `confidence` is no probability.

    Source: J. C. Hsu, Simultaneous confidence intervals for all distances from the "best", Ann. Statist. 9 (1981), and
    Constrained simultaneous confidence intervals for multiple comparisons with the best, Ann. Statist. 12 (1984); with
    spreads of their own as in simultaneous.py, whose two-sided levels are on the safe side here.

    >>> [c.may_be_best for c in contenders({1: [20.0, 20.2, 19.9], 2: [10.0, 10.1, 9.9], 4: [10.0, 10.1, 9.8]})]
    [False, True, True]
    """
    check_confidence(confidence)
    values = {level: present(scores)[0] for level, scores in samples.items()}
    if len(values) < 2 or any(x.size < 2 for x in values.values()) or not has_logs(*values.values()):
        return []
    centers = [center(np.log(x)) for x in values.values()]
    halves = _half_widths(centers, confidence)
    gaps = [[i.value - j.value for j in centers] for i in centers]
    lower = [max(gaps[i][j] - halves[i][j] for j in _others(i, centers)) for i in range(len(centers))]
    may_be = [low <= 0 for low in lower]
    found = []
    for i, (level, x) in enumerate(values.items()):
        value = max(gaps[i][j] for j in _others(i, centers))
        low, high = _ends(i, lower[i], gaps, halves, may_be)
        estimate = Estimate(exp(value), exp(low), exp(high), confidence, int(x.size), METHOD)
        if min(halves[i][j] for j in _others(i, centers)) == 0:
            estimate = estimate.warned(IDENTICAL)
        found.append(Contender(level, estimate, may_be[i]))
    return found


def _ends(
    i: int, lower: float, gaps: Sequence[Sequence[float]], halves: Sequence[Sequence[float]], may_be: Sequence[bool]
) -> tuple[float, float]:
    """Ends of the log ratio to the best of the others, constrained: a level that is out cannot be the better one."""
    rivals = [j for j, possible in enumerate(may_be) if possible and j != i]
    high = max(0.0, max(gaps[i][j] + halves[j][i] for j in rivals)) if rivals else 0.0
    return min(0.0, lower) if may_be[i] else 0.0, high


def _half_widths(centers: Sequence[Center], confidence: float) -> list[list[float]]:
    """Of the log ratio i over j, with i as the one that all others are held against."""
    found = []
    for i, one in enumerate(centers):
        level = welch_level(one, [centers[j] for j in _others(i, centers)], confidence)
        found.append([_half(one, other, level) for other in centers])
    return found


def _half(one: Center, other: Center, level: float) -> float:
    se = math.hypot(one.se, other.se)
    return t_quantile(level, satterthwaite(one, other)) * se


def _others(i: int, centers: Sequence[Center]) -> list[int]:
    return [j for j in range(len(centers)) if j != i]
