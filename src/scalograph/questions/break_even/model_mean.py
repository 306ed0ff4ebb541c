"""The mechanistic mean of a break-even surface: what parallel costs and what it saves.

On axes of logs, both times are sums of products of powers, here over the work: of the parallel version what a start
costs, what each worker costs, and the share of the work that is left when the workers divide it; of the sequential one
the work itself, which is 1, and what a call costs. More workers than CPUs (over the clients that share them) divide
nothing further. Sums of such products are posynomials (S. Boyd et al., A tutorial on geometric programming,
Optimization and Engineering 8, 2007); break-even is where both are equal.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log, log2
from typing import Literal, NamedTuple

import numpy as np

from scalograph.analysis.center import FloatArray

# What an axis is: work grows with a size; workers divide it; clients share the CPUs; of others nothing is known.
Role = Literal["size", "workers", "clients", "other"]
START, WORKER, WORK, CALL = range(4)
# How far the work of one worker may be off that of the sequential version, as a log: another loop, another compiler.
ONE_WORKER = 0.15
# Residuals of a pair of runs, in logs: what is beyond counts as an outlier (soft_l1).
USUAL = 0.06


@dataclass(frozen=True, slots=True)
class Axis:
    """A factor of the surface.

    Attributes:
        role: what is known of it.
        low: log2 of its lowest level.
        high: log2 of its highest level.
    """

    role: Role
    low: float
    high: float


class _Power(NamedTuple):
    """A power that one factor (None: the level) has in some parts, with what is believed of it before."""

    parts: tuple[int, ...]
    axis: int | None
    mean: float
    sd: float


def _powers(axes: Sequence[Axis]) -> list[_Power]:
    # One worker does all of the work, in about the same time; a call costs far less than a start.
    found = [_Power((START,), None, 0, 6), _Power((WORKER,), None, -3, 6), _Power((WORK,), None, 0, ONE_WORKER)]
    found += [_Power((CALL,), None, -3, 3)]
    for i, axis in enumerate(axes):
        if axis.role == "size":  # all costs are over the same work
            found += [_Power((START, WORKER, CALL), i, -1, 0.3), _Power((WORK,), i, 0, 0.1)]
        elif axis.role == "workers":
            found += [_Power((START,), i, 0, 0.15), _Power((WORKER,), i, 1, 0.3), _Power((WORK,), i, -0.9, 0.3)]
        else:
            sd = 0.5 if axis.role == "clients" else 0.8
            found += [_Power((part,), i, 0, sd) for part in (START, WORKER, WORK, CALL)]
    return found


@dataclass(frozen=True, slots=True)
class Mean:
    """A fitted mean.

    Attributes:
        axes: of the surface.
        cpus: that workers can use at once.
        theta: a power for each of what is believed before, in that order.
        sd: what was believed of each: its standard deviation.
    """

    axes: tuple[Axis, ...]
    cpus: int
    theta: FloatArray
    sd: FloatArray

    def __call__(self, x: FloatArray) -> FloatArray:
        """Log ratio at each row of x."""
        return _ratio(_rows(self.axes, self.cpus, x) @ self.theta)

    def parts(self, x: FloatArray) -> FloatArray:
        """Logs of the start, the workers, the work that is left, and a call, at each row of x; shape (4, rows)."""
        return np.asarray(_rows(self.axes, self.cpus, x) @ self.theta)

    def slopes(self, x: FloatArray) -> FloatArray:
        """Derivative by each power at each row of x; shape (rows, powers)."""
        rows = _rows(self.axes, self.cpus, x)
        return _slopes(rows @ self.theta, rows)


def _ratio(parts: FloatArray) -> FloatArray:
    """Log of the parallel time over the sequential one, from the logs of the parts."""
    return np.asarray(np.logaddexp.reduce(parts[:CALL], axis=0) - np.logaddexp(0, parts[CALL]))


def _slopes(parts: FloatArray, rows: FloatArray) -> FloatArray:
    shares = np.exp(parts - np.logaddexp.reduce(parts[:CALL], axis=0))
    shares[CALL] = -np.exp(parts[CALL] - np.logaddexp(0, parts[CALL]))
    return np.asarray(np.einsum("pr,prk->rk", shares, rows))


def size_powers(mean: Mean) -> dict[int, float]:
    """Power with which the work grows with each size, by axis."""
    powers = zip(_powers(mean.axes), mean.theta, strict=True)
    return {p.axis: -float(t) for p, t in powers if p.axis is not None and p.parts == (START, WORKER, CALL)}


def _rows(axes: Sequence[Axis], cpus: int, x: FloatArray) -> FloatArray:
    """What each power is of, in each part; shape (parts, rows, powers)."""
    powers = _powers(axes)
    found = np.zeros((4, len(x), len(powers)))
    clients = sum((x[:, i] for i, axis in enumerate(axes) if axis.role == "clients"), np.zeros(len(x)))
    most = np.maximum(log2(cpus) - clients, 0.0)
    for column, power in enumerate(powers):
        for part in power.parts:
            if power.axis is None:
                found[part, :, column] = 1.0
                continue
            axis, at = axes[power.axis], x[:, power.axis]
            divides = part == WORK and axis.role == "workers"
            # Of sizes the middle is the reference, of what is counted its least.
            middle = (axis.low + axis.high) / 2 if axis.role in ("size", "other") else 0.0
            found[part, :, column] = ((np.minimum(at, most) if divides else at) - middle) * log(2)
    return found


def fit_mean(x: FloatArray, g: FloatArray, axes: Sequence[Axis], cpus: int, earlier: Mean | None = None) -> Mean:
    """The mean that fits best, robustly, with what is believed of its powers.

    Args:
        x: log2 of each factor, by row; shape (pairs, axes).
        g: log ratio of each pair.
        axes: what each factor is.
        cpus: that workers can use at once.
        earlier: a fit to most of these pairs, from which the search begins.
    """
    from scipy.optimize import least_squares  # a plan fits nothing, and need not wait for it

    powers = _powers(axes)
    before, sd = np.array([p.mean for p in powers], dtype=float), np.array([p.sd for p in powers], dtype=float)
    rows = _rows(axes, cpus, x)

    def off(theta: FloatArray) -> FloatArray:
        return np.concatenate([(_ratio(rows @ theta) - g) / USUAL, (theta - before) / sd])

    def slopes(theta: FloatArray) -> FloatArray:
        return np.vstack([_slopes(rows @ theta, rows) / USUAL, np.diag(1 / sd)])

    starts = [earlier.theta] if earlier else _starts(before)
    tried = [least_squares(off, start, jac=slopes, loss="soft_l1", max_nfev=60) for start in starts]
    return Mean(tuple(axes), cpus, min(tried, key=lambda found: float(found.cost)).x, sd)


def _starts(before: FloatArray) -> list[FloatArray]:
    """What was believed, and the same with overheads that are lower."""
    lower = before.copy()
    lower[[START, WORKER]] -= 3
    return [before, lower]
