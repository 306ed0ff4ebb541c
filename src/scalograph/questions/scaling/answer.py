"""Answer a sweep: the scaling law of each curve, its best level, and levels slower than both neighbors."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from math import exp, log
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np

from scalograph.analysis.center import FloatArray
from scalograph.analysis.comparisons import holm
from scalograph.analysis.contenders import METHOD as BEST
from scalograph.analysis.contenders import contenders
from scalograph.analysis.contrast import Contrast
from scalograph.analysis.estimate import Estimate, Flag
from scalograph.analysis.interval import summarize
from scalograph.analysis.speedup_points import karp_flatt
from scalograph.analysis.usl import N_PARAMETERS, Usl, fit_usl
from scalograph.analysis.usl_predict import REACH, Boundary, first_boundary, predict
from scalograph.analysis.variance_moderation import moderate_variances
from scalograph.findings.answer import Answer, SampleMap
from scalograph.findings.curves import point_key
from scalograph.findings.sample import Sample, group_samples
from scalograph.findings.speedup_rule import SpeedupRule, find_speedup_rule, outgrows_cpus
from scalograph.findings.table import Table
from scalograph.protocol.findings import Curve, Point
from scalograph.protocol.plain import is_number
from scalograph.questions.registry import why_no_curves
from scalograph.questions.scaling.claim import claim
from scalograph.questions.scaling.document import MOST_CURVES, MOST_LEVELS, LocalSlowdown, Swept, SweptCurve
from scalograph.questions.scaling.model_boundaries import NO_CPU, boundaries, law_doc, next_gain
from scalograph.questions.scaling.model_claim import LEAST, level_contrasts
from scalograph.questions.scaling.tables import isoefficiency_table, laws_table, neighbor_sentences


def applies(table: Table) -> str | None:
    """Say why no curve of the study has a speedup; None where curves may have one."""
    if reason := why_no_curves(table.study.question):
        return reason
    return None if table.study.baseline else "no baseline that a speedup could be over"


def answer(table: Table, taken: SampleMap, curves: Sequence[Curve]) -> Answer:
    """Answer with what each curve gains, and with its law where there is one."""
    fitted = add_laws(table, taken, curves)
    levels = compare_levels(table, taken, fitted)
    below = [shown for tabulated in (laws_table, isoefficiency_table) if (shown := tabulated(table, fitted))]
    sentences = [*neighbor_sentences(table, levels)]
    return Answer(document=levels, claim=claim(table, taken, fitted), sentences=sentences, below=below, curves=fitted)


SLOWER = "least of both ratios to the neighbors, within blocks, all of the study at once"


class _NeighborContrast(NamedTuple):
    """A level of a curve with both contrasts: log of its time over that of a neighbor."""

    curve: int
    levels: tuple[int, int, int]
    sides: tuple[Contrast, Contrast]


def compare_levels(table: Table, taken: SampleMap, curves: Sequence[Curve]) -> Swept | None:
    """Compare the levels of each curve with each other; None where they have no speedup."""
    how = find_speedup_rule(table, curves[0].factor) if curves else None
    if how is None:
        return None
    short = [curve for curve in islice(curves, MOST_CURVES) if len(curve.points) <= MOST_LEVELS]
    bumps = _slowdowns(table, how, taken, short)
    return Swept(curves=[_curve(table, how, taken, curve, bumps[i]) for i, curve in enumerate(short)])


def _curve(table: Table, how: SpeedupRule, taken: SampleMap, curve: Curve, bumps: list[LocalSlowdown]) -> SweptCurve:
    costs = {int(p.level): _costs(how, int(p.level), taken[point_key(table, curve, p)]) for p in curve.points}
    costs = {level: blocks for level, blocks in costs.items() if blocks and min(blocks.values()) > 0}
    confidence = table.view.confidence
    compared = contenders({float(level): blocks for level, blocks in costs.items()}, confidence)
    set_of_best = [int(contender.level) for contender in compared if contender.may_be_best]
    best = None
    if len(costs) > 1:
        value = min(costs, key=lambda level: _mean(costs[level].values()))
        low, high = (float(end(set_of_best)) if set_of_best else None for end in (min, max))
        best = Estimate(float(value), low, high, confidence, min(map(len, costs.values())), BEST)
    return SweptCurve(group=curve.group, factor=curve.factor, best=best, may_be_best=set_of_best, bumps=bumps)


def _costs(how: SpeedupRule, level: int, sample: Sample) -> dict[int, float]:
    """Return the time for the same work in each block: a repeated run may stand in the block of another."""
    blocks, scores = sample.blocks(how.response), sample.scores(how.response)
    costs = scores if how.kind == "time" else [1 / score if score else 0.0 for score in scores]
    costs = [cost / level for cost in costs] if how.per_worker else costs
    if len({*blocks}) == len(blocks):  # as in nearly all studies
        return {block: cost if cost > 0 else 0.0 for block, cost in zip(blocks, costs, strict=True)}
    by_block: dict[int, list[float]] = {}
    for block, cost in zip(blocks, costs, strict=True):
        by_block.setdefault(block, []).append(cost)
    return {block: max(every[0] if len(every) == 1 else _mean(every), 0.0) for block, every in by_block.items()}


def _mean(costs: Collection[float]) -> float:
    """Geometric mean; 0 where a cost has no log."""
    return exp(fmean([*map(log, costs)])) if min(costs) > 0 else 0.0


def _slowdowns(table: Table, how: SpeedupRule, taken: SampleMap, curves: Sequence[Curve]) -> list[list[LocalSlowdown]]:
    inner = [x for i, curve in enumerate(curves) for x in _neighbor_contrasts(table, how, taken, i, curve)]
    moderated = moderate_variances([side for contrast in inner for side in contrast.sides])
    pairs = [*zip(moderated[::2], moderated[1::2], strict=True)]
    confidence = table.view.confidence
    p_values = holm([_p_value(*pair) for pair in pairs])
    slowdowns: list[list[LocalSlowdown]] = [[] for _ in curves]
    for (curve, (below, level, above), _), pair, p in zip(inner, pairs, p_values, strict=True):
        slower = _smaller_ratio(pair, 1 - (1 - confidence) / len(inner), confidence)
        shown = p is not None and p <= 1 - confidence
        slowdowns[curve].append(LocalSlowdown(level=level, below=below, above=above, slower=slower, shown=shown))
    return slowdowns


def _neighbor_contrasts(
    table: Table, how: SpeedupRule, taken: SampleMap, index: int, curve: Curve
) -> Iterator[_NeighborContrast]:
    points = sorted(curve.points, key=lambda point: int(point.level))
    for below, point, above in zip(points, points[1:], points[2:], strict=False):
        three = curve.model_copy(update={"points": [below, point, above]})
        levels = int(below.level), int(point.level), int(above.level)
        contrasts = level_contrasts(table, how, taken, three, levels[1])
        if levels[0] in contrasts and levels[2] in contrasts:
            yield _NeighborContrast(index, levels, (contrasts[levels[0]], contrasts[levels[2]]))


def _p_value(first: Contrast, second: Contrast) -> float | None:
    """Test whether a level is slower than both by more than LEAST: the larger of two one-sided p-values."""
    sides = [(side.p_value(LEAST), side.delta > LEAST) for side in (first, second)]
    p_values = [p / 2 if is_slower else 1.0 for p, is_slower in sides if p is not None]
    return max(p_values) if len(p_values) == len(sides) else None


def _smaller_ratio(sides: tuple[Contrast, Contrast], level: float, confidence: float) -> Estimate:
    """Return the smaller of both ratios: each end is the smaller of both ends."""
    ratios = [side.estimate(level) for side in sides]
    ends = [[r.value for r in ratios], [r.low for r in ratios], [r.high for r in ratios]]
    value, low, high = (None if None in end else min(x for x in end if x is not None) for end in ends)
    estimate = Estimate(value, low, high, confidence, min(side.n for side in sides), SLOWER)
    return replace(estimate.add_warnings(*ratios[0].warnings, *ratios[1].warnings))


def extrapolate(curve: Curve, fit: Usl | None, limits: Sequence[Boundary]) -> dict[str, Any]:
    """Estimate the fields `serial`, `next` and `next_size` of a curve; nothing past an unmeasured boundary."""
    measured = [point for point in curve.points if point.speedup and point.speedup.value]
    measured.sort(key=lambda point: int(point.level))
    serial = _serial(fit, measured, limits) if len(measured) > 1 else None
    if serial is None:
        return {}
    first, last = int(measured[0].level), int(measured[-1].level)
    if first_boundary(last, last + 1, limits) or any(b.begins == NO_CPU and b.after <= last for b in limits):
        return {"serial": serial}
    gain = next_gain(serial, last) if first == 1 else None
    if fit is not None:
        gain = predict(fit, last + 1, limits, serial.confidence, over=last).plus(-1)
    return {"serial": serial, "next": gain, "next_size": last + 1 if gain else None}


def _serial(fit: Usl | None, measured: Sequence[Point], limits: Sequence[Boundary]) -> Estimate | None:
    """Take the law's serial share; of two sizes, or beyond the CPUs, Karp and Flatt's up to the last CPU."""
    n_cpus = next((limit.after for limit in limits if limit.begins == NO_CPU), int(measured[-1].level))
    inside = [point for point in measured if int(point.level) <= n_cpus]
    if fit is not None and len(inside) == len(measured):
        return fit.sigma if not fit.misfit else None
    last = inside[-1] if len(inside) > 1 else measured[-1]
    growth = min(int(last.level), n_cpus) / min(int(measured[0].level), n_cpus)
    return karp_flatt(last.speedup, growth) if last.speedup and growth > 1 else None


def add_laws(table: Table, taken: SampleMap, curves: Sequence[Curve]) -> list[Curve]:
    """Add to each curve its law and extrapolation, where speedup has a meaning and sizes suffice."""
    factor = table.view.curve_factor
    how = find_speedup_rule(table, factor)
    if how is None:
        return list(curves)
    groups = group_samples(taken.values(), factor)
    return [_add_law(table, how, curve, groups[tuple(curve.group.items())]) for curve in curves]


def _add_law(table: Table, how: SpeedupRule, curve: Curve, members: Sequence[Sample]) -> Curve:
    n_cpus = None if outgrows_cpus(table, curve.factor, members) else most_cpus(members)
    limits = boundaries(table, curve.factor, curve.group, n_cpus)
    fit = fit_within_class(how, curve.factor, members, limits, table.view.confidence)
    sizes = [_size(sample, curve.factor) for sample in members if sample.values(how.response).size]
    law = law_doc(fit, min(sizes), float(table.study.baseline[curve.factor]), limits) if fit else None
    return curve.model_copy(update={"law": law, **extrapolate(curve, fit, limits)})


# A step at a boundary that is smaller is none.
_EDGE = 1.02


def fit_within_class(
    how: SpeedupRule, factor: str, members: Sequence[Sample], limits: Sequence[Boundary], confidence: float = 0.95
) -> Usl | None:
    """Fit the law up to the first boundary beyond which the points leave it; over all points where they do not.

    A boundary is where CPUs of another class begin. Points leave the law where their mean lies outside of what the law
    up to there predicts, by its interval and theirs.
    """
    for limit in (limit for limit in limits if limit.begins != NO_CPU):
        inside = [sample for sample in members if _size(sample, factor) <= limit.after]
        beyond = [sample for sample in members if limit.after < _size(sample, factor) <= REACH * limit.after]
        fit = fit_law(how, factor, inside, confidence) if beyond else None
        if fit is not None and not fit.misfit and any(_leaves(fit, how, factor, each, confidence) for each in beyond):
            text = f"ends at {limit.after}: beyond, {limit.begins}, and the points leave the law"
            return replace(fit, flags=(*fit.flags, Flag("class edge", text, limit.after)))
    return fit_law(how, factor, members, confidence)


def _leaves(fit: Usl, how: SpeedupRule, factor: str, sample: Sample, confidence: float) -> bool:
    size, scores = _size(sample, factor), sample.values(how.response)
    if scores.size < 2 or float(scores.min()) <= 0:
        return False
    seen = summarize(_throughput(how, np.full(scores.size, size), scores), confidence)
    law = predict(fit, size, (), confidence)
    gaps = (seen.high, law.low), (law.high, seen.low)
    return any(below is not None and above is not None and _EDGE * below < above for below, above in gaps)


def most_cpus(members: Sequence[Sample]) -> int | None:
    return max((row.n_cpus for sample in members for row in sample.succeeded), default=None)


def fit_law(how: SpeedupRule, factor: str, members: Sequence[Sample], confidence: float = 0.95) -> Usl | None:
    """Fit the law of one curve; None where it has too few sizes, or values of two kinds (decision 0008)."""
    if len({how.response in sample.whole for sample in members}) > 1:
        return None
    measured = [(_size(sample, factor), values) for sample in members if (values := sample.values(how.response)).size]
    if len({size for size, _ in measured}) < N_PARAMETERS or min(float(values.min()) for _, values in measured) <= 0:
        return None
    sizes = np.concatenate([np.full(values.size, size) for size, values in measured])
    scores = np.concatenate([values for _, values in measured])
    try:
        return fit_usl(sizes, _throughput(how, sizes, scores), confidence=confidence)
    except ValueError:  # points on no such curve at all
        return None


def _throughput(how: SpeedupRule, sizes: FloatArray, scores: FloatArray) -> FloatArray:
    with np.errstate(over="ignore"):  # what no float can hold is no point of a curve
        each = scores if how.kind == "rate" else 1 / scores
        return each * sizes if how.per_worker else each


def _size(sample: Sample, factor: str) -> float:
    level = sample.configuration[factor]
    return float(level) if is_number(level) else 0.0
