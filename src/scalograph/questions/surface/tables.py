"""Tables of surfaces: every configuration of each, and what a further worker adds."""

from collections.abc import Sequence
from dataclasses import replace

from scalograph.analysis.estimate import Estimate
from scalograph.findings.configuration_tables import MAX_ROWS
from scalograph.findings.table import Table
from scalograph.protocol.findings import Cell, Column, TableDoc
from scalograph.questions.surface.document import Surface, SurfaceCell

FEW_CPUS = 8  # of which each CPU's busy time fits in a cell
_NOTE = (
    "expected: T(1) max(1, N/M) of N workers on M CPUs, T(1) on the same CPUs; fairness: Jain's index of the workers' "
    "finish times, 1 where all finish together, near 0.75 for many that run one after another; CPUs busy: "
    "share of the run for which each CPU ran the workers"
)
_SLOPES = (
    "T(M)/T(1): the most workers that all have a CPU against one, 1 where the surface is flat; one more adds: "
    "Theil-Sen slope over the runs with as many workers as CPUs or more; over T(1)/M: T(1) taken as known"
)


def surface_tables(table: Table, surfaces: Sequence[Surface]) -> list[TableDoc]:
    """Tabulate every configuration of each surface, by CPUs where they are many, and the slopes."""
    tables = []
    for index, surface in enumerate(surfaces):
        tables += [_slopes(table, surface, index), *_configurations(table, surface, index)]
    return tables


def _slopes(table: Table, surface: Surface, index: int) -> TableDoc:
    unit = table.study.responses[surface.response].unit
    columns = [Column(name=table.view.title(surface.y), kind="label"), Column(name="T(M)/T(1)", kind="estimate")]
    columns += [Column(name="one more adds", unit=unit, kind="estimate"), Column(name="over T(1)/M", kind="estimate")]
    rows: list[list[Cell]] = []
    for row, cpus in enumerate(surface.y_levels):
        slope, alone, (_, flat) = surface.slopes[row], surface.alone(row), surface.ridge(row)
        over = Estimate(warnings=("one worker alone was not measured",))
        if alone:
            value, low, high = (None if x is None else x * cpus / alone for x in (slope.value, slope.low, slope.high))
            over = replace(slope, value=value, low=low, high=high)
        rows.append([cpus, flat or Estimate(warnings=("one CPU, or not measured",)), slope, over])
    heading = f"{table.view.group_prefix(surface.group)}What one more costs ({table.view.title(surface.x)})"
    return TableDoc(id=f"surface-{index}-slopes", title=heading, note=_SLOPES, columns=columns, rows=rows)


def _configurations(table: Table, surface: Surface, index: int) -> list[TableDoc]:
    n_rows = len(surface.y_levels)
    is_whole = len(surface.x_levels) * n_rows <= MAX_ROWS
    parts = [range(n_rows)] if is_whole else [range(i, i + 1) for i in range(n_rows)]
    unit = table.study.responses[surface.response].unit
    columns = [Column(name=table.view.title(name), kind="label") for name in (surface.y, surface.x)]
    columns += [
        Column(name=table.view.title(surface.response), unit=unit, kind="estimate"),
        Column(name="over expected", kind="estimate"), Column(name="fairness", kind="estimate"),
        Column(name="CPUs busy", kind="text"), Column(name="flags", kind="text"),
    ]  # fmt: skip
    heading = (
        f"{table.view.group_prefix(surface.group)}{table.view.title(surface.x)} over {table.view.title(surface.y)}"
    )
    tables = []
    for part in parts:
        text = heading if len(parts) == 1 else f"{heading}, {table.view.title(surface.y)} {surface.y_levels[part[0]]}"
        cells = [(row, x, cell) for row in part for x, cell in zip(surface.x_levels, surface.cells[row], strict=True)]
        rows = [_line(surface, row, x, cell) for row, x, cell in cells if cell]
        tables.append(TableDoc(id=f"surface-{index}-{part[0]}", note=_NOTE, columns=columns, title=text, rows=rows))
    return tables


def _line(surface: Surface, row: int, workers: int, cell: SurfaceCell) -> list[Cell]:
    none = Estimate(warnings=("not taken here",))
    estimates = [cell.estimate, cell.deviation or none, cell.fairness or none]
    return [surface.y_levels[row], workers, *estimates, _busy(cell.busy), cell.flag.text if cell.flag else ""]


def _busy(shares: Sequence[float]) -> str:
    if not shares:
        return ""
    if len(shares) <= FEW_CPUS:
        return ", ".join(f"{100 * share:.0f}%" for share in shares)
    return f"{len(shares)} CPUs: {100 * min(shares):.0f} to {100 * max(shares):.0f}%"
