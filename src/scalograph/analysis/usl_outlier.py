"""The one point that contradicts all others of a scaling law: a mistake of units, or a torn line."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from scalograph.analysis.center import FloatArray
from scalograph.analysis.law import Law, Plain, Relative
from scalograph.analysis.usl import N_PARAMETERS, Weights, check_points

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
