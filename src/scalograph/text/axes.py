"""Factors of a study as charts name them, and the positions of their levels on an axis."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal

from scalograph.protocol.findings import FactorDoc, Findings
from scalograph.protocol.plain import Level
from scalograph.text.escape import escape_controls, one_line
from scalograph.text.format import level_text

WIDE = 8  # ratio of largest to smallest level from which a logarithmic axis is used
CROWDED = 12  # ratio of widest to narrowest gap beyond which levels on a linear axis overlap


def level_key(level: Level) -> str:
    """Return the identity of a level: 1 and 1.0 are one level, 1 and true and "1" are three.

    >>> level_key(1) == level_key(1.0), level_key(1) == level_key(True), level_key(1) == level_key("1")
    (True, False, False)
    """
    if isinstance(level, bool):
        return f"bool {level}"
    return f"number {float(level)!r}" if isinstance(level, int | float) else f"text {level}"


@dataclass(slots=True)
class Levels:
    """The levels of one factor in declared order, and the index of each; `ratios` if their ratios matter."""

    name: str
    title: str
    unit: str
    levels: list[Level]
    ratios: bool = False
    places: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for level in self.levels:
            self.places.setdefault(level_key(level), len(self.places))

    def index(self, level: Level) -> int:
        """Return the index of a level; one that was not declared is added at the end."""
        index = self.places.setdefault(level_key(level), len(self.places))
        if index == len(self.levels):
            self.levels.append(level)
        return index

    def texts(self) -> list[str]:
        return [escape_controls(level_text(level, self.unit)) for level in self.levels]

    def kind(self) -> Literal["log", "linear", "category"]:
        """Return the kind of scale that spaces them well."""
        return "log" if self.ratios else scale(self.levels)

    def axis(self) -> dict[str, Any]:
        """Return the kind of scale, whether the levels have an order, and position and label of each."""
        kind = self.kind()
        positions = [_position(kind, i, x) for i, x in enumerate(self.levels)]
        labels = [escape_controls(level_text(level)) for level in self.levels]
        return {"scale": kind, "ordered": is_ordered(self.levels), "at": positions, "labels": labels}


def is_ordered(levels: Iterable[Level | None]) -> bool:
    """Tell whether levels have an order, so that a line may join them.

    >>> is_ordered([0, 1, 100]), is_ordered(["gcc", "clang"]), is_ordered([False, True])
    (True, False, False)
    """
    return all(isinstance(level, int | float) and not isinstance(level, bool) for level in levels)


def scale(levels: list[Level]) -> Literal["log", "linear", "category"]:
    """Choose a logarithmic scale if it spaces the levels more evenly, categories if they are no numbers.

    >>> scale([1, 2, 8, 32, 128, 512]), scale([1, 2, 3, 4]), scale(["a", "b"]), scale([0, 1, 10, 100])
    ('log', 'linear', 'category', 'category')
    """
    numbers = [float(x) for x in levels if isinstance(x, int | float) and not isinstance(x, bool)]
    if len(numbers) < len(levels) or not numbers:
        return "category"
    uneven = _unevenness(numbers)
    if min(numbers) > 0 and max(numbers) / min(numbers) >= WIDE and _unevenness([*map(math.log, numbers)]) < uneven:
        return "log"
    return "linear" if uneven <= CROWDED else "category"


def _unevenness(numbers: list[float]) -> float:
    """Return the ratio of widest to narrowest gap."""
    gaps = [b - a for a, b in pairwise(sorted(set(numbers)))]
    return max(gaps) / min(gaps) if gaps else 1.0


def _position(kind: str, i: int, level: Level) -> float:
    if kind == "category":
        return float(i)
    return math.log10(float(level)) if kind == "log" else float(level)


def axis_position(factor: Levels) -> Callable[[float], float | None]:
    """Return the function from a number to its position on the axis of levels, None beyond.

    >>> axis_position(Levels("n", "n", "", [10, 11, 24, 25]))(17.5)
    1.5
    """
    kind = factor.kind()
    if kind != "category":
        return lambda x: _position(kind, 0, x)
    positions = sorted((float(x), i) for i, x in enumerate(factor.levels) if isinstance(x, int | float))

    def interpolate(x: float) -> float | None:
        spans = pairwise(positions)
        return next((i + (j - i) * (x - a) / (b - a) for (a, i), (b, j) in spans if a <= x <= b), None)

    return interpolate


class Factors:
    """All factors of a study by name; those of `by_ratio` have the measured levels on a logarithmic axis."""

    def __init__(self, findings: Findings, by_ratio: Iterable[str] = ()) -> None:
        self.known = {f.name: _levels(f) for f in findings.study.factors}
        for searched in (self.known[name] for name in by_ratio if name in self.known):
            curves = [curve for curve in findings.curves if curve.factor == searched.name]
            measured = {point.level for curve in curves for point in curve.points}
            levels = [level for level in searched.levels if level in measured]
            self.known[searched.name] = Levels(searched.name, searched.title, searched.unit, levels, ratios=True)

    def __getitem__(self, name: str) -> Levels:
        return self.known.setdefault(name, Levels(name, one_line(name), "", []))

    def configuration(self, levels: dict[str, Level]) -> str:
        parts = [f"{self[name].title}: {escape_controls(level_text(x, self[name].unit))}" for name, x in levels.items()]
        return " \N{MIDDLE DOT} ".join(parts)

    def group(self, levels: dict[str, Level]) -> str:
        """Name a group by the factors that have several levels."""
        return self.configuration({name: level for name, level in levels.items() if len(self[name].levels) > 1})


def _levels(factor: FactorDoc) -> Levels:
    unit = "" if factor.unit in ("", "1") else escape_controls(factor.unit)
    levels = list({level_key(level): level for level in factor.levels}.values())
    return Levels(factor.name, one_line(factor.title) or one_line(factor.name), unit, levels)
