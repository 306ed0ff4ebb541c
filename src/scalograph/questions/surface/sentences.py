"""Surfaces before people: a table of every treatment, one of what a further worker adds, and sentences."""

from collections.abc import Sequence
from dataclasses import replace

from scalograph.analysis.estimate import Estimate
from scalograph.findings.names import setting, title, varying
from scalograph.findings.table import Table
from scalograph.findings.treatment_tables import MAX_ROWS
from scalograph.protocol.findings import Cell, Column, Surface, SurfaceCell, TableDoc
from scalograph.questions.surface.model import one_after_another
from scalograph.text.format import estimate, significant
from scalograph.text.scale import scale_for

FEW_CPUS = 8  # of which each CPU's busy time fits in a cell
_NOTE = (
    "expected: T(1) max(1, N/M) of N workers on M CPUs, T(1) on the same CPUs; fairness: Jain's index of the workers' "
    "finish times, 1 where all finish together; CPUs busy: share of the run for which each CPU ran the workers"
)
_SLOPES = (
    "T(M)/T(1): the most workers that all have a CPU against one, 1 where the surface is flat; one more adds: "
    "Theil-Sen slope over the runs with as many workers as CPUs or more; over T(1)/M: T(1) taken as known"
)


def surface_tables(table: Table, found: Sequence[Surface]) -> list[TableDoc]:
    """Of each surface every treatment, divided by CPUs where they are many; and what a further worker adds."""
    made = []
    for index, one in enumerate(found):
        made += [_slopes(table, one, index), *_treatments(table, one, index)]
    return made


def surface_sentences(table: Table, found: Sequence[Surface]) -> list[str]:
    """For each surface, at its fewest and its most CPUs: whether it is flat up to the ridge, and what one more adds."""
    texts = []
    for one in found:
        for row in sorted({0, len(one.y_levels) - 1}):
            texts.append(_sentence(table, one, row))
    return [text for text in texts if text]


def ridge(one: Surface, row: int) -> tuple[int, Estimate | None]:
    """The most workers that have a CPU each, and their time over that of one, where there are two or more."""
    workers, cell = max(
        (found for found in zip(one.x_levels, one.cells[row], strict=True) if found[0] <= one.y_levels[row]),
        key=lambda found: found[0],
        default=(0, None),
    )
    return workers, cell.deviation if cell else None


def _where(table: Table, one: Surface) -> str:
    named = setting(table, varying(table, one.group))
    return f"{named}: " if named else ""


def _sentence(table: Table, one: Surface, row: int) -> str:
    cpus, slope, name = one.y_levels[row], one.slopes[row], title(table, one.x)
    alone = _alone(one, row)
    scale = scale_for(table.study.responses[one.response].unit, [slope.value, alone and alone / cpus])
    workers, flat = ridge(one, row)
    parts = [f"{workers} {name} take {estimate(flat)} times as long as one"] if flat is not None else []
    if slope.value is not None:
        share = "" if alone is None else f" (T(1)/M: {significant(alone / cpus * scale.factor)} {scale.unit})"
        parts.append(f"each that has none to itself adds {estimate(slope, scale)} {scale.unit}{share}")
    parts += _fair(name, one.x_levels[-1], one.cells[row][-1], cpus)
    return f"{_where(table, one)}On {cpus} CPU{'s' * (cpus > 1)}, {'; '.join(parts)}." if parts else ""


def _fair(name: str, workers: int, cell: SurfaceCell | None, cpus: int) -> list[str]:
    if cell is None or cell.fairness is None or cell.fairness.value is None:
        return []
    text = f"{workers} {name} end with a fairness of {estimate(cell.fairness)}"
    return [text + (f" (one after another: {one_after_another(workers):.3g})" if cpus == 1 else "")]


def _alone(one: Surface, row: int) -> float | None:
    cell = one.cells[row][one.x_levels.index(1)] if 1 in one.x_levels else None
    return cell.estimate.value if cell else None


def _slopes(table: Table, one: Surface, index: int) -> TableDoc:
    unit = table.study.responses[one.response].unit
    columns = [Column(name=title(table, one.y), kind="label"), Column(name="T(M)/T(1)", kind="estimate")]
    columns += [Column(name="one more adds", unit=unit, kind="estimate"), Column(name="over T(1)/M", kind="estimate")]
    rows: list[list[Cell]] = []
    for row, cpus in enumerate(one.y_levels):
        over = _over(one.slopes[row], _alone(one, row), cpus)
        _, flat = ridge(one, row)
        figures = [flat or Estimate(warnings=("one CPU, or not measured",)), one.slopes[row], over]
        rows.append([cpus, *figures])
    return TableDoc(
        id=f"surface-{index}-slopes", title=f"{_where(table, one)}What one more costs ({title(table, one.x)})",
        note=_SLOPES, columns=columns, rows=rows,
    )  # fmt: skip


def _over(slope: Estimate, alone: float | None, cpus: int) -> Estimate:
    if not alone:
        return Estimate(warnings=("one worker alone was not measured",))
    value, low, high = (None if x is None else x * cpus / alone for x in (slope.value, slope.low, slope.high))
    return replace(slope, value=value, low=low, high=high)


def _treatments(table: Table, one: Surface, index: int) -> list[TableDoc]:
    n_cells = len(one.x_levels) * len(one.y_levels)
    parts = [range(len(one.y_levels))] if n_cells <= MAX_ROWS else [range(i, i + 1) for i in range(len(one.y_levels))]
    unit = table.study.responses[one.response].unit
    columns = [Column(name=title(table, name), kind="label") for name in (one.y, one.x)]
    columns += [
        Column(name=title(table, one.response), unit=unit, kind="estimate"),
        Column(name="over expected", kind="estimate"), Column(name="fairness", kind="estimate"),
        Column(name="CPUs busy", kind="text"), Column(name="flags", kind="text"),
    ]  # fmt: skip
    heading = f"{_where(table, one)}{title(table, one.x)} over {title(table, one.y)}"
    return [
        TableDoc(
            id=f"surface-{index}-{part[0]}", note=_NOTE, columns=columns,
            title=heading if len(parts) == 1 else f"{heading}, {title(table, one.y)} {one.y_levels[part[0]]}",
            rows=[
                _line(one, row, x, cell)
                for row in part
                for x, cell in zip(one.x_levels, one.cells[row], strict=True)
                if cell
            ],
        )
        for part in parts
    ]  # fmt: skip


def _line(one: Surface, row: int, workers: int, cell: SurfaceCell) -> list[Cell]:
    none = Estimate(warnings=("not taken here",))
    figures = [cell.estimate, cell.deviation or none, cell.fairness or none]
    return [one.y_levels[row], workers, *figures, _busy(cell.busy), cell.flag]


def _busy(shares: Sequence[float]) -> str:
    if not shares:
        return ""
    if len(shares) <= FEW_CPUS:
        return ", ".join(f"{100 * share:.0f} %" for share in shares)
    return f"{len(shares)} CPUs: {100 * min(shares):.0f} to {100 * max(shares):.0f} %"
