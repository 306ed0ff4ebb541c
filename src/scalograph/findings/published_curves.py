"""A paper's figures as curves over the measured ones: only what another machine does not change by its speed."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from scalograph.errors import StudyError
from scalograph.findings.names import brief
from scalograph.findings.published_file import PublishedRow, level, locate, number, read_rows
from scalograph.findings.table import Table
from scalograph.protocol.findings import Curve
from scalograph.protocol.plain import Level
from scalograph.protocol.published_curve import PublishedCurve, PublishedPoint
from scalograph.text.scale import SILENT

MOST_CURVES, MOST_POINTS = 256, 1000


def published_curves(table: Table, curves: Sequence[Curve], folder: Path | None) -> list[PublishedCurve]:
    """Put the published rows beside the first measured curve that has their levels.

    Args:
        table: of the study that names the published file.
        curves: measured.
        folder: where the study's own files are; None: no published figures.

    Returns:
        Speedups, and figures without a unit or in percent. A level that was not measured is left out, a row that names
        no level of the curve's factor too; none where the file cannot be read, of which the published table warns.
    """
    published = table.study.published
    if published is None or not published.file or folder is None:
        return []
    drawn = {column: name for column, name in published.values.items() if _is_comparable(table, name)}
    try:
        names, rows = read_rows(published, locate(published, folder))
    except StudyError:
        return []
    others = _texts(rows, [name for name in names if name not in published.match and name not in published.values])
    made: dict[tuple[str, int], dict[Level, dict[str, float]]] = {}
    for row in rows:
        values = {name: value for column, name in drawn.items() if (value := number(row[column])) is not None}
        wanted = {factor: level(published, column, row[column]) for column, factor in published.match.items()}
        place = _beside(curves, wanted)
        if values and place is not None:
            label = ", ".join(brief(row[name]) for name in others if row[name])
            made.setdefault((label, place[0]), {}).setdefault(place[1], values)
    return [_curve(curves[i], label, points) for (label, i), points in made.items()][:MOST_CURVES]


def _curve(beside: Curve, label: str, points: Mapping[Level, dict[str, float]]) -> PublishedCurve:
    told = [PublishedPoint(level=at, values=values) for at, values in points.items()][:MOST_POINTS]
    return PublishedCurve(label=label, group=beside.group, factor=beside.factor, points=told)


def _is_comparable(table: Table, name: str) -> bool:
    """Whether a figure of another machine can stand on the same axis."""
    response = table.study.responses.get(name)
    return name == "speedup" or (response is not None and (response.unit in SILENT or response.unit == "percent"))


def _texts(rows: Sequence[PublishedRow], names: Iterable[str]) -> list[str]:
    """Columns that hold texts: numbers are errors and remarks on single rows, and tell no curves apart."""
    return [name for name in names if all(row[name] and number(row[name]) is None for row in rows)]


def _beside(curves: Sequence[Curve], wanted: Mapping[str, Level | None]) -> tuple[int, Level] | None:
    """The place of the first curve, in declared order of levels, that measured these levels, and where along it."""
    for i, curve in enumerate(curves):
        at = wanted.get(curve.factor)
        alike = all(curve.group.get(name) == level for name, level in wanted.items() if name != curve.factor)
        if alike and at is not None and any(point.level == at for point in curve.points):
            return i, at
    return None
