"""How steep is the growth, whatever its class? Time as one power of the size, and the most that it may rise."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from scalograph.analysis.center import FloatArray
from scalograph.analysis.estimate import Estimate
from scalograph.analysis.growth_classes import CLASSES, growth_at, is_exact
from scalograph.analysis.growth_refuted import is_better, misfits
from scalograph.analysis.likelihood_profile import limit, upper_end
from scalograph.analysis.students_t import t_quantile

_METHOD = "slope of log times over log sizes, Student t"
# The least rise that is looked for, as a share.
_FIRST_STEP = 0.01


@dataclass(frozen=True, slots=True)
class PowerLaw:
    """Time as one power of the size, c n^p.

    Attributes:
        exponent: p; of times that are no power, the mean slope over the range.
        rss: sum of squares of the logs of the times over the curve.
        refuted: why time is no power of the size, in words; empty where it may be.
    """

    exponent: Estimate
    rss: float
    refuted: str = ""


def power_law(sizes: FloatArray, times: FloatArray, confidence: float) -> PowerLaw:
    """Fit one power of the size, by least squares of the logs.

    Args:
        sizes: shape (n,), 1 or more, of four different sizes at least.
        times: shape (n,), above zero.
        confidence: of the interval, and that a true power is not refuted for its curvature.
    """
    x, y = np.log(sizes), np.log(times)
    x, y = x - x.mean(), y - y.mean()
    slope, spread = float(x @ y) / float(x @ x), float(x @ x)
    residuals = y - slope * x
    rss, left = float(residuals @ residuals), sizes.size - 2
    half = 0.0 if is_exact(rss, sizes.size) else t_quantile(confidence, left) * math.sqrt(rss / left / spread)
    exponent = Estimate(slope, slope - half, slope + half, confidence, sizes.size, _METHOD)
    return PowerLaw(exponent, rss, next(_refutations(sizes, x, residuals, confidence), ""))


def _refutations(sizes: FloatArray, x: FloatArray, residuals: FloatArray, confidence: float) -> Iterator[str]:
    rss = float(residuals @ residuals)
    if is_exact(rss, sizes.size):
        return
    columns = np.column_stack([np.ones_like(x), x, x**2])
    bent = residuals - columns @ np.linalg.lstsq(columns, residuals, rcond=None)[0]
    if is_better(rss, float(bent @ bent), sizes.size - 3, 1 - confidence):
        yield "its exponent changes with the size"
    yield from misfits(sizes, residuals, 2)


def most_rise(name: str, sizes: FloatArray, times: FloatArray, best: float, rss: float, confidence: float) -> float:
    """Return the upper end of the profile interval of the rise from the smallest to the largest size.

    Args:
        name: of a class that grows.
        sizes: shape (n,), 1 or more.
        times: shape (n,), above zero.
        best: the rise of the fitted curve, as a share of its time at the smallest size.
        rss: sum of squares of the fit, on logs.
        confidence: of the two-sided interval.
    """
    low, high = (growth_at(name, float(n)) for n in (sizes.min(), sizes.max()))
    steepest = high / low - 1 if low > 0 else math.inf  # without a fixed part, which is never negative
    share, logs, top = (CLASSES[name](sizes) - low) / (high - low), np.log(times), limit(rss, sizes.size, 2, confidence)
    if top is None or is_exact(rss, sizes.size):
        return min(best, steepest)

    def profile(rise: float) -> float:
        left = logs - np.log1p(rise * share)
        return float(((left - left.mean()) ** 2).sum())

    end = upper_end(profile, best, top, _FIRST_STEP)
    return steepest if end is None else min(end, steepest)
