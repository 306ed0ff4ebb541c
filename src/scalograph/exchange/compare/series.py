"""Find level shifts in the results of one study over time."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from scalograph.analysis.change_points import FEWEST, ChangePoint, change_points
from scalograph.analysis.curve_ratios import curve_ratios
from scalograph.analysis.modes import common_step
from scalograph.analysis.ratios import ratio
from scalograph.analysis.versus import SAME
from scalograph.errors import StudyError
from scalograph.exchange.compare.matched_configurations import configuration_names, match_sources
from scalograph.exchange.compare.measured_source import MeasuredSource, SourceConfiguration
from scalograph.exchange.compare.result_answer import (
    MOST_NAMED,
    classify_ratio,
    farthest,
    has_resolution,
    have_logs,
    keep_open,
    logs_of,
)
from scalograph.protocol.compared_results import ResultSeries, SeriesResult, SeriesStep
from scalograph.protocol.findings import Cell, Claim, Column, Matrix, MatrixCell, MatrixRow, TableDoc, Trust
from scalograph.protocol.plain import AnswerCase, Level
from scalograph.questions.claims import state
from scalograph.text.cell_numbers import is_resolved
from scalograph.text.quantities import count_noun
from scalograph.text.scale import SECONDS


class DatedSource(NamedTuple):
    """A result and the start of its first run, as ISO 8601; empty where unknown."""

    started: str
    source: MeasuredSource


def series(every: Sequence[DatedSource], left_out: Sequence[str] = (), margin: float | None = None) -> ResultSeries:
    """Order results by time and find where their level changes.

    Results without all configurations of the newest are excluded; `left_out` says what could not be read. The margin is
    the largest difference to ignore, as a share; None for 2%.
    Raises StudyError: there is none.
    """
    ordered = sorted(every, key=lambda dated: (dated.started, dated.source.label))
    kept, reasons = _select_results(ordered)
    if not kept:
        fix = "; ".join([*left_out, *reasons])
        raise StudyError.one("history", "no result that can be compared", "one or more", fix)
    configurations = [[two for _, _, two in match_sources(kept[-1].source, dated.source).pairs] for dated in kept]
    newest = kept[-1].source
    open_logs, is_one_value = _bound_by_resolution(configurations, newest.response.unit)
    logs = [[logs_of(row) for row in rows] for rows in configurations]
    levels = [float(np.mean([row.logs.mean() for row in rows])) for rows in logs]
    changes = [change for change in change_points(levels) if _is_visible(levels, open_logs, change.place)]
    results = [
        SeriesResult(
            name=dated.source.label, started=dated.started,
            level=curve_ratios(logs[0], logs[i]).shift.estimate(0.95).widen(open_logs[0] + open_logs[i] if i else 0.0),
            stretch=1 + sum(change.place <= i for change in changes),
            doubt=dated.source.trust.sentence if dated.source.trust and dated.source.trust.level == "caution" else "",
        )
        for i, dated in enumerate(kept)
    ]  # fmt: skip
    return ResultSeries(
        title=newest.title, response=newest.response.name, response_title=newest.response.title,
        unit=newest.response.unit, better=newest.response.better, results=results,
        steps=list(_steps(kept, levels, changes, open_logs)), is_one_value=is_one_value,
        newest=_newest(ordered, kept, reasons), left_out=[*left_out, *reasons],
        margin=SAME if margin is None else margin,
    )  # fmt: skip


def _bound_by_resolution(
    configurations: Sequence[Sequence[SourceConfiguration]], unit: str
) -> tuple[list[float], bool]:
    """Return how far each result stays open, as a log, and whether all runs of all have one value."""
    scores = [row.scores for rows in configurations for row in rows]
    step = common_step(*scores) if has_resolution(unit) else None
    open_logs = [max(keep_open(row, step).open_log for row in rows) for rows in configurations]
    return open_logs, has_resolution(unit) and step is None and any(len(row) > 1 for row in scores)


def _is_visible(levels: Sequence[float], open_logs: Sequence[float], at: int) -> bool:
    """Return whether a level differs from the one before by more than the resolution of both hides."""
    hidden = open_logs[at - 1] + open_logs[at]
    return abs(levels[at] - levels[at - 1]) > hidden


def _select_results(ordered: Sequence[DatedSource]) -> tuple[list[DatedSource], list[str]]:
    """Return the usable results with all configurations of the newest, and why others are excluded."""
    refused = [(dated, refusal_of(dated.source)) for dated in ordered]
    reasons = [f"{dated.source.label}: {text}" for dated, text in refused if text]
    usable = [dated for dated, text in refused if not text]
    kept = []
    for dated in usable:
        with suppress(StudyError):  # nothing in common
            newest = usable[-1].source
            if len(match_sources(newest, dated.source).pairs) == len(newest.configurations):
                kept.append(dated)
    return kept, reasons + [f"{dated.source.label}: other configurations" for dated in usable if dated not in kept]


def _newest(ordered: Sequence[DatedSource], kept: Sequence[DatedSource], reasons: Sequence[str]) -> str:
    """Return what the newest result lacks; empty where it is complete."""
    label = ordered[-1].source.label
    if ordered[-1] is not kept[-1]:
        return f"the newest result is excluded: {next(text for text in reasons if text.startswith(f'{label}: '))}"
    lost = dict.fromkeys(row.name for old in kept[:-1] for row in match_sources(old.source, kept[-1].source).lost)
    return f"the newest result, {label}, lacks {', '.join(list(lost)[:MOST_NAMED])}" if lost else ""


def refusal_of(source: MeasuredSource) -> str:
    """Return why a result has no level; empty where it has one."""
    if source.refused:
        return source.refused
    if source.failed:
        called = configuration_names(source, [row.levels for row in source.failed])
        lost = [f"{name} ({row.runs[0]} of {row.runs[1]})" for name, row in zip(called, source.failed, strict=True)]
        return f"runs failed with {', '.join(lost[:MOST_NAMED])}"
    if n := sum(bool(row.doubt) for row in source.configurations):
        rest = f"{'includes' if n == 1 else 'include'} disturbed runs"
        return f"{n} of {count_noun(len(source.configurations), 'configuration')} {rest}"
    are_valid = all(have_logs(row.scores) for row in source.configurations)
    return "" if are_valid else "a score of 0 or less, or beyond 1e130"


def _steps(
    kept: Sequence[DatedSource], levels: Sequence[float], changes: Sequence[ChangePoint], open_logs: Sequence[float]
) -> Iterator[SeriesStep]:
    """Yield each change, with the ratio of its level to the one before."""
    ends = [0, *(shift.place for shift in changes), len(levels)]
    stretches = [np.exp(levels[begin:end]) for begin, end in pairwise(ends)]
    for shift, (before, after) in zip(changes, pairwise(stretches), strict=True):
        here, earlier = kept[shift.place], kept[shift.place - 1]
        hidden = open_logs[shift.place - 1] + open_logs[shift.place]
        yield SeriesStep(
            name=here.source.label, started=here.started, ratio=ratio(after, before).widen(hidden), p=shift.p,
            differences=match_sources(earlier.source, here.source).differences,
        )  # fmt: skip


MOST_ROWS, MOST_STEPS = 10, 2
FORMS = {
    "step": "From {name} on, results are {word} than before: {gain:change} {noun}{gain:change_ci}.",
    "small step": "From {name} on, results differ but are equivalent: {gain:change} {noun}{gain:change_ci};"
    " the margin is {margin:exact}.",
    "uncertain step": "From {name} on, results are {word} than before (size uncertain).",
    "equivalent": "Equivalent: no change found in {n} results, all within {most:at_most} of the first;"
    " the margin is {margin:exact}.",
    "no intervals": "Inconclusive: no change found in {n} results, of which some have too few runs for an interval.",
    "open": "Inconclusive: no change was found in {n} results, but up to {most:at_most} is possible;"
    " the margin is {margin:exact}.",
    "one value": "Inconclusive: all runs of {n} results have one and the same value; the clock may be too coarse.",
    "few": "Inconclusive: {n} results are too few to find a change; {fewest} are needed. Compare two with"
    " scalograph compare.",
    "newest": "{text}.",
    "newest open": "Inconclusive: {text}.",
    "changes": "Changed with {name}: {changes:list}.",
}


def series_claim(history: ResultSeries) -> Claim:
    """State where the last levels begin and how they differ, or that none differs by more than the margin."""
    steps = history.steps[: -MOST_STEPS - 1 : -1]
    newest = [_case(history, "newest" if steps else "newest open", text=history.newest)] if history.newest else []
    if len(history.results) < FEWEST:
        cases = [_case(history, "few", fewest=FEWEST), *newest]
    elif not steps:
        cases = [*newest, _no_change(history)]
    else:
        first, *others = ([*_step(history, step)] for step in steps)
        cases = [first[0], *newest, *first[1:], *(case for other in others for case in other)]
    return state(FORMS, cases, _matrix(history, steps))


def _case(history: ResultSeries, case: str, /, **values: Any) -> AnswerCase:
    title = history.response_title or history.response.replace("_", " ")
    is_time = history.unit in SECONDS and history.better == "lower"
    common = {"n": len(history.results), "margin": history.margin, "noun": "time" if is_time else title}
    return AnswerCase(case=case, values={**common, **values})


def _no_change(history: ResultSeries) -> AnswerCase:
    """State how far results may be from the first one; without intervals nothing bounds it."""
    most = farthest([result.level for result in history.results[1:]])
    is_within = most is not None and most <= history.margin
    case = "equivalent" if is_within else "open" if most is not None else "no intervals"
    case = "one value" if history.is_one_value else case
    return _case(history, case, most=most)


def _step(history: ResultSeries, step: SeriesStep) -> Iterator[AnswerCase]:
    word = classify_ratio(step.ratio, history.margin, history.better == "higher")
    is_slower = ((step.ratio.value or 1.0) > 1) != (history.better == "higher")
    is_sure = is_resolved(step.ratio) and word != "inconclusive"
    case = "small step" if word == "equivalent" else "step" if is_sure else "uncertain step"
    yield _case(history, case, name=step.name, gain=step.ratio, word="slower" if is_slower else "faster")
    if step.differences:
        changes = [f"{d.what} {d.reference} \N{RIGHTWARDS ARROW} {d.other}" for d in step.differences]
        yield _case(history, "changes", name=step.name, changes=changes)


def series_trust(history: ResultSeries) -> Trust | None:
    """Return the caveats of single results, the newest first; None where there are none."""
    doubted = [result for result in reversed(history.results) if result.doubt]
    if not doubted:
        return None
    n = f"{len(doubted)} of {count_noun(len(history.results), 'result')} {'is' if len(doubted) == 1 else 'are'}"
    points = [f"Of {result.name}: {result.doubt}" for result in doubted[:MOST_STEPS]]
    return Trust(level="caution", sentence=f"{n} to be used with caution.", points=points)


def _matrix(history: ResultSeries, steps: Sequence[SeriesStep]) -> Matrix:
    """Tabulate the last results, and those with which the steps begin that sentences name."""
    named, results = {step.name: step.ratio for step in steps}, history.results
    begins = [i for i, result in enumerate(results) if result.name in named]
    shown = sorted({*begins, *range(max(0, len(results) - MOST_ROWS), len(results))})
    rows = []
    for result in (results[i] for i in shown):
        is_dated = not result.started or result.name.startswith(result.started[:4])
        label = result.name if is_dated else f"{result.started[:10]} {result.name}"
        cells = [MatrixCell(estimate=result.level, doubt=result.doubt), MatrixCell(text=f"{result.stretch}")]
        rows.append(MatrixRow(label=label, cells=[*cells, MatrixCell(estimate=named.get(result.name))]))
    return Matrix(
        title=history.response_title or history.response, better="higher" if history.better == "higher" else "lower",
        columns=["vs. first result", "level", "vs. level before"], rows=rows, note="each interval by itself",
    )  # fmt: skip


def series_tables(history: ResultSeries) -> list[TableDoc]:
    """Return the tables of results, changes, and excluded results."""
    columns = [Column(name="result", kind="label"), Column(name="started", kind="label")]
    columns += [Column(name="over the first", kind="estimate"), Column(name="level")]
    columns += [Column(name="caution", kind="text")]
    rows: list[list[Cell]] = [
        [result.name, result.started, result.level, result.stretch, result.doubt] for result in history.results
    ]
    tables = [TableDoc(id="results", title="Results, the oldest first", columns=columns, rows=rows)]
    if history.steps:
        columns = [Column(name="from", kind="label"), Column(name="over the level before", kind="estimate")]
        columns += [Column(name="p"), Column(name="differs from the result before", kind="text")]
        steps: list[list[Cell]] = [
            [s.name, s.ratio, s.p, "; ".join(f"{d.what}: {d.reference}, {d.other}" for d in s.differences)]
            for s in history.steps
        ]
        tables.append(TableDoc(id="steps", title="New levels", columns=columns, rows=steps))
    if history.left_out:
        lost: list[list[Level]] = [[text] for text in history.left_out]
        columns = [Column(name="result", kind="text")]
        tables.append(TableDoc(id="left-out", title="Excluded", columns=columns, rows=lost))
    return tables
