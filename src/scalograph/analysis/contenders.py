"""Multiple comparisons with the best: the levels that may be the best one, from contrasts within blocks."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from scalograph.analysis.center import IDENTICAL, FloatArray
from scalograph.analysis.contrast import Contrast, paired_contrast
from scalograph.analysis.estimate import Estimate, check_confidence, exp
from scalograph.analysis.quantiles import student_t, t_quantile

METHOD = "typical score over that of the best of the others, within blocks, multiple comparisons with the best"
POWER = 0.8  # probability of detecting the effect that `visible` names

Pair = tuple[float, float]
Pairs = Mapping[Pair, Contrast]
# Blocks of one level in order, and their scores.
Column = tuple["np.ndarray[tuple[int], np.dtype[np.int64]]", FloatArray]


@dataclass(frozen=True, slots=True)
class Contender:
    """One level compared with the best.

    Attributes:
        level: of the factor.
        over_best: its typical score over that of the best of the others; an interval that begins at 1 means that this
            level is not the best, one that ends at 1 that it is the only best, one that holds 1 that it may be.
        may_be_best: whether it cannot be distinguished from the best.
        visible: share by which it must be slower than the best to be detected with 80% power.
    """

    level: float
    over_best: Estimate
    may_be_best: bool
    visible: float


def contenders(samples: Mapping[float, Mapping[int, float]], confidence: float = 0.95) -> list[Contender]:
    """Compare each level with the best of the others, lower scores being better, in the order given.

    Levels that may be the best are a confidence set: it holds the true best with `confidence` or more.

    `samples` are level -> block -> score, all in one unit. Empty below two levels, or where two have fewer than two
    blocks in common, or a score has no log. Raises ValueError if `confidence` is no probability.

    Source: J. C. Hsu, Simultaneous confidence intervals for all distances from the "best", Ann. Statist. 9 (1981), and
    Constrained simultaneous confidence intervals for multiple comparisons with the best, Ann. Statist. 12 (1984); with
    a paired t for each contrast, one-sided at Bonferroni's level.

    >>> runs = {1: [20.0, 20.2, 19.9], 2: [10.0, 10.1, 9.9], 4: [10.0, 10.1, 9.8]}
    >>> [c.may_be_best for c in contenders({level: dict(enumerate(scores)) for level, scores in runs.items()})]
    [False, True, True]
    """
    check_confidence(confidence)
    columns = {level: _column(scores) for level, scores in samples.items()}
    contrasts = {(a, b): _contrast(columns[a], columns[b]) for a, b in combinations(samples, 2)}
    usable = {pair: contrast for pair, contrast in contrasts.items() if contrast and contrast.df > 0}
    if not usable or len(usable) < len(contrasts):
        return []
    pairs = {**usable, **{(b, a): contrast.invert() for (a, b), contrast in usable.items()}}
    single = 1 - 2 * (1 - confidence) / (len(samples) - 1)
    halves = {pair: t_quantile(single, contrast.df) * contrast.se for pair, contrast in pairs.items()}
    lower = {i: max(pairs[i, j].delta - halves[i, j] for j in samples if j != i) for i in samples}
    return [_contender(i, pairs, halves, lower, single, confidence) for i in samples]


def _contender(
    i: float, pairs: Pairs, halves: Mapping[Pair, float], lower: Mapping[float, float], single: float, confidence: float
) -> Contender:
    mine = [contrast for (level, _), contrast in pairs.items() if level == i]
    rivals = [pairs[i, j].delta + halves[j, i] for j, low in lower.items() if low <= 0 and j != i]
    low, high = min(0.0, lower[i]) if lower[i] <= 0 else 0.0, max(0.0, *rivals) if rivals else 0.0
    value = max(contrast.delta for contrast in mine)
    estimate = Estimate(exp(value), exp(low), exp(high), confidence, mine[0].n, METHOD)
    if min(contrast.se for contrast in mine) == 0:
        estimate = estimate.add_warnings(IDENTICAL)
    least = max((t_quantile(single, contrast.df) + student_t(POWER, contrast.df)) * contrast.se for contrast in mine)
    return Contender(i, estimate, lower[i] <= 0, math.expm1(min(least, 99.0)))


def _column(scores: Mapping[int, float]) -> Column:
    blocks = sorted(scores)
    return np.array(blocks, dtype=np.int64), np.array([*map(scores.__getitem__, blocks)], dtype=np.float64)


def _contrast(a: Column, b: Column) -> Contrast | None:
    (blocks, x), (others, y) = a, b
    if not np.array_equal(blocks, others):
        _, i, j = np.intersect1d(blocks, others, assume_unique=True, return_indices=True)
        x, y = x[i], y[j]
    if x.size < 2 or min(x.min(), y.min()) <= 0:
        return None
    return paired_contrast(np.log(x), np.log(y))
