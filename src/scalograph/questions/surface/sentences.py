"""Surfaces in words: whether each is flat up to the ridge, what one more worker adds, and who was fair."""

from collections.abc import Sequence

from scalograph.findings.names import title, where
from scalograph.findings.table import Table
from scalograph.questions.surface.document import Surface, SurfaceCell
from scalograph.questions.surface.model import one_after_another
from scalograph.text.format import estimate, significant
from scalograph.text.scale import scale_for


def surface_sentences(table: Table, found: Sequence[Surface]) -> list[str]:
    """For each surface, at its fewest and its most CPUs: whether it is flat up to the ridge, and what one more adds."""
    texts = []
    for one in found:
        for row in sorted({0, len(one.y_levels) - 1}):
            texts.append(_sentence(table, one, row))
    return [text for text in texts if text]


def _sentence(table: Table, one: Surface, row: int) -> str:
    cpus, slope, name = one.y_levels[row], one.slopes[row], title(table, one.x)
    alone = one.alone(row)
    scale = scale_for(table.study.responses[one.response].unit, [slope.value, alone and alone / cpus])
    workers, flat = one.ridge(row)
    parts = [f"{workers} {name} take {estimate(flat)} times as long as one"] if flat is not None else []
    if slope.value is not None:
        share = "" if alone is None else f" (T(1)/M: {significant(alone / cpus * scale.factor)} {scale.unit})"
        parts.append(f"each that has none to itself adds {estimate(slope, scale)} {scale.unit}{share}")
    parts += _fair(name, one.x_levels[-1], one.cells[row][-1], cpus)
    return f"{where(table, one.group)}On {cpus} CPU{'s' * (cpus > 1)}, {'; '.join(parts)}." if parts else ""


def _fair(name: str, workers: int, cell: SurfaceCell | None, cpus: int) -> list[str]:
    if cell is None or cell.fairness is None or cell.fairness.value is None:
        return []
    text = f"{workers} {name} end with a fairness of {estimate(cell.fairness)}"
    return [text + (f" (one after another: {one_after_another(workers):.3g})" if cpus == 1 else "")]
