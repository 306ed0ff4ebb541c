"""The mechanistic mean of a break-even surface: what parallel costs and what it saves.

On axes of logs, both times are sums of products of powers, here over the work: of the parallel version what a start
costs, what each worker costs, and the share of the work that is left when the workers divide it; of the sequential one
the work itself, which is 1, and what a call costs. More workers than CPUs (over the clients that share them) divide
nothing further. Sums of such products are posynomials (S. Boyd et al., A tutorial on geometric programming,
Optimization and Engineering 8, 2007); break-even is where both are equal.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log, log2
from typing import Literal, NamedTuple

import numpy as np

from scalograph.analysis.center import FloatArray
from scalograph.errors import StudyError
from scalograph.study.model import Study
from scalograph.study.scalars import Level

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


Treatment = Mapping[str, Level]
SpacePoint = tuple[float, ...]

MOST_POINTS = 8192
# An axis that is linear is as long as one whose levels double so many times.
LINEAR = 4.0


@dataclass(frozen=True, slots=True)
class Pairs:
    """Two versions, and where they can be compared.

    Attributes:
        factor: the one whose levels are the versions.
        against: the baseline's level.
        other: the other level; the question is from which size it wins.
        names: factors that vary otherwise, in the order of the study.
        axes: what each of them is.
        linear: whether each is linear.
        points: levels of these factors, wherever both versions are planned.
        treatments: of the other version and of the baseline, for each point.
    """

    factor: str
    against: Level
    other: Level
    names: tuple[str, ...]
    axes: tuple[Axis, ...]
    linear: tuple[bool, ...]
    points: tuple[SpacePoint, ...]
    treatments: tuple[tuple[Treatment, Treatment], ...]

    def levels(self, axis: int) -> list[float]:
        """Every level of an axis that a point has, from the lowest on."""
        return sorted({point[axis] for point in self.points})

    def coordinate(self, axis: int, level: float) -> float:
        """Where a level lies on its axis."""
        if not self.linear[axis]:
            return log2(level)
        levels = self.levels(axis)
        return LINEAR * (level - levels[0]) / (levels[-1] - levels[0])

    def _places(self, axis: int) -> dict[float, float]:
        """Coordinate of every level of an axis: `coordinate` looks through all points for each."""
        low, *_, high = levels = self.levels(axis)
        if not self.linear[axis]:
            return {level: log2(level) for level in levels}
        return {level: LINEAR * (level - low) / (high - low) for level in levels}

    def level(self, axis: int, coordinate: float) -> float:
        """The level at a place of an axis."""
        if not self.linear[axis]:
            return float(2.0**coordinate)
        levels = self.levels(axis)
        return levels[0] + coordinate * (levels[-1] - levels[0]) / LINEAR

    def named(self, index: int) -> str:
        """A point for people."""
        return ", ".join(f"{name} {level:.6g}" for name, level in zip(self.names, self.points[index], strict=True))

    def at(self) -> FloatArray:
        """Coordinates of all points; shape (points, axes)."""
        places = [self._places(i) for i in range(len(self.names))]
        return np.array([[places[i][n] for i, n in enumerate(point)] for point in self.points])


def pairs(study: Study, treatments: Sequence[Treatment]) -> Pairs:
    """What a study compares.

    Args:
        study: with a baseline.
        treatments: all that are planned.

    Raises:
        StudyError: there is nothing to compare, or at too many points.
    """
    ((factor, against),) = study.baseline.items()
    planned = {treatment[factor]: None for treatment in treatments}
    other = next((level for level in planned if level != against), None)
    if other is None:
        alone = f"only {against} is planned here"
        raise StudyError.one(f"factors.{factor}", alone, "two versions", "see what this machine does not grant")
    names = tuple(n for n in study.factors if n != factor and len({t[n] for t in treatments}) > 1)
    found: dict[tuple[Level, ...], dict[Level, Treatment]] = {}
    for treatment in treatments:
        found.setdefault(tuple(treatment[n] for n in names), {})[treatment[factor]] = treatment
    both = {point: by for point, by in found.items() if against in by and other in by}
    _refuse(names, both)
    points = tuple(tuple(map(float, point)) for point in both)
    linear = tuple(study.factors[n].scale == "linear" for n in names)
    return Pairs(
        factor, against, other, names, _axes(study, names, points), linear, points,
        tuple((by[other], by[against]) for by in both.values()),
    )  # fmt: skip


def usable_cpus(study: Study, treatments: Sequence[Treatment], n_cpus: int) -> int:
    """CPUs that any run can use: all of the host, or what a factor gives at most."""
    given = (name for name, factor in study.factors.items() if factor.control == "cpus")
    return min([n_cpus, *(max(int(t[name]) for t in treatments) for name in given)])


def _refuse(names: Sequence[str], both: Mapping[tuple[Level, ...], object]) -> None:
    found = f"{len(both)} points along {', '.join(names) or 'no factor'} where both versions are planned"
    if len(both) < 3 or not names:
        raise StudyError.one("factors", found, "three at least, along one factor or more", "add levels")
    if len(both) > MOST_POINTS:
        raise StudyError.one("factors", found, f"at most {MOST_POINTS}", "take fewer levels, such as 1:4096:*2")
    for i, name in enumerate(names):
        if text := next((point[i] for point in both if isinstance(point[i], str)), ""):
            found = f"level {text!r} of several"
            raise StudyError.one(f"factors.{name}", found, "numbers: the line runs over them", "give it one level")
        if len(levels := {point[i] for point in both}) < 2:
            found = f"only {name} = {levels.pop()} where both versions are planned"
            raise StudyError.one(f"factors.{name}", found, "two levels or more", "see what `exclude` leaves")


def _axes(study: Study, names: Sequence[str], points: Sequence[SpacePoint]) -> tuple[Axis, ...]:
    found = []
    for i, name in enumerate(names):
        low, high = min(p[i] for p in points), max(p[i] for p in points)
        linear = study.factors[name].scale == "linear"
        ends = (0.0, LINEAR) if linear else (log2(low), log2(high))
        found.append(Axis(study.factors[name].role or "other", *ends))
    return tuple(found)
