"""Imported benchmarks compared with the treatments of a study: both figures, their ratio, and its label."""

from collections.abc import Mapping, Sequence

from pydantic import Field

from scalograph.analysis.estimate import Estimate
from scalograph.analysis.interval import summarize
from scalograph.analysis.ratios import ratio
from scalograph.errors import StudyError
from scalograph.exchange.agreement import Label, label
from scalograph.exchange.benchmark import Benchmark
from scalograph.exchange.benchmark_figures import (
    BenchmarkFigures,
    failures,
    figures,
    params_text,
    scores,
    short_names,
)
from scalograph.exchange.match import Match, match
from scalograph.findings.sample import Sample, flags, samples
from scalograph.findings.table import Table
from scalograph.findings.whole_run import is_unsteady
from scalograph.protocol.findings import Cell, Column, TableDoc
from scalograph.protocol.plain import Level, Model
from scalograph.study.responses import primary
from scalograph.text.units import unit_of

_NOTE = (
    "one score for each fork and each run: the median of its shots or iterations; typical: their geometric mean; "
    "ratio: {instrument} over the study; {response} of the study"
)


class Held(Model):
    """A benchmark beside a treatment; `treatment` is null if none matches, and `why` says so."""

    instrument: str
    figures: BenchmarkFigures
    treatment: dict[str, Level] | None = None
    unmatched_params: dict[str, str] = Field(default={})
    n_runs: int = 0
    study: Estimate | None = None
    ratio: Estimate | None = None
    label: Label = "unknown"
    why: str = ""
    flags: list[str] = Field(default=[])


def beside(every: Sequence[Benchmark], table: Table, where: Mapping[str, str], instrument: str) -> list[Held]:
    """Compare each benchmark with its treatment, by the study's primary response and at its confidence.

    Raises:
        StudyError: no benchmark has a treatment, or one has several.
    """
    by_key = samples(table)
    found = []
    for benchmark in every:
        matched = match(table, benchmark.params, where)
        sample = by_key[tuple(matched.treatment.values())] if matched.treatment else None
        found.append(_held(benchmark, matched, sample, table, instrument))
    if all(held.treatment is None for held in found):
        raise StudyError.one("--beside", f"no benchmark has a configuration: {found[0].why}", "params that name one")
    return found


def _held(benchmark: Benchmark, matched: Match, sample: Sample | None, table: Table, instrument: str) -> Held:
    confidence = table.study.protocol.confidence
    ours = figures(benchmark, confidence)
    held = Held(
        instrument=instrument, figures=ours, unmatched_params=matched.unmatched, why=matched.why, flags=ours.flags
    )
    if sample is None:
        return held
    held = held.model_copy(update={"treatment": dict(sample.treatment), "flags": [*ours.flags, *_flags(sample)]})
    if not benchmark.forks:
        return held.model_copy(update={"why": f"failed in {failures(benchmark.failed)}"})
    name = primary(table.study)
    unit = table.study.responses[name].unit
    kind, factor = unit_of(unit) or ("", 1.0)
    if kind != benchmark.unit:
        return held.model_copy(update={"why": f'{instrument} has {benchmark.unit}, the study\'s {name} is in "{unit}"'})
    return _compared(held, scores(benchmark), [x * factor for x in sample.scores(name)], confidence)


def _compared(held: Held, theirs: list[float], study: list[float], confidence: float) -> Held:
    estimate = ratio(theirs, study, confidence)
    found, why = label(estimate, len(theirs), len(study), held.figures.unit)
    update = {
        "n_runs": len(study), "study": summarize(study, confidence), "ratio": estimate,
        "label": found, "why": why,
    }  # fmt: skip
    return held.model_copy(update=update)


def _flags(sample: Sample) -> list[str]:
    unsteady = ["most runs of the study reach no steady state"] if sample.counted and is_unsteady(sample) else []
    return [*(flag.text for flag in flags(sample)), *unsteady]


def tables(every: Sequence[Held], response: str) -> list[TableDoc]:
    """Return a row for each benchmark that has a treatment; one table for times, one for rates."""
    with_ratio = [held for held in every if held.ratio]
    by = f"by {with_ratio[0].instrument} and by the study" if with_ratio else ""
    parts = (("s", f"Times {by}"), ("1/s", f"Rates {by}"))
    split = ((unit, title, [held for held in with_ratio if held.figures.unit == unit]) for unit, title in parts)
    return [_table(unit, title, found, response) for unit, title, found in split if found]


def _table(unit: str, title: str, every: Sequence[Held], response: str) -> TableDoc:
    names = short_names(held.figures.benchmark for held in every)
    columns = [Column(name="benchmark", kind="label"), Column(name="params", kind="label")]
    columns += [Column(name="forks"), Column(name="runs"), Column(name=every[0].instrument, unit=unit, kind="estimate")]
    columns += [Column(name="study", unit=unit, kind="estimate"), Column(name="ratio", kind="estimate")]
    columns += [Column(name="not in the study", kind="text"), Column(name="flags", kind="text")]
    rows: list[list[Cell]] = [
        [names[held.figures.benchmark], params_text(held.figures.params), held.figures.n_forks, held.n_runs,
         held.figures.estimate, held.study, held.ratio,
         params_text(held.unmatched_params), held.flags]
        for held in every
    ]  # fmt: skip
    note = _NOTE.format(instrument=every[0].instrument, response=response)
    return TableDoc(id="beside", title=title, note=note, columns=columns, rows=rows)
