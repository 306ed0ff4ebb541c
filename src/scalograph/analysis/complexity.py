"""Time complexity: the confidence set of growth classes that times at sizes do not refute.

y = a + b f(n) with a, b >= 0, f being 1, log n, n, n log n, n^2 or n^3, by least squares on the logs of y. A class is
refuted if another one beside it, or a power of n that multiplies it, fits significantly better (F tests of nested
models at Bonferroni's level: a J test), or if the points differ from its curve by more than runs of one size do from
each other. Where the set is empty the exponent remains, the slope of log y over log n. Sources: R. Davidson and J. G.
MacKinnon, Several tests for model specification in the presence of alternative hypotheses, Econometrica 49 (1981);
N. R. Draper and H. Smith, Applied Regression Analysis (1998), sec. 2.1.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from scalograph.analysis.center import FloatArray
from scalograph.analysis.estimate import Estimate, check_confidence, unknown_estimate
from scalograph.analysis.growth_classes import (
    CLASSES,
    CONSTANT,
    LogFit,
    PowerLaw,
    growth_at,
    is_exact,
    least_growth,
    most_rise,
    power_law,
    refutations,
)
from scalograph.analysis.quadratic import Quadratic
from scalograph.analysis.usl import limit, lower_end, upper_end

# Over a narrower range all classes look alike.
LEAST_SIZES, LEAST_SPAN = 4, 4.0
# A prediction goes up to this multiple of the largest measured size.
FARTHEST = 2.0
METHOD = "least squares on logs, profile interval"


@dataclass(frozen=True, slots=True)
class Growth:
    """A fitted class of growth.

    Attributes:
        name: key of `CLASSES`.
        start: time that does not grow, in the unit of the times.
        cost: time for each f(n), logs to base 2; no value for the class `1`, no interval where it is refuted.
        refuted: reason why the class is not the true one; empty where it may be.
    """

    name: str
    start: float
    cost: Estimate
    fit: LogFit = field(repr=False, compare=False)
    refuted: str = ""

    def time(self, n: float) -> float:
        """Return the time of the fitted curve at a size."""
        return self.start + (self.cost.value or 0.0) * growth_at(self.name, n)


@dataclass(frozen=True)
class Complexity:
    """Times over sizes, with every class fitted to them, and one power of the size."""

    growths: tuple[Growth, ...]
    power: PowerLaw
    confidence: float
    sizes: FloatArray = field(repr=False)
    times: FloatArray = field(repr=False)

    @property
    def possible(self) -> tuple[Growth, ...]:
        """The classes that are not refuted, in order of growth."""
        return tuple(growth for growth in self.growths if not growth.refuted)

    @property
    def most_growth(self) -> float:
        """The largest rise of time from the smallest to the largest size, as a share, by any possible class."""
        first, last = float(self.sizes.min()), float(self.sizes.max())
        growing = [growth for growth in self.growths if growth.name != CONSTANT]
        return max(
            most_rise(g.name, self.sizes, self.times, g.time(last) / g.time(first) - 1, g.fit.rss, self.confidence)
            for g in [growth for growth in growing if not growth.refuted] or growing
        )


def fit_complexity(
    n: Sequence[float] | FloatArray, times: Sequence[float] | FloatArray, confidence: float = 0.95
) -> Complexity:
    """Fit the classes of growth to times at sizes of the input.

    Sizes are 1 or more, times above zero; several runs of a size are several points. Raises ValueError if there are
    fewer than four sizes, they span less than a factor of four, or a number is out of range.

    >>> fit = fit_complexity([10, 100, 1000, 10000] * 2, [3.1, 21, 201, 2010, 3.0, 22, 203, 1995])
    >>> [growth.name for growth in fit.possible]
    ['n']
    >>> f"{fit_complexity([1, 2, 4, 8], [3, 8.485, 24, 67.88]).power.exponent:.2f}"
    '1.50 [1.50, 1.50]'
    """
    check_confidence(confidence)
    sizes, took = _check_points(n, times)
    growths = tuple(_growth(name, sizes, took, confidence) for name in CLASSES)
    return Complexity(growths, power_law(sizes, took, confidence), confidence, sizes, took)


def predict_time(fit: Complexity, n: float) -> Estimate:
    """Predict the time at a size above 1: the union of the intervals of all classes that are not refuted.

    A refused prediction has no value, and the reason as a warning.
    """
    method, largest = f"prediction: {METHOD}", float(fit.sizes.max())
    refused = partial(unknown_estimate, method, fit.confidence, fit.times.size)
    if not fit.possible:
        return refused("time grows by none of these classes")
    if n <= 1:
        return refused("only sizes above 1 are predicted")
    if n > FARTHEST * largest:
        return refused(f"predictions reach up to {FARTHEST:g} times the largest size, {largest:,.15g}")
    ends = [_time_interval(growth, fit, n) for growth in fit.possible]
    best = min(fit.possible, key=lambda growth: growth.fit.rss)
    low, high = min(low for low, _ in ends), max(high for _, high in ends)
    return Estimate(best.time(n), low, high, fit.confidence, fit.times.size, method)


def _check_points(
    n: Sequence[float] | FloatArray, times: Sequence[float] | FloatArray
) -> tuple[FloatArray, FloatArray]:
    sizes, took = np.asarray(n, dtype=np.float64), np.asarray(times, dtype=np.float64)
    if sizes.ndim != 1 or sizes.shape != took.shape:
        raise ValueError(f"found {sizes.shape} sizes and {took.shape} times, expected two lists of one length")
    if not (np.isfinite(sizes).all() and np.isfinite(took).all() and (sizes >= 1).all() and (took > 0).all()):
        raise ValueError("found a size below 1, a time of 0 or less, or no number; expected neither")
    if (n_sizes := len(np.unique(sizes))) < LEAST_SIZES:
        raise ValueError(f"found {n_sizes} different sizes, expected at least {LEAST_SIZES}")
    low, high = float(sizes.min()), float(sizes.max())
    if high < LEAST_SPAN * low:
        span = f"found sizes from {low:,.15g} to {high:,.15g}, a factor of {high / low:.2g}"
        raise ValueError(f"{span}; expected a factor of {LEAST_SPAN:g} or more")
    return sizes, took


def _growth(name: str, sizes: FloatArray, times: FloatArray, confidence: float) -> Growth:
    fit = least_growth(sizes, times, *_own(name))
    refuted = next(refutations(name, sizes, times, fit, confidence), "")
    cost = _cost(name, sizes, times, fit, confidence)
    # An interval holds only if the class is the true one.
    cost = replace(cost, low=None, high=None, warnings=("the class is refuted",)) if refuted else cost
    return Growth(name, fit.coefficients[0], cost, fit, refuted)


def _own(name: str) -> tuple[str, ...]:
    return () if name == CONSTANT else (name,)


def _cost(name: str, sizes: FloatArray, times: FloatArray, fit: LogFit, confidence: float) -> Estimate:
    if name == CONSTANT:
        return unknown_estimate(METHOD, confidence, sizes.size)
    value, top = fit.coefficients[1], limit(fit.rss, sizes.size, 2, confidence)
    if top is None or is_exact(fit.rss, sizes.size):
        return Estimate(value, value, value, confidence, sizes.size, METHOD, ("all points lie on the curve",))
    squares = Quadratic.build(fit.columns, fit.target)

    def profile(cost: float) -> float:
        return squares.cone((1.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, cost, 0.0))

    step = float(times.mean()) / max(growth_at(name, float(sizes.max())), 1.0)
    low, high = lower_end(profile, value, top), upper_end(profile, value, top, step)
    return Estimate(value, low, high, confidence, sizes.size, METHOD)


def _time_interval(growth: Growth, fit: Complexity, n: float) -> tuple[float, float]:
    value, own = growth.time(n), _own(growth.name)
    top = limit(growth.fit.rss, fit.sizes.size, 1 + len(own), fit.confidence)
    if top is None or is_exact(growth.fit.rss, fit.sizes.size):
        return value, value
    squares = Quadratic.build(growth.fit.columns, growth.fit.target)

    def profile(time: float) -> float:
        edge = (0.0, time / growth_at(growth.name, n), 0.0) if own else (time, 0.0, 0.0)
        return squares.triangle((time, 0.0, 0.0), edge, edge)

    return lower_end(profile, value, top, value * 1e-6), upper_end(profile, value, top, value) or value
