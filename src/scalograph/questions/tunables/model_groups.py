"""Estimate how much groups of factors change the performance, and rank settings and factors."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from math import exp, inf, log, log1p
from typing import Literal

import numpy as np

from scalograph.analysis.center import FloatArray
from scalograph.analysis.estimate import Estimate
from scalograph.questions.tunables.model_fit import DRAWS, LARGEST, SettingFit

Label = Literal["positive", "negative", "equivalent", "uncertain"]
# Shares of the noise that lie below the ends of a band, and below what a factor without effect shows at most.
BAND, MOST_BY_NOISE = (0.025, 0.5, 0.975), 0.95


def labels(fit: SettingFit, margin: float) -> list[Label]:
    """Classify each setting as outside of the margin, within it, or uncertain."""
    half, near = fit.critical * fit.errors, log1p(margin)
    return [_label(g - h, g + h, near) for g, h in zip(fit.gains.tolist(), half.tolist(), strict=True)]


def _label(low: float, high: float, near: float) -> Label:
    if low > near:
        return "positive"
    if high < -near:
        return "negative"
    return "equivalent" if -near <= low and high <= near else "uncertain"


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """How much a factor changes the performance over its levels, in percent.

    Attributes:
        value: standard deviation of its levels, the part of the noise taken away.
        plain: with that part, as one-at-a-time studies print it.
        noise: what `plain` is of noise alone, typically: more levels and fewer runs make it larger.
        most: `value` of noise alone, at most, 95 times in 100.
    """

    value: float
    plain: float
    noise: float
    most: float


def sensitivity(fit: SettingFit, factor: int) -> Sensitivity:
    """Measure how much a factor changes the performance over its levels, the default one of them."""
    at = [k for k, (j, _) in enumerate(fit.names) if j == factor]
    if not at:
        return Sensitivity(0.0, 0.0, 0.0, 0.0)
    seen = float(level_variances(fit.gains[None, at])[0])
    drawn = level_variances(fit.noise[:, at])
    expected = float(drawn.mean())
    value, most = max(0.0, seen - expected), max(0.0, float(np.quantile(drawn, MOST_BY_NOISE)) - expected)
    typical = float(np.sqrt(drawn).mean())
    return Sensitivity(100 * value**0.5, 100 * seen**0.5, 100 * typical, 100 * most**0.5)


def level_variances(gains: FloatArray) -> FloatArray:
    """Return variances over the levels of a factor, the default one with a gain of 0; shapes (n, settings) and (n,)."""
    return np.asarray(np.hstack([np.zeros((len(gains), 1)), gains]).var(axis=1, ddof=1))


# The ends of 95% and the middle of what noise alone shows; a rank from 1 on between the lowest and highest it may have.
Band = tuple[float, float, float]
Rank = tuple[int, int, int]


def null_bands(fit: SettingFit) -> tuple[Band, Band]:
    """Estimate the best and the worst of so many settings by noise alone, in percent."""
    extremes = fit.noise.max(axis=1), fit.noise.min(axis=1)
    bands = [100 * np.expm1(np.clip(np.quantile(x, BAND), -LARGEST, LARGEST)) for x in extremes]
    best, worst = ((float(low), float(middle), float(high)) for low, middle, high in bands)
    return best, worst


def ranks(fit: SettingFit) -> list[Rank]:
    """Rank the settings by their performance, 1 the worst; the sets follow from all pairs that differ for sure.

    Source: M. Mogstad, J. P. Romano, A. M. Shaikh, D. Wilhelm, Inference for ranks, Rev. Econ. Stud. 91 (2024): ranks
    from simultaneous intervals of all differences.
    """
    c = fit.covariance
    error = fit.spread * np.sqrt(np.maximum(c.diagonal()[:, None] + c.diagonal()[None, :] - 2 * c, 1e-300))
    first, second = np.triu_indices(len(fit.gains), 1)
    critical = _critical(fit, np.abs(fit.noise[:, first] - fit.noise[:, second]) / error[first, second])
    return _make_ranks(fit.gains, fit.gains[:, None] - fit.gains[None, :] > critical * error)


def sensitivity_ranks(fit: SettingFit, n_factors: int) -> list[Rank]:
    """Rank the factors by their sensitivity, 1 the most, by all pairs that differ for sure.

    The standard deviation of a factor's levels, the share of the noise taken away, errs as the gains do in one
    direction where it is large, and by less where it is small. So a pair differs for sure where the distance is more
    than noise makes in the widest direction of both (benchmarks/statistics_tunables.py: also where factors tie).

    `n_factors`: of the study; one without a known level may have any place.
    """
    spreads = [deviations(fit, factor) for factor in range(n_factors)]
    variance = [fit.spread**2 * first @ fit.covariance @ first.T for first in spreads]
    square = np.array([float(np.square(first @ fit.gains).sum()) for first in spreads]) - [
        np.trace(v) for v in variance
    ]
    widest = np.array([np.linalg.norm(v, 2) for v in variance])
    shared = [[fit.spread**2 * np.linalg.norm(a @ fit.covariance @ b.T, 2) for b in spreads] for a in spreads]
    error = np.sqrt(np.maximum(widest[:, None] + widest[None, :] + 2 * np.array(shared), 1e-300))
    first, second = np.triu_indices(n_factors, 1)
    alone = np.random.default_rng((fit.seed + 2) % 2**63).standard_normal((DRAWS, n_factors)) * np.sqrt(widest)
    apart = np.abs(alone[:, first] - alone[:, second]) / np.sqrt(np.maximum(widest[first] + widest[second], 1e-300))
    has_levels = np.array([first.shape[0] > 1 for first in spreads])
    seen = np.where(has_levels, np.sqrt(np.maximum(square, 0.0)), np.nan)
    return _make_ranks(-square, (seen[:, None] - seen[None, :] > _critical(fit, apart) * error).T)


def deviations(fit: SettingFit, factor: int) -> FloatArray:
    """Return the matrix that maps gains to the deviations of a factor's levels, shape (levels, settings).

    Shape (levels, settings).
    """
    at = [k for k, (j, _) in enumerate(fit.names) if j == factor]
    levels = np.zeros((len(at) + 1, len(fit.names)))
    levels[range(1, len(at) + 1), at] = 1.0
    return np.asarray((levels - levels.mean(axis=0)) / max(1, len(at)) ** 0.5)


def _critical(fit: SettingFit, apart: FloatArray) -> float:
    """Return the multiple of each pair's own error that no pair exceeds by noise alone."""
    return float(np.quantile((apart / fit.t_scale).max(axis=1, initial=0.0), fit.confidence))


def _make_ranks(values: FloatArray, above: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> list[Rank]:
    """Rank values from the least on; `above[i, j]` tells that i is more than j for sure."""
    order = np.argsort(np.argsort(values, kind="stable"), kind="stable")
    ends = (1 + above.sum(axis=1)).tolist(), (order + 1).tolist(), (len(values) - above.sum(axis=0)).tolist()
    return [*zip(*ends, strict=True)]


MOST_TIMES = 100.0  # beyond so many times, or one over that, the smaller group may as well do nothing
HALVINGS = 14  # halvings of the logs of such ratios: an end is known to a thousandth
METHOD = "means of the factors' standard deviations over their levels, the noise taken away; inverted tests"
OPEN_END = "an end of the interval is open: one of the groups may do nothing"
_TINY = 1e-12


class GroupSpread:
    """Spread of the levels of a group's factors: as seen, and by noise.

    Attributes:
        seen: standard deviation of the levels of each factor, shape (factors,).
        drawn: the same of noise alone, shape (draws, factors).
        value: mean over the factors, the share of the noise taken away.
    """

    def __init__(self, fit: SettingFit, factors: Sequence[int]) -> None:
        shapes = [deviations(fit, factor) for factor in factors]
        levels, noise = [matrix @ fit.gains for matrix in shapes], [fit.noise @ matrix.T for matrix in shapes]
        self.seen = np.array([np.linalg.norm(matrix) for matrix in levels])
        self.drawn = np.stack([np.linalg.norm(matrix, axis=1) for matrix in noise], axis=1)
        self._added = np.square(self.drawn).mean(axis=0)
        self._kept = self._remove_noise(self.seen, self._added)
        self.value = float(self._kept.mean())
        along = [
            a @ matrix / max(float(np.linalg.norm(matrix)), _TINY) for a, matrix in zip(noise, levels, strict=True)
        ]
        self._along, self._scale = np.stack(along, axis=1) / fit.t_scale, fit.t_scale

    @cached_property
    def _suppositions(self) -> FloatArray:
        """Suppose the strength of each factor, where their mean is 1; shape (suppositions, factors).

        What noise adds depends on it, and few runs do not tell it: as they were seen, all alike, the strongest alone.
        """
        alike, alone = np.ones_like(self.seen), np.zeros_like(self.seen)
        alone[np.argmax(self.seen)] = len(alone)
        return np.stack([self._kept / self.value if self.value else alike, alike, alone])

    def simulate_means(self, truth: float) -> FloatArray:
        """Draw what runs would show if the mean over the factors were this, the noise taken away.

        Of each supposition on how strong the single ones are, that they are as seen first; (suppositions, draws).
        """
        length = truth * self._suppositions[:, None, :]
        variance = np.square(length) + 2 * length * self._along + np.square(self.drawn / self._scale)
        spread = np.sqrt(np.maximum(variance, 0.0))
        return np.asarray(self._remove_noise(spread, self._added / self._scale**2).mean(axis=2))

    @cached_property
    def variance(self) -> float:
        return float(self.simulate_means(self.value)[0].var()) + _TINY

    @property
    def sensitivity(self) -> Sensitivity:
        """Return the mean sensitivity of its factors, in percent."""
        most = np.quantile(self._remove_noise(self.drawn, self._added).mean(axis=1), MOST_BY_NOISE)
        return Sensitivity(*(100 * float(x) for x in (self.value, self.seen.mean(), self.drawn.mean(), most)))

    @staticmethod
    def _remove_noise(spread: FloatArray, added: FloatArray) -> FloatArray:
        return np.asarray(np.sqrt(np.maximum(np.square(spread) - added, 0.0)))


def plain_ratio(first: GroupSpread, second: GroupSpread) -> tuple[float, tuple[float, float, float]]:
    """Return the ratio of two groups as one-at-a-time studies have it.

    Mean over mean of the standard deviations with their noise; and the same of noise alone, the ends of 95% and
    the middle: it is not 1 where the factors of one group have more settings, or fewer runs.
    """
    low, middle, high = np.quantile(_bounded_ratio(first.drawn.mean(axis=1), second.drawn.mean(axis=1)), BAND)
    return float(_bounded_ratio(first.seen.mean(), second.seen.mean())), (float(low), float(middle), float(high))


def group_ratio(first: GroupSpread, second: GroupSpread, confidence: float, n: int) -> Estimate:
    """Estimate the ratio of the sensitivities of two groups.

    A ratio belongs to the interval if studies in which it is the true one would often show what this one shows: draws
    of the noise around the group means that are nearest to the seen ones and have that ratio. What noise adds to a mean
    depends on how strong its factors are beside each other, which few runs do not tell: it is supposed that they are as
    they were seen, all alike, or one alone, and the interval has what any of these allows. Numbers of settings and of
    runs are in the draws; an end is open where a group may do nothing.

    Source: inversion of tests by simulation, e.g. P. H. Garthwaite and S. T. Buckland, Generating Monte Carlo
    confidence intervals by the Robbins-Monro process, Appl. Statist. 41 (1992).
    """
    tail, share = (1 - confidence) / 2, partial(_share_less, first, second)
    low = _crossing(lambda ratio: float(share(ratio).min()), 1 - tail)
    high = _crossing(lambda ratio: float(share(ratio).max()), tail)
    value = _crossing(lambda ratio: float(share(ratio)[0, 0]), 0.5)
    if value in (0.0, inf):  # where a group may do nothing; what is seen with the noise is a number
        value, _ = plain_ratio(first, second)
    least, most = 1 / MOST_TIMES, MOST_TIMES
    low, high = min(low, most), max(high, least)
    warned = (OPEN_END,) if high == inf or not low else ()
    value = min(max(value, low, least), high, most)
    return Estimate(value, low, None if high == inf else high, confidence, n, METHOD, warned)


def _share_less(first: GroupSpread, second: GroupSpread, ratio: float) -> FloatArray:
    """Return the share of studies that show a smaller ratio, if `ratio` is true; shape (suppositions, suppositions)."""
    seen = first.value - ratio * second.value
    weight = ratio**2 / first.variance + 1 / second.variance
    truth = (ratio * first.value / first.variance + second.value / second.variance) / weight
    shown = first.simulate_means(ratio * truth)[:, None] - ratio * second.simulate_means(truth)[None, :]
    return np.asarray(((shown < seen).mean(axis=2) + (shown <= seen).mean(axis=2)) / 2)


def _crossing(share: Callable[[float], float], at: float) -> float:
    """Find the ratio at which a falling share equals `at`; 0 or infinity where it is never above, or below."""
    low, high = -log(MOST_TIMES), log(MOST_TIMES)
    if share(exp(low)) <= at:
        return 0.0
    if share(exp(high)) >= at:
        return inf
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if share(exp(middle)) > at else (low, middle)
    return exp((low + high) / 2)


def _bounded_ratio(upper: FloatArray, lower: FloatArray) -> FloatArray:
    return np.asarray(upper / np.maximum(lower, _TINY))
