"""Growth classes, their least-squares fits to the logs of times, and the tests that refute them.

On logs an error is a share of the curve, above it as below it. Gauss-Newton steps with coefficients of 0 or more, from
the best of many shapes: D. M. Bates and D. G. Watts, Nonlinear Regression Analysis and Its Applications (1988), sec.
2.2.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np

from scalograph.analysis.center import FloatArray
from scalograph.analysis.estimate import Estimate
from scalograph.analysis.quadratic import Vector, least
from scalograph.analysis.quantiles import t_quantile
from scalograph.analysis.usl import MANY_SIZES, limit, missed_point, runs_test, upper_end

CLASSES: Mapping[str, Callable[[FloatArray], FloatArray]] = {
    "1": np.ones_like, "log n": np.log2, "n": np.positive, "n log n": lambda n: n * np.log2(n), "n^2": np.square,
    "n^3": lambda n: n**3,
}  # fmt: skip
CONSTANT = "1"
_EXACT = 1e-13  # share of the points' own sum of squares below which there is only rounding
# Sizes, spread over the range and beyond, at which a class may equal the fixed part when the search starts.
_STARTS, _BEYOND = 15, 10.0
_MOST_ROWS = 256  # points that the search for a start uses
_MOST_STEPS, _HALVINGS = 50, 12
_LAST = 1e-10  # a step that reduces the sum of squares by a smaller share is the last one


class LogFit(NamedTuple):
    """A fixed part and at most two classes, fitted to the logs of times and linearized there.

    Attributes:
        coefficients: of the fixed part and of the classes; 0 where there is none.
        columns: shape (n, 3); what each coefficient adds to the logs.
        target: shape (n,); what the columns fit by least squares.
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
    """Return f(n) of a class, with logs to base 2."""
    return float(CLASSES[name](np.array([n]))[0])


def least_growth(sizes: FloatArray, times: FloatArray, *names: str, is_bent: bool = False) -> LogFit:
    """Fit a fixed part and at most two classes to the logs of times.

    Sizes are 1 or more, not all of them 1; `names` exclude the constant. With `is_bent` the curve is also multiplied by
    the power of the size that fits best.
    """
    columns, logs = np.zeros((sizes.size, 3)), np.log(times)
    for i, name in enumerate((CONSTANT, *names)):
        columns[:, i] = CLASSES[name](sizes)
    trend = np.log(sizes) / np.linalg.norm(np.log(sizes)) if is_bent else np.zeros_like(logs)
    at = partial(_linearize, columns, logs, trend)
    if (fit := at(_start(columns, logs, trend))) is None:
        raise ValueError("found times so far apart that no curve has a log at each")
    for _ in range(_MOST_STEPS):
        if (nearer := _improve(fit, at)) is None:
            break
        fit = nearer
    return fit


def is_exact(rss: float, n: int) -> bool:
    """Tell whether a sum of squares of n relative errors is only rounding."""
    return rss <= _EXACT * n


def _start(columns: FloatArray, logs: FloatArray, trend: FloatArray) -> FloatArray:
    """Return the coefficients of the shape that fits best, of many that are spread over the range."""
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


def _linearize(columns: FloatArray, logs: FloatArray, trend: FloatArray, at: FloatArray) -> LogFit | None:
    """Return the fit at these coefficients without its trend; None where the curve has no log."""
    curve = columns @ at
    if not (curve > 0).all():
        return None
    scaled, target = columns / curve[:, None], logs - np.log(curve) + 1
    a, b, c = at.tolist()
    return LogFit((a, b, c), scaled - np.outer(trend, trend @ scaled), target - trend * (trend @ target))


def _improve(fit: LogFit, at: Callable[[FloatArray], LogFit | None]) -> LogFit | None:
    """Step toward the least squares of the linear fit; None where no step reduces the squares."""
    here, there = np.asarray(fit.coefficients), np.asarray(least(fit.columns, fit.target))
    left, most = fit.target - fit.columns @ there, fit.rss * (1 - _LAST)
    if not left @ left < most:
        return None
    for halving in range(_HALVINGS):
        part = 0.5**halving
        nearer = at((1 - part) * here + part * there)
        if nearer is not None and nearer.rss < most:
            return nearer
    return None


_MISFIT_ALPHA = 0.01  # probability that the curve of the true class is called a misfit


def refutations(name: str, sizes: FloatArray, times: FloatArray, fit: LogFit, confidence: float) -> Iterator[str]:
    """Yield the reasons why a fitted class is not the true one, from four or more different sizes.

    `confidence` is the probability that the true class is not refuted by a better fit.
    """
    if is_exact(fit.rss, sizes.size):
        return
    own = () if name == CONSTANT else (name,)
    others = [other for other in CLASSES if other not in (CONSTANT, name)]
    left, alpha = sizes.size - len(own) - 2, (1 - confidence) / (len(others) + 2)  # a trend and the misfit are two more
    # A trend that the class leaves: the only sign of growth that is steeper than all classes, or between two.
    if is_better(fit.rss, least_growth(sizes, times, *own, is_bent=True).rss, left, alpha):
        yield "multiplied by a power of n it fits better"
    yield from misfits(sizes, fit.residuals, 1 + len(own))
    for other in others:
        if is_better(fit.rss, least_growth(sizes, times, *own, other).rss, left, alpha):
            yield f"with a part of {other} it fits better"


def is_better(rss: float, beside: float, left: int, alpha: float) -> bool:
    """Tell whether one more coefficient reduces the sum of squares significantly (F test).

    `rss` and `beside` are the sums of squares without and with it, `left` the residual degrees of freedom with it.
    """
    from scipy.special import fdtrc  # it takes a tenth of a second

    return beside <= 1e-12 * rss or bool(fdtrc(1, left, max(0.0, rss - beside) / (beside / left)) < alpha)


def misfits(sizes: FloatArray, residuals: FloatArray, n_parameters: int) -> Iterator[str]:
    """Yield the reasons why a curve of `n_parameters` misses the points, from the logs of times over the curve."""
    from scipy.special import fdtrc

    groups = [residuals[sizes == n] for n in np.unique(sizes)]
    pure = sum(float(((group - group.mean()) ** 2).sum()) for group in groups)
    missed = sum(group.size * float(group.mean()) ** 2 for group in groups)
    free, left = len(groups) - n_parameters, residuals.size - len(groups)
    if (left < 1 or not pure) and (text := missed_point(zip(sizes.tolist(), np.exp(residuals).tolist(), strict=True))):
        yield text
    if left >= 1 and pure > 0 and fdtrc(free, left, missed / free / (pure / left)) < _MISFIT_ALPHA:
        yield "its curve misses the points by more than runs of one size differ"
    if len(groups) >= MANY_SIZES and runs_test([bool(group.mean() > 0) for group in groups]) < _MISFIT_ALPHA:
        yield "the points lie above its curve, then below it, for many sizes in a row"


_METHOD = "slope of log times over log sizes, Student t"
_FIRST_STEP = 0.01  # of the search for the largest rise, as a share


@dataclass(frozen=True, slots=True)
class PowerLaw:
    """Time as one power of the size, c n^p.

    Attributes:
        exponent: p; of times that are no power, the mean slope over the range.
        rss: sum of squares of the logs of the times over the curve.
        refuted: reason why time is no power of the size; empty where it may be.
    """

    exponent: Estimate
    rss: float
    refuted: str = ""


def power_law(sizes: FloatArray, times: FloatArray, confidence: float) -> PowerLaw:
    """Fit one power of the size to times, both of shape (n,), by least squares of the logs.

    `confidence` is that of the interval, and that a true power is not refuted for its curvature.
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
    """Return the upper end of the two-sided profile interval of the rise from the smallest to the largest size.

    `best` is the rise of the fitted curve of a class that grows, as a share of its time at the smallest size; `rss` is
    its sum of squares on logs.
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
