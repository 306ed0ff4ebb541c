"""The classes of growth, and least squares of a fixed part and some of them on the logs of times.

On logs an error is a share of the curve, above it as below it. As shares of the times, errors of a curve that runs far
below the points are 1 at most, and a flat one would survive steep growth. Gauss-Newton steps, with coefficients that
are never negative, from the best of many shapes. Source: D. M. Bates and D. G. Watts, Nonlinear Regression Analysis and
Its Applications (1988), sec. 2.2.
"""

from collections.abc import Callable, Mapping
from functools import partial
from itertools import product
from typing import NamedTuple

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
# Sizes, spread over the range and beyond, at which a class may equal the fixed part when the search starts.
_STARTS, _BEYOND = 15, 10.0
# Of very many points the search for a start looks at some.
_MOST_ROWS = 256
_MOST_STEPS, _HALVINGS = 50, 12
# A step that lessens the sum of squares by a smaller share is the last one.
_LAST = 1e-10


class LogFit(NamedTuple):
    """A fixed part and at most two classes, fitted to the logs of times.

    Attributes:
        coefficients: of the fixed part and of the classes; 0 where there is none.
        columns: shape (n, 3); what each coefficient adds to the logs, which are linear near the fit.
        target: shape (n,); what these columns fit with least squares.
    """

    coefficients: Vector
    columns: FloatArray
    target: FloatArray

    @property
    def residuals(self) -> FloatArray:
        """Logs of the times over the curve, shape (n,)."""
        return np.asarray(self.target - self.columns @ np.asarray(self.coefficients))

    @property
    def rss(self) -> float:
        """Sum of the squares of the residuals."""
        return float(self.residuals @ self.residuals)


def growth_at(name: str, n: float) -> float:
    """Return f(n) of a class; logs are to base 2."""
    return float(CLASSES[name](np.array([n]))[0])


def least_growth(sizes: FloatArray, times: FloatArray, *names: str, is_bent: bool = False) -> LogFit:
    """Fit a fixed part and at most two classes to the logs of times.

    Args:
        sizes: shape (n,), 1 or more, not all of them 1.
        times: shape (n,), above zero.
        names: of the classes, without the constant.
        is_bent: the curve is also multiplied by the power of the size that fits best.
    """
    columns, logs = np.zeros((sizes.size, 3)), np.log(times)
    for i, name in enumerate((CONSTANT, *names)):
        columns[:, i] = CLASSES[name](sizes)
    trend = np.log(sizes) / np.linalg.norm(np.log(sizes)) if is_bent else np.zeros_like(logs)
    at = partial(_linear, columns, logs, trend)
    if (found := at(_start(columns, logs, trend))) is None:
        raise ValueError("found times so far apart that no curve has a log at each")
    for _ in range(_MOST_STEPS):
        if (nearer := _nearer(found, at)) is None:
            break
        found = nearer
    return found


def is_exact(rss: float, n: int) -> bool:
    """Tell whether a sum of squares of n relative errors is rounding alone."""
    return rss <= _EXACT * n


def _start(columns: FloatArray, logs: FloatArray, trend: FloatArray) -> FloatArray:
    """Return the coefficients of that shape which fits best, of many that are spread over the range."""
    some = np.argsort(columns.sum(axis=1))[:: 1 + len(logs) // _MOST_ROWS]
    columns, logs, trend = columns[some], logs[some], trend[some]
    shapes = np.array([(1.0, *shape) for shape in product(*(_shares(column) for column in columns.T[1:]))]).T
    basis = np.column_stack([np.ones_like(logs), trend])
    left = logs[:, None] - np.log(columns @ shapes)
    scale = np.linalg.lstsq(basis, left, rcond=None)[0]
    best = int(np.argmin(((left - basis @ scale) ** 2).sum(axis=0)))
    return np.asarray(shapes[:, best] * np.exp(scale[0, best]))


def _shares(column: FloatArray) -> FloatArray:
    above = column[column > 0]
    if not above.size:
        return np.zeros(1)
    return np.asarray(1 / np.geomspace(above.min() / _BEYOND, above.max() * _BEYOND, _STARTS))


def _linear(columns: FloatArray, logs: FloatArray, trend: FloatArray, at: FloatArray) -> LogFit | None:
    """Return the fit at these coefficients, with its trend taken out; None where the curve has no log."""
    curve = columns @ at
    if not (curve > 0).all():
        return None
    scaled, target = columns / curve[:, None], logs - np.log(curve) + 1
    a, b, c = at.tolist()
    return LogFit((a, b, c), scaled - np.outer(trend, trend @ scaled), target - trend * (trend @ target))


def _nearer(found: LogFit, at: Callable[[FloatArray], LogFit | None]) -> LogFit | None:
    """Step to the least squares of the linear fit, or less far; None where no step makes the squares smaller."""
    here, there = np.asarray(found.coefficients), np.asarray(least(found.columns, found.target))
    left, most = found.target - found.columns @ there, found.rss * (1 - _LAST)
    if not left @ left < most:
        return None
    for halving in range(_HALVINGS):
        part = 0.5**halving
        nearer = at((1 - part) * here + part * there)
        if nearer is not None and nearer.rss < most:
            return nearer
    return None
