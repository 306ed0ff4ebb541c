"""A paper's figures beside the measured ones, and what does not reproduce."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from scalograph.analysis.estimate import Estimate
from scalograph.errors import StudyError
from scalograph.findings.names import brief, title
from scalograph.findings.published_answer import answer, span, why_unlike
from scalograph.findings.published_file import (
    PublishedRow,
    level,
    locate,
    number,
    read_rows,
)
from scalograph.findings.published_physics import HEADING, objected
from scalograph.findings.table import Table
from scalograph.protocol.findings import Column, Curve, TableDoc
from scalograph.protocol.plain import Level
from scalograph.study.model import Published
from scalograph.text.reproduced import REPRODUCES

# The figures of the treatment that has these levels; none where there is none.
Lookup = Callable[[Mapping[str, Level | None]], Mapping[str, Estimate]]


def published_table(table: Table, lookup: Lookup, folder: Path) -> tuple[TableDoc | None, list[str]]:
    """Each published row, its figures, and the measured ones of the same treatment where there is one.

    A study is measured whatever becomes of the file: one that is missing or broken is a warning.

    Args:
        table: its runs.
        lookup: what was measured of a treatment.
        folder: where the study's own files are.

    Raises:
        StudyError: the file leads outside the study's folder.
    """
    published = table.study.published
    if published is None or not published.file:
        return None, []
    file = locate(published, folder)
    try:
        names, rows = read_rows(published, file)
    except StudyError as error:
        return None, [f"the published figures are left out: {brief(problem, 1000)}" for problem in error.problems]
    return _table(table, published, lookup, names, rows), []


def _table(
    table: Table, published: Published, lookup: Lookup, names: Sequence[str], rows: Sequence[PublishedRow]
) -> TableDoc:
    ends = {name for pair in published.ranges.values() for name in pair}
    others = [name for name in names if name not in published.values and name not in ends]
    columns = [Column(name=name.replace("_", " "), kind="label") for name in others]
    for column, response in published.values.items():
        unit = table.study.responses[response].unit if response in table.study.responses else ""
        kind: Literal["estimate", "number"] = "estimate" if column in published.ranges else "number"
        columns.append(Column(name=f"{_shown(table, response)} published", unit=unit, kind=kind))
        columns.append(Column(name=f"{_shown(table, response)} here", unit=unit, kind="estimate"))
    cells = [_row(published, row, others, _found(published, row, lookup)) for row in rows]
    if any(against := objected(table.study, published, others, rows)):
        columns.append(Column(name=HEADING, kind="text"))
        cells = [[*row, text] for row, text in zip(cells, against, strict=True)]
    note = published.note
    if factor := _factor(published):
        columns.append(Column(name=REPRODUCES, kind="text"))
        answers = [
            answer(table, published, row, _found(published, row, lookup), factor, objection)
            for row, objection in zip(rows, against, strict=True)
        ]
        cells = [[*row, told] for row, told in zip(cells, answers, strict=True)]
        unlike = dict.fromkeys(f"Not comparable: {why}." for row in rows if (why := why_unlike(published, row)))
        note = " ".join(part for part in (note, _lowest(rows, others, factor), *unlike) if part)
    return TableDoc(
        id="published", title="Published figures beside the measured ones", note=note, columns=columns, rows=cells
    )


def _factor(published: Published) -> str | None:
    """The column that holds the published scaling factors."""
    return next((column for column, response in published.values.items() if response == "speedup"), None)


def _lowest(rows: Sequence[PublishedRow], others: Sequence[str], factor: str) -> str:
    """The condition under which the published factors fall deepest, since a reader looks for that first."""
    known = [(value, row) for row in rows if (value := number(row[factor])) is not None]
    if not known:
        return ""
    value, row = min(known, key=lambda item: item[0])
    under = ", ".join(f"{name.replace('_', ' ')} {row[name]}" for name in others if row[name])
    return f"The lowest published scaling factor, {value:g}, is that of {brief(under)}."


def _shown(table: Table, response: str) -> str:
    return "scaling factor" if response == "speedup" else title(table, response)


def of_curves(curves: Sequence[Curve]) -> Lookup:
    """Figures of the first treatment (in declared order of levels) that has the levels."""
    measured: list[tuple[dict[str, Level], dict[str, Estimate]]] = []
    for curve in curves:
        for point in curve.points:
            figures = {name: response.estimate for name, response in point.responses.items()}
            if point.speedup:
                figures["speedup"] = point.speedup
            measured.append(({**curve.group, curve.factor: point.level}, figures))

    def lookup(wanted: Mapping[str, Level | None]) -> Mapping[str, Estimate]:
        for treatment, figures in measured:
            if all(treatment[factor] == wished for factor, wished in wanted.items()):
                return figures
        return {}

    return lookup


def _found(published: Published, row: PublishedRow, lookup: Lookup) -> Mapping[str, Estimate]:
    return lookup({factor: level(published, column, row[column]) for column, factor in published.match.items()})


def _row(published: Published, row: PublishedRow, others: Sequence[str], figures: Mapping[str, Estimate]) -> list[Any]:
    cells: list[Any] = [_label(row[name]) for name in others]
    for column, response in published.values.items():
        missing = Estimate(warnings=("this configuration was not run here",))
        cells += [_printed(published, row, column), figures.get(response, missing)]
    return cells


def _printed(published: Published, row: PublishedRow, column: str) -> float | Estimate | None:
    """The published figure; with its range where there is one."""
    value, (low, high) = number(row[column]), span(published, row, column)
    return Estimate(value, low, high, method="as published") if column in published.ranges else value


def _label(text: str | None) -> Level | None:
    """Counts as numbers, so that they stand under each other and sort as such."""
    return int(text) if text is not None and text.isascii() and text.isdigit() and len(text) < 19 else text
