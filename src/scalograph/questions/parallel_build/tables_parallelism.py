"""How parallel the runs of each treatment were, from their timelines."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import mean

from scalograph.analysis.estimate import Estimate
from scalograph.analysis.interval import summarize
from scalograph.findings.names import title, varied
from scalograph.findings.sample import Sample
from scalograph.findings.table import Table
from scalograph.protocol.findings import Cell, Column, TableDoc
from scalograph.protocol.plain import Level
from scalograph.questions.parallel_build.model_parallelism import N_PARTS, Parallelism
from scalograph.questions.parallel_build.model_timelines import Known

_NOTE = (
    "tasks on a CPU, counted in bins of the timeline, between the start and the end of the work; could be: the smaller "
    "of {factor} and of the CPUs; lost: CPU time that so many tasks would have used and these did not; below: how long "
    "fewer than 0.9 of it were on a CPU; tail: how long at the end at most one was"
)


def parallelism_table(
    table: Table, taken: Mapping[tuple[Level, ...], Sample], factor: str, known: Known
) -> TableDoc | None:
    """A row for each treatment with timelines."""
    rows = [
        _row(table, sample, [run.parallelism for run in known[key]]) for key, sample in taken.items() if key in known
    ]
    if not rows:
        return None
    columns = [
        *_labels(table),
        Column(name="tasks on a CPU", kind="estimate"),
        Column(name="could be"),
        Column(name="lost", unit="s", kind="estimate"),
        Column(name="below", unit="s", kind="estimate"),
        Column(name="tail", unit="s", kind="estimate"),
        Column(name="runs"),
    ]
    note = _NOTE.format(factor=title(table, factor))
    return TableDoc(id="parallelism", title="How parallel the work was", note=note, columns=columns, rows=rows)


def course_table(table: Table, taken: Mapping[tuple[Level, ...], Sample], known: Known) -> TableDoc | None:
    """How the tasks on a CPU went from start to end: where they were few, and how they decay."""
    found = [(sample, known[key]) for key, sample in taken.items() if key in known]
    if not found:
        return None
    parts = range(N_PARTS)
    rows: list[list[Cell]] = [
        [
            *_levels(table, sample),
            *(round(mean(float(run.parallelism.course[part]) for run in runs), 2) for part in parts),
        ]
        for sample, runs in found
    ]
    columns = [*_labels(table), *(Column(name=f"to {100 * (part + 1) // N_PARTS} %") for part in parts)]
    note = "tasks on a CPU in each tenth of the time from the start of the work to its end, mean of the runs that count"
    return TableDoc(id="course", title="Tasks on a CPU from start to end", note=note, columns=columns, rows=rows)


def _labels(table: Table) -> list[Column]:
    return [
        Column(name=title(table, name), unit=table.study.factors[name].unit, kind="label") for name in _shown(table)
    ]


def _levels(table: Table, sample: Sample) -> list[Level]:
    return [sample.treatment[name] for name in _shown(table)]


def _shown(table: Table) -> list[str]:
    return varied(table) or list(table.study.factors)


def _row(table: Table, sample: Sample, runs: Sequence[Parallelism]) -> list[Cell]:
    confidence = table.study.protocol.confidence
    cells: list[Cell] = [*_levels(table, sample)]
    cells += [summarize([run.mean for run in runs], confidence), runs[0].limit]
    cells += [_duration([run.lost_s for run in runs], confidence), _duration([run.below_s for run in runs], confidence)]
    no_tail = Estimate(warnings=("one task is all that there could be",))
    tail = _duration([run.tail_s for run in runs], confidence) if runs[0].limit > 1 else no_tail
    return [*cells, tail, len(runs)]


def _duration(figures: Sequence[float], confidence: float) -> Cell:
    """Durations of 0 have no log, and they add up: their mean is what a reader of a sum wants."""
    return _above_zero(summarize(figures, confidence, estimand="mean"))


def _above_zero(found: Estimate) -> Estimate:
    """No duration is below zero, whatever a t interval says."""
    return replace(found, low=max(0.0, found.low)) if found.low is not None else found
