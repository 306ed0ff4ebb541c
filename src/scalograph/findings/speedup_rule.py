"""Speedup along one factor: by which response, in which direction, and its formula in words."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

from scalograph.analysis.estimate import Estimate
from scalograph.analysis.ratios import ratio
from scalograph.analysis.speedup_points import SpeedupPoint, speedup
from scalograph.findings.sample import Sample
from scalograph.findings.study_view import Kind
from scalograph.findings.table import Table
from scalograph.protocol.plain import Level


@dataclass(frozen=True)
class SpeedupRule:
    """How speedup is computed along a curve.

    Attributes:
        kind: `time` has T(baseline)/T(n), `rate` has R(n)/R(baseline).
        per_worker: each of n workers does the same work and scores are per worker: times n.
    """

    response: str
    kind: Kind
    per_worker: bool


def find_speedup_rule(table: Table, factor: str) -> SpeedupRule | None:
    """Return how speedup is computed along a factor; None where it has no meaning."""
    study = table.study
    levels = [study.baseline.get(factor), *(configuration[factor] for configuration in table.configurations)]
    # A count of workers goes into the template; of what a control sets, only CPUs are counted.
    if study.factors[factor].control not in (None, "cpus") or not all(
        type(level) is int and level >= 1 for level in levels
    ):
        return None
    kind = table.view.kind
    if kind is None:
        return None
    # A rate is that of the run, unless each copy reports its own: then the mean of the copies is read.
    per_worker = study.work == "per-worker" if kind == "time" else study.workload.copies == f"{{{factor}}}"
    # More CPUs are not more workers.
    return SpeedupRule(table.view.primary, kind, per_worker and study.factors[factor].control is None)


def curve_speedups(table: Table, factor: str, members: Sequence[Sample]) -> dict[Level, SpeedupPoint]:
    """Compute the speedup at each level of one curve; empty where it has no meaning."""
    how = find_speedup_rule(table, factor)
    if how is None:
        return {}
    points = speedup(
        {int(s.configuration[factor]): s.values(how.response) for s in members},
        baseline=int(table.study.baseline[factor]), work="per-worker" if how.per_worker else "total",
        better="lower" if how.kind == "time" else "higher", cpus=_usable_cpus(table, factor, members),
        blocks={int(s.configuration[factor]): s.blocks(how.response) for s in members},
        confidence=table.view.confidence,
    )  # fmt: skip
    return {point.n: point for point in points}


def step_gains(table: Table, factor: str, members: Sequence[Sample]) -> dict[Level, Estimate]:
    """Estimate the throughput gain of each level over the level before, as a share."""
    how = find_speedup_rule(table, factor)
    if how is None:
        return {}
    ordered = sorted(members, key=lambda sample: int(sample.configuration[factor]))
    over = partial(_step_gain, how, factor, table.view.confidence)
    return {now.configuration[factor]: over(before, now) for before, now in pairwise(ordered)}


def _step_gain(how: SpeedupRule, factor: str, confidence: float, before: Sample, now: Sample) -> Estimate:
    was, is_ = before.values(how.response), now.values(how.response)
    times = ratio(was, is_, confidence) if how.kind == "time" else ratio(is_, was, confidence)
    growth = int(now.configuration[factor]) / int(before.configuration[factor]) if how.per_worker else 1.0
    return times.rescale(growth).plus(-1)


def _usable_cpus(table: Table, factor: str, members: Sequence[Sample]) -> int | None:
    """Return the CPUs that bound the speedup; None if the curve is of CPUs, or of clients that wait."""
    if table.study.factors[factor].control == "cpus" or table.study.is_driven:
        return None
    return max((row.n_cpus for sample in members for row in sample.succeeded), default=None)


def speedup_formula(table: Table, factor: str) -> str:
    """Return the formula of the scaling factor in words; empty without a baseline."""
    if factor not in table.study.baseline:
        return ""
    how, level = find_speedup_rule(table, factor), table.study.baseline[factor]
    response, along = table.view.primary_title, table.view.title(factor)
    if how is None:
        if table.view.kind is None:
            return f"no scaling factor: {response} is neither an elapsed time nor a rate"
        return f"no scaling factor: the levels of {along} count nothing that could do the work"
    times = f"{along} times " if how.per_worker else ""
    each = f", over {level}" if how.per_worker and level != 1 else ""
    if how.kind == "time":
        ratio = f"{times}{response} at {along} {level} over that of the row{each}"
    else:
        ratio = f"{times}{response} of the row over that at {along} {level}{each}"
    return f"scaling factor = {ratio}, the other factors equal"
