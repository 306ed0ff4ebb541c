"""Responses along one factor, all other factors fixed."""

from collections.abc import Mapping
from dataclasses import asdict

from scalograph.analysis import Estimate, SpeedupPoint, summarize
from scalograph.answer import courses
from scalograph.answer.gains import gains, primary
from scalograph.answer.sample import COUNTED, Sample, flags, samples
from scalograph.findings import Curve, EstimateDoc, Level, Point, PointResponse
from scalograph.precision import stopping
from scalograph.table import Table

__all__ = ["COUNTED", "Sample", "curve_factor", "curves", "docs", "primary", "samples"]

BASELINE_DISTURBED = "its baseline rests on disturbed runs"


def docs(estimate: Estimate) -> EstimateDoc:
    """The JSON form of an estimate."""
    return EstimateDoc(**{**asdict(estimate), "warnings": list(estimate.warnings)})


def curve_factor(table: Table) -> str:
    """The factor along which curves run: the baseline's, else the first one with the most levels."""
    if table.study.baseline:
        return next(iter(table.study.baseline))
    return max(table.study.factors, key=lambda name: len(table.study.factors[name].levels))


def curves(table: Table, taken: Mapping[tuple[Level, ...], Sample]) -> list[Curve]:
    """One curve for each combination of the other factors' levels."""
    factor = curve_factor(table)
    groups: dict[tuple[tuple[str, Level], ...], list[Sample]] = {}
    for sample in taken.values():
        group = tuple((name, level) for name, level in sample.treatment.items() if name != factor)
        groups.setdefault(group, []).append(sample)
    return [_curve(table, factor, dict(group), members) for group, members in groups.items()]


def _curve(table: Table, factor: str, group: dict[str, Level], members: list[Sample]) -> Curve:
    found = gains(table, factor, members)
    points = [_point(table, factor, sample, found.get(sample.treatment[factor])) for sample in members]
    baseline = next((s for s in members if s.treatment[factor] == table.study.baseline.get(factor)), None)
    if found and baseline is not None and baseline.falls_back:
        for point in points:
            if point.level != baseline.treatment[factor]:
                point.flags.append(BASELINE_DISTURBED)
    return Curve(group=group, factor=factor, points=points)


def _point(table: Table, factor: str, sample: Sample, gain: SpeedupPoint | None) -> Point:
    return Point(
        level=sample.treatment[factor],
        n_cpus=sample.every[0].n_cpus if sample.every else None,
        responses={name: _response(table, sample, name) for name in table.study.responses},
        speedup=docs(gain.speedup) if gain else None,
        simultaneous=docs(gain.simultaneous) if gain else None,
        efficiency=docs(gain.efficiency) if gain else None,
        serial_fraction=docs(gain.serial_fraction) if gain else None,
        per_cpu_share=_shares(sample),
        n_failed=sample.n_failed,
        flags=[*(gain.warnings if gain else ()), *flags(sample), *courses.flags(table.study, sample)],
    )


def _response(table: Table, sample: Sample, name: str) -> PointResponse:
    rows = [row for row in sample.every if name in row.scores]
    return PointResponse(
        estimate=docs(_estimate(table, sample, name)),
        scores=[row.scores[name] for row in rows],
        runs=[row.run for row in rows],
        verdicts=[row.verdict for row in rows],
    )


def _estimate(table: Table, sample: Sample, name: str) -> Estimate:
    """As the rule that ended the runs looked at them, where one did."""
    rule = stopping(table.study)
    if rule is not None and name == primary(table):
        return rule.estimate(sample.scores(name))
    return summarize(sample.scores(name), table.study.protocol.confidence)


def _shares(sample: Sample) -> list[float]:
    """Mean share of the tree's CPU time on each CPU."""
    shares = [[ns / sum(row.per_cpu_ns) for ns in row.per_cpu_ns] for row in sample.counted if sum(row.per_cpu_ns)]
    return [sum(column) / len(shares) for column in zip(*shares, strict=False)]
