"""Choose what to state of curves first: configurations with the largest speedup, exceptions, and declines."""

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
from scalograph.findings.answer import SampleMap
from scalograph.findings.curves import point_key
from scalograph.findings.sample import Sample
from scalograph.findings.speedup_rule import SpeedupRule, find_speedup_rule
from scalograph.findings.table import Table
from scalograph.protocol.findings import Curve, Point
from scalograph.protocol.plain import Level
from scalograph.text.cell_numbers import WIDEST

State = Literal["faster", "slower", "open"]

LEAST = log(1 + PLAY)  # a smaller difference is none to speak of: a log


class ComparedPoint(NamedTuple):
    """A point of a curve beside its baseline.

    Attributes:
        contrast: log speedup, with what the study as a whole knows of spreads.
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
        """Return the number of workers."""
        return int(self.point.level)

    @property
    def value(self) -> float:
        """Return the speedup."""
        return self.point.speedup.value or 0.0 if self.point.speedup else 0.0

    @property
    def low(self) -> float:
        """Return the low end of its interval; 0 without one."""
        return self.point.speedup.low or 0.0 if self.point.speedup else 0.0

    @property
    def high(self) -> float:
        """Return the high end of its interval; infinite without one."""
        return self.point.speedup.high or np.inf if self.point.speedup else np.inf


def compare_points(table: Table, taken: SampleMap, curves: Sequence[Curve]) -> list[ComparedPoint]:
    """Compare every point that has a speedup with its baseline, which is excluded."""
    how = find_speedup_rule(table, curves[0].factor) if curves else None
    if how is None:
        return []
    compared: list[ComparedPoint] = []
    for curve in curves:
        contrasts = level_contrasts(table, how, taken, curve, int(table.study.baseline[curve.factor]))
        points = [p for p in curve.points if p.speedup and p.speedup.value and int(p.level) in contrasts]
        every = ((p, taken[point_key(table, curve, p)], contrasts[int(p.level)]) for p in points)
        compared += [ComparedPoint(curve, p, s, c, is_possible=_is_possible(table, curve, p)) for p, s, c in every]
    contrasts_ = moderate_variances([point.contrast for point in compared])
    moderated = zip(compared, contrasts_, classify_contrasts(contrasts_, table.view.confidence), strict=True)
    return [p._replace(contrast=c, state=s if _agrees(p, s) else "open") for p, c, s in moderated]


def _is_possible(table: Table, curve: Curve, point: Point) -> bool:
    """Apply the physics gates, which weigh levels that count workers by the band of all levels."""
    band, share, speedup = point.simultaneous, point.efficiency, point.speedup
    counts_workers = table.study.factors[curve.factor].control is None
    if not counts_workers or not (band and band.low and share and share.value and speedup and speedup.value):
        return True
    return band.low <= speedup.value / share.value * (1 + PLAY)


def missing_points(table: Table, taken: SampleMap, curves: Sequence[Curve]) -> list[ComparedPoint]:
    """List points without a speedup: no sentence that covers them may claim one."""
    unknown, how = Contrast(0.0, np.nan, 0.0, 0, ""), find_speedup_rule(table, curves[0].factor) if curves else None
    base = table.study.baseline
    points = [(x, p) for x in curves for p in x.points if how and p.level != base[x.factor]]
    missing = [(curve, point) for curve, point in points if not (point.speedup and point.speedup.value)]
    return [ComparedPoint(curve, p, taken[point_key(table, curve, p)], unknown) for curve, p in missing]


def _agrees(point: ComparedPoint, state: State) -> bool:
    return point.low > 1 if state == "faster" else point.high < 1


def classify_contrasts(contrasts: Sequence[Contrast], confidence: float) -> list[State]:
    """Classify contrasts as beyond 2 % or open, adjusted for all contrasts of the study."""
    return [
        "open" if p is None or p > 1 - confidence else "faster" if contrast.delta > 0 else "slower"
        for contrast, p in zip(contrasts, holm([c.p_value(LEAST) for c in contrasts]), strict=True)
    ]


def level_contrasts(table: Table, how: SpeedupRule, taken: SampleMap, curve: Curve, base: int) -> dict[int, Contrast]:
    """Compare the levels of a curve with one of them, as log throughput ratio; empty where there is no data."""
    response, every = how.response, {int(point.level): taken[point_key(table, curve, point)] for point in curve.points}
    samples = {n: sample for n, sample in every.items() if sample.values(response).size}
    if base not in samples or min(float(sample.values(response).min()) for sample in samples.values()) <= 0:
        return {}
    contrasts = blocked_contrasts({n: sample.block_logs(response) for n, sample in samples.items()}, base)
    contrasts = contrasts or unpaired_contrasts({n: sample.values(response) for n, sample in samples.items()}, base)
    contrasts = contrasts if how.kind == "time" else {n: contrast.invert() for n, contrast in contrasts.items()}
    more = {n: log(n / base) if how.per_worker else 0.0 for n in contrasts}
    return {n: replace(contrast, delta=contrast.delta + more[n]) for n, contrast in contrasts.items()}


MOST_LITERALS, MOST_KNOWN = 3, 30  # levels that a sentence has room for, and those that are tried, in twos and threes

FactorLevel = tuple[str, Level]


def fewest_unless(
    names: Sequence[str], members: Sequence[ComparedPoint], others: Sequence[ComparedPoint]
) -> list[FactorLevel] | None:
    """Find the fewest levels, of no member, that cover all other points; None where too many are needed."""
    held, has = ({(n, p.curve.group[n]) for p in points for n in names} for points in (others, members))
    return _fewest(sorted(held - has, key=str), lambda chosen: all(has_levels(p, chosen, any) for p in others))


def fewest_only(
    names: Sequence[str], members: Sequence[ComparedPoint], others: Sequence[ComparedPoint]
) -> list[FactorLevel] | None:
    """Find the fewest levels that all members share and no other point has together; None if there are none."""
    shared = [(n, members[0].curve.group[n]) for n in names if len({p.curve.group[n] for p in members}) == 1]
    return _fewest(shared, lambda chosen: not any(has_levels(p, chosen, all) for p in others))


def has_levels(point: ComparedPoint, levels: Sequence[FactorLevel], how: Callable[[Iterable[bool]], bool]) -> bool:
    """Tell whether a point has any, or all, of these levels."""
    return how(point.curve.group[name] == level for name, level in levels)


def _fewest(levels: Sequence[FactorLevel], fits: Callable[[Sequence[FactorLevel]], bool]) -> list[FactorLevel] | None:
    sizes = range(MOST_LITERALS + 1)
    return next(([*chosen] for n in sizes for chosen in combinations(levels[:MOST_KNOWN], n) if fits(chosen)), None)


NO_GAIN = 1.05  # intervals up to here are no gain that is worth having
CONFIDENCE = 0.95  # of a difference between two settings, beside all that were looked at


@dataclass(frozen=True)
class BestGain:
    """Curves with the largest speedup that cannot be told apart, at the fewest workers that reach it.

    Attributes:
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
        """Return the number of workers."""
        return self.members[0].level


def is_resolved(point: ComparedPoint) -> bool:
    """Tell whether a point has a speedup that is narrow enough to state."""
    return point.is_possible and point.low > 0 and point.high <= WIDEST * point.low


def find_best_gain(table: Table, points: Sequence[ComparedPoint]) -> BestGain | None:
    """Find the curves with the largest speedup; None where nothing is faster than its baseline."""
    faster = [point for point in points if point.state == "faster" and is_resolved(point)]
    if not faster:
        return None
    best = max(faster, key=lambda point: point.low)
    same = [p for p in faster if p.curve is best.curve and p.high >= best.low]
    best = min(same, key=lambda point: point.level)
    cpus = cpus_factor(table, best.curve.factor)
    beside = [p for p in points if p.level == best.level and p.curve.group.get(cpus) == best.curve.group.get(cpus)]
    names = [n for n in table.view.varying if n not in (cpus, best.curve.factor)]
    # What cannot be told apart, if few words say which these are; else what looks alike.
    alike = _members(best, beside, lambda first, second: not _differ([second], [first], len(beside)))
    overlapping = _members(best, beside, lambda p, q: max(p.low, q.low) <= min(p.high, q.high))
    for chosen in (alike, overlapping, [best]):
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
    """Name what is not resolved by levels that it alone has; empty where that takes too many."""
    names = [name for name in table.view.varying if name in best.members[0].curve.group]
    return (fewest_unless(names, [*best.members, *best.others], best.left) or []) if best.left else []


def cpus_factor(table: Table, factor: str) -> str:
    """Find the factor that gives the CPUs, where it varies beside the curve's own; else empty."""
    return next((n for n in table.view.varying if table.study.factors[n].control == "cpus" and n != factor), "")


def _members(
    best: ComparedPoint, beside: Sequence[ComparedPoint], alike: Callable[[ComparedPoint, ComparedPoint], bool]
) -> list[ComparedPoint]:
    members = [best]
    for point in sorted(beside, key=lambda point: -point.value):
        if point is not best and point.state == "faster" and is_resolved(point):
            members += [point] if alike(point, best) else []
    return members


def _differ(better: Sequence[ComparedPoint], worse: Sequence[ComparedPoint], n: int) -> bool:
    """Tell whether each better point differs from each worse one, adjusted for n such comparisons."""
    n *= len(better) * len(worse)
    return all(_is_apart(first.contrast, second.contrast, n) for first in better for second in worse)


def _is_apart(first: Contrast, second: Contrast, n: int) -> bool:
    delta, se = first.delta - second.delta, math.hypot(first.se, second.se)
    p_value = Contrast(delta, se, min(first.df, second.df), first.n, "").p_value(LEAST)
    return p_value is not None and n * p_value <= 1 - CONFIDENCE


@dataclass(frozen=True)
class Decline:
    """Speedup of the best curves at more workers.

    Attributes:
        parts: points there; in two parts where one level of a setting makes the difference, the better ones first.
        setting: what names each part; empty where there is one.
    """

    level: int
    parts: Sequence[Sequence[ComparedPoint]]
    setting: Sequence[FactorLevel] = ()


def find_decline(table: Table, taken: SampleMap, best: BestGain, points: Sequence[ComparedPoint]) -> Decline | None:
    """Find the level past the best gain where its curves are worst; None where none is worse for sure."""
    how = find_speedup_rule(table, best.members[0].curve.factor)
    assert how is not None  # or nothing would be faster
    lost = {id(p.curve): level_contrasts(table, how, taken, p.curve, best.level) for p in best.members}
    beyond = [p for p in points if id(p.curve) in lost and p.level > best.level]
    compared = [p for p in beyond if p.level in lost[id(p.curve)]]
    contrasts = moderate_variances([lost[id(p.curve)][p.level] for p in compared])
    changes = classify_contrasts(contrasts, table.view.confidence)
    fallen = [p for p, state in zip(compared, changes, strict=True) if state == "slower" and is_resolved(p)]
    if not fallen:
        return None
    level = min(fallen, key=lambda point: point.high).level
    there = [point for point in beyond if point.level == level and is_resolved(point)]
    return _split_decline(table, level, there) or (Decline(level, [there]) if all(p in fallen for p in there) else None)


def _split_decline(table: Table, level: int, there: Sequence[ComparedPoint]) -> Decline | None:
    for name in (n for n in table.view.varying if n in there[0].curve.group):
        levels = list(dict.fromkeys(point.curve.group[name] for point in there))
        if len(levels) != 2:
            continue
        parts = {x: [p for p in there if p.curve.group[name] == x] for x in levels}
        best, worst = sorted(levels, key=lambda x: -min(p.low for p in parts[x]))
        if _differ(parts[best], parts[worst], len(table.view.varying)):
            return Decline(level, [parts[best], parts[worst]], [(name, best), (name, worst)])
    return None
