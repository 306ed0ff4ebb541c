"""The classes of growth, and least squares on the relative errors of a fixed part and some of them."""

from collections.abc import Callable, Mapping

import numpy as np

from scalograph.analysis.center import FloatArray
from scalograph.analysis.quadratic import Vector, least

CLASSES: Mapping[str, Callable[[FloatArray], FloatArray]] = {
    "1": np.ones_like,
    "log n": np.log2,
    "n": np.positive,
    "n log n": lambda n: n * np.log2(n),
    "n^2": np.square,
    "n^3": lambda n: n**3,
}
CONSTANT = "1"
# Below this share of the points' own sum of squares there is only rounding.
_EXACT = 1e-13


def growth_at(name: str, n: float) -> float:
    """Return f(n) of a class; logs are to base 2."""
    return float(CLASSES[name](np.array([n]))[0])


def growth_columns(sizes: FloatArray, times: FloatArray, *names: str) -> FloatArray:
    """Return the columns of a fixed part and of at most two classes over the times, filled up with zeros: (n, 3)."""
    found = np.zeros((sizes.size, 3))
    for i, name in enumerate((CONSTANT, *names)):
        found[:, i] = CLASSES[name](sizes) / times
    return found


def least_growth(sizes: FloatArray, times: FloatArray, *names: str) -> tuple[Vector, float]:
    """Return the coefficients of a fixed part and of at most two classes, and the sum of squares of relative errors."""
    columns = growth_columns(sizes, times, *names)
    found = least(columns, np.ones_like(sizes))
    residuals = 1 - columns @ np.asarray(found)
    return found, float(residuals @ residuals)


def is_exact(rss: float, n: int) -> bool:
    """Tell whether a sum of squares of n relative errors is rounding alone."""
    return rss <= _EXACT * n
