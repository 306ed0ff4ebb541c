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
    """A factor of the surface: its role, and log2 of its lowest and highest level."""

    role: Role
    low: float
    high: float


class _PowerPrior(NamedTuple):
    """A power of one factor (None: the level) in some parts, with its prior mean and standard deviation."""

    parts: tuple[int, ...]
    axis: int | None
    mean: float
    sd: float


def _powers(axes: Sequence[Axis]) -> list[_PowerPrior]:
    # One worker does all of the work, in about the same time; a call costs far less than a start.
    priors = [_PowerPrior((START,), None, 0, 6), _PowerPrior((WORKER,), None, -3, 6)]
    priors += [_PowerPrior((WORK,), None, 0, ONE_WORKER), _PowerPrior((CALL,), None, -3, 3)]
    for i, axis in enumerate(axes):
        if axis.role == "size":  # all costs are over the same work
            priors += [_PowerPrior((START, WORKER, CALL), i, -1, 0.3), _PowerPrior((WORK,), i, 0, 0.1)]
        elif axis.role == "workers":
            priors += [_PowerPrior((START,), i, 0, 0.15), _PowerPrior((WORKER,), i, 1, 0.3)]
            priors += [_PowerPrior((WORK,), i, -0.9, 0.3)]
        else:
            sd = 0.5 if axis.role == "clients" else 0.8
            priors += [_PowerPrior((part,), i, 0, sd) for part in (START, WORKER, WORK, CALL)]
    return priors


@dataclass(frozen=True, slots=True)
class Mean:
    """A fitted mean: CPUs that workers can use at once, and powers, with the deviations of their priors."""

    axes: tuple[Axis, ...]
    cpus: int
    theta: FloatArray
    sd: FloatArray

    def __call__(self, x: FloatArray) -> FloatArray:
        return _ratio(_rows(self.axes, self.cpus, x) @ self.theta)

    def parts(self, x: FloatArray) -> FloatArray:
        """Return logs of start, workers, remaining work and call at each row of x; shape (4, rows)."""
        return np.asarray(_rows(self.axes, self.cpus, x) @ self.theta)

    def slopes(self, x: FloatArray) -> FloatArray:
        """Return derivatives by each power at each row of x; shape (rows, powers)."""
        rows = _rows(self.axes, self.cpus, x)
        return _slopes(rows @ self.theta, rows)


def _ratio(parts: FloatArray) -> FloatArray:
    """Return the log of parallel over sequential time, from the logs of the parts."""
    return np.asarray(np.logaddexp.reduce(parts[:CALL], axis=0) - np.logaddexp(0, parts[CALL]))


def _slopes(parts: FloatArray, rows: FloatArray) -> FloatArray:
    shares = np.exp(parts - np.logaddexp.reduce(parts[:CALL], axis=0))
    shares[CALL] = -np.exp(parts[CALL] - np.logaddexp(0, parts[CALL]))
    return np.asarray(np.einsum("pr,prk->rk", shares, rows))


def size_powers(mean: Mean) -> dict[int, float]:
    """Return the power with which the work grows with each size, by axis."""
    powers = zip(_powers(mean.axes), mean.theta, strict=True)
    return {p.axis: -float(t) for p, t in powers if p.axis is not None and p.parts == (START, WORKER, CALL)}


def _rows(axes: Sequence[Axis], cpus: int, x: FloatArray) -> FloatArray:
    """Return the factor of each power in each part; shape (parts, rows, powers)."""
    powers = _powers(axes)
    derivatives = np.zeros((4, len(x), len(powers)))
    clients = sum((x[:, i] for i, axis in enumerate(axes) if axis.role == "clients"), np.zeros(len(x)))
    most = np.maximum(log2(cpus) - clients, 0.0)
    for column, power in enumerate(powers):
        for part in power.parts:
            if power.axis is None:
                derivatives[part, :, column] = 1.0
                continue
            axis, at = axes[power.axis], x[:, power.axis]
            divides = part == WORK and axis.role == "workers"
            # Of sizes the middle is the reference, of what is counted its least.
            middle = (axis.low + axis.high) / 2 if axis.role in ("size", "other") else 0.0
            derivatives[part, :, column] = ((np.minimum(at, most) if divides else at) - middle) * log(2)
    return derivatives


def fit_mean(x: FloatArray, g: FloatArray, axes: Sequence[Axis], cpus: int, earlier: Mean | None = None) -> Mean:
    """Fit the mean robustly, with priors on its powers, to g at rows of x: log2 of each factor.

    `cpus`: that workers can use at once. `earlier`: a fit to most of these pairs, where the search starts.
    """
    from scipy.optimize import least_squares  # a plan fits nothing, and need not wait for it

    powers = _powers(axes)
    before, sd = np.array([p.mean for p in powers], dtype=float), np.array([p.sd for p in powers], dtype=float)
    rows = _rows(axes, cpus, x)

    def off(theta: FloatArray) -> FloatArray:
        return np.concatenate([(_ratio(rows @ theta) - g) / USUAL, (theta - before) / sd])

    def slopes(theta: FloatArray) -> FloatArray:
        return np.vstack([_slopes(rows @ theta, rows) / USUAL, np.diag(1 / sd)])

    # Without an earlier fit: from the prior means, and from lower overheads.
    lower = before - np.where(np.isin(np.arange(before.size), [START, WORKER]), 3.0, 0.0)
    starts = [earlier.theta] if earlier else [before, lower]
    tried = [least_squares(off, start, jac=slopes, loss="soft_l1", max_nfev=60) for start in starts]
    return Mean(tuple(axes), cpus, min(tried, key=lambda fit: float(fit.cost)).x, sd)


Configuration = Mapping[str, Level]
SpacePoint = tuple[float, ...]

MOST_POINTS = 8192
# An axis that is linear is as long as one whose levels double so many times.
LINEAR = 4.0


@dataclass(frozen=True, slots=True)
class ComparisonSpace:
    """Two versions, and where they can be compared.

    Attributes:
        factor: the one whose levels are the versions.
        other: the other level; the question is from which size it wins.
        names: the other factors that vary, in the order of the study.
        points: levels of these factors, wherever both versions are planned.
        configurations: of the other version and of the baseline, for each point.
    """

    factor: str
    baseline: Level
    other: Level
    names: tuple[str, ...]
    axes: tuple[Axis, ...]
    linear: tuple[bool, ...]
    points: tuple[SpacePoint, ...]
    configurations: tuple[tuple[Configuration, Configuration], ...]

    def levels(self, axis: int) -> list[float]:
        return sorted({point[axis] for point in self.points})

    def coordinate(self, axis: int, level: float) -> float:
        """Return the coordinate of a level on its axis: log2, or a share of `LINEAR`."""
        return self._coordinates(axis, [level])[level]

    def _coordinates(self, axis: int, wanted: Sequence[float]) -> dict[float, float]:
        if not self.linear[axis]:
            return {level: log2(level) for level in wanted}
        low, *_, high = self.levels(axis)
        return {level: LINEAR * (level - low) / (high - low) for level in wanted}

    def level(self, axis: int, coordinate: float) -> float:
        if not self.linear[axis]:
            return float(2.0**coordinate)
        levels = self.levels(axis)
        return levels[0] + coordinate * (levels[-1] - levels[0]) / LINEAR

    def point_name(self, index: int) -> str:
        return ", ".join(f"{name} {level:.6g}" for name, level in zip(self.names, self.points[index], strict=True))

    def coordinates(self) -> FloatArray:
        """Return the coordinates of all points; shape (points, axes)."""
        places = [self._coordinates(i, self.levels(i)) for i in range(len(self.names))]
        return np.array([[places[i][n] for i, n in enumerate(point)] for point in self.points])


def comparison_space(study: Study, configurations: Sequence[Configuration]) -> ComparisonSpace:
    """Find where a study compares its two versions.

    Raises StudyError: there is nothing to compare, or at too many points.
    """
    ((factor, baseline),) = study.baseline.items()
    other = next((t[factor] for t in configurations if t[factor] != baseline), None)
    if other is None:
        alone = f"only {baseline} is planned here"
        raise StudyError.one(f"factors.{factor}", alone, "two versions", "see what this machine does not grant")
    names = tuple(n for n in study.factors if n != factor and len({t[n] for t in configurations}) > 1)
    by_point: dict[tuple[Level, ...], dict[Level, Configuration]] = {}
    for configuration in configurations:
        by_point.setdefault(tuple(configuration[n] for n in names), {})[configuration[factor]] = configuration
    both = {point: by for point, by in by_point.items() if baseline in by and other in by}
    _check_points(names, both)
    points = tuple(tuple(map(float, point)) for point in both)
    linear = tuple(study.factors[n].scale == "linear" for n in names)
    return ComparisonSpace(
        factor, baseline, other, names, _axes(study, names, points), linear, points,
        tuple((by[other], by[baseline]) for by in both.values()),
    )  # fmt: skip


def usable_cpus(study: Study, configurations: Sequence[Configuration], n_cpus: int) -> int:
    """Return the CPUs that a run can use: all of the host, or the most that a factor gives."""
    given = (name for name, factor in study.factors.items() if factor.control == "cpus")
    return min([n_cpus, *(max(int(t[name]) for t in configurations) for name in given)])


def _check_points(names: Sequence[str], both: Mapping[tuple[Level, ...], object]) -> None:
    actual = f"{len(both)} points along {', '.join(names) or 'no factor'} where both versions are planned"
    if len(both) < 3 or not names:
        raise StudyError.one("factors", actual, "three at least, along one factor or more", "add levels")
    if len(both) > MOST_POINTS:
        raise StudyError.one("factors", actual, f"at most {MOST_POINTS}", "take fewer levels, such as 1:4096:*2")
    for i, name in enumerate(names):
        if text := next((point[i] for point in both if isinstance(point[i], str)), ""):
            actual = f"level {text!r} of several"
            raise StudyError.one(f"factors.{name}", actual, "numbers: the line runs over them", "give it one level")
        if len(levels := {point[i] for point in both}) < 2:
            actual = f"only {name} = {levels.pop()} where both versions are planned"
            raise StudyError.one(f"factors.{name}", actual, "two levels or more", "see what `exclude` leaves")


def _axes(study: Study, names: Sequence[str], points: Sequence[SpacePoint]) -> tuple[Axis, ...]:
    axes = []
    for name, levels in zip(names, zip(*points, strict=True), strict=True):
        factor = study.factors[name]
        ends = (0.0, LINEAR) if factor.scale == "linear" else (log2(min(levels)), log2(max(levels)))
        axes.append(Axis(factor.role or "other", *ends))
    return tuple(axes)
