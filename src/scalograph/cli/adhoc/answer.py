"""What a measured command does along its levels: what each step gains, what limits it, and what to take."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

from scalograph.analysis.estimate import Estimate
from scalograph.analysis.interval import summarize
from scalograph.analysis.ratio import ratio
from scalograph.analysis.serial_fraction import karp_flatt
from scalograph.analysis.speedup import speedup
from scalograph.analysis.usl import Usl
from scalograph.analysis.usl_predict import Boundary, crossed, predict
from scalograph.cli.adhoc.next_size import next_gain
from scalograph.findings.curves import curve_factor, samples
from scalograph.findings.sample import Sample
from scalograph.findings.speedup_rule import Gain, gain
from scalograph.findings.table import Table
from scalograph.protocol.findings import Level
from scalograph.questions.scaling.boundaries import NO_CPU, boundaries
from scalograph.questions.scaling.laws import fitted, most_cpus

SHORT_S = 0.01


@dataclass(frozen=True)
class Step:
    """One level: CPUs used (CPU seconds a second), and what it gained over the level before.

    `speedup` and `efficiency` are over the baseline, the latter per worker and not per CPU: what is not worth having
    does not become so because the CPUs had ended. `gain` is a share of the throughput of the level before, `per_cost`
    the same in % for each unit of money an hour; both None at the first level.
    """

    level: Level
    sample: Sample
    cpus: Estimate | None
    speedup: Estimate | None = None
    efficiency: Estimate | None = None
    gain: Estimate | None = None
    per_cost: Estimate | None = None


@dataclass(frozen=True)
class Along:
    """One curve. `serial` is the law's, or by Karp and Flatt where there are two sizes; `next` what one more gains."""

    group: Mapping[str, Level]
    steps: tuple[Step, ...]
    law: Usl | None = None
    serial: Estimate | None = None
    next_size: int | None = None
    next: Estimate | None = None


def answer(table: Table, cost: float | None = None) -> list[Along]:
    """The curves of a study.

    Args:
        table: its runs.
        cost: of a CPU for an hour, in any money.
    """
    factor, groups = curve_factor(table), dict[tuple[tuple[str, Level], ...], list[Sample]]()
    for sample in samples(table).values():
        group = tuple((name, level) for name, level in sample.treatment.items() if name != factor)
        groups.setdefault(group, []).append(sample)
    how = gain(table, factor)
    return [
        Along(dict(group), tuple(Step(s.treatment[factor], s, _cpus(s)) for s in members))
        if how is None
        else _along(table, how, dict(group), sorted(members, key=lambda s: int(s.treatment[factor])), cost)
        for group, members in groups.items()
    ]


def _along(table: Table, how: Gain, group: Mapping[str, Level], members: Sequence[Sample], cost: float | None) -> Along:
    factor, confidence = curve_factor(table), table.study.protocol.confidence
    base = int(table.study.baseline[factor])
    found = {
        point.n: point.speedup
        for point in speedup(
            {int(s.treatment[factor]): s.scores(how.response) for s in members},
            baseline=base,
            work="per-worker" if how.per_worker else "total",
            better="lower" if how.kind == "time" else "higher",
            blocks={int(s.treatment[factor]): s.blocks(how.response) for s in members},
            confidence=confidence,
        )
    }
    steps = [_step(factor, sample, found.get(int(sample.treatment[factor])), base) for sample in members]
    for i in range(1, len(steps)):
        steps[i] = _gained(table, how, steps[i - 1], steps[i], cost)
    law = fitted(how, factor, [s for s in members if s.scores(how.response)], confidence)
    return _limits(table, Along(group, tuple(steps), law))


def _step(factor: str, sample: Sample, over_base: Estimate | None, base: int) -> Step:
    level = int(sample.treatment[factor])
    efficiency = over_base.scaled(base / level) if over_base else None
    return Step(level, sample, _cpus(sample), over_base, efficiency)


def _cpus(sample: Sample) -> Estimate | None:
    """None for runs that are so short that starting and ending them is most of their CPU time."""
    scores = sample.scores("cpu_percent")
    walls = [row.wall_s for row in sample.counted if row.wall_s is not None]
    return summarize(scores).scaled(0.01) if scores and walls and median(walls) >= SHORT_S else None


def _gained(table: Table, how: Gain, before: Step, now: Step, cost: float | None) -> Step:
    """Throughput over that of the level before, less one."""
    was, is_ = (step.sample.scores(how.response) for step in (before, now))
    times = ratio(was, is_, _confidence(table)) if how.kind == "time" else ratio(is_, was, _confidence(table))
    growth = float(now.level) / float(before.level) if how.per_worker else 1.0
    gained = less_one(times.scaled(growth))
    more = _paid(table, now) - _paid(table, before)
    return replace(now, gain=gained, per_cost=gained.scaled(100 / (cost * more)) if cost and more > 0 else None)


def _paid(table: Table, step: Step) -> int:
    """CPUs that a level needs: as many as it is given, or has workers for."""
    n_cpus = max((row.n_cpus for row in step.sample.every), default=1)
    return n_cpus if table.study.factors[curve_factor(table)].control == "cpus" else min(int(step.level), n_cpus)


def _confidence(table: Table) -> float:
    return table.study.protocol.confidence


def less_one(times: Estimate) -> Estimate:
    """A ratio as a gain."""
    value, low, high = (None if x is None else x - 1 for x in (times.value, times.low, times.high))
    return replace(times, value=value, low=low, high=high)


def _limits(table: Table, along: Along) -> Along:
    """What is serial, and what one more would gain; nothing past a boundary of the machine that was not measured."""
    measured = [step for step in along.steps if step.speedup and step.speedup.value]
    if len(measured) < 2:
        return along
    first, last = int(measured[0].level), int(measured[-1].level)
    limits = boundaries(table, curve_factor(table), along.group, most_cpus([step.sample for step in measured]))
    serial = _serial(along.law, measured, limits)
    found = replace(along, serial=serial)
    if serial is None or crossed(last, last + 1, limits) or any(b.begins == NO_CPU and b.after <= last for b in limits):
        return found
    if along.law is None:
        return replace(found, next_size=last + 1, next=next_gain(serial, last)) if first == 1 else found
    made = predict(along.law, last + 1, limits, serial.confidence, over=last)
    return replace(found, next_size=last + 1, next=less_one(made))


def _serial(law: Usl | None, measured: Sequence[Step], limits: Sequence[Boundary]) -> Estimate | None:
    """The law's; of two sizes, and where there are more workers than CPUs, by Karp and Flatt up to the last CPU."""
    n_cpus = next((limit.after for limit in limits if limit.begins == NO_CPU), int(measured[-1].level))
    inside = [step for step in measured if int(step.level) <= n_cpus]
    if law is not None and len(inside) == len(measured):
        return law.sigma
    last = inside[-1] if len(inside) > 1 else measured[-1]
    growth = min(int(last.level), n_cpus) / min(int(measured[0].level), n_cpus)
    return karp_flatt(last.speedup, growth) if last.speedup and growth > 1 else None
