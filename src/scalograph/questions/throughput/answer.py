"""Answer the throughput of each configuration over its load: its maximum, its plateau, its bottleneck."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import geometric_mean

from scalograph.analysis.contenders import contenders
from scalograph.analysis.estimate import Estimate
from scalograph.analysis.interval import summarize
from scalograph.findings import driven_runs
from scalograph.findings.answer import Answer, SampleMap
from scalograph.findings.bottleneck import find_bottleneck, is_driver_short, mean_known, utilizations
from scalograph.findings.curves import estimate_response
from scalograph.findings.sample import Sample, group_samples, read_named_records
from scalograph.findings.table import Table
from scalograph.protocol.findings import Curve
from scalograph.protocol.plain import Level
from scalograph.protocol.response_times import quantile, sum_counts
from scalograph.questions.saturation import part_uses, saturation_fields
from scalograph.questions.throughput.claim import throughput_claim
from scalograph.questions.throughput.document import (
    MOST_GROUPS,
    MOST_POINTS,
    MOST_SECONDS,
    FullConfiguration,
    LoadedGroup,
    LoadPoint,
    Throughputs,
)
from scalograph.questions.throughput.model_plateau import Plateau, knee, plateau
from scalograph.questions.throughput.tables import load_tables, parts_table
from scalograph.text.load_words import service_end_times
from scalograph.text.quantities import count_noun, inverse
from scalograph.text.warning_catalog import Caveat

TOGETHER = {"p99": 0.99, "p99.9": 0.999}
# What runs say, by their names.
Driven = Mapping[str, driven_runs.DrivenRun]


def load_point(table: Table, level: int, sample: Sample, every: Sample, driven: Driven) -> LoadPoint:
    """Summarize the runs of one level of the load.

    `sample`: its runs that count; `every`: all that succeeded, those that break Little's law too.
    """
    runs = [driven[row.run] for row in sample.rows(table.view.primary) if row.run in driven]
    confidence, n_requests = table.view.confidence, sum(run.n_requests for run in runs)
    names = [name for name in driven_runs.QUANTILES if any(name in run.quantiles_s for run in runs)]
    return LoadPoint(
        level=level, rate=estimate_response(table, sample),
        response=_summarize_runs([run.response_s for run in runs], confidence),
        quantiles={name: _summarize_runs([run.quantiles_s.get(name) for run in runs], confidence) for name in names},
        together=_together(runs), errors=sum(run.n_errors for run in runs) / n_requests if n_requests else 0.0,
        first_wrong=next((run.first_wrong for run in runs if run.first_wrong), ""),
        cause=driven_runs.wrong_requests(runs)[0] if any(run.n_errors for run in runs) else "",
        starved=mean_known([run.starved / run.clients for run in runs if run.starved is not None and run.clients]),
        late=mean_known([run.late for run in runs]), driver=mean_known([run.driver for run in runs]),
        parts=part_uses(utilizations(runs)), n=len(sample.rows(table.view.primary)),
        n_unlawful=sum(row.run in driven and not driven[row.run].is_lawful for row in every.succeeded),
        dropped=driven_runs.dropped_connections(runs), n_unchecked=sum(not run.is_checked for run in runs),
        driver_limits=_driver_limits(runs), seconds=_median_seconds(runs),
    )  # fmt: skip


def _median_seconds(runs: Sequence[driven_runs.DrivenRun]) -> dict[str, list[float]]:
    """Return the seconds of the run with the median rate, of those that have any."""
    timed = sorted((run for run in runs if len(run.seconds.get("rate", ())) > 1), key=lambda run: run.rate)
    return {name: [*values[:MOST_SECONDS]] for name, values in timed[len(timed) // 2].seconds.items()} if timed else {}


def _together(runs: Sequence[driven_runs.DrivenRun]) -> dict[str, float]:
    counts = sum_counts(run.counts for run in runs) if runs and all(run.counts for run in runs) else {}
    shares = {name: quantile(counts, share) for name, share in TOGETHER.items()}
    return {name: value for name, value in shares.items() if value is not None}


def is_count(level: Level) -> bool:
    """Tell whether a level is a count; 0 mostly stands for no limit, which is the most of all."""
    return type(level) is int and level >= 1


def _summarize_runs(values: Sequence[float | None], confidence: float) -> Estimate:
    return summarize([x for x in values if x is not None], confidence)


def _driver_limits(runs: Sequence[driven_runs.DrivenRun]) -> str:
    late, used = mean_known([run.late_by_driver for run in runs]), mean_known([run.driver for run in runs])
    if late is not None and late >= driven_runs.LATE:
        return "late"
    if used is not None and used >= driven_runs.DRIVER_CPU:
        return "CPU"
    if (mean_known([run.late for run in runs]) or 0.0) >= driven_runs.LATE:
        return "no CPU"
    return "ceiling" if is_driver_short(runs) else ""


MOST = 64  # configurations that are compared, each with each


def full_configurations(table: Table, taken: SampleMap) -> list[FullConfiguration]:
    """Compare the highest level of all counted factors with the best of the others, in each group."""
    counted = [name for name in table.view.varying if all(is_count(t[name]) for t in table.configurations)]
    if not counted:
        return []
    ratios = []
    for group, members in group_samples(taken.values(), *counted).items():
        rates = [(sample, sample.block_means(table.view.primary)) for sample in members]
        positive = [(sample, blocks) for sample, blocks in rates if blocks and min(blocks.values()) > 0]
        over = _ratio_to_best(counted, positive) if 1 < len(positive) <= MOST else None
        ratios += [FullConfiguration(group=dict(group), over_best=over)] if over else []
    return ratios


def _ratio_to_best(counted: list[str], rates: list[tuple[Sample, dict[int, float]]]) -> Estimate | None:
    top = {name: max(sample.configuration[name] for sample, _ in rates) for name in counted}
    corner = next((i for i, (sample, _) in enumerate(rates) if top.items() <= sample.configuration.items()), None)
    if corner is None:
        return None
    times = {float(i): {block: 1 / rate for block, rate in blocks.items()} for i, (_, blocks) in enumerate(rates)}
    contender = next((other for other in contenders(times) if other.level == corner), None)
    if contender is None:
        best = max(geometric_mean(blocks.values()) for i, (_, blocks) in enumerate(rates) if i != corner)
        return Estimate(geometric_mean(rates[corner][1].values()) / best, warnings=("too few runs to compare",))
    return inverse(contender.over_best)


CLIENTS = "clients"


def answer(table: Table, taken: SampleMap, curves: Sequence[Curve]) -> Answer:
    """Answer for every group of other factors, the highest rates first."""
    rows = [row for sample in taken.values() for row in sample.succeeded]
    driven, parts = dict[str, driven_runs.DrivenRun](), list[list[driven_runs.RunPart]]()
    for name, record in read_named_records(table, rows):
        parts.append(driven_runs.run_parts(record))
        if (run := driven_runs.driven_run(record)) is not None:
            driven[name] = run
    # Ends of services that stayed up: runs do not report the last of these.
    if stops := [driven_runs.stop_parts(service) for service in table.services]:
        parts = [[part for part in run if part.what != driven_runs.STOP] for run in parts] + stops
    return answer_runs(table, taken, driven, parts)


def answer_runs(
    table: Table, taken: SampleMap, driven: Driven, parts: Sequence[Sequence[driven_runs.RunPart]] = ()
) -> Answer:
    """Answer from runs with a driver, by name, and from the seconds of their parts."""
    factor = load_factor(table)
    unlawful = {name for name, run in driven.items() if not run.is_lawful}
    kept = {key: tuple(row for row in sample.counted if row.run not in unlawful) for key, sample in taken.items()}
    lawful = {key: replace(sample, counted=kept[key]) for key, sample in taken.items()}
    groups = group_samples(lawful.values(), factor) if factor else {}
    every = group_samples(taken.values(), factor) if factor else {}
    loaded = [_group(table, factor, dict(key), members, every[key], driven) for key, members in groups.items()]
    loaded = [group for group in loaded if group.points_with_runs]
    loaded.sort(key=lambda group: -((point.rate.value if (point := group.point(group.at)) else None) or 0.0))
    document = Throughputs(groups=loaded[:MOST_GROUPS], corners=full_configurations(table, lawful))
    met = "services stayed up over the runs of a block: a run meets what earlier ones left in them"
    stayed = [] if table.study.workload.keep == "run" else [met + service_end_times(table.services)]
    return Answer(
        document=document, claim=throughput_claim(table, taken, document.groups),
        tables=[*load_tables(table, document.groups), *parts_table(parts)], doubts=_doubts(document.groups),
        warnings=[*stayed, *_warnings(document.groups)],
    )  # fmt: skip


def load_factor(table: Table) -> str:
    """Find the factor of the load: clients where they vary, else that of the curves; empty: none."""
    factors = table.study.factors
    names = [name for name in factors if all(is_count(configuration[name]) for configuration in table.configurations)]
    several = [name for name in table.view.varying if name in names]
    wanted = [name for name in (CLIENTS, table.view.curve_factor) if name in several]
    return next(iter([*wanted, *several, *names]), "")


def _group(
    table: Table, factor: str, group: dict[str, Level], members: Sequence[Sample], every: Sequence[Sample],
    driven: Driven,
) -> LoadedGroup:  # fmt: skip
    by_level = {int(s.configuration[factor]): s for s in members}
    whole = {int(s.configuration[factor]): s for s in every}
    levels = sorted(by_level)[:MOST_POINTS]
    points = [load_point(table, level, by_level[level], whole[level], driven) for level in levels]
    loaded = LoadedGroup(group=group, factor=factor, points=points, **_load_kind(by_level, driven))
    if not loaded.points_with_runs:
        return loaded
    name, measured = table.view.primary, [point.level for point in loaded.points_with_runs]
    rates = {level: by_level[level].block_means(name) for level in measured}
    usable = all(min(blocks.values(), default=0.0) > 0 for blocks in rates.values())
    fit = plateau(rates, table.view.confidence) if usable else None
    loaded = loaded.model_copy(update={"at": _reported_level(loaded, fit)})
    fields = _bottleneck_fields(table, loaded, fit, by_level, driven)
    if fit is not None:
        value = fit.estimate(table.view.confidence, min(point.n for point in loaded.points_with_runs))
        fields |= {"state": fit.state, "plateau": value, "falls": fit.falls}
    return loaded.model_copy(update=fields)


def _reported_level(loaded: LoadedGroup, fit: Plateau | None) -> int:
    if fit is not None and fit.high is not None:
        return fit.high
    if fit is not None and fit.state == "rising":
        return loaded.points_with_runs[-1].level
    return max(loaded.points_with_runs, key=lambda point: point.rate.value or 0.0).level


def _bottleneck_fields(
    table: Table, loaded: LoadedGroup, fit: Plateau | None, by_level: Mapping[int, Sample], driven: Driven
) -> dict[str, object]:
    """Find the bottleneck from the runs of the level with the highest rate on the plateau."""
    best = loaded.fullest
    runs = _runs(by_level[best.level], driven)
    if not runs:
        return {}
    first = loaded.points_with_runs[0].level
    has_alone = loaded.is_clients and (first == 1 or first < best.level)
    alone = [run.response_s for run in _runs(by_level[first], driven) if run.response_s] if has_alone else []
    bounded = (loaded.is_clients or loaded.is_offered) and fit is not None and fit.high is not None
    ended = find_bottleneck(runs, geometric_mean(alone) if alone else None, bounded)
    fields = saturation_fields(ended)
    think = [run.think_s for run in runs if run.think_s is not None]
    if not alone or not think or not bounded:
        return fields
    at_once = knee(best.rate, summarize(alone, table.view.confidence), sum(think) / len(think))
    # Requests of the lowest level may already wait for each other.
    is_alone = first == 1 or (at_once.low is not None and at_once.low > first)
    return {**fields, "knee": at_once if is_alone else None}


def _runs(sample: Sample, driven: Driven) -> list[driven_runs.DrivenRun]:
    return [driven[row.run] for row in sample.counted if row.run in driven]


def _load_kind(by_level: Mapping[int, Sample], driven: Driven) -> dict[str, bool]:
    runs = [(level, run) for level, sample in by_level.items() for run in _runs(sample, driven)]
    return {
        "is_clients": bool(runs) and all(run.clients == level and run.offered is None for level, run in runs),
        "is_offered": bool(runs) and all(run.offered == level for level, run in runs),
    }


def _doubts(groups: Sequence[LoadedGroup]) -> list[Caveat]:
    points = [point for group in groups for point in group.points]
    doubts = []
    if n := sum(point.driver_limits in ("late", "CPU") for point in points):
        doubts.append(Caveat("generator limits", {"n": n, "of": len(points)}))
    if n := sum(point.driver_limits == "no CPU" for point in points):
        doubts.append(Caveat("generator waits", {"n": n, "of": len(points)}))
    worst = max(points, key=lambda point: point.errors, default=None)
    if worst is not None and worst.errors:
        doubts.append(Caveat("wrong answers", {"share": worst.errors, "first": worst.first_wrong}))
    return doubts


def _warnings(groups: Sequence[LoadedGroup]) -> list[str]:
    points = [point for group in groups for point in group.points]
    if not (n := sum(point.n_unchecked for point in points)):
        return []
    n_runs = count_noun(sum(point.n for point in points), "run")
    return [f"Little's law not checked in {n} of {n_runs}: requests in flight and think time were not recorded"]
