"""Speedup along one factor: by which response, in which direction, and its formula in words."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from statistics import median

from scalograph.analysis.estimate import Estimate
from scalograph.analysis.ratios import ratio
from scalograph.analysis.speedup_points import SpeedupPoint, speedup
from scalograph.findings.sample import Sample
from scalograph.findings.study_view import Kind
from scalograph.findings.table import Table
from scalograph.protocol.plain import Level

# Of what controls set, these are counted: CPUs, and on a cluster nodes and their tasks, which work as workers do.
_WORKERS = (None, "cluster:nodes", "cluster:tasks-per-node")
_COUNTED = (*_WORKERS, "cpus")


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
    if study.factors[factor].control not in _COUNTED or not all(type(level) is int and level >= 1 for level in levels):
        return None
    kind = table.view.kind
    if kind is None:
        return None
    # A rate is that of the run, unless each copy reports its own: then the mean of the copies is read.
    per_worker = study.work == "per-worker" if kind == "time" else study.workload.copies == f"{{{factor}}}"
    # More CPUs are not more workers.
    return SpeedupRule(table.view.primary, kind, per_worker and study.factors[factor].control in _WORKERS)


def curve_speedups(
    table: Table, factor: str, members: Sequence[Sample], step: float | None = None
) -> dict[Level, SpeedupPoint]:
    """Compute the speedup at each level of one curve; empty where it has no meaning.

    `step`: of the clock, where the runs of the study show one.
    """
    how = find_speedup_rule(table, factor)
    if how is None:
        return {}
    n_cpus = None if outgrows_cpus(table, factor, members) else _usable_cpus(table, factor, members)
    return {point.n: point for point in _speedups(table, how, factor, members, n_cpus, step)}


def _speedups(
    table: Table, how: SpeedupRule, factor: str, members: Sequence[Sample], n_cpus: int | None,
    step: float | None = None,
) -> list[SpeedupPoint]:  # fmt: skip
    return speedup(
        {int(s.configuration[factor]): s.values(how.response) for s in members},
        baseline=int(table.study.baseline[factor]), work="per-worker" if how.per_worker else "total",
        better="lower" if how.kind == "time" else "higher", cpus=n_cpus,
        blocks={int(s.configuration[factor]): s.blocks(how.response) for s in members},
        confidence=table.view.confidence, step=step,
        open_logs={int(s.configuration[factor]): s.open_log(how.response) for s in members},
    )  # fmt: skip


USED = 0.9  # share of the CPUs given: a baseline below it waits, and workers may outgrow the CPUs


def outgrows_cpus(table: Table, factor: str, members: Sequence[Sample]) -> bool:
    """Tell whether a program that waits gains more than its CPUs could give: they do not bound it."""
    how, n_cpus = find_speedup_rule(table, factor), _usable_cpus(table, factor, members)
    if how is None or n_cpus is None or waiting_share(table, factor, members) is None:
        return False
    return any(point.exceeds_cpus for point in _speedups(table, how, factor, members, n_cpus))


def waiting_share(table: Table, factor: str, members: Sequence[Sample]) -> float | None:
    """Return the share of its CPU time that the baseline of a curve waited; None if it used its CPUs, or none timed."""
    undisturbed = (s for s in members if not s.falls_back)  # what others took is no waiting of the program
    base = next((s for s in undisturbed if s.configuration[factor] == table.study.baseline.get(factor)), None)
    n = int(table.study.baseline[factor]) if base is not None else 1
    timed = [(row, row.cpus_used) for row in base.counted] if base is not None else []
    used = [cpus / min(n, row.n_cpus) for row, cpus in timed if cpus is not None]
    return 1 - median(used) if used and median(used) < USED else None


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
    """Return the CPUs that bound the speedup; None if the curve is of CPUs or nodes, or of clients that wait."""
    if table.study.factors[factor].control is not None or table.study.is_driven:
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
