"""How much each setting carries along its load, from where on nothing is gained, and what ends it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import geometric_mean

from scalograph.analysis.interval import summarize
from scalograph.findings.answer import Answer, Taken
from scalograph.findings.names import curve_factor, varied
from scalograph.findings.run_records import named_records
from scalograph.findings.sample import Sample, grouped
from scalograph.findings.table import Table
from scalograph.protocol.findings import Curve
from scalograph.protocol.plain import Level
from scalograph.questions.throughput.answer_corner import corners
from scalograph.questions.throughput.answer_points import Driven, is_count, load_point, rates_of, used_parts
from scalograph.questions.throughput.claim import throughput_claim
from scalograph.questions.throughput.document import MOST_GROUPS, MOST_POINTS, LoadedGroup, Throughputs
from scalograph.questions.throughput.model_driven import DrivenRun, driven_run
from scalograph.questions.throughput.model_end import ended_by
from scalograph.questions.throughput.model_parts import STOP, RunPart, run_parts, stop_parts
from scalograph.questions.throughput.model_plateau import Plateau, knee, plateau
from scalograph.questions.throughput.tables import load_tables
from scalograph.questions.throughput.tables_parts import parts_table
from scalograph.text.quantities import counted, percent_at_most
from scalograph.text.service_ends import told_ends

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
