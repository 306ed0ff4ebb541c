"""The claim of a surface: what each worker beyond the CPUs adds, beside what sharing the CPUs must cost."""

import math
from collections.abc import Iterator, Sequence

from scalograph.analysis.estimate import Estimate
from scalograph.findings.answer import Taken
from scalograph.findings.names import setting, title, varying
from scalograph.findings.table import Table
from scalograph.protocol.findings import Claim, Matrix, MatrixCell, MatrixRow
from scalograph.questions.surface.document import Surface
from scalograph.questions.surface.model import PLAY, at_once
from scalograph.text.cell_numbers import NOT_RESOLVED, is_resolved, spoken
from scalograph.text.quantities import cpus
from scalograph.text.scale import Scale, scale_for
from scalograph.text.short_names import listed, one_of

FIGURE = "surfaces"
FEW_ROWS = 4  # of fewer, the curves show it better than a map
# Sharing is told to be as theory says where it is known that well.
KNOWN = 0.2
MOST_ROWS, NAMED = 24, 2
# Other surfaces that are told in a sentence.
MOST_OTHERS = 2


def surface_claim(table: Table, taken: Taken, found: Sequence[Surface]) -> Claim | None:
    """Say it of the surface of most configurations."""
    if not found:
        return None
    one = found[0]
    rows = [row for row, slope in enumerate(one.slopes) if is_resolved(slope) and one.alone(row)]
    worker = one_of(title(table, one.x))
    figure = FIGURE if len(one.y_levels) >= FEW_ROWS else f"response {one.response}"
    if not rows:
        text = f"Cannot be said: what each {worker} beyond the CPUs adds is not resolved."
        return Claim(sentences=[text, *_ridge(table, one)], answered=False, figure=figure)
    over = {row: at_once(over_expected(one, row), len(rows)) for row in rows}
    shown = [rows[0], rows[-1]] if len(rows) > 1 else rows
    scale = _scale(table, one, rows)
    adds = [_on(one, row, scale) for row in shown]
    expected = [_expected(one, row, scale) + (" expected" if row == shown[0] else "") for row in shown]
    text = ", ".join(a if NOT_RESOLVED in b else f"{a} ({b})" for a, b in zip(adds, expected, strict=True))
    where = setting(table, varying(table, one.group))
    with_ = f"with {where} " if where and len(found) > 1 else ""
    head = f"{_shared(one, over)}: {with_}each {worker} beyond the CPUs adds {text}"
    limit = list(_others(table, found)) if with_ else []
    return Claim(
        sentences=[f"{head}.", *_ridge(table, one), *limit][:3],
        matrix=_matrix(table, taken, one, rows[:MOST_ROWS], worker), figure=figure,
    )  # fmt: skip


def _others(table: Table, found: Sequence[Surface]) -> Iterator[str]:
    """What a worker adds elsewhere, on the fewest and the most CPUs; of many surfaces, where to read it."""
    if len(found) > MOST_OTHERS + 1:
        yield "The tables have the others."
        return
    told = []
    for one in found[1:]:
        rows = [row for row, slope in enumerate(one.slopes) if is_resolved(slope)]
        if rows:
            scale = _scale(table, one, rows)
            adds = [_on(one, row, scale) for row in dict.fromkeys((rows[0], rows[-1]))]
            told.append(f"with {setting(table, varying(table, one.group))}: {', '.join(adds)}")
    if told:
        text = "; ".join(told)
        yield f"{text[:1].upper()}{text[1:]}."


def _on(one: Surface, row: int, scale: Scale) -> str:
    return f"{spoken(one.slopes[row], scale, ends=False)} {scale.unit} on {cpus(one.y_levels[row])}"


def over_expected(one: Surface, row: int) -> Estimate:
    """What a worker adds over T(1)/M, with what is not known of either, each side by its own ends."""
    slope, alone, m = one.slopes[row], one.cells[row][one.x_levels.index(1)], one.y_levels[row]
    first = alone.estimate if alone else Estimate()
    if not is_resolved(slope) or not is_resolved(first):
        return Estimate()
    value = (slope.value or 0) * m / (first.value or 1)
    ends = ((slope.low, first.high), (slope.high, first.low))
    down, up = (math.hypot(_log(a, slope.value), _log(b, first.value)) for a, b in ends)
    return Estimate(value, value * math.exp(-down), value * math.exp(up), slope.confidence, slope.n)


def _log(a: float | None, b: float | None) -> float:
    return math.log((a or 1) / (b or 1))


def _shared(one: Surface, over: dict[int, Estimate]) -> str:
    """Whether CPUs are shared as theory says: only where the intervals of all rows say so at once."""
    known = [e for e in over.values() if is_resolved(e)]
    dearer = [row for row, e in over.items() if (e.low or 0) > 1 + PLAY]
    cheaper = [row for row, e in over.items() if e.high is not None and e.high < 1 - PLAY]
    if dearer or cheaper:
        names = listed([cpus(one.y_levels[row]) for row in (dearer or cheaper)[:NAMED]])
        rest = f" and {len(dearer or cheaper) - NAMED} further counts" if len(dearer or cheaper) > NAMED else ""
        return f"Sharing CPUs costs {'more' if dearer else 'less'} than theory says on {names}{rest}"
    off = max((abs(math.log(x)) for e in known for x in (e.low or 1, e.high or 1)), default=math.inf)
    if len(known) == len(over) and math.expm1(off) <= KNOWN:
        return f"CPUs are shared as theory says, within {math.ceil(100 * math.expm1(off))} %"
    return "Cannot be said whether CPUs are shared as theory says"


def _ridge(table: Table, one: Surface) -> list[str]:
    """The exception: workers that have a CPU each, and still take longer than one."""
    ridges = [(m, *one.ridge(row)) for row, m in enumerate(one.y_levels)]
    told = [(m, n, at_once(e, len(ridges))) for m, n, e in ridges if e is not None]
    slow = [(m, n, e) for m, n, e in told if (e.low or 0) > 1 + PLAY and is_resolved(e)]
    if not slow:
        return []
    m, n, e = slow[-1]
    who = f"{n} {title(table, one.x)} on {cpus(m)}"
    return [f"With a CPU each they are slower, too: {who} take {spoken(e)} times as long as one."]


def _scale(table: Table, one: Surface, rows: Sequence[int]) -> Scale:
    return scale_for(table.study.responses[one.response].unit, [one.slopes[row].value for row in rows])


def _expected(one: Surface, row: int, scale: Scale) -> str:
    cell = one.cells[row][one.x_levels.index(1)]
    alone = cell.estimate if cell else Estimate()
    return spoken(alone.scaled(1 / one.y_levels[row]), scale, ends=False)


def _matrix(table: Table, taken: Taken, one: Surface, rows: Sequence[int], worker: str) -> Matrix:
    of_group = [s for s in taken.values() if one.group.items() <= s.treatment.items()]
    disturbed = {s.treatment[one.y] for s in of_group if s.falls_back}
    made = []
    for row in rows:
        m, alone = one.y_levels[row], one.cells[row][one.x_levels.index(1)]
        doubt = "some configurations have disturbed runs only" if m in disturbed else ""
        cells = [MatrixCell(estimate=one.slopes[row], doubt=doubt)]
        cells += [MatrixCell(estimate=alone.estimate.scaled(1 / m))] if alone else []
        made.append(MatrixRow(label=str(m), cells=[*cells, MatrixCell(text=spoken(over_expected(one, row)))]))
    return Matrix(
        title=f"{title(table, one.response)} that each {worker} beyond the CPUs adds",
        unit=table.study.responses[one.response].unit, better="lower", rows_are=title(table, one.y),
        columns=["measured", "expected", "ratio"], rows=made, note="expected: that of one alone, over the CPUs",
    )  # fmt: skip
