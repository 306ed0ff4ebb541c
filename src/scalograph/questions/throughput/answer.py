"""How much each setting carries along its load, from where on nothing is gained, and what ends it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import fmean, geometric_mean

from scalograph.analysis.contenders import contenders
from scalograph.analysis.estimate import Estimate
from scalograph.analysis.interval import summarize
from scalograph.findings.answer import Answer, Taken
from scalograph.findings.curves import estimated
from scalograph.findings.names import curve_factor, varied
from scalograph.findings.sample import Sample, grouped, named_records
from scalograph.findings.speedup_rule import primary
from scalograph.findings.table import Table
from scalograph.protocol.findings import Curve
from scalograph.protocol.plain import Level
from scalograph.protocol.response_times import added, quantile
from scalograph.questions.throughput.claim import throughput_claim
from scalograph.questions.throughput.document import (
    MOST_GROUPS,
    MOST_PARTS,
    MOST_POINTS,
    Corner,
    LoadedGroup,
    LoadPoint,
    PartUse,
    Throughputs,
)
from scalograph.questions.throughput.model_bottleneck import Fullness, ended_by, fullness, spare
from scalograph.questions.throughput.model_driven import (
    DRIVER_CPU,
    LATE,
    QUANTILES,
    STOP,
    DrivenRun,
    RunPart,
    driven_run,
    dropped_connections,
    run_parts,
    stop_parts,
)
from scalograph.questions.throughput.model_plateau import Plateau, knee, plateau
from scalograph.questions.throughput.tables import load_tables, parts_table
from scalograph.text.load_words import told_ends
from scalograph.text.quantities import counted, inverse, percent_at_most

TOGETHER = {"p99": 0.99, "p99.9": 0.999}
# What runs say, by their names.
Driven = Mapping[str, DrivenRun]


def load_point(table: Table, level: int, sample: Sample, every: Sample, driven: Driven) -> LoadPoint:
    """Tell what is known of a level.

    Args:
        table: the study.
        level: of the factor of the load.
        sample: its runs that count.
        every: all that succeeded, those that break Little's law too.
        driven: what runs say.
    """
    runs = [driven[row.run] for row in sample.rows(primary(table)) if row.run in driven]
    confidence = table.study.protocol.confidence
    n_requests = sum(run.n_requests for run in runs)
    return LoadPoint(
        level=level, rate=estimated(table, sample, primary(table)),
        response=_over_runs([run.response_s for run in runs], confidence),
        quantiles={
            name: _over_runs([run.quantiles_s.get(name) for run in runs], confidence)
            for name in QUANTILES
            if any(name in run.quantiles_s for run in runs)
        },
        together=_together(runs), errors=sum(run.n_errors for run in runs) / n_requests if n_requests else 0.0,
        first_wrong=next((run.first_wrong for run in runs if run.first_wrong), ""),
        late=_mean([run.late for run in runs]), driver=_mean([run.driver for run in runs]),
        parts=used_parts(fullness(runs)), n=len(sample.rows(primary(table))),
        n_unlawful=sum(row.run in driven and not driven[row.run].is_lawful for row in every.every),
        dropped=dropped_connections(runs),
        n_unchecked=sum(not run.is_checked for run in runs),
        driver_limits=_limits(runs),
    )  # fmt: skip


def _together(runs: Sequence[DrivenRun]) -> dict[str, float]:
    """Quantiles of all answers, where all runs told their histograms."""
    counts = added(run.counts for run in runs) if runs and all(run.counts for run in runs) else {}
    found = {name: quantile(counts, share) for name, share in TOGETHER.items()}
    return {name: value for name, value in found.items() if value is not None}


def rates_of(table: Table, sample: Sample) -> dict[int, float]:
    """The rate in each block; a run that was made again may stand in the block of another."""
    found: dict[int, list[float]] = {}
    name = primary(table)
    for block, rate in zip(sample.blocks(name), sample.scores(name), strict=True):
        found.setdefault(block, []).append(rate)
    return {block: geometric_mean(rates) if min(rates) > 0 else 0.0 for block, rates in found.items()}


def used_parts(parts: Sequence[Fullness]) -> list[PartUse]:
    """The parts, as findings hold them."""
    return [
        PartUse.model_validate(
            {"kind": one.kind, "names": [*one.names[:MOST_PARTS]], "share": one.share, "used": one.used,
             "granted": one.granted, "of_driver": one.of_driver, "wait_s": one.wait_s}
        )
        for one in parts[:MOST_PARTS]
    ]  # fmt: skip


def is_count(level: Level) -> bool:
    """Tell whether a level counts something; 0 mostly stands for no limit, which is the most of all."""
    return type(level) is int and level >= 1


def _over_runs(values: Sequence[float | None], confidence: float) -> Estimate:
    return summarize([x for x in values if x is not None], confidence)


def _mean(values: Sequence[float | None]) -> float | None:
    known = [x for x in values if x is not None]
    return fmean(known) if known else None


def _limits(runs: Sequence[DrivenRun]) -> str:
    """Why the driver may have set the rate."""
    late, used = _mean([run.to_blame for run in runs]), _mean([run.driver for run in runs])
    if late is not None and late >= LATE:
        return "late"
    if used is not None and used >= DRIVER_CPU:
        return "CPU"
    if (_mean([run.late for run in runs]) or 0.0) >= LATE:
        return "no CPU"
    return "ceiling" if spare(runs) else ""


# Configurations that are compared, each with each.
MOST = 64


def corners(table: Table, taken: Taken) -> list[Corner]:
    """Compare the highest level of all counted factors with the best of the others, in each setting of the rest.

    Args:
        table: the study.
        taken: the runs that count.
    """
    counted = [name for name in varied(table) if all(is_count(t[name]) for t in table.treatments)]
    if not counted:
        return []
    found = []
    for group, members in grouped(taken.values(), *counted).items():
        rates = [(sample, rates_of(table, sample)) for sample in members]
        known = [(sample, blocks) for sample, blocks in rates if blocks and min(blocks.values()) > 0]
        over = _over_best(counted, known) if 1 < len(known) <= MOST else None
        found += [Corner(group=dict(group), over_best=over)] if over else []
    return found


def _over_best(counted: list[str], known: list[tuple[Sample, dict[int, float]]]) -> Estimate | None:
    """Rate of the far corner over that of the best of the others; None where it has no runs."""
    top = {name: max(sample.treatment[name] for sample, _ in known) for name in counted}
    corner = next((i for i, (sample, _) in enumerate(known) if top.items() <= sample.treatment.items()), None)
    if corner is None:
        return None
    times = {float(i): {block: 1 / rate for block, rate in blocks.items()} for i, (_, blocks) in enumerate(known)}
    found = next((one for one in contenders(times) if one.level == corner), None)
    if found is None:
        best = max(geometric_mean(blocks.values()) for i, (_, blocks) in enumerate(known) if i != corner)
        return Estimate(geometric_mean(known[corner][1].values()) / best, warnings=("too few runs to compare",))
    return inverse(found.over_best)


CLIENTS = "clients"


def answer(table: Table, taken: Taken, curves: Sequence[Curve]) -> Answer:
    """Tell it of every setting of the other factors, those of the highest rates first."""
    rows = [row for sample in taken.values() for row in sample.every]
    driven, parts = dict[str, DrivenRun](), list[list[RunPart]]()
    for name, record in named_records(table, rows):
        parts.append(run_parts(record))
        if (run := driven_run(record)) is not None:
            driven[name] = run
    return told(table, taken, driven, _with_stops(parts, table))


def _with_stops(parts: list[list[RunPart]], table: Table) -> list[list[RunPart]]:
    """The parts of runs, and the ends of services that stayed up: runs do not tell the last of these."""
    stops = [stop_parts(one) for one in table.services]
    return [[part for part in run if part.what != STOP] for run in parts] + stops if stops else parts


def told(table: Table, taken: Taken, driven: Driven, parts: Sequence[Sequence[RunPart]] = ()) -> Answer:
    """Answer from what the runs say, by their names, and from how long their parts took."""
    factor = load_factor(table)
    lawful = {key: _lawful(sample, driven) for key, sample in taken.items()}
    groups = grouped(lawful.values(), factor) if factor else {}
    every = grouped(taken.values(), factor) if factor else {}
    found = [_group(table, factor, dict(key), members, every[key], driven) for key, members in groups.items()]
    found = [one for one in found if one.known]
    found.sort(key=lambda one: -(_rate(one) or 0.0))
    document = Throughputs(groups=found[:MOST_GROUPS], corners=corners(table, lawful))
    return Answer(
        document=document,
        claim=throughput_claim(table, taken, document.groups),
        tables=[*load_tables(table, document.groups), *parts_table(parts)],
        doubts=_doubts(table, document.groups),
        warnings=[*_kept(table), *_warnings(document.groups)],
    )


def load_factor(table: Table) -> str:
    """The factor along which the load grows: clients where they vary, else the one of the curves; empty: none."""
    factors = table.study.factors
    names = [name for name in factors if all(is_count(treatment[name]) for treatment in table.treatments)]
    several = [name for name in varied(table) if name in names]
    wanted = [name for name in (CLIENTS, curve_factor(table)) if name in several]
    return next(iter([*wanted, *several, *names]), "")


def _lawful(sample: Sample, driven: Driven) -> Sample:
    """Without the runs that break Little's law."""
    kept = tuple(row for row in sample.counted if row.run not in driven or driven[row.run].is_lawful)
    return replace(sample, counted=kept)


def _rate(one: LoadedGroup) -> float | None:
    point = one.point(one.at)
    return point.rate.value if point else None


def _group(
    table: Table, factor: str, group: dict[str, Level], members: Sequence[Sample], every: Sequence[Sample],
    driven: Driven,
) -> LoadedGroup:  # fmt: skip
    by_level = {int(s.treatment[factor]): s for s in members}
    whole = {int(s.treatment[factor]): s for s in every}
    points = [
        load_point(table, level, by_level[level], whole[level], driven) for level in sorted(by_level)[:MOST_POINTS]
    ]
    made = LoadedGroup(group=group, factor=factor, points=points, **_load(by_level, driven))
    if not made.known:
        return made
    rates = {one.level: rates_of(table, by_level[one.level]) for one in made.known}
    usable = all(min(blocks.values(), default=0.0) > 0 for blocks in rates.values())
    found = plateau(rates, table.study.protocol.confidence) if usable else None
    return made.model_copy(update={**_of_plateau(table, made, found), **_end(table, made, found, by_level, driven)})


def _of_plateau(table: Table, made: LoadedGroup, found: Plateau | None) -> dict[str, object]:
    if found is None:
        return {"at": _at(made, None)}
    n, confidence = min(one.n for one in made.known), table.study.protocol.confidence
    plain = {"state": found.state, "plateau": found.estimate(confidence, n), "falls": found.falls}
    return {**plain, "at": _at(made, found)}


def _at(made: LoadedGroup, found: Plateau | None) -> int:
    """The level whose rate is told."""
    if found is not None and found.high is not None:
        return found.high
    if found is not None and found.state == "rising":
        return made.known[-1].level
    return max(made.known, key=lambda one: one.rate.value or 0.0).level


def _end(
    table: Table, made: LoadedGroup, found: Plateau | None, by_level: Mapping[int, Sample], driven: Driven
) -> dict[str, object]:
    """What ends it, by the runs of the level that carries most of those where nothing is gained."""
    at = _at(made, found)
    best = max((one for one in made.known if one.level >= at), key=lambda one: one.rate.value or 0.0)
    runs = _runs(by_level[best.level], driven)
    if not runs:
        return {}
    first = made.known[0].level
    alone = _responses(by_level[first], driven) if made.is_clients and (first == 1 or first < best.level) else []
    bounded = (made.is_clients or made.is_offered) and found is not None and found.high is not None
    ended = ended_by(runs, geometric_mean(alone) if alone else None, bounded)
    told = {"ends": ended.kind, "grows": ended.grows, "waited": ended.waited}
    parts = {"ended_by": used_parts(ended.parts), "ruled_out": used_parts(ended.others)}
    think = [run.think_s for run in runs if run.think_s is not None]
    if not alone or not think or not bounded:
        return {**told, **parts}
    at_once = knee(best.rate, summarize(alone, table.study.protocol.confidence), sum(think) / len(think))
    # Requests of the lowest level may already wait for each other.
    is_alone = first == 1 or (at_once.low is not None and at_once.low > first)
    return {**told, **parts, "knee": at_once if is_alone else None}


def _runs(sample: Sample, driven: Driven) -> list[DrivenRun]:
    return [driven[row.run] for row in sample.counted if row.run in driven]


def _responses(sample: Sample, driven: Driven) -> list[float]:
    return [run.response_s for run in _runs(sample, driven) if run.response_s]


def _load(by_level: Mapping[int, Sample], driven: Driven) -> dict[str, bool]:
    """Whether the levels are the load itself: clients of a closed loop, or the rate of an open one."""
    said = [(level, run) for level, sample in by_level.items() for run in _runs(sample, driven)]
    return {
        "is_clients": bool(said) and all(run.clients == level and run.offered is None for level, run in said),
        "is_offered": bool(said) and all(run.offered == level for level, run in said),
    }


def _doubts(table: Table, groups: Sequence[LoadedGroup]) -> list[str]:
    """What is wrong with the runs of all groups, in a sentence each."""
    points = [point for one in groups for point in one.points]
    doubts = []
    if n := sum(point.driver_limits in ("late", "CPU") for point in points):
        doubts.append(f"the driver limits {counted(n, 'configuration')} of {len(points)}")
    if n := sum(point.driver_limits == "no CPU" for point in points):
        doubts.append(f"the driver had to wait for a CPU in {counted(n, 'configuration')} of {len(points)}")
    worst = max(points, key=lambda point: point.errors, default=None)
    if worst is not None and worst.errors:
        first = worst.first_wrong and f"; the first: {worst.first_wrong}"
        doubts.append(f"wrong answers, {percent_at_most(worst.errors)} in the worst configuration{first}")
    return doubts


def _kept(table: Table) -> list[str]:
    """What is to be known of services that stayed up."""
    if table.study.workload.keep == "run":
        return []
    met = "services stayed up over runs of a block: what a run left in them, those after it met"
    return [met + told_ends(table.services)]


def _warnings(groups: Sequence[LoadedGroup]) -> list[str]:
    """What could not be seen of the runs that count."""
    points = [point for one in groups for point in one.points]
    if not (n := sum(point.n_unchecked for point in points)):
        return []
    whose = f"{n} of {counted(sum(point.n for point in points), 'run')}"
    return [f"Little's law not checked in {whose}: the driver tells neither requests in flight nor think time"]
