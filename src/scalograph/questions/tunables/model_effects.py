"""What a fit says: labels, sensitivity of each factor, ranks, and the bands that noise alone fills."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import log1p
from typing import Literal

import numpy as np

from scalograph.analysis.center import FloatArray
from scalograph.questions.tunables.model_fit import SettingFit

Label = Literal["positive", "negative", "equivalent", "uncertain"]
# Shares of the noise that lie below the ends of a band.
BAND = (0.025, 0.5, 0.975)


def labels(fit: SettingFit, margin: float) -> list[Label]:
    """Tell which settings are shown to lie outside of the margin, or inside.

    Args:
        fit: of all settings.
        margin: performance that counts as none, as a share.
    """
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
    """How much a factor moves the performance over its levels, in percent.

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
    """Return how much a factor moves the performance over its levels, the default one of them."""
    at = [k for k, (j, _) in enumerate(fit.names) if j == factor]
    if not at:
        return Sensitivity(0.0, 0.0, 0.0, 0.0)
    seen = float(_variance(fit.gains[None, at])[0])
    drawn = _variance(fit.noise[:, at])
    expected = float(drawn.mean())
    value, most = max(0.0, seen - expected), max(0.0, float(np.quantile(drawn, 0.95)) - expected)
    typical = float(np.sqrt(drawn).mean())
    return Sensitivity(100 * value**0.5, 100 * seen**0.5, 100 * typical, 100 * most**0.5)


def sensitivity_ranks(fit: SettingFit, n_factors: int) -> list[tuple[int, int, int]]:
    """Return the place of each factor by its sensitivity, 1 the most, with the ends of 95 % of fits beside ours."""
    at = [[k for k, (j, _) in enumerate(fit.names) if j == factor] for factor in range(n_factors)]
    expected = np.array([_variance(fit.noise[:, k]).mean() if k else 0.0 for k in at])
    drawn = np.vstack([fit.gains[None, :], fit.gains[None, :] + fit.noise])
    seen = np.stack([_variance(drawn[:, k]) if k else np.zeros(len(drawn)) for k in at], axis=1)
    # A draw beside our fit has the noise twice.
    seen -= np.vstack([expected[None, :], np.repeat(2 * expected[None, :], len(fit.noise), axis=0)])
    places = 1 + np.argsort(np.argsort(-seen, axis=1, kind="stable"), axis=1, kind="stable")
    low, high = np.quantile(places[1:], [BAND[0], BAND[2]], axis=0)
    own = places[0]
    return [(min(int(a), int(b)), int(b), max(int(b), int(np.ceil(c)))) for a, b, c in zip(low, own, high, strict=True)]


def _variance(gains: FloatArray) -> FloatArray:
    """Variance over the levels of a factor, the default one with a gain of 0."""
    return np.asarray(np.hstack([np.zeros((len(gains), 1)), gains]).var(axis=1, ddof=1))


@dataclass(frozen=True, slots=True)
class Ranks:
    """Places of the settings by their performance, from 1, the worst.

    Attributes:
        place: of each.
        low: the lowest that it may have, all together with the confidence of the fit.
        high: the highest.
    """

    place: tuple[int, ...]
    low: tuple[int, ...]
    high: tuple[int, ...]


def ranks(fit: SettingFit) -> Ranks:
    """Rank the settings; the sets follow from all pairs that differ for sure.

    Source: M. Mogstad, J. P. Romano, A. M. Shaikh, D. Wilhelm, Inference for ranks, Rev. Econ. Stud. 91 (2024): ranks
    from simultaneous intervals of all differences.
    """
    n = len(fit.gains)
    pairs = np.array(list(combinations(range(n), 2)), dtype=np.int64).reshape(-1, 2)
    c = fit.covariance
    error = fit.spread * np.sqrt(np.maximum(c.diagonal()[:, None] + c.diagonal()[None, :] - 2 * c, 1e-300))
    wins = np.zeros((n, n), dtype=bool)
    if len(pairs):
        one, other = pairs.T
        apart = np.abs(fit.noise[:, one] - fit.noise[:, other]) / error[one, other] / fit.studentized
        critical = float(np.quantile(apart.max(axis=1), fit.confidence))
        wins = fit.gains[:, None] - fit.gains[None, :] > critical * error
    order = np.argsort(np.argsort(fit.gains, kind="stable"), kind="stable")
    low, high = 1 + wins.sum(axis=1), n - wins.sum(axis=0)
    return Ranks(*(tuple(int(x) for x in part) for part in (order + 1, low, high)))


@dataclass(frozen=True, slots=True)
class NullBand:
    """Best and worst setting of a program on which none has an effect, in percent: ends of 95 %, and the middle."""

    best: tuple[float, float, float]
    worst: tuple[float, float, float]


def null_band(fit: SettingFit) -> NullBand:
    """Return what the best and the worst of so many settings are by noise alone."""
    extremes = fit.noise.max(axis=1), fit.noise.min(axis=1)
    best, worst = (100 * np.expm1(np.quantile(x, BAND)) for x in extremes)
    return NullBand(_three(best), _three(worst))


def _three(values: Sequence[float] | FloatArray) -> tuple[float, float, float]:
    low, middle, high = (float(x) for x in values)
    return low, middle, high
