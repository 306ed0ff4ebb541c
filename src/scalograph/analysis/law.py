"""Sums of squares of the universal scalability law: all parameters free, or one of them held."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from scalograph.analysis.center import FloatArray
from scalograph.analysis.quadratic import Quadratic, Vector, least

# gamma, sigma, kappa
Parameters = tuple[float, float, float]
_NAMES = ("gamma", "sigma", "kappa")
_AXES: tuple[Vector, ...] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
_NOWHERE: Vector = (0.0, 0.0, 0.0)
_FAR = 1e6  # no curve is searched beyond this multiple of the largest rate
_ROUNDING = 1e-12  # relative difference below which two numbers are equal
_EXACT = 1e-20  # share of the data's own sum of squares below which there is only rounding


def curve(parameters: Parameters, n: float | FloatArray) -> FloatArray:
    """Return the throughputs of a law at sizes `n`, of any shape."""
    gamma, sigma, kappa = parameters
    return np.asarray(gamma * n / (1 + sigma * (n - 1) + kappa * n * (n - 1)))


class _Fitted(ABC):
    """What every fit of the law to points has: the best parameters, and the curve that they make."""

    unit = 1.0  # that makes a residual relative

    def __init__(self, sizes: FloatArray, rates: FloatArray) -> None:
        self._sizes, self._rates = sizes, rates

    @cached_property
    @abstractmethod
    def best(self) -> Parameters:
        """The parameters that fit best."""

    @property
    def n(self) -> int:
        """The number of points."""
        return int(self._sizes.size)

    @property
    def largest(self) -> float:
        """The largest size."""
        return float(self._sizes.max())

    def value(self, name: str) -> float:
        """Return one of the best parameters."""
        return self.best[_NAMES.index(name)]

    def throughput(self, n: float) -> float:
        """Return the throughput of the fitted curve at a size."""
        return float(curve(self.best, n))

    def step(self, name: str) -> float:
        """Return a step size for a parameter whose estimate is zero: it halves the throughput at the largest size."""
        return {"gamma": self.best[0], "sigma": 1 / self.largest, "kappa": 1 / self.largest**2}[name]


class Relative(_Fitted):
    """Errors proportional to the point: N/X over its measured value, linear in a = 1/gamma, sigma a, kappa a."""

    def __init__(self, sizes: FloatArray, rates: FloatArray) -> None:
        super().__init__(sizes, rates)
        self._columns = linear_columns(sizes) / (sizes / rates)[:, None]
        self._target = np.ones_like(sizes)
        self._squares = Quadratic.build(self._columns, self._target)

    @cached_property
    def _coefficients(self) -> Vector:
        return least(self._columns, self._target)

    @property
    def sound(self) -> bool:
        """Tell whether there is a curve at all: one whose throughput at size one is finite."""
        return self._coefficients[0] > 0

    @cached_property
    def best(self) -> Parameters:
        a, b, c = self._coefficients
        return 1 / a, b / a, c / a

    @cached_property
    def rss(self) -> float:
        """Return the sum of squares of the best fit."""
        # From the residuals: the quadratic would lose half of the digits.
        residuals = self._target - self._columns @ np.asarray(self._coefficients)
        return float(residuals @ residuals)

    @property
    def exact(self) -> bool:
        """Tell whether all points lie on the curve."""
        return self.rss < 1e-13 * self.n

    def fit_shape(self, shape: str) -> Parameters:
        """Return the best parameters with `contention` (kappa = 0) or `coherency` (sigma = 0) alone."""
        kept = [0, 1] if shape == "contention" else [0, 2]
        columns = np.zeros_like(self._columns)
        columns[:, kept] = self._columns[:, kept]
        a, b, c = least(columns, self._target)
        return (1 / a, b / a, c / a) if a > 0 else self.best

    def profile(self, name: str, value: float) -> float:
        """Return the least sum of squares with one parameter held."""
        if name == "gamma":
            return self._squares.cone((0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (1 / value, 0.0, 0.0))
        if name == "sigma":
            return self._squares.cone((1.0, value, 0.0), (0.0, 0.0, 1.0))
        return self._squares.cone((1.0, 0.0, value), (0.0, 1.0, 0.0))

    def optimum_profile(self, z: float) -> float:
        """Return the least sum of squares with 1 / N*^2 = kappa / (1 - sigma) held."""
        # C = z (a - b) with 0 <= b <= a is the cone of (1, 0, z) and (1, 1, 0).
        return self._squares.cone((1.0, 0.0, z), (1.0, 1.0, 0.0))

    def prediction_profile(self, n: float, throughput: float) -> float:
        """Return the least sum of squares of all curves through this point."""
        y = n / throughput
        return self._squares.triangle((y, 0.0, 0.0), (0.0, y / (n - 1), 0.0), (0.0, 0.0, y / (n * (n - 1))))

    def ratio_profile(self, n: float, base: float, ratio: float) -> float:
        """Return the least sum of squares of all curves whose throughput at n is `ratio` times that at base."""
        return self._squares.cone(*_rays(n, base, ratio))


def _rays(n: float, base: float, ratio: float) -> tuple[Vector, Vector]:
    """Return the edges of all coefficients with X(n) = ratio X(base); zeros without any.

    n / y(n) = ratio base / y(base), with y(k) = a + b (k - 1) + c k (k - 1), is w.x = 0.
    """
    # Plain numbers: a profile asks ten thousand times, and of three numbers numpy takes ten times as long.
    columns = ((1.0, 1.0), (base - 1.0, n - 1.0), (base * (base - 1.0), n * (n - 1.0)))
    terms = [(near * n / base, far * ratio) for near, far in columns]
    w = [0.0 if abs(near - far) < _ROUNDING * near else near - far for near, far in terms]
    edges: list[Vector] = []
    for i, j in ((0, 1), (0, 2), (1, 2)):
        if w[i] * w[j] < 0:
            edge = [0.0, 0.0, 0.0]
            edge[i], edge[j] = abs(w[j]), abs(w[i])
            edges.append((edge[0], edge[1], edge[2]))
    edges += [_AXES[i] for i in range(3) if w[i] == 0]
    first, second, *_ = [*edges, _NOWHERE, _NOWHERE]
    return first, second


def linear_columns(sizes: FloatArray) -> FloatArray:
    """Return the columns 1, N - 1 and N (N - 1): shape (n, 3)."""
    return np.stack([np.ones_like(sizes), sizes - 1, sizes * (sizes - 1)], axis=1)


def _least_squares(residuals: Callable[[FloatArray], FloatArray], start: Sequence[float], bounds: Any) -> float:
    from scipy.optimize import least_squares

    return float(2 * least_squares(residuals, start, bounds=bounds, x_scale="jac").cost)


class Plain(_Fitted):
    """Errors of the same size for all points: least squares on X itself, started from the linear fit."""

    def __init__(self, sizes: FloatArray, rates: FloatArray) -> None:
        super().__init__(sizes, rates)
        self.unit = float(rates.mean())

    @property
    def sound(self) -> bool:
        return bool(np.isfinite(self.best).all()) and self.best[0] > 0

    @cached_property
    def best(self) -> Parameters:
        a, b, c = least(linear_columns(self._sizes), self._sizes / self._rates)
        start = (1 / a, b / a, c / a) if a > 0 else (float(self._rates.max()), 0.1, 0.0)
        return self._fit(start, (None, None, None))

    @cached_property
    def rss(self) -> float:
        return self._squares(self.best)

    @property
    def exact(self) -> bool:
        return self.rss < _EXACT * float(self._rates @ self._rates)

    def fit_shape(self, shape: str) -> Parameters:
        gamma, sigma, kappa = self.best
        if shape == "contention":
            return self._fit((gamma, sigma, 0.0), (None, None, 0.0))
        return self._fit((gamma, 0.0, kappa), (None, 0.0, None))

    def profile(self, name: str, value: float) -> float:
        held = tuple(value if other == name else None for other in _NAMES)
        return self._squares(self._fit(self.best, held))

    def optimum_profile(self, z: float) -> float:
        def residuals(x: FloatArray) -> FloatArray:
            return self._residuals((float(x[0]), float(x[1]), z * (1 - float(x[1]))))

        gamma, sigma, _ = self.best
        return _least_squares(residuals, (gamma, min(sigma, 0.99)), ((0, 0), (np.inf, 1)))

    def prediction_profile(self, n: float, throughput: float) -> float:
        def residuals(x: FloatArray) -> FloatArray:
            sigma, kappa = float(x[0]), float(x[1])
            gamma = throughput * (1 + sigma * (n - 1) + kappa * n * (n - 1)) / n
            return self._residuals((gamma, sigma, kappa))

        return _least_squares(residuals, self.best[1:], ((0, 0), (np.inf, np.inf)))

    def ratio_profile(self, n: float, base: float, ratio: float) -> float:
        rays = np.array(_rays(n, base, ratio))
        y = linear_columns(self._sizes) @ rays.T
        least_y = self._sizes / (_FAR * self._rates.max())

        def residuals(x: FloatArray) -> FloatArray:
            return np.asarray(self._sizes / np.maximum(y @ x, least_y) - self._rates)

        a, b, _ = least(np.column_stack([y, np.zeros(len(y))]), self._sizes / self._rates)
        if not (a > 0 or b > 0):
            return float(self._rates @ self._rates)
        return _least_squares(residuals, (a, b), (0, np.inf))

    def _fit(self, start: Parameters, held: tuple[float | None, ...]) -> Parameters:
        from scipy.optimize import least_squares

        free = [i for i in range(3) if held[i] is None]

        def whole(x: FloatArray) -> Parameters:
            values = [start[i] if held[i] is None else float(held[i] or 0.0) for i in range(3)]
            for i, value in zip(free, x, strict=True):
                values[i] = float(value)
            return values[0], values[1], values[2]

        def residuals(x: FloatArray) -> FloatArray:
            return self._residuals(whole(x))

        result = least_squares(
            residuals, [start[i] for i in free], bounds=(0, np.inf), x_scale="jac",
            ftol=1e-15, xtol=1e-15, gtol=1e-15,
        )  # fmt: skip
        return whole(result.x)

    def _residuals(self, parameters: Parameters) -> FloatArray:
        return curve(parameters, self._sizes) - self._rates

    def _squares(self, parameters: Parameters) -> float:
        residuals = self._residuals(parameters)
        return float(residuals @ residuals)


Law = Relative | Plain
