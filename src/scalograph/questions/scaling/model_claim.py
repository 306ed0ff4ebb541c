"""Choose what to state of curves first: configurations with the largest speedup, exceptions, and declines."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import log
from typing import Literal, NamedTuple

import numpy as np

from scalograph.analysis.baseline import blocked_contrasts, unpaired_contrasts
from scalograph.analysis.comparisons import holm
from scalograph.analysis.contrast import Contrast
from scalograph.analysis.modes import FEWEST, find_common_modes
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

FactorLevel = tuple[str, Level]
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
        return int(self.point.level)

    @property
    def value(self) -> float:
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
    spread = _mode_spread(table, taken, how.response)
    contrasts_ = [_bound_error(c, spread) for c in moderate_variances([point.contrast for point in compared])]
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
    """Classify contrasts as beyond 2% or open, adjusted for all contrasts of the study."""
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


def _mode_spread(table: Table, taken: SampleMap, response: str) -> float:
    """Return the spread of runs between two modes, a log, where few runs may all be of one; 0 where all see both."""
    scores = [sample.values(response) for sample in taken.values()]
    logs = [np.log(x).tolist() for x in scores if x.size and x.min() > 0]
    if min(map(len, logs), default=FEWEST) >= FEWEST:
        return 0.0
    modes = find_common_modes(logs, table.study.seed % 2**32)
    return modes.apart * math.sqrt(modes.share_high * (1 - modes.share_high)) if modes else 0.0


def _bound_error(contrast: Contrast, spread: float) -> Contrast:
    """Raise the standard error of a contrast to that of two samples with such a spread."""
    least = spread * math.sqrt(2 / max(contrast.n, 1))
    return contrast if math.isnan(contrast.se) else replace(contrast, se=max(contrast.se, least))


NO_GAIN = 1.05  # intervals up to here are no gain that is worth having
CONFIDENCE = 0.95  # of a difference between two settings, beside all that were looked at


@dataclass(frozen=True)
class BestGain:
    """Curves with the largest speedup that cannot be told apart, at the fewest workers that reach it.

    Attributes:
        others: points of curves on the same CPUs, at the same level, that gain less for sure, with a number to state.
        near: further points there that are faster, perhaps less.
        left: further points there: inconclusive.
    """

    members: Sequence[ComparedPoint]
    others: Sequence[ComparedPoint]
    near: Sequence[ComparedPoint]
    left: Sequence[ComparedPoint]

    @property
    def parts(self) -> dict[str, Sequence[ComparedPoint]]:
        """Return the points of that level on those CPUs, by what is said of them."""
        return {"best": self.members, "lower": self.others, "near": self.near, "left": self.left}

    @property
    def level(self) -> int:
        return self.members[0].level

    @property
    def peers(self) -> list[ComparedPoint]:
        return [point for points in self.parts.values() for point in points]


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
    apart = [is_resolved(point) and _differ([best], [point], len(beside)) for point in beside]
    others = [point for point, differs in zip(beside, apart, strict=True) if differs]
    alike = [point for point, differs in zip(beside, apart, strict=True) if not differs]
    faster = [point for point in alike if point.state == "faster" and is_resolved(point)]
    members, near = ([p for p in faster if (p.high >= best.low) == overlaps] for overlaps in (True, False))
    return BestGain(members, others, near, [p for p in alike if not any(p is point for point in faster)])


def cpus_factor(table: Table, factor: str) -> str:
    """Find the factor that gives the CPUs, where it varies beside the curve's own; else empty."""
    return next((n for n in table.view.varying if table.study.factors[n].control == "cpus" and n != factor), "")


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
    spread = _mode_spread(table, taken, how.response)
    contrasts = [_bound_error(c, spread) for c in moderate_variances([lost[id(p.curve)][p.level] for p in compared])]
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
