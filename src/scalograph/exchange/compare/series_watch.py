"""Watch the results of many studies: series by study, machine and value, and the answer of `watch`."""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np

from scalograph.analysis.change_points import FEWEST, SIDE, ChangePoint, recent_rises
from scalograph.analysis.ratios import ratio
from scalograph.analysis.versus import SAME
from scalograph.exchange.compare.summarize import COEFFICIENTS
from scalograph.protocol.compared_results import SourceDifference
from scalograph.protocol.findings import Cell, Claim, Column, Matrix, MatrixCell, MatrixRow, TableDoc, Trust
from scalograph.protocol.plain import AnswerCase
from scalograph.protocol.result_summary import ResultSummary, start_seconds
from scalograph.protocol.watched_series import LevelChange, SeriesNote, SeriesPoint, Watch, WatchedSeries
from scalograph.questions.claims import state
from scalograph.text.answer_form import change_interval
from scalograph.text.quantities import count_noun
from scalograph.text.summaries import change_size, point_name, series_name, size_text

# Of each series, the newest.
MOST_POINTS = 200


class _LaneSeries(NamedTuple):
    """A series, and the summaries of its points that decide, with their values as higher is worse."""

    series: WatchedSeries
    places: list[int]
    summaries: list[ResultSummary]
    costs: list[float]
    begin: int

    @property
    def kind(self) -> str:
        """What has comparable variances: all logs of levels, or one coefficient."""
        return "level" if self.series.is_level else self.series.figure


def watch(
    every: Sequence[ResultSummary], since: float, margin: float | None = None, left_out: Sequence[str] = (),
    notes: Sequence[SeriesNote] = (),
) -> Watch:  # fmt: skip
    """Return the series of all results, with their changes.

    `since` is when the time began, in seconds; `margin` the largest difference to ignore, as a share, None for 2%.
    Rises among recent results have one error rate of 5% over all series with at least six results, some of them recent.
    A new level that a note acknowledges is no such rise.
    """
    used = SAME if margin is None else margin
    lanes = defaultdict(list)
    for summary in every:
        if not summary.unread:
            lanes[summary.study, summary.lane].append(summary)
    measured = [series for key in sorted(lanes) for series in _lane_series(lanes[key], since)]
    tested = [m for m in measured if len(m.costs) >= FEWEST and m.begin < len(m.costs) and m.series.better != "none"]
    noted = [_acknowledged_levels(m, notes) for m in tested]
    worse, better = (_changes(tested, noted, sign) for sign in (1, -1))
    for m, rises, falls, texts in zip(tested, worse, better, noted, strict=True):
        m.series.is_tested = True
        seen = {change.place: change for change in (*(c for c in falls if c.place >= m.begin), *rises)}
        m.series.changes += _level_changes(m, sorted(seen.values()), texts, used)
    unread = [f"{summary.folder}: {summary.unread}" for summary in every if summary.unread]
    return Watch(
        since=f"{datetime.fromtimestamp(since, UTC):%Y-%m-%d}", margin=used,
        n_results=sum(not summary.unread for summary in every), series=[m.series for m in measured],
        left_out=[*left_out, *unread, *_count_excluded(measured)],
    )  # fmt: skip


def _acknowledged_levels(m: _LaneSeries, notes: Sequence[SeriesNote]) -> dict[int, str]:
    """Return where a level may begin that somebody has acknowledged, with the note; each has two values or more."""
    texts, points = dict[int, str](), [m.series.points[i] for i in m.places]
    for note in (n for n in notes if n.acknowledged and n.study in ("", m.series.study)):
        first = next((i for i, point in enumerate(points) if note.covers(point)), 0)
        if all(abs(first - other) >= SIDE for other in (0, len(points), *texts)):
            texts[first] = note.text
    return dict(sorted(texts.items()))


def _changes(
    tested: Sequence[_LaneSeries], noted: Sequence[Mapping[int, str]], sign: int
) -> Iterator[list[ChangePoint]]:
    """Yield the changes of each series: departures from acknowledged levels, and where such a level begins."""

    def rises(every: Sequence[_LaneSeries], cuts: Sequence[Sequence[int]] = ()) -> list[list[ChangePoint]]:
        costs, kinds = [[sign * cost for cost in m.costs] for m in every], [m.kind for m in every]
        return recent_rises(costs, [m.begin for m in every], expected=cuts, kinds=kinds)

    seen = iter(rises([m for m, texts in zip(tested, noted, strict=True) if texts]))
    for texts, departures in zip(noted, rises(tested, [[*texts] for texts in noted]), strict=True):
        yield [*departures, *(change for change in (next(seen) if texts else ()) if _note_on(change, texts))]


def _note_on(change: ChangePoint, texts: Mapping[int, str]) -> str:
    """Return the note that acknowledges a change; its place may move a little with each further result."""
    return next((text for first, text in texts.items() if abs(change.place - first) <= SIDE), "")


def _count_excluded(measured: Sequence[_LaneSeries]) -> Iterator[str]:
    """Say once for each lane how many results decide nothing, and why the newest of them does not."""
    for m in measured:
        lost = [point for point in m.series.points if point.excluded]
        if m.series.is_level and lost:
            n, of, last = len(lost), len(m.series.points), lost[-1]
            yield f"{m.series.study}, {m.series.lane}: {n} of {of} results; {last.folder}: {last.excluded}"


def _lane_series(lane: Sequence[ResultSummary], since: float) -> Iterator[_LaneSeries]:
    ordered = sorted(lane, key=lambda s: (start_seconds(s.started), s.folder))[-MOST_POINTS:]
    newest = next((summary for summary in reversed(ordered) if not summary.excluded), ordered[-1])
    levels = [_level(summary, newest) for summary in ordered]
    reasons = [_reason(summary, newest, level) for summary, level in zip(ordered, levels, strict=True)]
    values = [None if level is None else math.exp(level) for level in levels]
    named = {"figure": newest.response_title, "unit": newest.unit, "better": newest.better}
    yield _measure(ordered, values, reasons, since, named)
    for name in newest.coefficients:
        if not newest.excluded:
            better = COEFFICIENTS.get(name, "none")  # the level of a best configuration has no direction
            numbers = [summary.coefficients.get(name) for summary in ordered]
            lacks = [reason or ("no value" if x is None else "") for reason, x in zip(reasons, numbers, strict=True)]
            yield _measure(ordered, numbers, lacks, since, {"figure": name, "is_level": False, "better": better})


def _measure(
    ordered: Sequence[ResultSummary], values: Sequence[float | None], reasons: Sequence[str], since: float,
    named: Mapping[str, Any],
) -> _LaneSeries:  # fmt: skip
    points = [
        SeriesPoint(folder=s.folder, started=s.started, commit=s.commit, value=value, excluded=reason)
        for s, value, reason in zip(ordered, values, reasons, strict=True)
    ]
    places = [i for i, point in enumerate(points) if point.value is not None and not point.excluded]
    newest = ordered[-1]
    series = WatchedSeries(study=newest.study, title=newest.title, lane=newest.lane, points=points, **named)
    sign = -1.0 if series.better == "higher" else 1.0
    numbers = [value for i in places if (value := values[i]) is not None]
    costs = [sign * (math.log(x) if series.is_level else x) for x in numbers]
    begin = sum(start_seconds(ordered[i].started) < since for i in places)
    return _LaneSeries(series, places, [ordered[i] for i in places], costs, begin)


def _level(summary: ResultSummary, newest: ResultSummary) -> float | None:
    """Return the mean log score over the configurations of the newest result; None where one is missing."""
    if not newest.names or (summary.response, summary.unit) != (newest.response, newest.unit):
        return None
    if summary.names == newest.names:
        return float(np.mean(summary.logs))
    logs = dict(zip(summary.names, summary.logs, strict=True))
    return float(np.mean([logs[name] for name in newest.names])) if all(n in logs for n in newest.names) else None


def _reason(summary: ResultSummary, newest: ResultSummary, level: float | None) -> str:
    if summary.excluded or level is not None:
        return summary.excluded
    return "another response" if summary.response != newest.response else "other configurations"


def _level_changes(
    m: _LaneSeries, changes: Sequence[ChangePoint], acknowledged: Mapping[int, str], margin: float
) -> Iterator[LevelChange]:
    """Yield each change with its size; one that the resolution of the scores may hide is none."""
    ends = [0, *(change.place for change in changes), len(m.costs)]
    sign = -1.0 if m.series.better == "higher" else 1.0
    stretches = [sign * np.asarray(m.costs[begin:end]) for begin, end in pairwise(ends)]
    for change, (before, after) in zip(changes, pairwise(stretches), strict=True):
        last, here = m.summaries[change.place - 1 : change.place + 1]
        difference, hidden = float(after.mean() - before.mean()), last.open_log + here.open_log
        if m.series.is_level and abs(difference) <= hidden:
            continue
        shown: Literal["worse", "better"] = "worse" if sign * difference > 0 else "better"
        of = ratio(np.exp(after), np.exp(before)).widen(hidden) if m.series.is_level else None
        ends_of = [float(np.exp(x.mean()) if m.series.is_level else x.mean()) for x in (before, after)]
        yield LevelChange(
            at=m.places[change.place], folder=here.folder, started=here.started, commit=here.commit,
            before=ends_of[0], after=ends_of[1], ratio=of, p=change.p, shown=shown,
            acknowledged=_note_on(change, acknowledged), is_recent=change.place >= m.begin,
            is_small=m.series.is_level and abs(difference) <= math.log1p(margin),
            differences=_differences(last.facts, here.facts),
        )  # fmt: skip


def _differences(before: Mapping[str, str], after: Mapping[str, str]) -> list[SourceDifference]:
    return [
        SourceDifference(what=name, reference=before[name], other=after[name])
        for name in before
        if name in after and before[name] != after[name]
    ]


MOST_ROWS = 24  # of a matrix; the terminal shows those that fit
FORMS = {
    "worse": "{n_worse} of {n} series became worse since {since}.",
    "clearest": "{series}: {change}[[{ci}]] from {name} on.",
    "steady": "No change for the worse since {since} was found in {n} series.",
    "few": "Inconclusive: no series has {fewest} results, some of them since {since}.",
    "rate": "The false-alarm rate over all series is limited to 5%; the margin is {margin:exact}.",
    "acknowledged": "Not counted: {known}, acknowledged in annotations.toml.",
    "changes": "Changed with {name}: {changes:list}.",
}


def watch_claim(watched: Watch) -> Claim:
    """State how many series became worse, and name the clearest."""
    alarms, n = watched.alarms, sum(series.is_tested for series in watched.series)
    rate = _case("rate", margin=watched.margin)
    if alarms:
        series, change = alarms[0]
        ci = change_interval(change.ratio) if change.ratio else ""
        named = {"series": series_name(series), "change": size_text(series, change), "name": point_name(change)}
        cases = [_case("worse", n_worse=len(alarms), n=n, since=watched.since), _case("clearest", ci=ci, **named)]
        texts = [f"{d.what} {d.reference} \N{RIGHTWARDS ARROW} {d.other}" for d in change.differences]
        cases += [_case("changes", name=point_name(change), changes=texts)] if texts else []
        return state(FORMS, [*cases, rate], _matrix(watched, alarms))
    if n:
        n_known = sum(c.is_acknowledged for series in watched.series for c in series.changes)
        cases = [_case("acknowledged", known=count_noun(n_known, "change"))] if n_known else []
        return state(FORMS, [_case("steady", since=watched.since, n=n), *cases, rate])
    return state(FORMS, [_case("few", fewest=FEWEST, since=watched.since)])


def _case(case: str, /, **values: Any) -> AnswerCase:
    return AnswerCase(case=case, values=values)


def _matrix(watched: Watch, alarms: Sequence[tuple[WatchedSeries, LevelChange]]) -> Matrix:
    has_lanes = len({series.lane for series in watched.series}) > 1
    rows = [
        MatrixRow(
            label=series_name(series, has_lanes),
            cells=[MatrixCell(text=change_size(series, change)), MatrixCell(text=point_name(change)),
                   MatrixCell(text=change.started[:10] or "unknown")],
        )
        for series, change in alarms[:MOST_ROWS]
    ]  # fmt: skip
    more = f"{len(alarms) - MOST_ROWS} more: --tables" if len(alarms) > MOST_ROWS else ""
    columns = ["vs. level before", "from", "date"]
    return Matrix(title="series that became worse", rows_are="series", columns=columns, rows=rows, note=more)


def watch_trust(watched: Watch) -> Trust | None:
    """Say which results decide nothing, and that a machine changed its CPU; None where neither is so."""
    lanes: dict[str, list[str]] = {}
    for series in watched.series:
        lanes.setdefault(series.study, []).append(series.lane)
    split = {study: list(dict.fromkeys(names)) for study, names in lanes.items() if len(set(names)) > 1}
    points = [f"{study} ran on {'; '.join(names)}: separate series." for study, names in split.items()][:1]
    points += [f"The machine changed in {len(split)} studies."] if len(split) > 1 else []
    points += [f"Not included: {watched.left_out[0]}."] if watched.left_out else []
    if not points:
        return None
    n = len({p.folder for s in watched.series if s.is_level for p in s.points if p.excluded})
    lost = f"{n:,} of {count_noun(watched.n_results, 'result')} excluded."
    other = "Some files were not read." if watched.left_out else "A study ran on several machines."
    return Trust(level="caution", sentence=lost if n else other, points=points)


def watch_tables(watched: Watch) -> list[TableDoc]:
    """Return the tables of changes within the time, of all series, and of what is excluded."""
    return [table for table in (_change_table(watched), _series_table(watched), _lost_table(watched)) if table.rows]


def _change_table(watched: Watch) -> TableDoc:
    names = ("series", "from", "date", "result", "vs. level before")
    columns = [Column(name=name, kind="label") for name in names]
    columns += [Column(name="p"), Column(name="shows", kind="label"), Column(name="differs from before", kind="text")]
    rows: list[list[Cell]] = [
        [series_name(s), point_name(c), c.started[:10], c.folder, change_size(s, c), c.p,
         _show_kind(c),
         "; ".join(f"{d.what}: {d.reference}, {d.other}" for d in c.differences)]
        for s in watched.series for c in s.changes if c.is_recent
    ]  # fmt: skip
    return TableDoc(id="changes", title=f"Changes since {watched.since}", columns=columns, rows=rows)


def _show_kind(change: LevelChange) -> str:
    shown = "within the margin" if change.is_small else change.shown
    return f"{shown}, acknowledged: {change.acknowledged}" if change.acknowledged else shown


def _series_table(watched: Watch) -> TableDoc:
    columns = [Column(name="series", kind="label"), Column(name="results"), Column(name="excluded")]
    columns += [Column(name="levels"), Column(name="tested", kind="label")]
    rows: list[list[Cell]] = [
        [series_name(s), len(s.points), sum(bool(p.excluded) for p in s.points), 1 + len(s.changes),
         "yes" if s.is_tested else "no"]
        for s in watched.series
    ]  # fmt: skip
    return TableDoc(id="series", title="Series", columns=columns, rows=rows)


def _lost_table(watched: Watch) -> TableDoc:
    columns = [Column(name="result", kind="text")]
    return TableDoc(id="left-out", title="Excluded", columns=columns, rows=[[text] for text in watched.left_out])
