"""Which level is the best, and which cannot be told apart from it? From contrasts within blocks, all at once."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from scalograph.analysis.center import IDENTICAL
from scalograph.analysis.contrast import Contrast, paired
from scalograph.analysis.estimate import Estimate, check_confidence, exp
from scalograph.analysis.quantiles import student_t
from scalograph.analysis.students_t import t_quantile

METHOD = "typical score over that of the best of the others, within blocks, multiple comparisons with the best"
# How often the least effect that is told would be told.
POWER = 0.8


@dataclass(frozen=True, slots=True)
class Contender:
    """One level among others.

    Attributes:
        level: of the factor.
        over_best: its typical score over that of the best of the others; an interval that begins at 1 means that this
            level is not the best, one that ends at 1 that it is the only best, one that holds 1 that it may be.
        may_be_best: whether it cannot be told apart from the best.
        visible: how much slower than the best, as a share, it must be to be told apart four times in five.
    """

    level: float
    over_best: Estimate
    may_be_best: bool
    visible: float


def contenders(samples: Mapping[float, Mapping[int, float]], confidence: float = 0.95) -> list[Contender]:
    """Each level against the best of the others, lower scores being better, in the order given.

    Levels that may be the best are a confidence set: it holds the true best with `confidence` or more. What all runs of
    a block share, such as a slow hour, is in no contrast.

    Args:
        samples: level -> block -> score, all in one unit and above zero.
        confidence: of all intervals at once.

    Returns:
        Empty below two levels, or where two have fewer than two blocks in common, or a score has no log.

    Raises:
        ValueError: `confidence` is no probability.

    Source: J. C. Hsu, Simultaneous confidence intervals for all distances from the "best", Ann. Statist. 9 (1981), and
    Constrained simultaneous confidence intervals for multiple comparisons with the best, Ann. Statist. 12 (1984); with
    a paired t for each contrast, one-sided at Bonferroni's level.

    >>> runs = {1: [20.0, 20.2, 19.9], 2: [10.0, 10.1, 9.9], 4: [10.0, 10.1, 9.8]}
    >>> [c.may_be_best for c in contenders({level: dict(enumerate(scores)) for level, scores in runs.items()})]
    [False, True, True]
    """
    check_confidence(confidence)
    levels = list(samples)
    contrasts = [[_contrast(samples[i], samples[j]) for j in levels if j != i] for i in levels]
    if len(levels) < 2 or any(one is None or one.df <= 0 for row in contrasts for one in row):
        return []
    alpha = (1 - confidence) / (len(levels) - 1)
    known = [[one for one in row if one] for row in contrasts]
    gaps, halves = _squares(known, 1 - 2 * alpha)
    lower = [max(gaps[i][j] - halves[i][j] for j in _others(i, gaps)) for i in range(len(levels))]
    may_be = [low <= 0 for low in lower]
    found = []
    for i, level in enumerate(levels):
        value = max(gaps[i][j] for j in _others(i, gaps))
        low, high = _ends(i, lower[i], gaps, halves, may_be)
        estimate = Estimate(exp(value), exp(low), exp(high), confidence, known[i][0].n, METHOD)
        if min(one.se for one in known[i]) == 0:
            estimate = estimate.warned(IDENTICAL)
        least = max((t_quantile(1 - 2 * alpha, one.df) + student_t(POWER, one.df)) * one.se for one in known[i])
        found.append(Contender(level, estimate, may_be[i], math.expm1(min(least, 99.0))))
    return found


def _contrast(a: Mapping[int, float], b: Mapping[int, float]) -> Contrast | None:
    """Of the blocks that both have; None where they are too few, or a score has no log."""
    both = sorted(a.keys() & b.keys())
    if len(both) < 2 or min(min(a[block], b[block]) for block in both) <= 0:
        return None
    logs = [np.log([scores[block] for block in both]) for scores in (a, b)]
    return paired(logs[0], logs[1])


def _squares(known: Sequence[Sequence[Contrast]], level: float) -> tuple[list[list[float]], list[list[float]]]:
    """Log ratios i over j and half of the widths of their intervals; 0 on the diagonal."""
    gaps = [[one.delta for one in row] for row in known]
    halves = [[t_quantile(level, one.df) * one.se for one in row] for row in known]
    for rows in (gaps, halves):
        for i, row in enumerate(rows):
            row.insert(i, 0.0)
    return gaps, halves


def _ends(
    i: int, lower: float, gaps: Sequence[Sequence[float]], halves: Sequence[Sequence[float]], may_be: Sequence[bool]
) -> tuple[float, float]:
    """Ends of the log ratio to the best of the others, constrained: a level that is out cannot be the better one."""
    rivals = [j for j, possible in enumerate(may_be) if possible and j != i]
    high = max(0.0, max(gaps[i][j] + halves[j][i] for j in rivals)) if rivals else 0.0
    return min(0.0, lower) if may_be[i] else 0.0, high


def _others(i: int, among: Sequence[object]) -> list[int]:
    return [j for j in range(len(among)) if j != i]
