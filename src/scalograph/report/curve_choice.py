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
ALIKE = math.log(1.05)


@dataclass(frozen=True)
class CurveLine:
    """A curve as it is drawn: of each point its place, its value with both ends and as text, and what is ideal."""

    group: tuple[int, ...]
    xs: list[float]
    values: list[list[Any]]
    ideal: list[float | None]

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
    for curve in family["curves"]:
        known = [point for point in curve["points"] if name in point["values"]]
        xs, values = [at[p["level"]] for p in known], [p["values"][name] for p in known]
        found.append(CurveLine(tuple(curve["group"]), xs, values, [p["ideal"] for p in known]))
    return [line for line in found if line.xs]


def chosen(every: Sequence[CurveLine]) -> tuple[list[CurveLine], list[int]]:
    """Choose the lines that are named: the highest, then always the one that is furthest from those chosen.

    Factors that move nothing are left at the level where most was measured.

    Returns:
        The lines in declared order, and the places of the factors that tell them apart.
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
    named = [line for line in left if line in named]
    return named, [i for i in leading if len({line.group[i] for line in named}) > 1]


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
