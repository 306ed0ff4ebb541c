"""Weigh how well each step explains the runs, and how well none does.

The log of a score is a line in the log of the level, a smooth curve around it, perhaps a bend or a step, and noise.
The coefficients are normal and integrated out; the sizes of noise and curve are summed over a grid, so that what is
smooth is no cliff. The prior of a jump is cut at 20%. One run may be slowed: each hypothesis is weighed without it
too, by the leave-one-out density, which is a mixture and no exclusion.

Source: C. E. Rasmussen and C. K. I. Williams, Gaussian Processes for Machine Learning (2006), 2.7 (explicit basis
functions) and 5.4.2 (leave-one-out in closed form).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from math import log, pi

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp, ndtr

from scalograph.analysis.center import FloatArray

# Relative widths: the sharp ones are cliffs, the others transitions, which have an interval rather than a place.
# The sharpest lies wholly between two levels, however near they are.
SHARP, GRADUAL = (1e-6, 0.01, 0.03, 0.08), (0.2, 0.4)
# How probable the gradual ones are before.
GRADUAL_SHARE = 0.2
# Standard deviations between which 80% of a normal distribution lie, and places per width: more would look the same.
MIDDLE, PLACES = 2.563, 3
# So many standard deviations away a step has happened wholly, or not at all.
FAR = 9.0
# Places of one width at most: of more levels, gaps are joined until they are so few.
MOST_PLACES = 600


@dataclass(frozen=True, slots=True)
class Steps:
    """Hypotheses, one in each row.

    Attributes:
        places: log of the level at half of the jump.
        spans: log ratio of the two levels around the place; more than two where gaps are joined.
        log_prior: log of the prior weights, which sum to 1.
    """

    places: FloatArray
    widths: FloatArray
    spans: FloatArray
    log_prior: FloatArray

    def only(self, chosen: NDArray[np.bool_]) -> "Steps":
        return Steps(self.places[chosen], self.widths[chosen], self.spans[chosen], self.log_prior[chosen])

    def heights(self, logs: FloatArray) -> FloatArray:
        """Return the share of the jump that has happened at each log level; shape (steps, levels)."""
        away = (logs[None, :] - self.places[:, None]) * (MIDDLE / self.widths[:, None])
        shares = (away > 0).astype(float)
        near = np.abs(away) < FAR
        shares[near] = ndtr(away[near])
        return shares


@lru_cache(maxsize=8)
def steps(levels: tuple[int, ...]) -> Steps:
    """Make a step of every width between all adjacent levels.

    Raises ValueError unless there are two levels or more, ascending, each at least 1.

    >>> found = steps((1, 2, 4, 8))
    >>> [round(float(n), 2) for n in np.exp(found.places[:3])], round(float(np.exp(found.log_prior).sum()), 6)
    ([1.41, 2.83, 5.66], 1.0)
    """
    if len(levels) < 2 or levels[0] < 1 or any(a >= b for a, b in pairwise(levels)):
        raise ValueError(f"levels: found {list(levels)[:8]}, expected at least two, growing, from 1 on")
    logs = np.log(np.array(levels, dtype=float))
    gaps = [(float(a), float(b)) for a, b in pairwise(logs)]
    widths = SHARP + GRADUAL
    rows = [(middle, w, length) for w in widths for middle, length in _join_gaps(gaps, w, float(logs[-1] - logs[0]))]
    places, wide, lengths = np.array(rows).T
    shares = np.where(np.isin(wide, GRADUAL), GRADUAL_SHARE / len(GRADUAL), (1 - GRADUAL_SHARE) / len(SHARP))
    return Steps(places, wide, lengths, np.log(lengths * shares / (logs[-1] - logs[0])))


def _join_gaps(gaps: Sequence[tuple[float, float]], width: float, span: float) -> Iterator[tuple[float, float]]:
    """Yield middle and length of gaps, joined while they are shorter than a step of this width could show."""
    shortest = max(width / PLACES, span / MOST_PLACES if len(gaps) > MOST_PLACES else 0.0)
    begin = gaps[0][0]
    for number, (_, end) in enumerate(gaps, 1):
        if end - begin >= shortest or number == len(gaps):
            yield (begin + end) / 2, end - begin
            begin = end


# Least jump of the time that is called one, and what is believed of its size before: the standard deviation of its log.
LEAST, JUMP_SD = log(1.2), log(2.0)
# The same of the level as a whole (the logs are centered), of the slope, and of a bend of the slope.
LEVEL_SD, SLOPE_SD, BEND_SD = 3.0, 0.5, 1.0
# Noise of a run, and how probable each size is.
NOISES, NOISE_PRIOR = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32), (0.1, 0.25, 0.35, 0.2, 0.07, 0.03)
# The smooth curve: standard deviation, and the log of the ratio of levels over which it changes.
CURVES = ((0.0, 1.0), (0.15, 1.0), (0.5, 1.0), (0.15, 2.5), (0.5, 2.5), (2.0, 2.5))
CURVE_PRIOR = (0.5, 0.1, 0.1, 0.1, 0.1, 0.1)
# Runs that something slowed, and the density of the log of how much: evenly up to three times.
SLOWED, SLOW_DENSITY = 0.03, 1 / log(3.0)
N_BENDS = 12
# Steps whose heights at all runs are the same to so many digits explain them the same, and are weighed once.
ALIKE = 2
# Sizes of noise and curve so many nats below the best, by the sharpest and the gradual steps, are left out.
HOPELESS = 12.0
# Numbers of one array that a cache holds beside a few others.
CHUNK = 20_000
# Before anything was measured, a cliff is as probable as none.
CLIFF_PRIOR = 0.5
# The same of a further one, once one is known.
FURTHER_PRIOR = 0.2


@dataclass(frozen=True, slots=True)
class SmoothTrend:
    """One size of noise and of the smooth curve: standard deviations, log reach in levels, and log prior."""

    noise: float
    sd: float
    reach: float
    log_prior: float


@dataclass(frozen=True, slots=True)
class JumpEvidence:
    """Evidence of the runs for each step.

    Attributes:
        weights: posterior share of each step, given that there is one; sum 1.
        cliff: log of the evidence for a step over that for none.
        curve: the most probable sizes, given that there is a step.
        slowed: probability that a run was slowed, for each run.
        jump: expected log of the jump under each step, at the most probable sizes.
        jump_sd: its standard deviation.
    """

    weights: FloatArray
    cliff: float
    curve: SmoothTrend
    slowed: FloatArray
    jump: FloatArray
    jump_sd: FloatArray


@dataclass(frozen=True, slots=True)
class _FeatureWeights:
    """Log weights of rank-one additions to covariances, shape (curves, additions); `slowed` per run."""

    weights: FloatArray
    slowed: FloatArray
    mean: FloatArray
    variance: FloatArray


@dataclass(frozen=True, slots=True)
class _Parts:
    """Weights for each size of noise and curve; `base` is the log density without step or bend."""

    base: FloatArray
    step: _FeatureWeights
    plain: _FeatureWeights

    @property
    def best(self) -> FloatArray:
        """Return the log density of each under its best step or bend."""
        return np.asarray(self.base + np.maximum(self.step.weights.max(axis=1), self.plain.weights.max(axis=1)))


@dataclass(frozen=True, slots=True)
class _Runs:
    """The runs (centered logs), and heights of steps and bends at them, shape (hypotheses, runs)."""

    x: FloatArray
    y: FloatArray
    known: FloatArray
    heights: FloatArray
    bends: FloatArray


def curves() -> Iterator[SmoothTrend]:
    """Yield every size of noise with every smooth curve."""
    for noise, p in zip(NOISES, NOISE_PRIOR, strict=True):
        for (sd, reach), q in zip(CURVES, CURVE_PRIOR, strict=True):
            yield SmoothTrend(noise, sd, reach, log(p * q))


def covariance(x: FloatArray, z: FloatArray, curve: SmoothTrend, features: FloatArray, at: FloatArray) -> FloatArray:
    """Return the covariance of log scores at centered log levels x and z, without noise, known steps included.

    `features`: heights of known steps and bends at x, each times its standard deviation, shape (known, x); `at`: at z.
    """
    smooth = curve.sd**2 * np.exp(-0.5 * ((x[:, None] - z[None, :]) / curve.reach) ** 2)
    return np.asarray(LEVEL_SD**2 + SLOPE_SD**2 * x[:, None] * z[None, :] + smooth + features.T @ at)


def variance(x: FloatArray, curve: SmoothTrend, features: FloatArray) -> FloatArray:
    """Return the diagonal of `covariance` at log levels x."""
    return np.asarray(LEVEL_SD**2 + SLOPE_SD**2 * x**2 + curve.sd**2 + (features**2).sum(axis=0))


def evidence(hypotheses: Steps, x: FloatArray, y: FloatArray, features: FloatArray) -> JumpEvidence:
    """Weigh all steps, and none, by log levels x and log scores y of the runs; places of steps are centered as x.

    `features`: as of `covariance`.
    """
    heights, back = _distinct_rows(hypotheses.heights(x))
    places = np.linspace(x.min(), x.max(), N_BENDS + 2)[1:-1]
    bends = np.vstack([np.zeros_like(x), np.maximum(x[None, :] - places[:, None], 0.0)])  # the first is none
    runs = _Runs(x, y - np.median(y), features, heights, bends)
    ends = np.unique(back[(hypotheses.widths == SHARP[0]) | np.isin(hypotheses.widths, GRADUAL)])
    every = [*curves()]
    best = _parts(every, replace(runs, heights=heights[ends])).best
    sizes = [curve for curve, log_density in zip(every, best, strict=True) if log_density >= best.max() - HOPELESS]
    parts = _parts(sizes, runs)
    prior = np.bincount(back, np.exp(hypotheses.log_prior))
    logs = parts.step.weights + parts.base[:, None] + np.log(prior)
    none = parts.plain.weights + parts.base[:, None] - log(len(runs.bends))
    total = float(logsumexp(logs))
    likely = int(np.argmax(np.round(logsumexp(logs, axis=1), 9)))
    cliff = total - float(logsumexp(none))
    share = 1 / (1 + np.exp(-np.clip(cliff, -50, 50)))
    slowed = share * _slowed_probability(parts.step.slowed, logs) + (1 - share) * _slowed_probability(
        parts.plain.slowed, none
    )
    return JumpEvidence(
        weights=(np.exp(logsumexp(logs, axis=0) - total) / prior)[back] * np.exp(hypotheses.log_prior), cliff=cliff,
        curve=sizes[likely], slowed=slowed, jump=parts.step.mean[likely, back],
        jump_sd=np.sqrt(parts.step.variance[likely])[back],
    )  # fmt: skip


def _distinct_rows(heights: FloatArray) -> tuple[FloatArray, NDArray[np.int64]]:
    """Return the rows that differ when rounded, and the row of each step; bytes sort the fastest."""
    rounded = np.round(heights * 10**ALIKE).astype(np.uint8)
    rows = rounded.view(np.dtype((np.void, rounded.shape[1]))).ravel()
    _, first, back = np.unique(rows, return_index=True, return_inverse=True)
    return rounded[first] / 10**ALIKE, back


def _parts(sizes: Sequence[SmoothTrend], runs: _Runs) -> _Parts:
    """Weigh every step and every bend for each size: as many sizes at once as a cache holds."""
    n = max(1, CHUNK // runs.heights.size)
    parts = [_part(sizes[i : i + n], runs) for i in range(0, len(sizes), n)]
    base = np.concatenate([part.base for part in parts])
    return _Parts(base, _concatenate([part.step for part in parts]), _concatenate([part.plain for part in parts]))


def _concatenate(parts: Sequence[_FeatureWeights]) -> _FeatureWeights:
    names = ("weights", "slowed", "mean", "variance")
    return _FeatureWeights(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


def _part(sizes: Sequence[SmoothTrend], runs: _Runs) -> _Parts:
    x, y, features = runs.x, runs.y, runs.known
    smooth = [covariance(x, x, curve, features, features) + curve.noise**2 * np.eye(y.size) for curve in sizes]
    inverse, log_density = _inverse(np.array(smooth), y)
    step = _add_feature(runs.heights, JUMP_SD, inverse, y, cut=LEAST)
    plain = _add_feature(runs.bends, BEND_SD, inverse, y, cut=0.0)
    return _Parts(log_density + np.array([curve.log_prior for curve in sizes]), step, plain)


def _inverse(smooth: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Invert each covariance of the runs, with the log density of the scores under it."""
    half_log_det = np.log(np.diagonal(np.linalg.cholesky(smooth), axis1=1, axis2=2)).sum(axis=1)
    inverse = np.asarray(np.linalg.inv(smooth), dtype=float)
    return inverse, np.asarray(-0.5 * (inverse @ y) @ y - half_log_det - y.size / 2 * log(2 * pi))


def _add_feature(features: FloatArray, sd: float, inverse: FloatArray, y: FloatArray, cut: float) -> _FeatureWeights:
    """Return the log density with one feature more, over that without; at most one run being slowed."""
    through, plain = features @ inverse, inverse @ y
    variance, projected = 1 / (1 / sd**2 + (through * features).sum(axis=2)), through @ y
    mean = variance * projected
    gained = 0.5 * (np.log(variance / sd**2) + mean * projected)
    if cut:
        spread = np.sqrt(variance)
        left = ndtr((-cut - mean) / spread) + ndtr((mean - cut) / spread)
        with np.errstate(divide="ignore"):
            gained = gained + np.log(left) - log(2 * ndtr(-cut / sd))
    diagonal = np.diagonal(inverse, axis1=1, axis2=2)
    weights, slowed = _slowed_odds(through, plain[:, None], mean[..., None], variance[..., None], diagonal[:, None])
    return _FeatureWeights(gained + weights, slowed, mean, variance)


def _slowed_odds(
    through: FloatArray, plain: FloatArray, mean: FloatArray, variance: FloatArray, diagonal: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the log factor for one slowed run or none, and the share of it that each run has.

    Shapes (curves, features) and (curves, features, runs).
    """
    off = plain - mean * through
    precision = variance * through**2
    np.subtract(diagonal, precision, out=precision)
    np.maximum(precision, 1e-12, out=precision)
    # The density of a run given all the others, by which dropping it divides: as log of the odds, in place.
    odds = off**2
    odds /= precision
    odds -= np.log(precision, out=precision)
    odds += 2 * log(SLOWED * SLOW_DENSITY / (1 - SLOWED)) + log(2 * pi)
    odds *= 0.5
    odds[off <= 0] = -np.inf
    top = np.maximum(odds.max(axis=2), 0.0)
    odds -= top[..., None]
    shares = np.exp(odds, out=odds)
    total = np.exp(-top) + shares.sum(axis=2)
    shares /= total[..., None]
    return top + np.log(total), shares


def _slowed_probability(shares: FloatArray, logs: FloatArray) -> FloatArray:
    """Average over all hypotheses, whose log weights are of shape (curves, hypotheses)."""
    return np.asarray(np.tensordot(np.exp(logs - logsumexp(logs)), shares, axes=2))
