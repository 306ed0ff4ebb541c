"""What a fit says: labels, the sensitivity of each factor, and the bands that noise alone fills."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log1p
from typing import Literal

import numpy as np

from scalograph.analysis.center import FloatArray
from scalograph.questions.tunables.model_fit import LARGEST, SettingFit

Label = Literal["positive", "negative", "equivalent", "uncertain"]
# Shares of the noise that lie below the ends of a band, and below what a factor without effect shows at most.
BAND, MOST_BY_NOISE = (0.025, 0.5, 0.975), 0.95


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
    seen = float(level_variances(fit.gains[None, at])[0])
    drawn = level_variances(fit.noise[:, at])
    expected = float(drawn.mean())
    value, most = max(0.0, seen - expected), max(0.0, float(np.quantile(drawn, MOST_BY_NOISE)) - expected)
    typical = float(np.sqrt(drawn).mean())
    return Sensitivity(100 * value**0.5, 100 * seen**0.5, 100 * typical, 100 * most**0.5)


def level_variances(gains: FloatArray) -> FloatArray:
    """Return variances over the levels of a factor, the default one with a gain of 0; shapes (n, settings) and (n,)."""
    return np.asarray(np.hstack([np.zeros((len(gains), 1)), gains]).var(axis=1, ddof=1))


@dataclass(frozen=True, slots=True)
class NullBand:
    """Best and worst setting of a program on which none has an effect, in percent: ends of 95 %, and the middle."""

    best: tuple[float, float, float]
    worst: tuple[float, float, float]


def null_band(fit: SettingFit) -> NullBand:
    """Return what the best and the worst of so many settings are by noise alone."""
    extremes = fit.noise.max(axis=1), fit.noise.min(axis=1)
    best, worst = (100 * np.expm1(np.clip(np.quantile(x, BAND), -LARGEST, LARGEST)) for x in extremes)
    return NullBand(_three(best), _three(worst))


def _three(values: Sequence[float] | FloatArray) -> tuple[float, float, float]:
    low, middle, high = (float(x) for x in values)
    return low, middle, high
