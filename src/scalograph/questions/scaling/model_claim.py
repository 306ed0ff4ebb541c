"""What to say of curves first: the configurations that gain the most, those that do not, and where it ends."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import log
from typing import Literal, NamedTuple

import numpy as np

from scalograph.analysis.baseline import blocked_contrasts, unpaired_contrasts
from scalograph.analysis.comparisons import holm
from scalograph.analysis.contrast import Contrast
from scalograph.analysis.speedup_points import PLAY
from scalograph.analysis.variance_moderation import moderate_variances
from scalograph.findings.answer import Samples
from scalograph.findings.curves import point_key
from scalograph.findings.names import varying_factors
from scalograph.findings.sample import Sample
from scalograph.findings.speedup_rule import SpeedupRule, find_speedup_rule
from scalograph.findings.table import Table
from scalograph.protocol.findings import Curve, Point
from scalograph.protocol.plain import Level
from scalograph.text.cell_numbers import WIDEST

State = Literal["faster", "slower", "open"]

# A smaller difference is none to speak of: a log.
LEAST = log(1 + PLAY)


class ComparedPoint(NamedTuple):
    """A point of a curve beside its baseline.

    Attributes:
        curve: that it is of.
        point: with its speedup.
        sample: its runs.
        contrast: log speedup, with what the study as a whole knows of spreads.
        state: what is known of it against the baseline.
        is_possible: whether the CPUs can have given its speedup; what they cannot give is no number to speak of.
    """

    curve: Curve
    point: Point
    sample: Sample
    contrast: Contrast
    state: State = "open"
    is_possible: bool = True

    @property
    def level(self) -> int:
        """How many."""
        return int(self.point.level)

    @property
    def value(self) -> float:
        """The speedup."""
        return self.point.speedup.value or 0.0 if self.point.speedup else 0.0

    @property
    def low(self) -> float:
        """Where its interval begins; 0 where it has none."""
        return self.point.speedup.low or 0.0 if self.point.speedup else 0.0

    @property
    def high(self) -> float:
        """Where its interval ends; infinite where it has none."""
        return self.point.speedup.high or np.inf if self.point.speedup else np.inf


def compare_points(table: Table, taken: Samples, curves: Sequence[Curve]) -> list[ComparedPoint]:
    """Compare every point that has a speedup with its baseline, which is left out."""
    how = find_speedup_rule(table, curves[0].factor) if curves else None
    if how is None:
        return []
    found: list[ComparedPoint] = []
    for curve in curves:
        contrasts = level_contrasts(table, how, taken, curve, int(table.study.baseline[curve.factor]))
        points = [p for p in curve.points if p.speedup and p.speedup.value and int(p.level) in contrasts]
        every = ((p, taken[point_key(table, curve, p)], contrasts[int(p.level)]) for p in points)
        found += [ComparedPoint(curve, p, s, c, is_possible=_is_possible(table, curve, p)) for p, s, c in every]
    confidence = table.study.protocol.confidence
    lent = moderate_variances([point.contrast for point in found])
    moderated = zip(found, lent, classify_contrasts(lent, confidence), strict=True)
    return [p._replace(contrast=c, state=s if _agrees(p, s) else "open") for p, c, s in moderated]


def _is_possible(table: Table, curve: Curve, point: Point) -> bool:
    """Whether the physics gates allow the speedup: they weigh levels that count workers, by the band of all levels."""
    band, share, speedup = point.simultaneous, point.efficiency, point.speedup
    counts_workers = table.study.factors[curve.factor].control is None
    if not counts_workers or not (band and band.low and share and share.value and speedup and speedup.value):
        return True
    growth = speedup.value / share.value
    return band.low <= growth * (1 + PLAY)


def missing_points(table: Table, taken: Samples, curves: Sequence[Curve]) -> list[ComparedPoint]:
    """Points that no speedup is known of: no words that mean them too may claim one."""
    unknown, how = Contrast(0.0, np.nan, 0.0, 0, ""), find_speedup_rule(table, curves[0].factor) if curves else None
    return [
        ComparedPoint(curve, point, taken[point_key(table, curve, point)], unknown)
        for curve in curves
        for point in curve.points
        if how and not (point.speedup and point.speedup.value) and point.level != table.study.baseline[curve.factor]
    ]


def _agrees(point: ComparedPoint, state: State) -> bool:
    """Whether the interval that stands in the tables says so too."""
    return point.low > 1 if state == "faster" else point.high < 1


def classify_contrasts(contrasts: Sequence[Contrast], confidence: float) -> list[State]:
    """Tell which contrasts of a study are beyond 2 %, beside all others of it."""
    return [
        "open" if p is None or p > 1 - confidence else "faster" if contrast.delta > 0 else "slower"
        for contrast, p in zip(contrasts, holm([c.p_value(LEAST) for c in contrasts]), strict=True)
    ]


def level_contrasts(table: Table, how: SpeedupRule, taken: Samples, curve: Curve, base: int) -> dict[int, Contrast]:
    """Compare the levels of a curve with one of them, as log throughput over its; empty where nothing tells."""
    response, every = how.response, {int(point.level): taken[point_key(table, curve, point)] for point in curve.points}
    samples = {n: sample for n, sample in every.items() if sample.values(response).size}
    if base not in samples or min(float(sample.values(response).min()) for sample in samples.values()) <= 0:
        return {}
    contrasts = blocked_contrasts({n: sample.block_logs(response) for n, sample in samples.items()}, base)
    contrasts = contrasts or unpaired_contrasts({n: sample.values(response) for n, sample in samples.items()}, base)
    contrasts = contrasts if how.kind == "time" else {n: contrast.invert() for n, contrast in contrasts.items()}
    more = {n: log(n / base) if how.per_worker else 0.0 for n in contrasts}
    return {n: replace(contrast, delta=contrast.delta + more[n]) for n, contrast in contrasts.items()}


# Levels that a sentence has room for, and those that are tried, in twos and threes.
MOST_LITERALS, MOST_KNOWN = 3, 30

FactorLevel = tuple[str, Level]


def fewest_unless(
    names: Sequence[str], members: Sequence[ComparedPoint], others: Sequence[ComparedPoint]
) -> list[FactorLevel] | None:
    """Find the fewest levels, no member's, of which each other point has one; None where there are no such few."""
    held, has = ({(n, p.curve.group[n]) for p in points for n in names} for points in (others, members))
    return _fewest(sorted(held - has, key=str), lambda chosen: all(has_levels(p, chosen, any) for p in others))


def fewest_only(
    names: Sequence[str], members: Sequence[ComparedPoint], others: Sequence[ComparedPoint]
) -> list[FactorLevel] | None:
    """Find the fewest levels that all members have and no other point has together; None where there are none."""
    shared = [(n, members[0].curve.group[n]) for n in names if len({p.curve.group[n] for p in members}) == 1]
    return _fewest(shared, lambda chosen: not any(has_levels(p, chosen, all) for p in others))


def has_levels(point: ComparedPoint, levels: Sequence[FactorLevel], how: Callable[[Iterable[bool]], bool]) -> bool:
    """Tell whether a point has any, or all, of these levels."""
    return how(point.curve.group[name] == level for name, level in levels)


def _fewest(
    candidates: Sequence[FactorLevel], fits: Callable[[Sequence[FactorLevel]], bool]
) -> list[FactorLevel] | None:
    sizes = range(MOST_LITERALS + 1)
    return next(([*chosen] for n in sizes for chosen in combinations(candidates[:MOST_KNOWN], n) if fits(chosen)), None)


# Intervals up to here are no gain that is worth having.
NO_GAIN = 1.05
# Of a difference between two settings, beside all that were looked at.
CONFIDENCE = 0.95


@dataclass(frozen=True)
class BestGain:
    """Curves that gain the most and cannot be told apart, at the fewest workers that do.

    Attributes:
        members: one point of each of these curves.
        others: points of curves on the same CPUs, at the same level, that gain less for sure.
        only: levels that all members have, and no other has together; to be named.
        unless: levels of which each other has one, and no member has any; to be named.
        left: further points, which are meant by the same words, but are not resolved.
    """

    members: Sequence[ComparedPoint]
    others: Sequence[ComparedPoint]
    only: Sequence[FactorLevel]
    unless: Sequence[FactorLevel]
    left: Sequence[ComparedPoint] = ()

    @property
    def level(self) -> int:
        """How many workers."""
        return self.members[0].level


def is_resolved(point: ComparedPoint) -> bool:
    """Tell whether a point has a number at all."""
    return point.is_possible and point.low > 0 and point.high <= WIDEST * point.low


def find_best_gain(table: Table, points: Sequence[ComparedPoint]) -> BestGain | None:
    """Find the curves to lead with; None where nothing is faster than its baseline."""
    faster = [point for point in points if point.state == "faster" and is_resolved(point)]
    if not faster:
        return None
    best = max(faster, key=lambda point: point.low)
    same = [p for p in faster if p.curve is best.curve and p.high >= best.low]
    best = min(same, key=lambda point: point.level)
    cpus = cpus_factor(table, best.curve.factor)
    beside = [p for p in points if p.level == best.level and p.curve.group.get(cpus) == best.curve.group.get(cpus)]
    names = [n for n in varying_factors(table) if n not in (cpus, best.curve.factor)]
    # What cannot be told apart, if few words say which these are; else what looks alike.
    alike = _members(best, beside, lambda first, second: not _differ([second], [first], len(beside)))
    for chosen in (alike, _members(best, beside, _overlap), [best]):
        rest = [point for point in beside if not any(point is member for member in chosen)]
        apart = [point.is_possible and _differ([best], [point], len(beside)) for point in rest]
        others = [point for point, differs in zip(rest, apart, strict=True) if differs]
        left = [point for point, differs in zip(rest, apart, strict=True) if not differs]
        only, unless = fewest_only(names, chosen, others), fewest_unless(names, chosen, others)
        if unless is not None and (only is None or len(chosen) >= len(others) or len(unless) < len(only)):
            return BestGain(chosen, others, [], unless, [p for p in left if not has_levels(p, unless, any)])
        if only is not None:
            return BestGain(chosen, others, only, [], [p for p in left if has_levels(p, only, all)])
    return BestGain([best], others, [(name, best.curve.group[name]) for name in names], [], [])


def unresolved_levels(table: Table, best: BestGain) -> Sequence[FactorLevel]:
    """Name what is not resolved: levels that all of it has and nothing else; none where it takes too many words."""
    names = [name for name in varying_factors(table) if name in best.members[0].curve.group]
    return (fewest_unless(names, [*best.members, *best.others], best.left) or []) if best.left else []


def cpus_factor(table: Table, factor: str) -> str:
    """The factor that gives the CPUs, where it varies beside the curve's own; else empty."""
    names = (n for n in varying_factors(table) if table.study.factors[n].control == "cpus" and n != factor)
    return next(names, "")


def _members(
    best: ComparedPoint, beside: Sequence[ComparedPoint], alike: Callable[[ComparedPoint, ComparedPoint], bool]
) -> list[ComparedPoint]:
    """Faster points that are like the best one, which is the first of them."""
    members = [best]
    for point in sorted(beside, key=lambda point: -point.value):
        if point is not best and point.state == "faster" and is_resolved(point):
            members += [point] if alike(point, best) else []
    return members


def _overlap(first: ComparedPoint, second: ComparedPoint) -> bool:
    return max(first.low, second.low) <= min(first.high, second.high)


def _differ(better: Sequence[ComparedPoint], worse: Sequence[ComparedPoint], n: int) -> bool:
    """Whether each of the better points differs from each of the worse, beside n such comparisons."""
    n *= len(better) * len(worse)
    return all(_is_apart(first.contrast, second.contrast, n) for first in better for second in worse)


def _is_apart(first: Contrast, second: Contrast, n: int) -> bool:
    difference = Contrast(
        first.delta - second.delta, math.hypot(first.se, second.se), min(first.df, second.df), first.n, ""
    )
    p_value = difference.p_value(LEAST)
    return p_value is not None and n * p_value <= 1 - CONFIDENCE


@dataclass(frozen=True)
class Decline:
    """What becomes of the curves at more workers.

    Attributes:
        level: how many.
        parts: points there; in two parts where one level of a setting makes the difference, the better ones first.
        setting: what names each part; empty where there is one.
    """

    level: int
    parts: Sequence[Sequence[ComparedPoint]]
    setting: Sequence[FactorLevel] = ()


def find_decline(table: Table, taken: Samples, best: BestGain, points: Sequence[ComparedPoint]) -> Decline | None:
    """Find the level past the lead's where its curves are worst; None where none is worse for sure."""
    how = find_speedup_rule(table, best.members[0].curve.factor)
    assert how is not None  # or nothing would be faster
    lost = {id(p.curve): level_contrasts(table, how, taken, p.curve, best.level) for p in best.members}
    beyond = [p for p in points if id(p.curve) in lost and p.level > best.level]
    contrasts = [(p, lost[id(p.curve)].get(p.level)) for p in beyond]
    pairs = [(point, contrast) for point, contrast in contrasts if contrast is not None]
    changes = classify_contrasts(
        moderate_variances([contrast for _, contrast in pairs]), table.study.protocol.confidence
    )
    fallen = [
        point for (point, _), state in zip(pairs, changes, strict=True) if state == "slower" and is_resolved(point)
    ]
    if not fallen:
        return None
    level = min(fallen, key=lambda point: point.high).level
    there = [point for point in beyond if point.level == level and is_resolved(point)]
    return _split_decline(table, level, there) or (Decline(level, [there]) if all(p in fallen for p in there) else None)


def _split_decline(table: Table, level: int, there: Sequence[ComparedPoint]) -> Decline | None:
    """The setting of two levels of which one is better throughout."""
    for name in (n for n in varying_factors(table) if n in there[0].curve.group):
        levels = list(dict.fromkeys(point.curve.group[name] for point in there))
        if len(levels) != 2:
            continue
        parts = [[p for p in there if p.curve.group[name] == level_] for level_ in levels]
        order = sorted(range(2), key=lambda i: -min(p.low for p in parts[i]))
        best, worst = (parts[i] for i in order)
        if _differ(best, worst, len(varying_factors(table))):
            return Decline(level, [best, worst], [(name, levels[i]) for i in order])
    return None
