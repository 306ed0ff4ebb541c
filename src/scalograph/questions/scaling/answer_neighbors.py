"""Levels that are slower than the one below and the one above, and levels that may be the best: of each curve.

A level is slower than both neighbors if it is slower than each (an intersection of two tests); all levels of all curves
of a study are looked at, so what counts is shown beside all others (Holm), and the intervals hold at once (Bonferroni).
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from math import exp, log
from statistics import fmean
from typing import NamedTuple

from scalograph.analysis.borrowed_variance import borrowed
from scalograph.analysis.comparisons import holm
from scalograph.analysis.contenders import METHOD as BEST
from scalograph.analysis.contenders import contenders
from scalograph.analysis.contrast import Contrast
from scalograph.analysis.estimate import Estimate
from scalograph.findings.answer import Taken
from scalograph.findings.curves import key
from scalograph.findings.sample import Sample
from scalograph.findings.speedup_rule import Gain, gain
from scalograph.findings.table import Table
from scalograph.protocol.findings import Curve
from scalograph.questions.scaling.document import MOST_CURVES, MOST_LEVELS, Bump, Swept, SweptCurve
from scalograph.questions.scaling.model_contrasts import LEAST, contrasts_of

SLOWER = "least of both ratios to the neighbors, within blocks, all of the study at once"


class _Beside(NamedTuple):
    """A level of a curve with both contrasts: log of its time over that of a neighbor."""

    curve: int
    levels: tuple[int, int, int]
    sides: tuple[Contrast, Contrast]


def swept(table: Table, taken: Taken, curves: Sequence[Curve]) -> Swept | None:
    """Compare the levels of each curve with each other; None where they have no speedup.

    Args:
        table: the study.
        taken: the runs of each configuration.
        curves: of the study.
    """
    how = gain(table, curves[0].factor) if curves else None
    if how is None:
        return None
    short = [curve for curve in islice(curves, MOST_CURVES) if len(curve.points) <= MOST_LEVELS]
    bumps = _bumps(table, how, taken, short)
    made = [_curve(table, how, taken, curve, bumps[i]) for i, curve in enumerate(short)]
    return Swept(curves=made)


def _curve(table: Table, how: Gain, taken: Taken, curve: Curve, bumps: list[Bump]) -> SweptCurve:
    costs = {int(p.level): _costs(how, int(p.level), taken[key(table, curve, p)]) for p in curve.points}
    costs = {level: blocks for level, blocks in costs.items() if blocks and min(blocks.values()) > 0}
    confidence = table.study.protocol.confidence
    known = contenders({float(level): blocks for level, blocks in costs.items()}, confidence)
    set_of_best = [int(one.level) for one in known if one.may_be_best]
    best = None
    if len(costs) > 1:
        value = min(costs, key=lambda level: _mean(costs[level].values()))
        low, high = (float(end(set_of_best)) if set_of_best else None for end in (min, max))
        best = Estimate(float(value), low, high, confidence, min(map(len, costs.values())), BEST)
    return SweptCurve(group=curve.group, factor=curve.factor, best=best, may_be_best=set_of_best, bumps=bumps)


def _costs(how: Gain, level: int, sample: Sample) -> dict[int, float]:
    """Time for the same work, in each block; a run that was made again may stand in the block of another."""
    blocks, scores = sample.blocks(how.response), sample.scores(how.response)
    costs = scores if how.kind == "time" else [1 / score if score else 0.0 for score in scores]
    costs = [cost / level for cost in costs] if how.per_worker else costs
    if len({*blocks}) == len(blocks):  # as in nearly all studies
        return {block: cost if cost > 0 else 0.0 for block, cost in zip(blocks, costs, strict=True)}
    found: dict[int, list[float]] = {}
    for block, cost in zip(blocks, costs, strict=True):
        found.setdefault(block, []).append(cost)
    return {block: max(every[0] if len(every) == 1 else _mean(every), 0.0) for block, every in found.items()}


def _mean(costs: Collection[float]) -> float:
    """Geometric mean; 0 where a cost has no log."""
    return exp(fmean([*map(log, costs)])) if min(costs) > 0 else 0.0


def _bumps(table: Table, how: Gain, taken: Taken, curves: Sequence[Curve]) -> Mapping[int, list[Bump]]:
    """Of each curve, by its place among them."""
    beside = [one for i, curve in enumerate(curves) for one in _beside(table, how, taken, i, curve)]
    lent = borrowed([side for one in beside for side in one.sides])
    pairs = [*zip(lent[::2], lent[1::2], strict=True)]
    confidence = table.study.protocol.confidence
    p_values = holm([_p_value(*pair) for pair in pairs])
    made: dict[int, list[Bump]] = {i: [] for i in range(len(curves))}
    for one, pair, p_value in zip(beside, pairs, p_values, strict=True):
        shown = p_value is not None and p_value <= 1 - confidence
        below, level, above = one.levels
        slower = _least(pair, 1 - (1 - confidence) / len(beside), confidence)
        made[one.curve].append(Bump(level=level, below=below, above=above, slower=slower, shown=shown))
    return made


def _beside(table: Table, how: Gain, taken: Taken, index: int, curve: Curve) -> Iterator[_Beside]:
    points = sorted(curve.points, key=lambda point: int(point.level))
    for below, point, above in zip(points, points[1:], points[2:], strict=False):
        three = curve.model_copy(update={"points": [below, point, above]})
        found = contrasts_of(table, how, taken, three, int(point.level))
        sides = [found.get(int(side.level)) for side in (below, above)]
        if sides[0] is not None and sides[1] is not None:
            yield _Beside(index, (int(below.level), int(point.level), int(above.level)), (sides[0], sides[1]))


def _p_value(one: Contrast, other: Contrast) -> float | None:
    """Of not being slower than both by more than what counts: the larger one of both one-sided tests."""
    sides = [_one_sided(side) for side in (one, other)]
    known = [p for p in sides if p is not None]
    return max(known) if len(known) == len(sides) else None


def _one_sided(side: Contrast) -> float | None:
    p_value = side.p_value(LEAST)
    return None if p_value is None else p_value / 2 if side.delta > LEAST else 1.0


def _least(sides: tuple[Contrast, Contrast], level: float, confidence: float) -> Estimate:
    """The least of both ratios: each end is the least of both ends."""
    ratios = [side.estimate(level) for side in sides]
    ends = [[r.value for r in ratios], [r.low for r in ratios], [r.high for r in ratios]]
    value, low, high = (None if None in end else min(x for x in end if x is not None) for end in ends)
    found = Estimate(value, low, high, confidence, min(side.n for side in sides), SLOWER)
    return replace(found.warned(*ratios[0].warnings, *ratios[1].warnings))
