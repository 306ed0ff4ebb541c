"""State the claim of a surface: what each worker beyond the CPUs adds, beside the expected cost."""

import math
from collections.abc import Iterator, Sequence

from scalograph.analysis.estimate import Estimate
from scalograph.findings.answer import SampleMap
from scalograph.findings.table import Table
from scalograph.protocol.findings import Claim, Matrix, MatrixCell, MatrixRow
from scalograph.questions.surface.document import Surface
from scalograph.questions.surface.model import PLAY, widen_jointly
from scalograph.text.cell_numbers import NOT_RESOLVED, claim_number, is_resolved
from scalograph.text.quantities import cpus
from scalograph.text.scale import Scale, scale_for
from scalograph.text.short_names import join_names, singular

FIGURE = "surfaces"
FEW_ROWS = 4  # of fewer, the curves show it better than a map
KNOWN = 0.2  # sharing is told to be as theory says where it is known that well
MOST_ROWS, NAMED = 24, 2
# Other surfaces that are told in a sentence.
MOST_OTHERS = 2


def surface_claim(table: Table, taken: SampleMap, surfaces: Sequence[Surface]) -> Claim | None:
    """State the claim for the surface with most configurations."""
    if not surfaces:
        return None
    surface = surfaces[0]
    rows = [row for row, slope in enumerate(surface.slopes) if is_resolved(slope) and surface.alone(row)]
    worker = singular(table.view.title(surface.x))
    figure = FIGURE if len(surface.y_levels) >= FEW_ROWS else f"response {surface.response}"
    if not rows:
        text = f"Cannot be said: what each {worker} beyond the CPUs adds is not resolved."
        return Claim(sentences=[text, *_ridge_sentences(table, surface)], answered=False, figure=figure)
    over = {row: widen_jointly(slope_ratio(surface, row), len(rows)) for row in rows}
    shown = [rows[0], rows[-1]] if len(rows) > 1 else rows
    scale = _scale(table, surface, rows)
    adds = [_slope_phrase(surface, row, scale) for row in shown]
    expected = [_expected_phrase(surface, row, scale) + (" expected" if row == shown[0] else "") for row in shown]
    text = ", ".join(a if NOT_RESOLVED in b else f"{a} ({b})" for a, b in zip(adds, expected, strict=True))
    where = table.view.levels_text(table.view.varying_levels(surface.group))
    with_ = f"with {where} " if where and len(surfaces) > 1 else ""
    head = f"{_sharing_phrase(surface, over)}: {with_}each {worker} beyond the CPUs adds {text}"
    limit = list(_other_surfaces(table, surfaces)) if with_ else []
    return Claim(
        sentences=[f"{head}.", *_ridge_sentences(table, surface), *limit][:3],
        matrix=_matrix(table, taken, surface, rows[:MOST_ROWS], worker), figure=figure,
    )  # fmt: skip


def _other_surfaces(table: Table, surfaces: Sequence[Surface]) -> Iterator[str]:
    if len(surfaces) > MOST_OTHERS + 1:
        yield "The tables have the others."
        return
    parts = []
    for surface in surfaces[1:]:
        rows = [row for row, slope in enumerate(surface.slopes) if is_resolved(slope)]
        if rows:
            scale = _scale(table, surface, rows)
            adds = [_slope_phrase(surface, row, scale) for row in dict.fromkeys((rows[0], rows[-1]))]
            parts.append(f"with {table.view.levels_text(table.view.varying_levels(surface.group))}: {', '.join(adds)}")
    if parts:
        text = "; ".join(parts)
        yield f"{text[:1].upper()}{text[1:]}."


def _slope_phrase(surface: Surface, row: int, scale: Scale) -> str:
    return f"{claim_number(surface.slopes[row], scale, ends=False)} {scale.unit} on {cpus(surface.y_levels[row])}"


def slope_ratio(surface: Surface, row: int) -> Estimate:
    """Divide the slope by T(1)/M, each side of the interval from its own ends."""
    slope, alone, m = surface.slopes[row], surface.cells[row][surface.x_levels.index(1)], surface.y_levels[row]
    first = alone.estimate if alone else Estimate()
    if not is_resolved(slope) or not is_resolved(first):
        return Estimate()
    value = (slope.value or 0) * m / (first.value or 1)
    ends = ((slope.low, first.high), (slope.high, first.low))
    down, up = (math.hypot(_log(a, slope.value), _log(b, first.value)) for a, b in ends)
    return Estimate(value, value * math.exp(-down), value * math.exp(up), slope.confidence, slope.n)


def _log(a: float | None, b: float | None) -> float:
    return math.log((a or 1) / (b or 1))


def _sharing_phrase(surface: Surface, over: dict[int, Estimate]) -> str:
    resolved = [e for e in over.values() if is_resolved(e)]
    dearer = [row for row, e in over.items() if (e.low or 0) > 1 + PLAY]
    cheaper = [row for row, e in over.items() if e.high is not None and e.high < 1 - PLAY]
    if dearer or cheaper:
        names = join_names([cpus(surface.y_levels[row]) for row in (dearer or cheaper)[:NAMED]])
        rest = f" and {len(dearer or cheaper) - NAMED} further counts" if len(dearer or cheaper) > NAMED else ""
        return f"Sharing CPUs costs {'more' if dearer else 'less'} than theory says on {names}{rest}"
    off = max((abs(math.log(x)) for e in resolved for x in (e.low or 1, e.high or 1)), default=math.inf)
    if len(resolved) == len(over) and math.expm1(off) <= KNOWN:
        return f"CPUs are shared as theory says, within {math.ceil(100 * math.expm1(off))} %"
    return "Cannot be said whether CPUs are shared as theory says"


def _ridge_sentences(table: Table, surface: Surface) -> list[str]:
    ridges = [(m, *surface.ridge(row)) for row, m in enumerate(surface.y_levels)]
    widened = [(m, n, widen_jointly(e, len(ridges))) for m, n, e in ridges if e is not None]
    slow = [(m, n, e) for m, n, e in widened if (e.low or 0) > 1 + PLAY and is_resolved(e)]
    if not slow:
        return []
    m, n, e = slow[-1]
    who = f"{n} {table.view.title(surface.x)} on {cpus(m)}"
    return [f"With a CPU each they are slower, too: {who} take {claim_number(e)} times as long as one."]


def _scale(table: Table, surface: Surface, rows: Sequence[int]) -> Scale:
    return scale_for(table.study.responses[surface.response].unit, [surface.slopes[row].value for row in rows])


def _expected_phrase(surface: Surface, row: int, scale: Scale) -> str:
    cell = surface.cells[row][surface.x_levels.index(1)]
    return claim_number((cell.estimate if cell else Estimate()).rescale(1 / surface.y_levels[row]), scale, ends=False)


def _matrix(table: Table, taken: SampleMap, surface: Surface, rows: Sequence[int], worker: str) -> Matrix:
    of_group = [s for s in taken.values() if surface.group.items() <= s.configuration.items()]
    disturbed = {s.configuration[surface.y] for s in of_group if s.falls_back}
    matrix_rows = []
    for row in rows:
        m, alone = surface.y_levels[row], surface.cells[row][surface.x_levels.index(1)]
        doubt = "some configurations have disturbed runs only" if m in disturbed else ""
        cells = [MatrixCell(estimate=surface.slopes[row], doubt=doubt)]
        cells += [MatrixCell(estimate=alone.estimate.rescale(1 / m))] if alone else []
        cells.append(MatrixCell(text=claim_number(slope_ratio(surface, row))))
        matrix_rows.append(MatrixRow(label=str(m), cells=cells))
    return Matrix(
        title=f"{table.view.title(surface.response)} that each {worker} beyond the CPUs adds",
        unit=table.study.responses[surface.response].unit, better="lower", rows_are=table.view.title(surface.y),
        columns=["measured", "expected", "ratio"], rows=matrix_rows, note="expected: that of one alone, over the CPUs",
    )  # fmt: skip
