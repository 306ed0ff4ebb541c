"""The answer of `import`: which benchmark is the fastest and by how much, or how all agree with a study."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from pydantic import Field

from scalograph.analysis.estimate import Estimate
from scalograph.analysis.interval import summarize
from scalograph.analysis.modes import IDENTICAL_RUNS, bound_by_step
from scalograph.analysis.ratios import ratio
from scalograph.analysis.versus import classify_ratio
from scalograph.errors import StudyError
from scalograph.exchange.benchmark import Benchmark
from scalograph.exchange.benchmark_values import (
    BenchmarkValues,
    benchmark_labels,
    failures_text,
    outlier_sentence,
    params_text,
    scores,
    short_names,
    summarize_benchmarks,
    value_steps,
)
from scalograph.exchange.match import Match, match
from scalograph.findings.sample import Sample, sample_flags, samples_by_configuration
from scalograph.findings.table import Table
from scalograph.findings.whole_run import is_unsteady
from scalograph.protocol.findings import Cell, Claim, Column, Matrix, MatrixCell, MatrixRow, TableDoc
from scalograph.protocol.plain import AnswerCase, Level, Model
from scalograph.questions.claims import state
from scalograph.text.answer_form import Quantity, fill
from scalograph.text.cell_numbers import cell_number, is_inconclusive, matrix_scale
from scalograph.text.units import unit_of

ROWS = 12
FORMS = {
    "fastest": "{best!s} is the fastest. The next one, {next}, {verb} {gain:change} {noun}{gain:change_ci}.",
    "equivalent": "The fastest are equivalent within {most:at_most}: {same:names}."
    "[[ The next one, {next}, {verb} {gain:change} {noun}{gain:change_ci}.]]",
    "identical": "Inconclusive: all runs have one value; the clock or the file is too coarse to show a difference.",
    "outliers": "{text}",
    "wide": "Inconclusive: the processes of {best} are too few, or differ too much. Their typical value is"
    " {value:measured}. Add processes.",
    "alone": "{best!s} takes {value:measured} per iteration.",
    "rate alone": "{best!s} reaches {value:measured}.",
    "one run": "{best!s} takes {value:measured}. One process has no interval: import the files of several.",
    "one rate": "{best!s} reaches {value:measured}. One process has no interval: import the files of several.",
    "no intervals": "Inconclusive: one process has no interval, however many iterations it made."
    " Import the files of several.",
    "alike": "Inconclusive: {n} benchmarks are not significantly different: {alike:names}. Add processes.",
    "zero": "No answer: a score of 0 has no ratio ({zero:names}).",
    "failed": "No answer: no run succeeded.",
    "agreement": "{n} of {all} benchmarks agree with the study.",
    "agree": "{benchmark!s}: {tool} agrees with the study within {most:at_most}.",
    "differs": "{benchmark!s}: {tool} is {word} than the study, {gain:change} {noun}{gain:change_ci}.",
    "few": "{benchmark!s} is inconclusive: {reason}. Add {what}.",
    "not compared": "{benchmark!s} is not compared: {reason}.",
}
MOST_NAMED = 4


def benchmark_claim(every: Sequence[Benchmark], confidence: float = 0.95) -> Claim:
    """Find the fastest benchmark of the first one's mode and unit; ratios over it have simultaneous intervals.

    Benchmarks of which every run failed take no part.
    """
    named = [(each, label) for each, label in zip(every, benchmark_labels(every), strict=True) if each.forks]
    if not named:
        return state(FORMS, [AnswerCase(case="failed")])
    first = named[0][0]
    same = [(each, label) for each, label in named if (each.mode, each.unit) == (first.mode, first.unit)]
    values = [row.estimate for row in summarize_benchmarks([each for each, _ in same], confidence)]
    ranked = sorted(zip(same, values, strict=True), key=lambda row: row[1].value or 0, reverse=first.unit == "1/s")
    (best, *others), labels = [each for (each, _), _ in ranked], [label for (_, label), _ in ranked]
    level, step = 1 - (1 - confidence) / max(1, len(others)), value_steps([best, *others])[first.unit]
    theirs = [(scores(each), scores(best), (each.spread, best.spread)) for each in others]
    ratios = [
        ratio(a, b, level, spreads=both) if any(both) else bound_by_step(ratio(a, b, level), step, a, b)
        for a, b, both in theirs
    ]
    shown = _matrix(first.unit, labels, [value for _, value in ranked], ratios, len(named) - len(same))
    case = _compare_others(labels, [best, *others], ratios) if others else _single(labels[0], ranked[0][1], shown)
    if step is None and len(scores(best)) > 1 and case.case in ("one run", "no intervals"):
        case = AnswerCase(case="identical")
    outliers = outlier_sentence([best, *others])
    return state(FORMS, [case, *([AnswerCase(case="outliers", values={"text": outliers})] if outliers else [])], shown)


def agreement_claim(every: Sequence["BenchmarkComparison"]) -> Claim:
    """Count the benchmarks that agree with the study; name those that do not."""
    cases = [*_agreement_cases(every)]
    apart = [case for comparison, case in zip(every, cases, strict=True) if comparison.label != "agree"]
    is_answered = any(comparison.label != "unknown" for comparison in every)
    if len(every) > 1:
        n = sum(comparison.label == "agree" for comparison in every)
        cases = [AnswerCase(case="agreement", values={"n": n, "all": len(every)}), *apart[:2]]
    return state(FORMS, cases).model_copy(update={"answered": is_answered or len(every) > 1})


def _single(label: str, value: Estimate, shown: Matrix) -> AnswerCase:
    if is_inconclusive(value):
        typical = Quantity(Estimate(value.value), matrix_scale(shown))
        return AnswerCase(case="wide", values={"best": label, "value": typical})
    values = {"best": label, "value": Quantity(value, matrix_scale(shown))}
    cases = ("one run", "one rate") if value.low is None else ("alone", "rate alone")
    return AnswerCase(case=cases[shown.unit == "1/s"], values=values)


def _compare_others(labels: Sequence[str], every: Sequence[Benchmark], ratios: Sequence[Estimate]) -> AnswerCase:
    zero = [label for label, benchmark in zip(labels, every, strict=True) if min(scores(benchmark)) <= 0]
    same = [label for label, ratio in zip(labels[1:], ratios, strict=True) if classify_ratio(ratio) == "equivalent"]
    alike = [label for label, ratio in zip(labels[1:], ratios, strict=True) if ratio.contains(1.0)]
    if zero:
        return AnswerCase(case="zero", values={"zero": zero[:MOST_NAMED]})
    if any(ratio.low is None or ratio.high is None for ratio in ratios):
        return AnswerCase(case="no intervals")
    if not set(alike) <= set(same):
        return AnswerCase(case="alike", values={"n": len(alike) + 1, "alike": [labels[0], *alike][:MOST_NAMED]})
    verb, noun = ("takes", "time") if every[0].unit == "s" else ("has", "throughput")
    values: dict[str, Any] = {"best": labels[0], "verb": verb, "noun": noun}
    apart = [(label, ratio) for label, ratio in zip(labels[1:], ratios, strict=True) if label not in same]
    values |= {"next": apart[0][0], "gain": apart[0][1]} if apart else {}
    if not same:
        return AnswerCase(case="fastest", values=values)
    most = max(largest_difference(r.low or 1.0, r.high or 1.0) for r in ratios if classify_ratio(r) == "equivalent")
    names = [labels[0], *same]
    more = len(names) - MOST_NAMED
    shown = [*names[: MOST_NAMED - 1], f"{more + 1} more"] if more > 0 else names
    return AnswerCase(case="equivalent", values={**values, "same": shown, "most": most})


def _matrix(
    unit: str, labels: Sequence[str], values: Sequence[Estimate], ratios: Sequence[Estimate], n_apart: int
) -> Matrix:
    over = [cell_number(ratio) for ratio in (Estimate(1.0, 1.0, 1.0), *ratios)]
    rows = [
        MatrixRow(label=label, cells=[MatrixCell(estimate=value), MatrixCell(text=text)])
        for label, value, text in zip(labels, values, over, strict=True)
    ]
    more = [f"{len(rows) - ROWS} more rows"] * (len(rows) > ROWS)
    more += [f"{n_apart} more of another unit or response"] * bool(n_apart)
    return Matrix(
        title="time of a typical fork" if unit == "s" else "rate of a typical fork", unit=unit,
        better="lower" if unit == "s" else "higher", columns=["typical fork", "over the fastest"], rows=rows[:ROWS],
        note=f"{', '.join(more)}: --tables" if more else "",
    )  # fmt: skip


Label = Literal["agree", "slower", "faster", "unknown"]

# Tools that differ by less agree, even if significantly: they start an iteration differently.
MARGIN = 0.05
# A wider interval is inconclusive, as for ceilings and published values.
WIDEST = 0.25


def label(ratio: Estimate, n_forks: int, n_runs: int, unit: str) -> tuple[Label, str]:
    """Return how a tool compares with the study, and the reason where that is unknown.

    Agree: the whole interval lies within the margin, or it contains 1 and allows at most 25%.
    Slower, faster: it excludes 1, and is not within the margin.
    """
    low, high = ratio.low, ratio.high
    if low is None or high is None or low <= 0:
        forks, runs = f"{n_forks} fork{'s' * (n_forks != 1)}", f"{n_runs} run{'s' * (n_runs != 1)}"
        return "unknown", f"{forks} and {runs} give no interval"
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
    return [fill(FORMS[case.case], case.values) for case in _agreement_cases(every)]


def _agreement_cases(every: Sequence["BenchmarkComparison"]) -> Iterator[AnswerCase]:
    names = short_names(each.figures.benchmark for each in every)
    for held in every:
        name = " ".join(filter(None, (names[held.figures.benchmark], params_text(held.figures.params))))
        values = {"benchmark": name, "tool": held.instrument, "gain": held.ratio, "word": held.label,
                  "noun": "time" if held.figures.unit == "s" else "throughput", "reason": held.why,
                  "what": "processes" if held.figures.n_forks <= held.n_runs else "runs"}  # fmt: skip
        e = held.ratio
        if held.configuration is None or e is None:
            yield AnswerCase(case="not compared", values=values)
        elif held.label == "unknown" or e.low is None or e.high is None:
            yield AnswerCase(case="few", values=values)
        elif held.label == "agree":
            yield AnswerCase(case="agree", values={**values, "most": largest_difference(e.low, e.high)})
        else:
            yield AnswerCase(case="differs", values=values)


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

    Raises StudyError where no benchmark has a configuration, or one has several.
    """
    by_key = samples_by_configuration(table)
    comparisons = []
    steps = value_steps(every)
    for benchmark, ours in zip(every, summarize_benchmarks(every, table.view.confidence), strict=True):
        matched = match(table, benchmark.params, where)
        sample = by_key[tuple(matched.configuration.values())] if matched.configuration else None
        comparisons.append(_compare_benchmark(benchmark, ours, matched, sample, table, instrument, steps[ours.unit]))
    if all(held.configuration is None for held in comparisons):
        problem = f"no benchmark has a configuration: {comparisons[0].why}"
        raise StudyError.one("--beside", problem, "params that name one")
    return comparisons


def _compare_benchmark(
    benchmark: Benchmark, ours: BenchmarkValues, matched: Match, sample: Sample | None, table: Table, instrument: str,
    step: float | None,
) -> BenchmarkComparison:  # fmt: skip
    confidence = table.view.confidence
    held = BenchmarkComparison(
        instrument=instrument, figures=ours, unmatched_params=matched.unmatched, why=matched.why, flags=ours.flags
    )
    if sample is None:
        return held
    unsteady = ["most runs of the study reach no steady state"] if sample.counted and is_unsteady(sample) else []
    flags = [*ours.flags, *(flag.text for flag in sample_flags(sample)), *unsteady]
    held = held.model_copy(update={"configuration": dict(sample.configuration), "flags": flags})
    if not benchmark.forks:
        return held.model_copy(update={"why": f"failed in {failures_text(benchmark.failed)}"})
    name = table.view.primary
    unit = table.view.response.unit
    kind, factor = unit_of(unit) or ("", 1.0)
    if kind != benchmark.unit:
        return held.model_copy(update={"why": f'{instrument} has {benchmark.unit}, the study\'s {name} is in "{unit}"'})
    theirs, study = scores(benchmark), [x * factor for x in sample.scores(name)]
    estimate = ratio(theirs, study, confidence, spreads=(benchmark.spread, 0.0))
    estimate = estimate if benchmark.spread else bound_by_step(estimate, step, theirs)
    result, reason = label(estimate, len(theirs), len(study), held.figures.unit)
    reason = IDENTICAL_RUNS if IDENTICAL_RUNS in estimate.warnings else reason
    update = {"n_runs": len(study), "study": summarize(study, confidence), "ratio": estimate}
    return held.model_copy(update=update | {"label": result, "why": reason})


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
         held.figures.estimate, held.study, held.ratio, params_text(held.unmatched_params), held.flags]
        for held in every
    ]  # fmt: skip
    note = _NOTE.format(instrument=every[0].instrument, response=response)
    return TableDoc(id="beside", title=title, note=note, columns=columns, rows=rows)
