"""Responses along one factor, all other factors fixed."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import median

import numpy as np

from scalograph.analysis.center import FloatArray
from scalograph.analysis.estimate import Estimate, Flag
from scalograph.analysis.interval import summarize
from scalograph.analysis.modes import Modes, common_step, modes, widened
from scalograph.analysis.speedup_points import SpeedupPoint
from scalograph.design.stopping_rule import stopping
from scalograph.findings import whole_run
from scalograph.findings.answer import Doubt
from scalograph.findings.names import curve_factor
from scalograph.findings.sample import Sample, flags, grouped
from scalograph.findings.speedup_rule import gains, over_before, primary
from scalograph.findings.table import Table
from scalograph.findings.whole_run import WARNING
from scalograph.protocol.findings import Curve, Point, PointResponse
from scalograph.protocol.plain import Level
from scalograph.study.model import Response
from scalograph.text.format import significant
from scalograph.text.quantities import counted, percent
from scalograph.text.scale import scale_for


def is_count(response: Response) -> bool:
    """Tell whether a response counts something: it has neither a unit nor a better direction, as times and rates do."""
    return not response.unit and response.better == "none"


def known_count(scores: Sequence[float], confidence: float) -> Estimate | None:
    """Return the count that all runs came to.

    Args:
        scores: one for each run, of a response that counts.
        confidence: of the intervals beside it.

    Returns:
        None where it is not one whole number, the same in two runs or more.
    """
    if len(scores) < 2 or len({*scores}) > 1 or not float(scores[0]).is_integer():
        return None
    return Estimate(scores[0], scores[0], scores[0], confidence, len(scores), "counted, the same in every run")


TWO_MODES = "two modes"
# So many runs with one and the same time are no chance, unless the clock is coarse.
ALIKE_RUNS = 3


def score_flags(table: Table, sample: Sample, name: str) -> list[Flag]:
    """Return what a reader must know of the scores of a response."""
    found = modes(sample.values(name))
    return [Flag(TWO_MODES, _told(found, table, name), 100 * (found.high / found.low - 1))] if found else []


def two_modes(table: Table, sample: Sample, name: str) -> str:
    """Name the modes with their shares; empty where there are no two."""
    return next((flag.text for flag in score_flags(table, sample, name)), "")


def identical_doubt(samples: Iterable[Sample], name: str) -> Iterator[Doubt]:
    """Say how many configurations have identical scores: their intervals have no width, and that is no precision."""
    read = [scores for sample in samples if len(scores := sample.values(name)) >= ALIKE_RUNS]
    if n := sum(map(_is_identical, read)):
        why = f"all runs of {n} of {counted(len(read), 'configuration')} have one score"
        yield Doubt(why, "the clock may be too coarse", whole=2 * n >= len(read))


def _is_identical(scores: FloatArray) -> bool:
    return len(scores) >= ALIKE_RUNS and bool(scores.min() == scores.max() != 0)


def _told(found: Modes, table: Table, name: str) -> str:
    """The larger one first."""
    scale = scale_for(table.study.responses[name].unit, [found.low, found.high])
    parts = sorted([(1 - found.share_low, found.high), (found.share_low, found.low)], reverse=True)
    shown = (f"{percent(share)} near {significant(at * scale.factor)} {scale.unit}".strip() for share, at in parts)
    return f"two modes: {', '.join(shown)}"


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
    return [*of_speedup, *flags(sample), *shape, *whole_run.flags(table.study, sample)]


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
