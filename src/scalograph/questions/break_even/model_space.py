"""What a study of break-even compares, and at which points: a baseline and the other version, each at both."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log2

import numpy as np

from scalograph.analysis.center import FloatArray
from scalograph.errors import StudyError
from scalograph.questions.break_even.model_mean import Axis
from scalograph.study.model import Study
from scalograph.study.scalars import Level

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
