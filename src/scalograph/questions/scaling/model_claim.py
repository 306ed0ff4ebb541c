"""What to say of curves first: the configurations that gain the most, those that do not, and where it ends."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from scalograph.findings.names import varied
from scalograph.findings.table import Table
from scalograph.protocol.plain import Level
from scalograph.questions.scaling.model_contrasts import Compared
from scalograph.text.compact import WIDEST

# Levels that a sentence has room for, to say what is meant.
MOST_LITERALS = 3
# Intervals up to here are no gain that is worth having.
NO_GAIN = 1.05

Literal = tuple[str, Level]


@dataclass(frozen=True)
class Lead:
    """Curves that gain the most and cannot be told apart, at the fewest workers that do.

    Attributes:
        members: one point of each of these curves.
        others: points of the other curves on the same CPUs, at the same level.
        only: levels that all members have, and no other has together; to be named.
        unless: levels of which each other has one, and no member has any; to be named.
    """

    members: Sequence[Compared]
    others: Sequence[Compared]
    only: Sequence[Literal]
    unless: Sequence[Literal]

    @property
    def level(self) -> int:
        """How many workers."""
        return self.members[0].level


def is_resolved(point: Compared) -> bool:
    """Tell whether a point has a number at all."""
    return point.low > 0 and point.high <= WIDEST * point.low


def lead(table: Table, points: Sequence[Compared]) -> Lead | None:
    """Find the curves to lead with; None where nothing is faster than its baseline."""
    faster = [point for point in points if point.state == "faster" and is_resolved(point)]
    if not faster:
        return None
    best = max(faster, key=lambda point: point.low)
    same = [p for p in faster if p.curve is best.curve and p.high >= best.low]
    best = min(same, key=lambda point: point.level)
    cpus = cpus_factor(table, best.curve.factor)
    beside = [p for p in points if p.level == best.level and p.curve.group.get(cpus) == best.curve.group.get(cpus)]
    members, names = _members(best, beside), [n for n in varied(table) if n not in (cpus, best.curve.factor)]
    for chosen in (members, [best]):
        others = [point for point in beside if point not in chosen]
        only, unless = _only(names, chosen, others), _unless(names, chosen, others)
        if not others:
            return Lead(chosen, [], [], [])
        if unless is not None and (only is None or len(chosen) >= len(others) or len(unless) < len(only)):
            return Lead(chosen, others, [], unless)
        if only is not None:
            return Lead(chosen, others, only, [])
    return Lead([best], others, [(name, best.curve.group[name]) for name in names], [])


def cpus_factor(table: Table, factor: str) -> str:
    """The factor that gives the CPUs, where it varies beside the curve's own; else empty."""
    names = (n for n in varied(table) if table.study.factors[n].control == "cpus" and n != factor)
    return next(names, "")


def _members(best: Compared, beside: Iterable[Compared]) -> list[Compared]:
    """Points whose intervals have something in common with the best one's, all of them."""
    members, low, high = [best], best.low, best.high
    for point in sorted(beside, key=lambda point: -point.value):
        if point is best or point.state != "faster" or not is_resolved(point):
            continue
        if max(low, point.low) <= min(high, point.high):
            members.append(point)
            low, high = max(low, point.low), min(high, point.high)
    return members


def _unless(names: Sequence[str], members: Sequence[Compared], others: Sequence[Compared]) -> list[Literal] | None:
    """Fewest levels, no member's, of which each other point has one; None where there are no such few."""
    free = {(n, p.curve.group[n]) for p in others for n in names} - {
        (n, p.curve.group[n]) for p in members for n in names
    }
    return _fewest(sorted(free, key=str), lambda chosen: all(_has(p, chosen, any) for p in others))


def _only(names: Sequence[str], members: Sequence[Compared], others: Sequence[Compared]) -> list[Literal] | None:
    """Fewest levels that all members have and no other point has together; None where there are none."""
    shared = [(n, members[0].curve.group[n]) for n in names if len({p.curve.group[n] for p in members}) == 1]
    return _fewest(shared, lambda chosen: not any(_has(p, chosen, all) for p in others))


def _fewest(known: Sequence[Literal], fits: Callable[[Sequence[Literal]], bool]) -> list[Literal] | None:
    sizes = range(1, MOST_LITERALS + 1)
    return next(([*chosen] for n in sizes for chosen in combinations(known, n) if fits(chosen)), None)


def _has(point: Compared, levels: Sequence[Literal], how: Callable[[Iterable[bool]], bool]) -> bool:
    return how(point.curve.group[name] == level for name, level in levels)


@dataclass(frozen=True)
class End:
    """What becomes of the curves at more workers.

    Attributes:
        level: how many.
        parts: points there; in two parts where one level of a setting makes the difference, the better ones first.
        setting: what names each part; empty where there is one.
    """

    level: int
    parts: Sequence[Sequence[Compared]]
    setting: Sequence[Literal] = ()


def end(table: Table, found: Lead, points: Sequence[Compared]) -> End | None:
    """Find the level past the lead's where its curves are worst; None where none is worse for sure."""
    curves = {id(point.curve): point for point in found.members}
    beyond = [p for p in points if id(p.curve) in curves and p.level > found.level and is_resolved(p)]
    fallen = [p for p in beyond if p.high < curves[id(p.curve)].low]
    if not fallen:
        return None
    level = min(fallen, key=lambda point: point.high).level
    there = [point for point in points if id(point.curve) in curves and point.level == level]
    if not all(map(is_resolved, there)):
        there = [point for point in there if is_resolved(point)]
    return _divided(table, level, there) or (End(level, [there]) if all(p in fallen for p in there) else None)


def _divided(table: Table, level: int, there: Sequence[Compared]) -> End | None:
    """The setting of two levels of which one is better throughout."""
    for name in (n for n in varied(table) if n in there[0].curve.group):
        levels = list(dict.fromkeys(point.curve.group[name] for point in there))
        if len(levels) != 2:
            continue
        parts = [[p for p in there if p.curve.group[name] == one] for one in levels]
        order = sorted(range(2), key=lambda i: -min(p.low for p in parts[i]))
        best, worst = (parts[i] for i in order)
        if min(p.low for p in best) > max(p.high for p in worst):
            return End(level, [best, worst], [(name, levels[i]) for i in order])
    return None
