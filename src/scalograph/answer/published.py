"""A paper's figures beside the measured ones, and what does not reproduce."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from scalograph.answer.tables import title
from scalograph.errors import StudyError
from scalograph.findings import Column, Curve, EstimateDoc, Level, TableDoc
from scalograph.study import Published
from scalograph.table import Table

MAX_ROWS = 10_000
# A published figure has its own error, rarely printed; it counts as reproduced within this factor of the interval.
TOLERANCE = 0.05


def read_rows(published: Published, folder: Path) -> list[dict[str, str]]:
    """The rows of the published file, which must lie in the study's folder.

    Raises:
        StudyError: the file leads outside, is missing, or lacks a named column.
    """
    file = (folder / published.file).resolve()
    if not file.is_relative_to(folder.resolve()):
        raise StudyError.one("published.file", published.file, "a file inside the study's folder")
    try:
        with file.open(encoding="utf-8", newline="") as stream:
            rows = [row for row, _ in zip(csv.DictReader(stream), range(MAX_ROWS), strict=False)]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise StudyError.one("published.file", f"{published.file} cannot be read: {error}", "a CSV file") from error
    missing = [c for c in [*published.match, *published.values] if rows and c not in rows[0]]
    if missing:
        raise StudyError.one(
            "published", f"no column {', '.join(missing)} in {published.file}", f"one of {', '.join(rows[0])}"
        )
    return rows


def published_table(table: Table, curves: Sequence[Curve], folder: Path) -> TableDoc | None:
    """Each published row, its figures, and the measured ones of the same treatment where there is one."""
    published = table.study.published
    if published is None:
        return None
    rows = read_rows(published, folder)
    others = [name for name in (rows[0] if rows else {}) if name not in published.values]
    columns = [Column(name=name.replace("_", " "), kind="label") for name in others]
    for response in published.values.values():
        unit = table.study.responses[response].unit if response in table.study.responses else ""
        columns.append(Column(name=f"{_shown(table, response)} published", unit=unit))
        columns.append(Column(name=f"{_shown(table, response)} here", unit=unit, kind="estimate"))
    columns.append(Column(name="scaling factor reproduces", kind="text"))
    measured = _measured(curves)
    cells = [_row(published, row, others, _found(published, row, measured)) for row in rows]
    return TableDoc(
        id="published",
        title="Published figures beside the measured ones",
        note=published.note,
        columns=columns,
        rows=cells,
    )


def _shown(table: Table, response: str) -> str:
    return "scaling factor" if response == "speedup" else title(table, response)


def _measured(curves: Sequence[Curve]) -> list[tuple[dict[str, Level], dict[str, EstimateDoc]]]:
    found = []
    for curve in curves:
        for point in curve.points:
            figures = {name: response.estimate for name, response in point.responses.items()}
            if point.speedup:
                figures["speedup"] = point.speedup
            found.append(({**curve.group, curve.factor: point.level}, figures))
    return found


def _found(
    published: Published,
    row: Mapping[str, str],
    measured: Sequence[tuple[dict[str, Level], dict[str, EstimateDoc]]],
) -> dict[str, EstimateDoc]:
    """Figures of the first treatment (in declared order of levels) that matches a published row."""
    wanted = {factor: level(published, column, row[column]) for column, factor in published.match.items()}
    for treatment, figures in measured:
        if all(treatment[factor] == wished for factor, wished in wanted.items()):
            return figures
    return {}


def level(published: Published, column: str, text: str) -> Level:
    """The level that a published text stands for."""
    if text in published.levels.get(column, {}):
        return published.levels[column][text]
    try:
        return int(text)
    except ValueError:
        return text


def _row(
    published: Published, row: Mapping[str, str], others: Sequence[str], figures: Mapping[str, EstimateDoc]
) -> list[Any]:
    cells: list[Any] = [row[name] for name in others]
    for column, response in published.values.items():
        missing = EstimateDoc(warnings=["this treatment was not run here"])
        cells += [_number(row[column]), figures.get(response, missing).model_dump()]
    factors = [_number(row[column]) for column, response in published.values.items() if response == "speedup"]
    cells.append(reproduces(next(iter(factors), None), figures.get("speedup")))
    return cells


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def reproduces(published: float | None, here: EstimateDoc | None) -> str:
    """Whether a published scaling factor lies in the measured interval, widened by `TOLERANCE`.

    >>> reproduces(0.53, EstimateDoc(value=0.98, low=0.97, high=0.99))
    'no: lower'
    """
    if published is None or here is None or here.value is None:
        return "not measured"
    if here.low is None or here.high is None:
        return "undecided"
    if published < here.low * (1 - TOLERANCE):
        return "no: lower"
    return "no: higher" if published > here.high * (1 + TOLERANCE) else "yes"
