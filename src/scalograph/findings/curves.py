"""Responses along one factor, all other factors fixed."""

from collections.abc import Mapping
from dataclasses import replace
from statistics import median

import numpy as np

from scalograph.analysis.estimate import Estimate
from scalograph.analysis.flag import Flag
from scalograph.analysis.interval import summarize
from scalograph.analysis.speedup_points import SpeedupPoint
from scalograph.analysis.step import common_step, widened
from scalograph.design.stopping_rule import stopping
from scalograph.findings import steady_state
from scalograph.findings.counts import is_count, known_count
from scalograph.findings.names import curve_factor
from scalograph.findings.sample import Sample, flags, grouped
from scalograph.findings.score_flags import score_flags
from scalograph.findings.speedup_rule import gains, over_before, primary
from scalograph.findings.table import Table
from scalograph.findings.whole_run import WARNING
from scalograph.protocol.findings import Curve, Point, PointResponse
from scalograph.protocol.plain import Level

# Runs that take less tell nothing of the CPUs that they use.
SHORT_S = 0.01
BASELINE_DISTURBED = "its baseline rests on disturbed runs"


def key(table: Table, curve: Curve, point: Point) -> tuple[Level, ...]:
    """The levels of a point's treatment, in the order of the study's factors."""
    levels = {**curve.group, curve.factor: point.level}
    return tuple(levels[name] for name in table.study.factors)


# Units of responses that cannot be below zero, whatever their scores are.
NEVER_NEGATIVE = ("s", "bytes")


def curves(table: Table, taken: Mapping[tuple[Level, ...], Sample]) -> list[Curve]:
    """One curve for each combination of the other factors' levels."""
    factor = curve_factor(table)
    groups = grouped(taken.values(), factor)
    return [_curve(table, factor, dict(group), members) for group, members in groups.items()]


def _curve(table: Table, factor: str, group: dict[str, Level], members: list[Sample]) -> Curve:
    found, steps = gains(table, factor, members), over_before(table, factor, members)
    points = [
        _point(table, sample, level, found.get(level), steps.get(level))
        for sample, level in ((sample, sample.treatment[factor]) for sample in members)
    ]
    baseline = next((s for s in members if s.treatment[factor] == table.study.baseline.get(factor)), None)
    if found and baseline is not None and baseline.falls_back:
        for point in points:
            if point.level != baseline.treatment[factor]:
                point.flags.append(Flag("disturbed baseline", BASELINE_DISTURBED))
    return Curve(group=group, factor=factor, points=points)


def _point(table: Table, sample: Sample, level: Level, gain: SpeedupPoint | None, step: Estimate | None) -> Point:
    return Point(
        level=level,
        n_cpus=sample.every[0].n_cpus if sample.every else None,
        responses={name: _response(table, sample, name) for name in table.study.responses},
        speedup=gain.speedup if gain else None,
        simultaneous=gain.simultaneous if gain else None,
        efficiency=gain.efficiency if gain else None,
        serial_fraction=gain.serial_fraction if gain else None,
        cpus_used=_cpus_used(table, sample),
        gain=step,
        per_cpu_share=_shares(sample),
        n_failed=sample.n_failed,
        flags=_flags(table, sample, gain),
    )


def _flags(table: Table, sample: Sample, gain: SpeedupPoint | None) -> list[Flag]:
    of_speedup = (Flag("speedup", text) for text in gain.warnings) if gain else ()
    shape = score_flags(table, sample, primary(table))
    return [*of_speedup, *flags(sample), *shape, *steady_state.flags(table.study, sample)]


def _response(table: Table, sample: Sample, name: str) -> PointResponse:
    try:
        scores, runs, verdicts = [row.scores[name] for row in sample.every], sample.names, sample.verdicts
    except KeyError:  # some runs did not yield it
        told = [row for row in sample.every if name in row.scores]
        scores, runs = [row.scores[name] for row in told], [row.run for row in told]
        verdicts = [row.verdict for row in told]
    kept = sample.rows(name)
    lost = set(runs).difference([row.run for row in kept]) if len(kept) < len(runs) else ()
    return PointResponse(
        estimate=estimated(table, sample, name), scores=scores, runs=runs, verdicts=verdicts,
        left_out=[run for run in runs if run in lost] if lost else [],
    )  # fmt: skip


def estimated(table: Table, sample: Sample, name: str) -> Estimate:
    """A response of a treatment, as the rule that ended the runs looked at them, where one did."""
    rule, values, confidence = stopping(table.study), sample.values(name), table.study.protocol.confidence
    if is_count(table.study.responses[name]) and (known := known_count(sample.scores(name), confidence)):
        return replace(known, warnings=(WARNING,)) if name in sample.whole else known
    by_rule = rule is not None and name == primary(table)
    found = rule.estimate(sample.scores(name)) if rule and by_rule else summarize(values, confidence)
    if name == primary(table) and common_step(values) is not None:  # of one score throughout nothing is known
        found = widened(found, values)
    if table.study.responses[name].unit in NEVER_NEGATIVE:
        found = found.from_zero()
    return replace(found, warnings=(*found.warnings, WARNING)) if name in sample.whole else found


def _cpus_used(table: Table, sample: Sample) -> Estimate | None:
    """None where runs are so short that starting and ending them is most of their CPU time."""
    study = table.study
    name = next((name for name, response in study.responses.items() if response.source == "run.cpu_percent"), "")
    scores, walls = sample.scores(name), [row.wall_s for row in sample.counted if row.wall_s is not None]
    if not scores or not walls or median(walls) < SHORT_S:
        return None
    return summarize(scores, study.protocol.confidence).scaled(0.01)


def _shares(sample: Sample) -> list[float]:
    """Mean share of the tree's CPU time on each CPU."""
    every = [row.per_cpu_ns for row in sample.counted]
    known = [(per_cpu, total) for per_cpu, total in zip(every, map(sum, every), strict=True) if total]
    if not known:
        return []
    n_cpus = min([len(per_cpu) for per_cpu, _ in known])
    used = np.array([per_cpu[:n_cpus] for per_cpu, _ in known], dtype=np.float64)
    totals = np.array([total for _, total in known], dtype=np.float64)
    return [float(share) for share in (used / totals[:, None]).mean(axis=0)]
