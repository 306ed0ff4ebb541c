"""Surfaces as figures take them: a matrix of numbers in one unit, and what is told of each under the pointer."""

from typing import Any

from scalograph.protocol.findings import Findings, Surface, SurfaceCell
from scalograph.report.axis import Factors, Levels
from scalograph.text.escape import prose, visible
from scalograph.text.format import estimate, significant
from scalograph.text.scale import Scale, scale_for

FEW_CPUS = 16  # of which each one's busy time is told under the pointer


def surfaces(findings: Findings, factors: Factors) -> list[dict[str, Any]]:
    """Every surface that has two rows or more: a single one is a curve, which is drawn already."""
    return [_surface(findings, one, factors) for one in findings.surfaces if len(one.y_levels) > 1]


def _surface(findings: Findings, one: Surface, factors: Factors) -> dict[str, Any]:
    named = next((r for r in findings.study.responses if r.name == one.response), None)
    values = [cell.estimate.value if cell else None for row in one.cells for cell in row]
    scale = scale_for(named.unit if named else "", values)
    x, y = factors[one.x], factors[one.y]
    return {
        "title": factors.treatment(one.group),
        "measure": prose(named.title if named else one.response),
        "unit": visible(scale.unit),
        "x": {"title": x.title, "levels": one.x_levels},
        "y": {"title": y.title, "levels": one.y_levels},
        "z": [[_drawn(cell, scale) for cell in row] for row in one.cells],
        "shown": [[str(estimate(cell.estimate, scale)) if cell else "" for cell in row] for row in one.cells],
        "told": [
            [_told(cell, scale, _place(x, n, y, m)) for n, cell in zip(one.x_levels, row, strict=True)]
            for m, row in zip(one.y_levels, one.cells, strict=True)
        ],
    }


def _place(x: Levels, workers: int, y: Levels, cpus: int) -> str:
    return f"{x.title}: {workers}, {y.title}: {cpus}"


def _drawn(cell: SurfaceCell | None, scale: Scale) -> float | None:
    value = cell.estimate.value if cell else None
    return None if value is None else float(f"{value * scale.factor:.6g}")


def _told(cell: SurfaceCell | None, scale: Scale, place: str) -> list[str]:
    """What is known of a treatment, line by line."""
    if cell is None:
        return []
    lines = [place, f"{estimate(cell.estimate, scale)} {scale.unit}"]
    if cell.expected is not None:
        lines.append(f"expected {significant(cell.expected * scale.factor)} {scale.unit}")
    if cell.deviation is not None:
        lines.append(f"over expected {estimate(cell.deviation)}")
    if cell.fairness is not None:
        lines.append(f"fairness of finish times {estimate(cell.fairness)}")
    if cell.busy:
        lines.append(f"CPUs busy: {_busy(cell.busy)}")
    return [visible(line) for line in lines] + ([prose(cell.flag)] if cell.flag else [])


def _busy(shares: list[float]) -> str:
    if len(shares) <= FEW_CPUS:
        return ", ".join(f"{100 * share:.0f} %" for share in shares)
    return f"{100 * min(shares):.0f} to {100 * max(shares):.0f} % of {len(shares)} CPUs"
