"""Which level is the best, and which cannot be told apart from it? From contrasts within blocks, all at once."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from scalograph.analysis.center import IDENTICAL, FloatArray
from scalograph.analysis.contrast import Contrast, paired
from scalograph.analysis.estimate import Estimate, check_confidence, exp
from scalograph.analysis.quantiles import student_t, t_quantile

METHOD = "typical score over that of the best of the others, within blocks, multiple comparisons with the best"
# How often the least effect that is told would be told.
POWER = 0.8

Pair = tuple[float, float]
Pairs = Mapping[Pair, Contrast]
# Scores of one level and the blocks that they are of, in the order of these.
Column = tuple["np.ndarray[tuple[int], np.dtype[np.int64]]", FloatArray]


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
    columns = {level: _column(scores) for level, scores in samples.items()}
    known = {(a, b): _contrast(columns[a], columns[b]) for a, b in combinations(samples, 2)}
    usable = {pair: one for pair, one in known.items() if one and one.df > 0}
    if not usable or len(usable) < len(known):
        return []
    pairs = {**usable, **{(b, a): one.flipped() for (a, b), one in usable.items()}}
    single = 1 - 2 * (1 - confidence) / (len(samples) - 1)
    halves = {pair: t_quantile(single, one.df) * one.se for pair, one in pairs.items()}
    lower = {i: max(pairs[i, j].delta - halves[i, j] for j in samples if j != i) for i in samples}
    return [_contender(i, pairs, halves, lower, single, confidence) for i in samples]


def _contender(
    i: float, pairs: Pairs, halves: Mapping[Pair, float], lower: Mapping[float, float], single: float, confidence: float
) -> Contender:
    """One level against all others; a level that is out cannot be the better one."""
    mine = [one for (level, _), one in pairs.items() if level == i]
    rivals = [pairs[i, j].delta + halves[j, i] for j, low in lower.items() if low <= 0 and j != i]
    low, high = min(0.0, lower[i]) if lower[i] <= 0 else 0.0, max(0.0, *rivals) if rivals else 0.0
    value = max(one.delta for one in mine)
    estimate = Estimate(exp(value), exp(low), exp(high), confidence, mine[0].n, METHOD)
    if min(one.se for one in mine) == 0:
        estimate = estimate.warned(IDENTICAL)
    least = max((t_quantile(single, one.df) + student_t(POWER, one.df)) * one.se for one in mine)
    return Contender(i, estimate, lower[i] <= 0, math.expm1(min(least, 99.0)))


def _column(scores: Mapping[int, float]) -> Column:
    blocks = sorted(scores)
    return np.array(blocks, dtype=np.int64), np.array([*map(scores.__getitem__, blocks)], dtype=np.float64)


def _contrast(a: Column, b: Column) -> Contrast | None:
    """Of the blocks that both have; None where they are too few, or a score has no log."""
    (blocks, one), (others, two) = a, b
    if not np.array_equal(blocks, others):
        _, i, j = np.intersect1d(blocks, others, assume_unique=True, return_indices=True)
        one, two = one[i], two[j]
    if one.size < 2 or min(one.min(), two.min()) <= 0:
        return None
    return paired(np.log(one), np.log(two))
