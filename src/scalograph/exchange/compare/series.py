"""Results of one study in the order in which they were measured: at which of them does a new level begin?"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from scalograph.analysis.change_points import FEWEST, ChangePoint, change_points
from scalograph.analysis.curve_ratios import curve_ratios
from scalograph.analysis.estimate import Estimate
from scalograph.analysis.ratios import ratio
from scalograph.errors import StudyError
from scalograph.exchange.compare.matched_treatments import matched, treatment_names
from scalograph.exchange.compare.measured_source import MeasuredSource, SourceTreatment
from scalograph.exchange.compare.result_answer import MOST_NAMED, have_logs, logs_of
from scalograph.protocol.compared_results import ResultSeries, SeriesResult, SeriesStep
from scalograph.protocol.findings import Cell, Claim, Column, Matrix, MatrixCell, MatrixRow, TableDoc, Trust
from scalograph.protocol.plain import Level
from scalograph.text.cell_numbers import NOT_RESOLVED
from scalograph.text.quantities import change, counted
from scalograph.text.scale import SECONDS


class DatedSource(NamedTuple):
    """A result and when its first run was, as ISO 8601; empty where that is not told."""

    started: str
    source: MeasuredSource


def series(every: Sequence[DatedSource], left_out: Sequence[str] = ()) -> ResultSeries:
    """Lay results out in time.

    Args:
        every: results of one study, in any order; those of other treatments than the newest are left out.
        left_out: what could not be read, and why.

    Raises:
        StudyError: there is none.
    """
    ordered = sorted(every, key=lambda one: (one.started, one.source.label))
    kept, why = _kept(ordered)
    if not kept:
        raise StudyError.one("history", "no result that can be compared", "one or more", "; ".join([*left_out, *why]))
    treatments = [_common(one.source, kept[-1].source) for one in kept]
    levels = [_level(found) for found in treatments]
    changes = change_points(levels)
    first, newest = treatments[0], kept[-1].source
    results = [
        SeriesResult(
            name=one.source.label, started=one.started, level=_over(first, found),
            stretch=1 + sum(change.place <= i for change in changes),
            doubt=_doubt(one.source),
        )
        for i, (one, found) in enumerate(zip(kept, treatments, strict=True))
    ]  # fmt: skip
    return ResultSeries(
        title=newest.title, response=newest.response.name, response_title=newest.response.title,
        unit=newest.response.unit, better=newest.response.better, results=results,
        steps=list(_steps(kept, levels, changes)), newest=_newest(ordered, kept, why), left_out=[*left_out, *why],
    )  # fmt: skip


def _kept(ordered: Sequence[DatedSource]) -> tuple[list[DatedSource], list[str]]:
    """Results that say something, and have all treatments of the newest of them."""
    refused = [(one, _refused(one.source)) for one in ordered]
    why = [f"{one.source.label}: {text}" for one, text in refused if text]
    told = [one for one, text in refused if not text]
    kept = [one for one in told if _has_all(one.source, told[-1].source)]
    return kept, why + [f"{one.source.label}: other configurations" for one in told if one not in kept]


def _newest(ordered: Sequence[DatedSource], kept: Sequence[DatedSource], why: Sequence[str]) -> str:
    """What is not in the levels of the newest result: all of it, or configurations that results before it have."""
    label = ordered[-1].source.label
    if ordered[-1] is not kept[-1]:
        return f"the newest result is left out, {next(text for text in why if text.startswith(f'{label}: '))}"
    lost = dict.fromkeys(one.name for old in kept[:-1] for one in matched(old.source, kept[-1].source).lost)
    return f"the newest result, {label}, lacks {', '.join(list(lost)[:MOST_NAMED])}" if lost else ""


def _refused(source: MeasuredSource) -> str:
    """Why a result has no level: what decides nothing in a comparison would decide it."""
    if source.refused:
        return source.refused
    if source.failed:
        called = treatment_names(source, [one.levels for one in source.failed])
        lost = [f"{name} ({one.runs[0]} of {one.runs[1]})" for name, one in zip(called, source.failed, strict=True)]
        return f"runs failed with {', '.join(lost[:MOST_NAMED])}"
    if n := sum(bool(one.doubt) for one in source.treatments):
        rest = f"{'rests' if n == 1 else 'rest'} on disturbed runs"
        return f"{n} of {counted(len(source.treatments), 'configuration')} {rest}"
    return "" if all(have_logs(one.scores) for one in source.treatments) else "a score of 0 or less, or beyond 1e130"


def _doubt(source: MeasuredSource) -> str:
    """What a study says against itself; empty where it is believed."""
    return source.trust.sentence if source.trust and source.trust.level == "doubt" else ""


def _has_all(source: MeasuredSource, newest: MeasuredSource) -> bool:
    try:
        return len(matched(newest, source).pairs) == len(newest.treatments)
    except StudyError:
        return False


def _common(source: MeasuredSource, newest: MeasuredSource) -> list[SourceTreatment]:
    """Its treatments in the order of those of the newest."""
    return [two for _, _, two in matched(newest, source).pairs]


def _level(treatments: Sequence[SourceTreatment]) -> float:
    """The mean over treatments of mean logs."""
    return float(np.mean([logs_of(one).logs.mean() for one in treatments]))


def _over(first: Sequence[SourceTreatment], other: Sequence[SourceTreatment]) -> Estimate:
    return curve_ratios([*map(logs_of, first)], [*map(logs_of, other)]).shift.estimate(0.95)


def _steps(
    kept: Sequence[DatedSource], levels: Sequence[float], changes: Sequence[ChangePoint]
) -> Iterator[SeriesStep]:
    """Each change, with the level of its stretch over that of the stretch before."""
    ends = [0, *(shift.place for shift in changes), len(levels)]
    stretches = [np.exp(levels[begin:end]) for begin, end in pairwise(ends)]
    for shift, (before, after) in zip(changes, pairwise(stretches), strict=True):
        here, earlier = kept[shift.place], kept[shift.place - 1]
        yield SeriesStep(
            name=here.source.label, started=here.started, ratio=ratio(after, before), p=shift.p,
            differences=matched(earlier.source, here.source).differences,
        )  # fmt: skip


MOST_ROWS, MOST_STEPS = 10, 2


def series_claim(found: ResultSeries) -> Claim:
    """Say how many levels there are, and where the last ones begin."""
    n, last = len(found.results), found.results[-1]
    newest = [f"{found.newest[:1].upper()}{found.newest[1:]}."] if found.newest else []
    if n < FEWEST:
        text = f"Cannot be said: {counted(n, 'result')}; from {FEWEST} on a new level can be told from chance."
        return Claim(sentences=[text, *newest], answered=False, matrix=_matrix(found))
    if not found.steps:
        which = " of what all of them have" if newest else ""
        text = f"One level{which}: no change is shown among {counted(n, 'result')}."
        return Claim(sentences=[text, *newest], answered=not newest, matrix=_matrix(found))
    told = [_step(found, step) for step in found.steps[: -MOST_STEPS - 1 : -1]]
    head = f"{last.stretch} levels in {counted(n, 'result')}. {told[0]}"
    return Claim(sentences=[head, *newest, *told[1:]][:3], matrix=_matrix(found))


def series_trust(found: ResultSeries) -> Trust | None:
    """Return what single results say against themselves, the newest first; None where none does."""
    doubted = [one for one in reversed(found.results) if one.doubt]
    if not doubted:
        return None
    n = f"{len(doubted)} of {counted(len(found.results), 'result')} {'is' if len(doubted) == 1 else 'are'}"
    points = [f"Of {one.name}: {one.doubt}" for one in doubted[:MOST_STEPS]]
    return Trust(level="doubt", sentence=f"{n} to be used with care.", points=points)


def _step(found: ResultSeries, step: SeriesStep) -> str:
    title = found.response_title or found.response.replace("_", " ")
    is_time = found.unit in SECONDS and found.better == "lower"
    how = change(step.ratio, "time" if is_time else title)
    how = "another level, by how much is not resolved" if how == NOT_RESOLVED else how
    around = "; ".join(f"{d.what} {d.reference} \N{RIGHTWARDS ARROW} {d.other}" for d in step.differences)
    return f"From {step.name} on {'it takes' if is_time else 'there is'} {how}{f' ({around})' if around else ''}."


def _matrix(found: ResultSeries) -> Matrix:
    """The newest results: level over the first, and which stretch it is of."""
    rows = [
        MatrixRow(
            label=_label(one.name, one.started),
            cells=[MatrixCell(estimate=one.level, doubt=one.doubt), _stretch(one.stretch)],
        )
        for one in found.results[-MOST_ROWS:]
    ]
    title = f"{found.response_title or found.response}, over the first result"
    better = "higher" if found.better == "higher" else "lower"
    return Matrix.model_validate(
        {"title": title, "better": better, "columns": ["mean ratio", "level"], "rows": rows, "note": "each by itself"}
    )


def _label(name: str, started: str) -> str:
    return f"{started[:10]} {name}" if started and not name.startswith(started[:4]) else name


def _stretch(number: int) -> MatrixCell:
    return MatrixCell(text=f"{number}")


def series_tables(found: ResultSeries) -> list[TableDoc]:
    """Return tables of all results, of all steps, and of what was left out."""
    columns = [Column(name="result", kind="label"), Column(name="started", kind="label")]
    columns += [Column(name="over the first", kind="estimate"), Column(name="level")]
    columns += [Column(name="with care", kind="text")]
    rows: list[list[Cell]] = [[one.name, one.started, one.level, one.stretch, one.doubt] for one in found.results]
    tables = [TableDoc(id="results", title="Results, the oldest first", columns=columns, rows=rows)]
    if found.steps:
        columns = [Column(name="from", kind="label"), Column(name="over the level before", kind="estimate")]
        columns += [Column(name="p"), Column(name="differs from the result before", kind="text")]
        steps: list[list[Cell]] = [[s.name, s.ratio, s.p, _told(s)] for s in found.steps]
        tables.append(TableDoc(id="steps", title="New levels", columns=columns, rows=steps))
    if found.left_out:
        lost: list[list[Level]] = [[text] for text in found.left_out]
        tables.append(
            TableDoc(id="left-out", title="Left out", columns=[Column(name="result", kind="text")], rows=lost)
        )
    return tables


def _told(step: SeriesStep) -> str:
    return "; ".join(f"{d.what}: {d.reference}, {d.other}" for d in step.differences)
