"""How well does each step explain the runs, and how well does none?

The log of a score is a line in the log of the level, a smooth curve around it, perhaps a bend or a step, and noise.
The coefficients are normal and integrated out; the size of the noise and of the curve are summed over a grid, so that
what is smooth is no cliff. A jump of less than 20 % is none: its prior is cut there. One run may be slowed: each
hypothesis is weighed without it too, by the leave-one-out density, which is a mixture and no exclusion.

Source: C. E. Rasmussen and C. K. I. Williams, Gaussian Processes for Machine Learning (2006), 2.7 (explicit basis
functions) and 5.4.2 (leave-one-out in closed form).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log, pi

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import logsumexp, ndtr

from scalograph.analysis.center import FloatArray
from scalograph.questions.cliff.model_steps import GRADUAL, SHARP, Steps

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
# Before anything was measured, a cliff is as probable as none.
CLIFF_PRIOR = 0.5
# The same of a further one, once one is known.
FURTHER_PRIOR = 0.2


@dataclass(frozen=True, slots=True)
class SmoothTrend:
    """One size of noise and of the smooth curve, with what the runs make of it.

    Attributes:
        noise: standard deviation of log scores.
        sd: of the smooth curve.
        reach: log ratio of levels over which it changes.
        log_prior: of both sizes.
    """

    noise: float
    sd: float
    reach: float
    log_prior: float


@dataclass(frozen=True, slots=True)
class JumpEvidence:
    """What the runs say.

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
class _Weighed:
    """Log weights of rank-one additions to a covariance, shape (additions,); `slowed` the same for each run."""

    weights: FloatArray
    slowed: FloatArray
    mean: FloatArray
    variance: FloatArray


@dataclass(frozen=True, slots=True)
class _Part:
    """What one size of noise and curve makes of the runs; `base` is its log density without step or bend."""

    base: float
    step: _Weighed
    plain: _Weighed

    @property
    def best(self) -> float:
        """Log density under the best step or bend."""
        return self.base + max(float(self.step.weights.max()), float(self.plain.weights.max()))


def curves() -> Iterator[SmoothTrend]:
    """Every size of noise with every smooth curve."""
    for noise, p in zip(NOISES, NOISE_PRIOR, strict=True):
        for (sd, reach), q in zip(CURVES, CURVE_PRIOR, strict=True):
            yield SmoothTrend(noise, sd, reach, log(p * q))


def covariance(x: FloatArray, z: FloatArray, curve: SmoothTrend, known: FloatArray, at: FloatArray) -> FloatArray:
    """Between what is measured at log levels x and at z, without noise, steps that are known included.

    Args:
        x: log levels, centered.
        z: log levels, centered.
        curve: sizes.
        known: heights of known steps and bends at x, each times its standard deviation; shape (known, x).
        at: the same at z.
    """
    smooth = curve.sd**2 * np.exp(-0.5 * ((x[:, None] - z[None, :]) / curve.reach) ** 2)
    return np.asarray(LEVEL_SD**2 + SLOPE_SD**2 * x[:, None] * z[None, :] + smooth + known.T @ at)


def variance(x: FloatArray, curve: SmoothTrend, known: FloatArray) -> FloatArray:
    """Of what is measured at log levels x, without noise: the diagonal of `covariance`."""
    return np.asarray(LEVEL_SD**2 + SLOPE_SD**2 * x**2 + curve.sd**2 + (known**2).sum(axis=0))


def evidence(found: Steps, x: FloatArray, y: FloatArray, known: FloatArray) -> JumpEvidence:
    """Weights of all steps, and of none.

    Args:
        found: the steps, at places as x.
        x: log level of each run, centered as the places are.
        y: log score of each run.
        known: as of `covariance`.
    """
    heights, back = np.unique(np.round(found.heights(x), ALIKE), axis=0, return_inverse=True)
    bends, y = _bends(x), y - np.median(y)
    ends = np.unique(back[(found.widths == SHARP[0]) | np.isin(found.widths, GRADUAL)])
    first = {curve: _part(curve, x, y, known, heights[ends], bends).best for curve in curves()}
    sizes = [curve for curve, best in first.items() if best >= max(first.values()) - HOPELESS]
    parts = [_part(curve, x, y, known, heights, bends) for curve in sizes]
    logs = np.array([part.step.weights[back] + part.base for part in parts]) + found.log_prior
    none = np.array([part.plain.weights + part.base for part in parts]) - log(len(bends))
    total = float(logsumexp(logs))
    best = int(np.argmax(np.round(logsumexp(logs, axis=1), 9)))
    cliff = total - float(logsumexp(none))
    share = 1 / (1 + np.exp(-np.clip(cliff, -50, 50)))
    slowed = share * _slowed([part.step.slowed[back] for part in parts], logs)
    slowed += (1 - share) * _slowed([part.plain.slowed for part in parts], none)
    step = parts[best].step
    return JumpEvidence(
        weights=np.exp(logsumexp(logs, axis=0) - total),
        cliff=cliff,
        curve=sizes[best],
        slowed=slowed,
        jump=step.mean[back],
        jump_sd=np.sqrt(step.variance)[back],
    )


def _part(
    curve: SmoothTrend, x: FloatArray, y: FloatArray, known: FloatArray, heights: FloatArray, bends: FloatArray
) -> _Part:
    """One size of noise and curve, with every step and every bend."""
    inverse, log_density = _inverse(covariance(x, x, curve, known, known), curve.noise, y)
    step = _added(heights, JUMP_SD, inverse, y, cut=LEAST)
    plain = _added(bends, BEND_SD, inverse, y, cut=0.0)
    return _Part(log_density + curve.log_prior, step, plain)


def _bends(x: FloatArray) -> FloatArray:
    """None, and bends evenly spread over the runs; shape (bends, runs)."""
    places = np.linspace(x.min(), x.max(), N_BENDS + 2)[1:-1]
    return np.vstack([np.zeros_like(x), np.maximum(x[None, :] - places[:, None], 0.0)])


def _inverse(smooth: FloatArray, noise: float, y: FloatArray) -> tuple[FloatArray, float]:
    """Inverse of the covariance of the runs, and the log density of the scores."""
    factor = cho_factor(smooth + noise**2 * np.eye(y.size), lower=True)
    inverse = cho_solve(factor, np.eye(y.size))
    half_log_det = float(np.log(np.diag(factor[0])).sum())
    return inverse, float(-0.5 * y @ inverse @ y - half_log_det - y.size / 2 * log(2 * pi))


def _added(features: FloatArray, sd: float, inverse: FloatArray, y: FloatArray, cut: float) -> _Weighed:
    """Log density with one feature more, over that without; at most one run being slowed."""
    through, plain = features @ inverse, inverse @ y
    information = 1 / sd**2 + (through * features).sum(axis=1)
    variance, projected = 1 / information, through @ y
    mean = variance * projected
    gained = 0.5 * (np.log(variance / sd**2) + mean * projected)
    if cut:
        spread = np.sqrt(variance)
        left = ndtr((-cut - mean) / spread) + ndtr((mean - cut) / spread)
        with np.errstate(divide="ignore"):
            gained = gained + np.log(left) - log(2 * ndtr(-cut / sd))
    weights, slowed = _with_slowed(through, plain, mean, variance, np.diag(inverse))
    return _Weighed(gained + weights, slowed, mean, variance)


def _with_slowed(
    through: FloatArray, plain: FloatArray, mean: FloatArray, variance: FloatArray, diagonal: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Log of the factor for one slowed run or none, and the share of it that each run has; shape (features, runs)."""
    off = plain[None, :] - mean[:, None] * through
    precision = np.maximum(diagonal[None, :] - variance[:, None] * through**2, 1e-12)
    # The density of a run given all the others, by which dropping it divides.
    log_density = 0.5 * (np.log(precision / (2 * pi)) - off**2 / precision)
    odds = np.where(off > 0, log(SLOWED * SLOW_DENSITY / (1 - SLOWED)) - log_density, -np.inf)
    top = np.maximum(odds.max(axis=1), 0.0)
    shares = np.exp(odds - top[:, None])
    total = np.exp(-top) + shares.sum(axis=1)
    return top + np.log(total), shares / total[:, None]


def _slowed(found: Sequence[FloatArray], logs: FloatArray) -> FloatArray:
    """Probability for each run over all hypotheses, whose log weights are of shape (curves, hypotheses)."""
    shares = np.exp(logs - logsumexp(logs))
    return np.asarray(sum(share @ slowed for share, slowed in zip(shares, found, strict=True)))
