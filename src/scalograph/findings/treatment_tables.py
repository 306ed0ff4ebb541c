"""The tables that people read: each treatment as published (wall, CPU time, scaling factor), and pivots on request."""

from collections.abc import Mapping, Sequence

from scalograph.analysis.estimate import Estimate, in_words
from scalograph.findings.curves import estimated, key
from scalograph.findings.names import curve_factor, setting, title, varied
from scalograph.findings.sample import Sample
from scalograph.findings.speedup_rule import formula, primary
from scalograph.findings.table import Table
from scalograph.findings.visible_effect import Visible
from scalograph.protocol.findings import Cell, Column, Curve, Point, TableDoc
from scalograph.protocol.plain import Level
from scalograph.study.model import ReportTable

MAX_ROWS = 80  # of one table: past that it is divided by a further factor


def treatment_tables(
    table: Table, curves: Sequence[Curve], taken: Mapping[tuple[Level, ...], Sample], visible: Visible
) -> list[TableDoc]:
    """A row for each treatment; divided by as many factors as keep a table readable."""
    factor = curve_factor(table)
    dividers = _dividers(table, factor)
    parts: dict[tuple[Level, ...], list[Curve]] = {}
    for curve in curves:
        parts.setdefault(tuple(curve.group[name] for name in dividers), []).append(curve)
    found = []
    for levels, part in parts.items():
        doc = _part(table, factor, dict(zip(dividers, levels, strict=True)), part)
        shown = [taken[key(table, curve, point)] for curve in part for point in curve.points]
        found.append(visible.beside(doc, shown, primary(table)))
    return found


def _dividers(table: Table, factor: str) -> list[str]:
    """Fewest factors, those with fewest levels first, that bring every table to at most `MAX_ROWS` rows."""
    counts = {name: len({t[name] for t in table.treatments}) for name in varied(table) if name != factor}
    dividers: list[str] = []
    n_rows = len(table.treatments)
    for name in sorted(counts, key=lambda name: counts[name])[: max(0, len(counts) - 1)]:
        if n_rows <= MAX_ROWS // 2:
            break
        dividers.append(name)
        n_rows //= counts[name]
    return [name for name in table.study.factors if name in dividers]


def _part(table: Table, factor: str, fixed: Mapping[str, Level], curves: Sequence[Curve]) -> TableDoc:
    shown = [name for name in varied(table) if name != factor and name not in fixed]
    has_speedup = any(point.speedup for curve in curves for point in curve.points)
    columns = [
        Column(name=title(table, name), unit=table.study.factors[name].unit, kind="label") for name in [*shown, factor]
    ]
    columns += [
        Column(name=title(table, n), unit=table.study.responses[n].unit, kind="estimate") for n in judged(table)
    ]
    if has_speedup:
        columns += [Column(name="scaling factor", kind="estimate"), Column(name="efficiency", kind="estimate")]
    columns += [Column(name="runs"), Column(name="flags", kind="text")]
    rows = [_row(table, curve, point, shown, has_speedup) for curve in curves for point in curve.points]
    where = setting(table, fixed)
    name = "-".join(str(level) for level in fixed.values())
    heading = f"Configurations with {where}" if where else "Configurations"
    return TableDoc(
        id=f"treatments-{name}" if name else "treatments",
        title=heading,
        note=formula(table, factor),
        columns=columns,
        rows=rows,
    )


def judged(table: Table) -> list[str]:
    """Responses with a direction; the others are diagnostics, kept in the findings and the export."""
    names = [name for name, response in table.study.responses.items() if response.better != "none"]
    return names or list(table.study.responses)


def _row(table: Table, curve: Curve, point: Point, shown: Sequence[str], has_speedup: bool) -> list[Cell]:
    cells: list[Cell] = [curve.group[name] for name in shown] + [point.level]
    cells += [_cell(point.responses[name].estimate) for name in judged(table)]
    if has_speedup:
        cells += [_cell(point.speedup), _cell(point.efficiency)]
    n_runs = max((len(r.scores) for r in point.responses.values()), default=0)
    return [*cells, n_runs, in_words(point.flags)]


def _cell(estimate: Estimate | None) -> Cell:
    return estimate or Estimate(warnings=("not taken here",))


def declared_tables(
    table: Table, taken: Mapping[tuple[Level, ...], Sample], curves: Sequence[Curve], visible: Visible
) -> list[TableDoc]:
    """The pivots that the study asks for."""
    gains = {key(table, curve, point): point.speedup for curve in curves for point in curve.points}
    found = []
    for index, wish in enumerate(table.study.tables):
        chosen = {k: s for k, s in taken.items() if wish.where.items() <= s.treatment.items()}
        first = next((name for name in wish.responses if name in table.study.responses), primary(table))
        found.append(visible.beside(_pivot(table, chosen, gains, index, wish), chosen.values(), first))
    return found


# A column of a pivot: a level of the factor that runs across (None where none does), and a response.
_Head = tuple[Level | None, str]


def _pivot(
    table: Table,
    chosen: Mapping[tuple[Level, ...], Sample],
    gains: Mapping[tuple[Level, ...], Estimate | None],
    index: int,
    wish: ReportTable,
) -> TableDoc:
    rows, levels = _levels(table, wish.rows, chosen), _levels(table, wish.columns, chosen) if wish.columns else [None]
    heads: list[_Head] = [(level, response) for response in wish.responses for level in levels]
    columns = [Column(name=title(table, wish.rows), unit=table.study.factors[wish.rows].unit, kind="label")]
    columns += [_head(table, wish, head) for head in heads]
    places: dict[tuple[Level, Level | None], list[tuple[Level, ...]]] = {}
    for treatment, sample in chosen.items():
        column = sample.treatment[wish.columns] if wish.columns else None
        places.setdefault((sample.treatment[wish.rows], column), []).append(treatment)
    cells = [
        [row, *(_pivot_cell(table, chosen, gains, name, places.get((row, level), [])) for level, name in heads)]
        for row in rows
    ]
    return TableDoc(id=f"declared-{index}", title=wish.title, columns=columns, rows=cells)


def _head(table: Table, wish: ReportTable, head: _Head) -> Column:
    level, response = head
    unit = table.study.responses[response].unit if response in table.study.responses else ""
    if wish.columns is None or level is None:
        return Column(name=title(table, response), unit=unit, kind="estimate")
    return Column(name=setting(table, {wish.columns: level}), unit=unit, kind="estimate")


def _levels(table: Table, name: str, chosen: Mapping[tuple[Level, ...], Sample]) -> list[Level]:
    present = {sample.treatment[name] for sample in chosen.values()}
    return [level for level in table.study.factors[name].levels if level in present]


def _pivot_cell(
    table: Table,
    taken: Mapping[tuple[Level, ...], Sample],
    gains: Mapping[tuple[Level, ...], Estimate | None],
    response: str,
    here: Sequence[tuple[Level, ...]],
) -> Cell:
    if len(here) != 1:
        need = f"need one configuration here, have {len(here)}: fix the other factors with `where`"
        return Estimate(warnings=(need,))
    (only,) = here
    if response == "speedup":
        return _cell(gains.get(only))
    return _cell(estimated(table, taken[only], response))
