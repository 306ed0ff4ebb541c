"""A paper's figures as curves over the measured ones: only what another machine does not change by its speed."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from scalograph.analysis.estimate import Estimate
from scalograph.errors import StudyError
from scalograph.findings.names import brief
from scalograph.findings.published.published_file import PublishedRow, level, locate, number, read_rows
from scalograph.findings.table import Table
from scalograph.protocol.findings import Column, Curve, TableDoc
from scalograph.protocol.plain import Level
from scalograph.protocol.published_claim import ClaimFigure, DecidedClaim, PublishedCurve, PublishedPoint
from scalograph.text.reproduced import claim_scale, decided, span, telling
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


CLAIMS = "published-claims"
MOST_FIGURES = 64  # of one claim
COLUMNS = [
    Column(name="claim", kind="label"),
    Column(name="figure", kind="label"),
    Column(name="published"),
    Column(name="here", kind="estimate"),
    Column(name="decision", kind="text"),
    Column(name="bears it out", kind="text"),
    Column(name="what is claimed", kind="text"),
    Column(name="why", kind="text"),
]
NOTE = (
    "A figure holds where its whole interval lies in the range that bears the claim out, and does not hold where the "
    "interval lies outside; a claim of several figures holds where each does."
)


def claims_table(claims: Sequence[DecidedClaim]) -> TableDoc | None:
    """Make the table `published-claims`; None where a study declares no claims.

    Args:
        claims: decided. Figures are told in the unit in which those of their claim read best, named by the label.
    """
    if not claims:
        return None
    rows = [row for claim in claims for row in _rows(claim)]
    kept = [i for i, column in enumerate(COLUMNS) if column.name != "why" or any(row[i] for row in rows)]
    return TableDoc(
        id=CLAIMS, title="Published claims, each figure beside the measured one", note=NOTE,
        columns=[COLUMNS[i] for i in kept], rows=[[row[i] for i in kept] for row in rows],
    )  # fmt: skip


def _rows(claim: DecidedClaim) -> Iterator[list[Any]]:
    """The claim as a whole, then its figures; both in one row where there is one figure, or none."""
    beside = "; ".join(part for part in (claim.place, claim.said and f"published: {claim.said}") if part)
    sentence = f"{claim.sentence.rstrip('.')} ({beside})" if beside else claim.sentence
    is_bounded = claim.low is not None or claim.high is not None
    held = span(claim.low, claim.high, claim_scale(claim)) if is_bounded else ""
    whole = [claim.decision, held, sentence, "; ".join(filter(None, [claim.why, claim.doubt]))]
    if len(claim.figures) < 2:
        yield [claim.id, *_figure(claim, *claim.figures), *whole]
        return
    yield [claim.id, "", None, None, *whole]
    for figure in telling(claim.figures, MOST_FIGURES):
        yield [claim.id, *_figure(claim, figure), figure.decision if decided(claim) else "", "", "", figure.doubt]
    if len(claim.figures) > MOST_FIGURES:
        yield [claim.id, f"{len(claim.figures) - MOST_FIGURES} more", None, None, "", "", "", ""]


def _figure(claim: DecidedClaim, figure: ClaimFigure | None = None) -> list[Any]:
    """Of what it is, with the unit, and both numbers."""
    if figure is None:
        return ["", None, None]
    scale = claim_scale(claim)
    label = f"{figure.label} ({scale.unit})" if scale.unit else figure.label
    published = None if figure.published is None else figure.published * scale.factor
    here = Estimate(warnings=(figure.none,)) if figure.none and figure.here is None else figure.here
    return [label.strip(), published, here and _scaled(here, scale.factor)]


def _scaled(here: Estimate, factor: float) -> Estimate:
    value, low, high = (None if x is None else x * factor for x in (here.value, here.low, here.high))
    return replace(here, value=value, low=low, high=high)
