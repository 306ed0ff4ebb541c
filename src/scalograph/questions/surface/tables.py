"""Tables of surfaces: every configuration of each, and what a further worker adds."""

from collections.abc import Sequence
from dataclasses import replace

from scalograph.analysis.estimate import Estimate
from scalograph.findings.answer import tabulate
from scalograph.findings.configuration_tables import MAX_ROWS
from scalograph.findings.table import Table
from scalograph.protocol.findings import TableDoc
from scalograph.questions.surface.document import Surface

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
    tables = []
    for index, surface in enumerate(surfaces):
        tables += [_slopes(table, surface, index), *_configurations(table, surface, index)]
    return tables


def _slopes(table: Table, surface: Surface, index: int) -> TableDoc:
    heading = f"{table.view.group_prefix(surface.group)}What one more costs ({table.view.title(surface.x)})"
    return tabulate(f"surface-{index}-slopes", heading, range(len(surface.y_levels)), [
        (table.view.title(surface.y), "label", lambda row: surface.y_levels[row]),
        ("T(M)/T(1)", "estimate",
         lambda row: surface.ridge(row)[1] or Estimate(warnings=("one CPU, or not measured",))),
        ("one more adds", "estimate", lambda row: surface.slopes[row], table.study.responses[surface.response].unit),
        ("over T(1)/M", "estimate", lambda row: _relative_slope(surface, row)),
    ], _SLOPES)  # fmt: skip


def _relative_slope(surface: Surface, row: int) -> Estimate:
    slope, alone = surface.slopes[row], surface.alone(row)
    if alone is None or not alone.value:
        return Estimate(warnings=("one worker alone was not measured",))
    value, low, high = (
        None if x is None else x * surface.y_levels[row] / alone.value for x in (slope.value, slope.low, slope.high)
    )
    return replace(slope, value=value, low=low, high=high)


def _configurations(table: Table, surface: Surface, index: int) -> list[TableDoc]:
    n_rows, x, y = len(surface.y_levels), table.view.title(surface.x), table.view.title(surface.y)
    is_whole = len(surface.x_levels) * n_rows <= MAX_ROWS
    parts = [range(n_rows)] if is_whole else [range(i, i + 1) for i in range(n_rows)]
    heading, none = f"{table.view.group_prefix(surface.group)}{x} over {y}", Estimate(warnings=("not taken here",))
    tables = []
    for part in parts:
        text = heading if len(parts) == 1 else f"{heading}, {y} {surface.y_levels[part[0]]}"
        rows = ((surface.y_levels[row], zip(surface.x_levels, surface.cells[row], strict=True)) for row in part)
        cells = [(cpus, workers, cell) for cpus, row in rows for workers, cell in row if cell]
        tables.append(tabulate(f"surface-{index}-{part[0]}", text, cells, [
            (y, "label", lambda c: c[0]), (x, "label", lambda c: c[1]),
            (table.view.title(surface.response), "estimate", lambda c: c[2].estimate,
             table.study.responses[surface.response].unit),
            ("over expected", "estimate", lambda c: c[2].deviation or none),
            ("fairness", "estimate", lambda c: c[2].fairness or none),
            ("CPUs busy", "text", lambda c: _busy(c[2].busy)),
            ("flags", "text", lambda c: c[2].flag.text if c[2].flag else ""),
        ], _NOTE))  # fmt: skip
    return tables


def _busy(shares: Sequence[float]) -> str:
    if not shares:
        return ""
    if len(shares) <= FEW_CPUS:
        return ", ".join(f"{100 * share:.0f}%" for share in shares)
    return f"{len(shares)} CPUs: {100 * min(shares):.0f} to {100 * max(shares):.0f}%"
