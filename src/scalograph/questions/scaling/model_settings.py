"""In how few words can some configurations be told from the others?"""

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations

from scalograph.protocol.plain import Level
from scalograph.questions.scaling.model_contrasts import Compared

# Levels that a sentence has room for, and those that are tried, in twos and threes.
MOST_LITERALS, MOST_KNOWN = 3, 30

Literal = tuple[str, Level]


def fewest_unless(
    names: Sequence[str], members: Sequence[Compared], others: Sequence[Compared]
) -> list[Literal] | None:
    """Find the fewest levels, no member's, of which each other point has one; None where there are no such few."""
    held, has = ({(n, p.curve.group[n]) for p in points for n in names} for points in (others, members))
    return _fewest(sorted(held - has, key=str), lambda chosen: all(has_levels(p, chosen, any) for p in others))


def fewest_only(names: Sequence[str], members: Sequence[Compared], others: Sequence[Compared]) -> list[Literal] | None:
    """Find the fewest levels that all members have and no other point has together; None where there are none."""
    shared = [(n, members[0].curve.group[n]) for n in names if len({p.curve.group[n] for p in members}) == 1]
    return _fewest(shared, lambda chosen: not any(has_levels(p, chosen, all) for p in others))


def has_levels(point: Compared, levels: Sequence[Literal], how: Callable[[Iterable[bool]], bool]) -> bool:
    """Tell whether a point has any, or all, of these levels."""
    return how(point.curve.group[name] == level for name, level in levels)


def _fewest(known: Sequence[Literal], fits: Callable[[Sequence[Literal]], bool]) -> list[Literal] | None:
    sizes = range(MOST_LITERALS + 1)
    return next(([*chosen] for n in sizes for chosen in combinations(known[:MOST_KNOWN], n) if fits(chosen)), None)
