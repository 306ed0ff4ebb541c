"""The answer of `watch`: how many series became worse, which, by how much, and since when."""

from collections.abc import Sequence
from typing import Any

from scalograph.analysis.change_points import FEWEST
from scalograph.protocol.findings import Cell, Claim, Column, Matrix, MatrixCell, MatrixRow, TableDoc, Trust
from scalograph.protocol.plain import AnswerCase
from scalograph.protocol.watched_series import LevelChange, Watch, WatchedSeries
from scalograph.questions.claims import state
from scalograph.text.answer_form import change_interval
from scalograph.text.quantities import count_noun
from scalograph.text.summaries import change_size, point_name, series_name, size_text

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
