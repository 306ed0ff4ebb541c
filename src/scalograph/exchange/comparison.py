"""Compare imported benchmarks with the configurations of a study: values, ratio, and its label."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from scalograph.analysis.estimate import Estimate
from scalograph.analysis.interval import summarize
from scalograph.analysis.ratios import ratio
from scalograph.errors import StudyError
from scalograph.exchange.benchmark import Benchmark
from scalograph.exchange.benchmark_values import (
    BenchmarkValues,
    failures_text,
    params_text,
    scores,
    short_names,
    summarize_benchmark,
)
from scalograph.exchange.match import Match, match
from scalograph.findings.sample import Sample, sample_flags, samples_by_configuration
from scalograph.findings.table import Table
from scalograph.findings.whole_run import is_unsteady
from scalograph.protocol.findings import Cell, Column, TableDoc
from scalograph.protocol.plain import Level, Model
from scalograph.study.responses import primary_response
from scalograph.text.format import estimate as shown
from scalograph.text.quantities import percent_at_most
from scalograph.text.units import unit_of

if TYPE_CHECKING:
    pass


Label = Literal["agree", "slower", "faster", "unknown"]

# Instruments that differ by less agree, even if the difference can be seen: they start a shot differently.
MARGIN = 0.05
# An interval that allows more than this says nothing, as with ceilings and published figures.
WIDEST = 0.25


def label(ratio: Estimate, n_forks: int, n_runs: int, unit: str) -> tuple[Label, str]:
    """Return how a tool compares with the study, and the reason where that is unknown.

    Agree: the whole interval lies within the margin, or it contains 1 and allows at most 25 %.
    Slower, faster: it excludes 1, and is not within the margin.
    """
    low, high = ratio.low, ratio.high
    if low is None or high is None or low <= 0:
        return "unknown", f"{n_forks} {_plural(n_forks, 'fork')} and {n_runs} {_plural(n_runs, 'run')} give no interval"
    room = largest_difference(low, high)
    if room <= MARGIN or (low <= 1 <= high and room <= WIDEST):
        return "agree", ""
    if low <= 1 <= high:
        return "unknown", f"the ratio may lie anywhere from {low:.2f} to {high:.2f}"
    return ("slower" if (low > 1) == (unit == "s") else "faster"), ""


def largest_difference(low: float, high: float) -> float:
    """Return the largest difference that an interval of a ratio allows, in either direction.

    >>> round(largest_difference(0.98, 1.03), 3), round(largest_difference(0.8, 1.0), 3)
    (0.03, 0.25)
    """
    return max(high, 1 / low) - 1


def sentences(every: Sequence["BenchmarkComparison"]) -> list[str]:
    """Return a sentence for each benchmark."""
    names = short_names(held.figures.benchmark for held in every)
    return [f"{_who(held, names)}: {_agreement_text(held)}." for held in every]


def _who(held: "BenchmarkComparison", names: Mapping[str, str]) -> str:
    return " ".join(part for part in (names[held.figures.benchmark], params_text(held.figures.params)) if part)


def _agreement_text(held: "BenchmarkComparison") -> str:
    if held.configuration is None or held.ratio is None:
        return f"not compared: {held.why}"
    low, high = held.ratio.low, held.ratio.high
    if held.label == "unknown" or low is None or high is None:
        return f"too few {'forks' if held.figures.n_forks <= held.n_runs else 'runs'} to say: {held.why}"
    if held.label == "agree":
        return f"agree within {percent_at_most(largest_difference(low, high))}"
    return f"{held.instrument} is {_times(held.ratio)} times {held.label}"


def _times(ratio: Estimate) -> str:
    """Format the ratio as a number above 1, whichever way it points."""
    if ratio.value is None or ratio.low is None or ratio.high is None or ratio.low > 1:
        return str(shown(ratio))
    return str(shown(Estimate(value=1 / ratio.value, low=1 / ratio.high, high=1 / ratio.low)))


def _plural(n: int, noun: str) -> str:
    return noun if n == 1 else f"{noun}s"


_NOTE = (
    "one score for each fork and each run: the median of its shots or iterations; typical: their geometric mean; "
    "ratio: {instrument} over the study; {response} of the study"
)


class BenchmarkComparison(Model):
    """A benchmark and its configuration; `configuration` is null if none matches, for the reason in `why`."""

    instrument: str
    figures: BenchmarkValues
    configuration: dict[str, Level] | None = None
    unmatched_params: dict[str, str] = Field(default={})
    n_runs: int = 0
    study: Estimate | None = None
    ratio: Estimate | None = None
    label: Label = "unknown"
    why: str = ""
    flags: list[str] = Field(default=[])


def compare_with_study(
    every: Sequence[Benchmark], table: Table, where: Mapping[str, str], instrument: str
) -> list[BenchmarkComparison]:
    """Compare each benchmark with its configuration, by the primary response and at the study's confidence.

    Raises:
        StudyError: no benchmark has a configuration, or one has several.
    """
    by_key = samples_by_configuration(table)
    comparisons = []
    for benchmark in every:
        matched = match(table, benchmark.params, where)
        sample = by_key[tuple(matched.configuration.values())] if matched.configuration else None
        comparisons.append(_compare_benchmark(benchmark, matched, sample, table, instrument))
    if all(held.configuration is None for held in comparisons):
        raise StudyError.one(
            "--beside", f"no benchmark has a configuration: {comparisons[0].why}", "params that name one"
        )
    return comparisons


def _compare_benchmark(
    benchmark: Benchmark, matched: Match, sample: Sample | None, table: Table, instrument: str
) -> BenchmarkComparison:
    confidence = table.study.protocol.confidence
    ours = summarize_benchmark(benchmark, confidence)
    held = BenchmarkComparison(
        instrument=instrument, figures=ours, unmatched_params=matched.unmatched, why=matched.why, flags=ours.flags
    )
    if sample is None:
        return held
    held = held.model_copy(
        update={"configuration": dict(sample.configuration), "flags": [*ours.flags, *_flags(sample)]}
    )
    if not benchmark.forks:
        return held.model_copy(update={"why": f"failed in {failures_text(benchmark.failed)}"})
    name = primary_response(table.study)
    unit = table.study.responses[name].unit
    kind, factor = unit_of(unit) or ("", 1.0)
    if kind != benchmark.unit:
        return held.model_copy(update={"why": f'{instrument} has {benchmark.unit}, the study\'s {name} is in "{unit}"'})
    return _set_ratio(held, scores(benchmark), [x * factor for x in sample.scores(name)], confidence)


def _set_ratio(
    held: BenchmarkComparison, theirs: list[float], study: list[float], confidence: float
) -> BenchmarkComparison:
    estimate = ratio(theirs, study, confidence)
    result, reason = label(estimate, len(theirs), len(study), held.figures.unit)
    update = {
        "n_runs": len(study), "study": summarize(study, confidence), "ratio": estimate,
        "label": result, "why": reason,
    }  # fmt: skip
    return held.model_copy(update=update)


def _flags(sample: Sample) -> list[str]:
    unsteady = ["most runs of the study reach no steady state"] if sample.counted and is_unsteady(sample) else []
    return [*(flag.text for flag in sample_flags(sample)), *unsteady]


def tables(every: Sequence[BenchmarkComparison], response: str) -> list[TableDoc]:
    """Return one table of times and one of rates, with the benchmarks that have a configuration."""
    with_ratio = [held for held in every if held.ratio]
    by = f"by {with_ratio[0].instrument} and by the study" if with_ratio else ""
    parts = (("s", f"Times {by}"), ("1/s", f"Rates {by}"))
    split = ((unit, title, [held for held in with_ratio if held.figures.unit == unit]) for unit, title in parts)
    return [_table(unit, title, members, response) for unit, title, members in split if members]


def _table(unit: str, title: str, every: Sequence[BenchmarkComparison], response: str) -> TableDoc:
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
