"""Which lines of a family of curves are told apart in one plot, and by which of their factors."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

MOST_LINES, MOST_COMPARED = 6, 200
# A factor that moves the curves less than this, as a share of what the strongest one does, tells no lines apart.
WEAK = 0.25
ALIKE, GROUPED = math.log(1.05), math.log(1.15)  # lines that are one, and those that a row may stand for


@dataclass(frozen=True)
class CurveLine:
    """A curve as it is drawn: of each point its place, its value with both ends and as text, and what is ideal.

    Attributes:
        published: lines of a paper beside it, each as places and values.
    """

    group: tuple[int, ...]
    xs: list[float]
    values: list[list[Any]]
    ideal: list[float | None]
    published: Sequence[tuple[list[float], list[float]]] = ()

    @property
    def ys(self) -> list[float]:
        """The values."""
        return [value[0] for value in self.values]

    def apart(self, other: "CurveLine") -> float:
        """How far it is from another one where they are furthest, as the logarithm of a ratio."""
        there = dict(zip(other.xs, other.ys, strict=True))
        pairs = [(y, there[x]) for x, y in zip(self.xs, self.ys, strict=True) if x in there]
        return max((abs(math.log(a / b)) for a, b in pairs if min(a, b) > 0), default=0.0)


def lines(family: dict[str, Any], name: str) -> list[CurveLine]:
    """The curves of a family that have a measure anywhere."""
    at, found = family["axis"]["at"], []
    shown = {one["of"] for one in family["under"] if one["shown"] and "paper" in one}
    for curve in family["curves"]:
        known = [point for point in curve["points"] if name in point["values"]]
        xs, values = [at[p["level"]] for p in known], [p["values"][name] for p in known]
        beside = (one for one in curve["under"] if one["of"] in shown and one["measure"] == name)
        paper = [(trace["x"], trace["y"]) for one in beside for trace in one["traces"]]
        found.append(CurveLine(tuple(curve["group"]), xs, values, [p["ideal"] for p in known], paper))
    return [line for line in found if line.xs]


def of_rows(every: Sequence[CurveLine], rows: Sequence[dict[float, float]]) -> list[CurveLine]:
    """Find the line that each row of the claim's matrix is about: the one that is nearest to its values."""
    found = []
    for row in filter(None, rows):
        probe = CurveLine((), [*row], [[value] for value in row.values()], [])
        near = min(every, key=lambda line: (len(row.keys() - {*line.xs}), line.apart(probe)))
        if row.keys() <= {*near.xs} and near.apart(probe) < GROUPED and near not in found:
            found.append(near)
    return found[:MOST_LINES]


def furthest(every: Sequence[CurveLine]) -> list[CurveLine]:
    """Choose the highest line, then always the one that is furthest from those chosen; in declared order.

    Factors that move nothing are left at the level where most was measured. A line of one point, if there is one, is
    what the others are compared with.
    """
    leading = _leading(every)
    rest = Counter(_without(line, leading) for line in every for _ in line.xs).most_common(1)[0][0]
    left = [line for line in every if _without(line, leading) == rest]
    named = [max(left, key=lambda line: max(line.ys))]
    while len(named) < min(MOST_LINES, len(left)):
        distance, i = max((min(line.apart(one) for one in named), i) for i, line in enumerate(left))
        if distance < ALIKE and len(left) > MOST_LINES:
            break
        named.append(left[i] if left[i] not in named else next(line for line in left if line not in named))
    single = [line for line in every if len(line.xs) == 1]
    beside = single if len(single) == 1 and single[0] not in named else []
    return [line for line in every if line in named[: MOST_LINES - len(beside)] + beside]


def _leading(every: Sequence[CurveLine]) -> list[int]:
    """Places of the factors that move the curves."""
    moves = dict.fromkeys(range(len(every[0].group)), 0.0)
    for one, other in combinations(every[:MOST_COMPARED], 2):
        differ = [i for i in moves if one.group[i] != other.group[i]]
        if len(differ) == 1:
            moves[differ[0]] = max(moves[differ[0]], one.apart(other))
    return [i for i, move in moves.items() if move >= max(WEAK * max(moves.values()), ALIKE)]


def _without(line: CurveLine, leading: Sequence[int]) -> tuple[int, ...]:
    return tuple(level for i, level in enumerate(line.group) if i not in leading)
