"""Least squares with three non-negative coefficients, some of them tied, in closed form.

The sum of squares is a quadratic T - 2 h.x + x.M.x of the coefficients x for any number of points: after one pass over
the data a profile costs one to ten microseconds.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from scalograph.analysis.center import FloatArray

Vector = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Quadratic:
    """The sum of squares |t - A x|^2 of three columns A: m = A'A, h = A't, total = t't."""

    m: tuple[Vector, Vector, Vector]
    h: Vector
    total: float

    @staticmethod
    def build(columns: FloatArray, target: FloatArray) -> "Quadratic":
        """Build the sum of squares from `columns`, shape (n, 3), and `target`, shape (n,)."""
        m, h = columns.T @ columns, columns.T @ target
        rows = tuple((float(row[0]), float(row[1]), float(row[2])) for row in m)
        return Quadratic((rows[0], rows[1], rows[2]), (float(h[0]), float(h[1]), float(h[2])), float(target @ target))

    def sum_at(self, x: Vector) -> float:
        """Return the sum of squares at these coefficients; rounding never makes it negative."""
        return max(0.0, self.total - 2 * _dot(self.h, x) + _dot(x, self._times(x)))

    def cone(self, p: Vector, q: Vector, origin: Vector = (0.0, 0.0, 0.0)) -> float:
        """Return the least sum of squares over origin + u p + v q with u, v >= 0."""
        return min(self.sum_at(x) for x in self._candidates(p, q, origin, None))

    def triangle(self, a: Vector, b: Vector, c: Vector) -> float:
        """Return the least sum of squares over the triangle with these corners."""
        p, q = _minus(b, a), _minus(c, a)
        third = self._line(b, _minus(c, b), 1.0)
        return min(self.sum_at(third), *(self.sum_at(x) for x in self._candidates(p, q, a, 1.0)))

    def _candidates(self, p: Vector, q: Vector, origin: Vector, limit: float | None) -> Sequence[Vector]:
        """Return the points where the least can be: inside if it is there, else on an edge."""
        mp, mq, rest = self._times(p), self._times(q), _minus(self.h, self._times(origin))
        pp, pq, qq, hp, hq = _dot(p, mp), _dot(p, mq), _dot(q, mq), _dot(p, rest), _dot(q, rest)
        det = pp * qq - pq * pq
        if det > 1e-14 * pp * qq:
            u, v = (hp * qq - hq * pq) / det, (hq * pp - hp * pq) / det
            if u >= 0 and v >= 0 and (limit is None or u + v <= limit):
                return [_plus(origin, p, u, q, v)]
        return [self._line(origin, p, limit), self._line(origin, q, limit)]

    def _line(self, origin: Vector, p: Vector, limit: float | None) -> Vector:
        mp = self._times(p)
        pp = _dot(p, mp)
        u = max(0.0, _dot(p, _minus(self.h, self._times(origin))) / pp) if pp > 0 else 0.0
        return _plus(origin, p, u if limit is None else min(u, limit), p, 0.0)

    def _times(self, v: Vector) -> Vector:
        # Written out: a study of many curves asks a million times, and three calls take twice as long.
        (a, b, c), (d, e, f), (g, h, i) = self.m
        x, y, z = v
        return a * x + b * y + c * z, d * x + e * y + f * z, g * x + h * y + i * z


def _dot(a: Vector, b: Vector) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def _minus(a: Vector, b: Vector) -> Vector:
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


def _plus(x: Vector, p: Vector, u: float, q: Vector, v: float) -> Vector:
    return x[0] + u * p[0] + v * q[0], x[1] + u * p[1] + v * q[1], x[2] + u * p[2] + v * q[2]


def least(columns: FloatArray, target: FloatArray) -> Vector:
    """Return the best non-negative coefficients (Lawson and Hanson, Solving Least Squares Problems, 1974)."""
    from scipy.optimize import nnls

    scale = np.sqrt((columns**2).sum(axis=0))
    scale[scale == 0] = 1.0
    x, _ = nnls(columns / scale, target)
    a, b, c = x / scale
    return float(a), float(b), float(c)
