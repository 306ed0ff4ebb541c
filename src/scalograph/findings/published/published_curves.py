"""Curves and claims of a paper beside the measured ones."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from scalograph.analysis.estimate import Estimate
from scalograph.errors import StudyError
from scalograph.findings.published.published_quantities import locate, parse_level, parse_number, read_rows
from scalograph.findings.table import Table
from scalograph.protocol.findings import Column, Curve, TableDoc
from scalograph.protocol.plain import Level
from scalograph.protocol.published_claim import ClaimValue, DecidedClaim, PublishedCurve, PublishedPoint
from scalograph.text.reproduced import claim_scale, is_conclusive, select_values, span
from scalograph.text.scale import SILENT
from scalograph.text.short_names import shorten

MAX_CURVES, MAX_POINTS = 256, 1000


def make_published_curves(table: Table, curves: Sequence[Curve], folder: Path | None) -> list[PublishedCurve]:
    """Match published rows to the first measured curve that has their levels.

    Returns speedups, and values without a unit or in percent, at measured levels; none if the file cannot be read, of
    which the published table warns.
    """
    published = table.study.published
    if published is None or not published.file or folder is None:
        return []
    drawn = {column: name for column, name in published.values.items() if _is_comparable(table, name)}
    try:
        names, rows = read_rows(published, locate(published, folder))
    except StudyError:
        return []
    # Numbers are errors and remarks: they tell no curves apart.
    others = [name for name in names if name not in published.match and name not in published.values]
    others = [name for name in others if all(row[name] and parse_number(row[name]) is None for row in rows)]
    lines: dict[tuple[str, int], dict[Level, dict[str, float]]] = {}
    for row in rows:
        values = {name: value for column, name in drawn.items() if (value := parse_number(row[column])) is not None}
        wanted = {factor: parse_level(published, column, row[column]) for column, factor in published.match.items()}
        position = _find_curve(curves, wanted)
        if values and position is not None:
            label = ", ".join(shorten(row[name]) for name in others if row[name])
            lines.setdefault((label, position[0]), {}).setdefault(position[1], values)
    published_curves = []
    for (label, i), points in [*lines.items()][:MAX_CURVES]:
        shown = [PublishedPoint(level=at, values=values) for at, values in points.items()][:MAX_POINTS]
        published_curves.append(
            PublishedCurve(label=label, group=curves[i].group, factor=curves[i].factor, points=shown)
        )
    return published_curves


def _is_comparable(table: Table, name: str) -> bool:
    response = table.study.responses.get(name)
    return name == "speedup" or (response is not None and (response.unit in SILENT or response.unit == "percent"))


def _find_curve(curves: Sequence[Curve], wanted: Mapping[str, Level | None]) -> tuple[int, Level] | None:
    """Return the index of the first curve that measured these levels, and the level along it."""
    for i, curve in enumerate(curves):
        at = wanted.get(curve.factor)
        alike = all(curve.group.get(name) == level for name, level in wanted.items() if name != curve.factor)
        if alike and at is not None and any(point.level == at for point in curve.points):
            return i, at
    return None


CLAIMS = "published-claims"
MAX_VALUES = 64  # of one claim
COLUMNS = [
    Column(name="claim", kind="label"), Column(name="figure", kind="label"), Column(name="published"),
    Column(name="here", kind="estimate"), Column(name="decision", kind="text"),
    Column(name="bears it out", kind="text"), Column(name="what is claimed", kind="text"),
    Column(name="why", kind="text"),
]  # fmt: skip
NOTE = (
    "A figure holds where its whole interval lies in the range that bears the claim out, and does not hold where the "
    "interval lies outside; a claim of several figures holds where each does."
)


def claims_table(claims: Sequence[DecidedClaim]) -> TableDoc | None:
    """Make the table `published-claims`; None if the study declares no claims."""
    if not claims:
        return None
    rows = [row for claim in claims for row in _claim_rows(claim)]
    kept = [i for i, column in enumerate(COLUMNS) if column.name != "why" or any(row[i] for row in rows)]
    return TableDoc(
        id=CLAIMS, title="Published claims and measured values", note=NOTE,
        columns=[COLUMNS[i] for i in kept], rows=[[row[i] for i in kept] for row in rows],
    )  # fmt: skip


def _claim_rows(claim: DecidedClaim) -> Iterator[list[Any]]:
    beside = "; ".join(part for part in (claim.place, claim.said and f"published: {claim.said}") if part)
    sentence = f"{claim.sentence.rstrip('.')} ({beside})" if beside else claim.sentence
    is_bounded = claim.low is not None or claim.high is not None
    held = span(claim.low, claim.high, claim_scale(claim)) if is_bounded else ""
    whole = [claim.decision, held, sentence, "; ".join(filter(None, [claim.why, claim.doubt]))]
    if len(claim.figures) < 2:
        yield [claim.id, *_value_cells(claim, *claim.figures), *whole]
        return
    yield [claim.id, "", None, None, *whole]
    for figure in select_values(claim.figures, MAX_VALUES):
        decision = figure.decision if is_conclusive(claim) else ""
        yield [claim.id, *_value_cells(claim, figure), decision, "", "", figure.doubt]
    if len(claim.figures) > MAX_VALUES:
        yield [claim.id, f"{len(claim.figures) - MAX_VALUES} more", None, None, "", "", "", ""]


def _value_cells(claim: DecidedClaim, figure: ClaimValue | None = None) -> list[Any]:
    if figure is None:
        return ["", None, None]
    scale = claim_scale(claim)
    label = f"{figure.label} ({scale.unit})" if scale.unit else figure.label
    published = None if figure.published is None else figure.published * scale.factor
    here = Estimate(warnings=(figure.none,)) if figure.none and figure.here is None else figure.here
    return [label.strip(), published, None if here is None else here.rescale(scale.factor)]
