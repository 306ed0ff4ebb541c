"""Surfaces in tables: every configuration of each, and what a further worker adds."""

from collections.abc import Sequence
from dataclasses import replace

from scalograph.analysis.estimate import Estimate
from scalograph.findings.configuration_tables import MAX_ROWS
from scalograph.findings.names import group_prefix, title
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
    """Of each surface every configuration, divided by CPUs where they are many; and what a further worker adds."""
    tables = []
    for index, surface in enumerate(surfaces):
        tables += [_slopes(table, surface, index), *_configurations(table, surface, index)]
    return tables


def _slopes(table: Table, surface: Surface, index: int) -> TableDoc:
    unit = table.study.responses[surface.response].unit
    columns = [Column(name=title(table, surface.y), kind="label"), Column(name="T(M)/T(1)", kind="estimate")]
    columns += [Column(name="one more adds", unit=unit, kind="estimate"), Column(name="over T(1)/M", kind="estimate")]
    rows: list[list[Cell]] = []
    for row, cpus in enumerate(surface.y_levels):
        over = _slope_ratio(surface.slopes[row], surface.alone(row), cpus)
        _, flat = surface.ridge(row)
        figures = [flat or Estimate(warnings=("one CPU, or not measured",)), surface.slopes[row], over]
        rows.append([cpus, *figures])
    return TableDoc(
        id=f"surface-{index}-slopes", title=f"{group_prefix(table, surface.group)}What one more costs ({title(table, surface.x)})",
        note=_SLOPES, columns=columns, rows=rows,
    )  # fmt: skip


def _slope_ratio(slope: Estimate, alone: float | None, cpus: int) -> Estimate:
    if not alone:
        return Estimate(warnings=("one worker alone was not measured",))
    value, low, high = (None if x is None else x * cpus / alone for x in (slope.value, slope.low, slope.high))
    return replace(slope, value=value, low=low, high=high)


def _configurations(table: Table, surface: Surface, index: int) -> list[TableDoc]:
    n_cells = len(surface.x_levels) * len(surface.y_levels)
    parts = (
        [range(len(surface.y_levels))]
        if n_cells <= MAX_ROWS
        else [range(i, i + 1) for i in range(len(surface.y_levels))]
    )
    unit = table.study.responses[surface.response].unit
    columns = [Column(name=title(table, name), kind="label") for name in (surface.y, surface.x)]
    columns += [
        Column(name=title(table, surface.response), unit=unit, kind="estimate"),
        Column(name="over expected", kind="estimate"), Column(name="fairness", kind="estimate"),
        Column(name="CPUs busy", kind="text"), Column(name="flags", kind="text"),
    ]  # fmt: skip
    heading = f"{group_prefix(table, surface.group)}{title(table, surface.x)} over {title(table, surface.y)}"
    return [
        TableDoc(
            id=f"surface-{index}-{part[0]}", note=_NOTE, columns=columns,
            title=heading if len(parts) == 1 else f"{heading}, {title(table, surface.y)} {surface.y_levels[part[0]]}",
            rows=[
                _line(surface, row, x, cell)
                for row in part
                for x, cell in zip(surface.x_levels, surface.cells[row], strict=True)
                if cell
            ],
        )
        for part in parts
    ]  # fmt: skip


def _line(surface: Surface, row: int, workers: int, cell: SurfaceCell) -> list[Cell]:
    none = Estimate(warnings=("not taken here",))
    figures = [cell.estimate, cell.deviation or none, cell.fairness or none]
    return [surface.y_levels[row], workers, *figures, _busy(cell.busy), cell.flag.text if cell.flag else ""]


def _busy(shares: Sequence[float]) -> str:
    if not shares:
        return ""
    if len(shares) <= FEW_CPUS:
        return ", ".join(f"{100 * share:.0f} %" for share in shares)
    return f"{len(shares)} CPUs: {100 * min(shares):.0f} to {100 * max(shares):.0f} %"
