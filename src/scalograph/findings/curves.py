"""Curves: responses and speedup along one factor, all other factors fixed."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from statistics import median

import numpy as np

from scalograph.analysis.estimate import Estimate, Flag
from scalograph.analysis.interval import summarize
from scalograph.analysis.modes import Bimodality, common_step, find_modes, visible_step, widen_for_rounding
from scalograph.analysis.speedup_points import SpeedupPoint
from scalograph.design.stopping_rule import stopping
from scalograph.findings import whole_run
from scalograph.findings.answer import SampleMap
from scalograph.findings.row import Key, Row
from scalograph.findings.sample import Sample, group_samples, sample_flags
from scalograph.findings.speedup_rule import curve_speedups, find_speedup_rule, step_gains
from scalograph.findings.table import Table
from scalograph.findings.whole_run import WARNING
from scalograph.protocol.findings import Curve, Point, PointResponse
from scalograph.protocol.plain import Level
from scalograph.study.model import Response
from scalograph.text.format import significant
from scalograph.text.quantities import percent
from scalograph.text.scale import scale_for
from scalograph.text.warning_catalog import Caveat, flag_text


def is_count(response: Response) -> bool:
    """Return whether a response is a count: no unit, and neither direction is better."""
    return not response.unit and response.better == "none"


def exact_count(scores: Sequence[float], confidence: float) -> Estimate | None:
    """Return the count if all runs agree on it: one whole number, the same in two runs or more; else None."""
    if len(scores) < 2 or len({*scores}) > 1 or not float(scores[0]).is_integer():
        return None
    return Estimate(scores[0], scores[0], scores[0], confidence, len(scores), "counted, the same in every run")


MIN_IDENTICAL = 3  # runs with one and the same time are no chance, unless the clock is coarse


def score_flags(table: Table, sample: Sample) -> list[Flag]:
    """Return flags about the distribution of the scores of the primary response."""
    modes = find_modes(sample.values(table.view.primary))
    if modes is None:
        return []
    return [Flag("two modes", _modes_text(modes, table.view.response.unit), 100 * (modes.high / modes.low - 1))]


def modes_text(table: Table, sample: Sample) -> str:
    """Describe the two modes of the scores; empty if they are not bimodal."""
    return next((flag.text for flag in score_flags(table, sample)), "")


def identical_score_caveats(samples: Iterable[Sample], name: str) -> Iterator[Caveat]:
    """Yield a caveat if all runs of some configurations have the same score."""
    read = [scores for sample in samples if len(scores := sample.values(name)) >= MIN_IDENTICAL]
    if n := sum(bool(scores.min() == scores.max() != 0) for scores in read):
        yield Caveat("identical", {"n": n, "of": len(read)}, whole=2 * n >= len(read))


def _modes_text(bimodality: Bimodality, unit: str) -> str:
    scale = scale_for(unit, [bimodality.low, bimodality.high])
    parts = sorted([(1 - bimodality.share_low, bimodality.high), (bimodality.share_low, bimodality.low)], reverse=True)
    shown = (f"{percent(share)} near {significant(at * scale.factor)} {scale.unit}".strip() for share, at in parts)
    return f"two modes: {', '.join(shown)}"


SHORT_S = 0.01  # shorter runs tell nothing of the CPUs that they use
NEVER_NEGATIVE = ("s", "bytes")  # units of responses that cannot be below zero, whatever their scores are


def point_key(table: Table, curve: Curve, point: Point) -> Key:
    """Return the levels of a point, in the order of the study's factors."""
    levels = {**curve.group, curve.factor: point.level}
    return tuple(levels[name] for name in table.study.factors)


def make_curves(table: Table, samples: SampleMap) -> list[Curve]:
    """Make one curve for each combination of levels of the other factors."""
    factor = table.view.curve_factor
    groups = group_samples(samples.values(), factor)
    how = find_speedup_rule(table, factor)
    step = visible_step([sample.values(how.response) for sample in samples.values()]) if how and samples else None
    return [_curve(table, factor, dict(group), members, step) for group, members in groups.items()]


def _curve(table: Table, factor: str, group: dict[str, Level], members: list[Sample], step: float | None) -> Curve:
    speedups, steps = curve_speedups(table, factor, members, step), step_gains(table, factor, members)
    levels = [sample.configuration[factor] for sample in members]
    points = [_point(table, s, n, speedups.get(n), steps.get(n)) for s, n in zip(members, levels, strict=True)]
    baseline = next((s for s in members if s.configuration[factor] == table.study.baseline.get(factor)), None)
    if speedups and baseline is not None and baseline.falls_back:
        for point in points:
            if point.level != baseline.configuration[factor]:
                point.flags.append(Flag("disturbed baseline", flag_text("baseline")))
    return Curve(group=group, factor=factor, points=points)


def _point(table: Table, sample: Sample, level: Level, gain: SpeedupPoint | None, step: Estimate | None) -> Point:
    of_speedup = (Flag("speedup", text) for text in gain.warnings) if gain else ()
    return Point(
        level=level, n_cpus=sample.succeeded[0].n_cpus if sample.succeeded else None,
        responses={name: _response(table, sample, name) for name in table.study.responses},
        speedup=gain.speedup if gain else None, simultaneous=gain.simultaneous if gain else None,
        efficiency=gain.efficiency if gain else None, serial_fraction=gain.serial_fraction if gain else None,
        cpus_used=_cpus_used(table, sample), gain=step, per_cpu_share=_cpu_shares(sample), n_failed=sample.n_failed,
        flags=[*of_speedup, *sample_flags(sample), *score_flags(table, sample),
               *whole_run.iteration_flags(table.study, sample)],
    )  # fmt: skip


def _response(table: Table, sample: Sample, name: str) -> PointResponse:
    rows = [row for row in sample.succeeded if name in row.scores]  # some runs may not have yielded it
    scores, runs = [row.scores[name] for row in rows], [row.run for row in rows]
    kept = sample.rows(name)
    lost = set(runs).difference([row.run for row in kept]) if len(kept) < len(runs) else ()
    return PointResponse(
        estimate=estimate_response(table, sample, name), scores=scores, runs=runs,
        verdicts=[row.verdict for row in rows],
        left_out=[run for run in runs if run in lost] if lost else [], open_log=sample.open_log(name),
        loop_logs=_loop_logs(rows), falls_back=not sample.falls_back and sample.rests_on_disturbed(name),
    )  # fmt: skip


def _loop_logs(rows: Iterable[Row]) -> list[float | None]:
    """List the log of the loop time of each run; empty if no run has one."""
    logs = [None if math.isnan(row.loop_log) else row.loop_log for row in rows]
    return logs if any(log is not None for log in logs) else []


def estimate_response(table: Table, sample: Sample, name: str | None = None) -> Estimate:
    """Estimate a response, else the primary one, by the stopping rule's estimator where one ended the runs."""
    name = name or table.view.primary
    rule, values, confidence = stopping(table.study), sample.values(name), table.view.confidence
    if is_count(table.study.responses[name]) and (count := exact_count(sample.scores(name), confidence)):
        return replace(count, warnings=(WARNING,)) if name in sample.whole else count
    by_rule = rule is not None and name == table.view.primary
    estimate = rule.estimate(sample.scores(name)) if rule and by_rule else summarize(values, confidence)
    if name == table.view.primary and common_step(values) is not None:  # of one score throughout nothing is known
        estimate = widen_for_rounding(estimate, values)
    estimate = estimate.widen(sample.open_log(name))
    if table.study.responses[name].unit in NEVER_NEGATIVE:
        estimate = estimate.clip_at_zero()
    return replace(estimate, warnings=(*estimate.warnings, WARNING)) if name in sample.whole else estimate


def _cpus_used(table: Table, sample: Sample) -> Estimate | None:
    """Return None for runs so short that process start and exit are most of their CPU time."""
    scores = sample.scores(table.view.find_response("run.cpu_percent"))
    walls = [row.wall_s for row in sample.counted if row.wall_s is not None]
    if not scores or not walls or median(walls) < SHORT_S:
        return None
    return summarize(scores, table.view.confidence).rescale(0.01)


def _cpu_shares(sample: Sample) -> list[float]:
    every = [row.per_cpu_ns for row in sample.counted]
    used_cpus = [(per_cpu, total) for per_cpu, total in zip(every, map(sum, every), strict=True) if total]
    if not used_cpus:
        return []
    n_cpus = min([len(per_cpu) for per_cpu, _ in used_cpus])
    used = np.array([per_cpu[:n_cpus] for per_cpu, _ in used_cpus], dtype=np.float64)
    totals = np.array([total for _, total in used_cpus], dtype=np.float64)
    return [float(share) for share in (used / totals[:, None]).mean(axis=0)]
