"""What to say of curves first: the configurations that gain the most, those that do not, and where it ends."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from scalograph.analysis.borrowed_variance import borrowed
from scalograph.analysis.contrast import Contrast
from scalograph.findings.answer import Taken
from scalograph.findings.names import varied
from scalograph.findings.speedup_rule import gain
from scalograph.findings.table import Table
from scalograph.questions.scaling.model_contrasts import LEAST, Compared, contrasts_of, states
from scalograph.questions.scaling.model_settings import Literal, fewest_only, fewest_unless, has_levels
from scalograph.text.compact import WIDEST

# Intervals up to here are no gain that is worth having.
NO_GAIN = 1.05
# Of a difference between two settings, beside all that were looked at.
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Lead:
    """Curves that gain the most and cannot be told apart, at the fewest workers that do.

    Attributes:
        members: one point of each of these curves.
        others: points of curves on the same CPUs, at the same level, that gain less for sure.
        only: levels that all members have, and no other has together; to be named.
        unless: levels of which each other has one, and no member has any; to be named.
        left: further points, which are meant by the same words, but are not resolved.
    """

    members: Sequence[Compared]
    others: Sequence[Compared]
    only: Sequence[Literal]
    unless: Sequence[Literal]
    left: Sequence[Compared] = ()

    @property
    def level(self) -> int:
        """How many workers."""
        return self.members[0].level


def is_resolved(point: Compared) -> bool:
    """Tell whether a point has a number at all."""
    return point.is_possible and point.low > 0 and point.high <= WIDEST * point.low


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
    names = [n for n in varied(table) if n not in (cpus, best.curve.factor)]
    # What cannot be told apart, if few words say which these are; else what looks alike.
    alike = _members(best, beside, lambda one, other: not _differ([other], [one], len(beside)))
    for chosen in (alike, _members(best, beside, _overlap), [best]):
        rest = [point for point in beside if not any(point is member for member in chosen)]
        apart = [point.is_possible and _differ([best], [point], len(beside)) for point in rest]
        others = [point for point, differs in zip(rest, apart, strict=True) if differs]
        left = [point for point, differs in zip(rest, apart, strict=True) if not differs]
        only, unless = fewest_only(names, chosen, others), fewest_unless(names, chosen, others)
        if unless is not None and (only is None or len(chosen) >= len(others) or len(unless) < len(only)):
            return Lead(chosen, others, [], unless, [p for p in left if not has_levels(p, unless, any)])
        if only is not None:
            return Lead(chosen, others, only, [], [p for p in left if has_levels(p, only, all)])
    return Lead([best], others, [(name, best.curve.group[name]) for name in names], [], [])


def named(table: Table, found: Lead) -> Sequence[Literal]:
    """Name what is not resolved: levels that all of it has and nothing else; none where it takes too many words."""
    names = [name for name in varied(table) if name in found.members[0].curve.group]
    return (fewest_unless(names, [*found.members, *found.others], found.left) or []) if found.left else []


def cpus_factor(table: Table, factor: str) -> str:
    """The factor that gives the CPUs, where it varies beside the curve's own; else empty."""
    names = (n for n in varied(table) if table.study.factors[n].control == "cpus" and n != factor)
    return next(names, "")


def _members(best: Compared, beside: Sequence[Compared], alike: Callable[[Compared, Compared], bool]) -> list[Compared]:
    """Faster points that are like the best one, which is the first of them."""
    members = [best]
    for point in sorted(beside, key=lambda point: -point.value):
        if point is not best and point.state == "faster" and is_resolved(point):
            members += [point] if alike(point, best) else []
    return members


def _overlap(one: Compared, other: Compared) -> bool:
    return max(one.low, other.low) <= min(one.high, other.high)


def _differ(better: Sequence[Compared], worse: Sequence[Compared], n: int) -> bool:
    """Whether each of the better points differs from each of the worse, beside n such comparisons."""
    n *= len(better) * len(worse)
    return all(_is_apart(one.contrast, other.contrast, n) for one in better for other in worse)


def _is_apart(one: Contrast, other: Contrast, n: int) -> bool:
    difference = Contrast(one.delta - other.delta, math.hypot(one.se, other.se), min(one.df, other.df), one.n, "")
    p_value = difference.p_value(LEAST)
    return p_value is not None and n * p_value <= 1 - CONFIDENCE


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


def end(table: Table, taken: Taken, found: Lead, points: Sequence[Compared]) -> End | None:
    """Find the level past the lead's where its curves are worst; None where none is worse for sure."""
    how = gain(table, found.members[0].curve.factor)
    assert how is not None  # or nothing would be faster
    lost = {id(p.curve): contrasts_of(table, how, taken, p.curve, found.level) for p in found.members}
    beyond = [p for p in points if id(p.curve) in lost and p.level > found.level]
    known = [(p, lost[id(p.curve)].get(p.level)) for p in beyond]
    pairs = [(point, contrast) for point, contrast in known if contrast is not None]
    told = states(borrowed([contrast for _, contrast in pairs]), table.study.protocol.confidence)
    fallen = [point for (point, _), state in zip(pairs, told, strict=True) if state == "slower" and is_resolved(point)]
    if not fallen:
        return None
    level = min(fallen, key=lambda point: point.high).level
    there = [point for point in beyond if point.level == level and is_resolved(point)]
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
        if _differ(best, worst, len(varied(table))):
            return End(level, [best, worst], [(name, levels[i]) for i in order])
    return None
