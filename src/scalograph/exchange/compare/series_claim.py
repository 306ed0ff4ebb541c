"""What a series of results comes to: its levels, and the result with which each begins."""

from scalograph.analysis.change_points import FEWEST
from scalograph.protocol.claim import Claim, Matrix, MatrixCell, MatrixRow
from scalograph.protocol.findings import Cell, Column, TableDoc, Trust
from scalograph.protocol.plain import Level
from scalograph.protocol.result_series import ResultSeries, SeriesStep
from scalograph.text.compact import NOT_RESOLVED
from scalograph.text.quantities import change, counted
from scalograph.text.scale import SECONDS

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
