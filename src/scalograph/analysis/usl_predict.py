"""Predictions of the universal scalability law at other sizes, and the one point that contradicts all others."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from scalograph.analysis.center import FloatArray
from scalograph.analysis.estimate import Estimate, unknown_estimate
from scalograph.analysis.law import Law, Plain, Relative
from scalograph.analysis.usl import N_PARAMETERS, Usl, Weights, check_points, limit, lower_end, upper_end

REACH = 2.0  # largest multiple of the largest measured size that is predicted
UNBOUNDED = "the points bound it from below only"
METHOD = "prediction: profile interval of all curves of the law that the points allow"


class Boundary(NamedTuple):
    """A change of the machine after a number of CPUs or workers; `begins` names what is new beyond."""

    after: int
    begins: str


def predict(
    fit: Usl, n: float, boundaries: Sequence[Boundary] = (), confidence: float = 0.95, over: float | None = None
) -> Estimate:
    """Predict the throughput at a size that was not measured.

    The interval holds every curve that the points allow. A refusal has no value, and the reason as a warning.

    Args:
        fit: the law.
        n: the size, above 1.
        boundaries: sizes after which the CPUs are of another kind (the last core before siblings are shared, the last
            of a cache, socket or memory node); beyond one the law may differ.
        confidence: of the profile interval.
        over: a size: predict the ratio to the throughput there; None for throughput itself.
    """
    largest = fit.law.largest
    if reason := _refusal(n, largest, boundaries) or fit.misfit:
        return unknown_estimate(METHOD, confidence, fit.law.n, reason)
    value, top = _curve_value(fit, n, over), limit(fit.law.rss, fit.law.n, N_PARAMETERS, confidence)
    if top is None:
        return Estimate(value, None, None, confidence, fit.law.n, METHOD, ("one more size or run makes an interval",))
    low, high = (value, value) if fit.law.exact else _profile_ends(fit, n, value, top, over)
    estimate = Estimate(value, low, high, confidence, fit.law.n, METHOD)
    return estimate if estimate.high is not None else estimate.add_warnings(UNBOUNDED)


def fitted_throughput(fit: Usl, n: float, confidence: float = 0.95, over: float | None = None) -> Estimate:
    """Return the throughput of the fitted curve within the measured range, or its ratio to that at size `over`."""
    if over == n:
        return Estimate(1.0, 1.0, 1.0, confidence, fit.law.n, "1 by definition")
    if n == 1 and over is None:
        return fit.gamma
    value, top = _curve_value(fit, n, over), limit(fit.law.rss, fit.law.n, N_PARAMETERS, confidence)
    if top is None or fit.law.exact:
        end = None if top is None else value
        return Estimate(value, end, end, confidence, fit.law.n, fit.gamma.method, fit.gamma.warnings)
    low, high = _profile_ends(fit, n, value, top, over)
    estimate = Estimate(value, low, high, confidence, fit.law.n, fit.gamma.method)
    return estimate if high is not None else estimate.add_warnings(UNBOUNDED)


def largest_prediction(fit: Usl, boundaries: Sequence[Boundary] = ()) -> tuple[float, str]:
    """Return the largest size that may be predicted, and the reason for that limit."""
    largest = fit.law.largest
    if reason := fit.misfit:
        return largest, reason
    end = REACH * largest
    first = first_boundary(largest, end, boundaries)
    if first:
        return float(first.after), _boundary_reason(first)
    return end, f"{REACH:g} times the largest size measured"


def first_boundary(largest: float, n: float, boundaries: Sequence[Boundary]) -> Boundary | None:
    """Return the first boundary between the measured sizes and `n`; one that was measured across is none."""
    return min((b for b in boundaries if largest <= b.after < n), default=None)


def _boundary_reason(boundary: Boundary) -> str:
    return f"beyond {boundary.after} {boundary.begins}; nothing was measured there"


def _curve_value(fit: Usl, n: float, over: float | None) -> float:
    return fit.throughput(n) / (1.0 if over is None else fit.throughput(over))


def _profile_ends(fit: Usl, n: float, value: float, top: float, over: float | None) -> tuple[float, float | None]:
    def profile(x: float) -> float:
        return fit.law.prediction_profile(n, x) if over is None else fit.law.ratio_profile(n, over, x)

    low = lower_end(profile, value, top, value * 1e-6)
    if over is not None and n > over and profile(n / over) <= top:
        return low, n / over  # no curve of the law does better than linear
    return low, upper_end(profile, value, top, value)


def _refusal(n: float, largest: float, boundaries: Sequence[Boundary]) -> str:
    if n <= 1:
        return f"found size {n:,.15g}, expected one above 1"
    if n > REACH * largest:
        return f"{n:,.15g} is more than {REACH:g} times the largest size measured ({largest:,.15g}): measure further"
    first = first_boundary(largest, n, boundaries)
    return _boundary_reason(first) if first else ""


# Of a point that no noise explains, over the curve of points that lie as close to it.
_FAR, _CLOSE, _MOST_TRIED = 5.0, 0.25, 300


@dataclass(frozen=True)
class Outlier:
    """A point that contradicts the others.

    Attributes:
        ratio: of its throughput over that of the curve through the others.
        residual: of the others, relative.
        gamma: throughput at size 1 of the others, which have this sigma and kappa.
    """

    index: int
    ratio: float
    residual: float
    gamma: float
    sigma: float
    kappa: float


def find_outlier(
    n: Sequence[float] | FloatArray, throughput: Sequence[float] | FloatArray, weights: Weights = "relative"
) -> Outlier | None:
    """Find the one point without which the others lie on a curve, far from it; None without one, or of many points.

    >>> outlier = find_outlier([1, 2, 4, 8, 16], [10, 19, 36000, 60, 90])
    >>> (outlier.index, round(outlier.ratio, -2)) if outlier else None
    (2, 1000.0)
    """
    sizes, rates = check_points(n, throughput)
    if sizes.size > _MOST_TRIED:
        return None
    outliers = [_outlier(sizes, rates, i, weights) for i in range(sizes.size)]
    clear = [o for o in outliers if o and o.residual < _CLOSE and max(o.ratio, 1 / o.ratio) > _FAR]
    return clear[0] if len(clear) == 1 else None


def _outlier(sizes: FloatArray, rates: FloatArray, i: int, weights: Weights) -> Outlier | None:
    others, of_others = np.delete(sizes, i), np.delete(rates, i)
    if len(np.unique(others)) < N_PARAMETERS:
        return None
    law: Law = Relative(others, of_others) if weights == "relative" else Plain(others, of_others)
    if not law.sound:
        return None
    expected = law.throughput(float(sizes[i]))
    residual = math.sqrt(law.rss / max(1, others.size - N_PARAMETERS)) / law.unit
    gamma, sigma, kappa = law.best
    return Outlier(i, float(rates[i]) / expected, residual, gamma, sigma, kappa) if expected > 0 else None
