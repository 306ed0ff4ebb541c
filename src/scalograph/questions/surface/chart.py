"""Charts of surfaces: a map of every configuration, and lines of equal time."""

from typing import Any

from scalograph.protocol.figure import Details, Figure, Plot, TextTable, View
from scalograph.protocol.findings import Findings
from scalograph.questions.surface.document import Surface, SurfaceCell, Surfaces
from scalograph.text.axes import Factors, Levels
from scalograph.text.escape import escape_controls, one_line
from scalograph.text.format import DASH, estimate, significant
from scalograph.text.plots import MARGIN, axis, axis_ticks, hover, mix_color
from scalograph.text.scale import Scale, scale_for

FEW_CPUS = 16  # of which each one's busy time is told under the pointer
FLAT = "Outlined: a CPU for each. Diamonds: as many as there are CPUs."
LINES = "Along a line the time is the same; axes to scale."
FEW_ROWS = 4  # of fewer, lines of equal time would run through values that were never measured
# Colors run from nearly the page's own to a part of the first line's, so that labels stay readable on them.
SHADES = [[0, mix_color("line-0", 0.06)], [1, mix_color("line-0", 0.72)]]
BAR = {"thickness": 8, "outlinewidth": 0, "tickfont": {"color": "muted", "size": 11}, "nticks": 6}


def figures(findings: Findings) -> list[Figure]:
    """Draw every surface of two rows or more: a single one is a curve, which is drawn already."""
    part = findings.document("surface", Surfaces)
    drawn = [surface for surface in part.surfaces if len(surface.y_levels) > 1] if part else []
    if not drawn:
        return []
    first, factors = drawn[0], Factors(findings)
    named = next((r for r in findings.study.responses if r.name == first.response), None)
    cells = (cell for surface in drawn for row in surface.cells for cell in row)
    scale = scale_for(named.unit if named else "", [cell.estimate.value for cell in cells if cell])
    measure = one_line(named.title if named else first.response)
    title = f"{measure} over {factors[first.x].title} and {factors[first.y].title}"
    views = [_view(surface, scale, measure, factors) for surface in drawn]
    return [Figure("surfaces", title, FLAT, views, unit=escape_controls(scale.unit), choice="Surface")]


def _view(surface: Surface, scale: Scale, measure: str, factors: Factors) -> View:
    x, y, group = factors[surface.x], factors[surface.y], factors.group(surface.group)
    z = [[_height(cell, scale) for cell in row] for row in surface.cells]
    texts = []
    for m, row in zip(surface.y_levels, surface.cells, strict=True):
        heads = [f"{x.title}: {n}, {y.title}: {m}" for n in surface.x_levels]
        texts.append([hover(_hover_lines(cell, scale, head)) for head, cell in zip(heads, row, strict=True)])
    over = f"of {measure} over {x.title} and {y.title}; numbers are in the table below the chart"
    cells = {"z": z, "colorscale": SHADES, "hoverinfo": "text", "text": texts, "colorbar": BAR}
    plots = [Plot(f"map {over}", *_map(surface, cells, x, y), title="Map", size="large")]
    if len(surface.y_levels) >= FEW_ROWS:
        lines, heading = _lines(surface, cells, x, y), "Lines of equal time"
        plots.append(Plot(f"lines of equal time {over}", *lines, title=heading, key=LINES, size="large"))
    note = f"All with {group}." if group else ""
    return View(plots, name=group, note=note, details=[_table(surface, scale, measure, x, y)])


def _map(surface: Surface, cells: dict[str, Any], x: Levels, y: Levels) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    columns, rows = list(range(len(surface.x_levels))), list(range(len(surface.y_levels)))
    colors = {"type": "heatmap", "x": columns, "y": rows, "xgap": 1, "ygap": 1, "hoverongaps": False, **cells}
    ridge = [(surface.x_levels.index(m), row) for row, m in enumerate(surface.y_levels) if m in surface.x_levels]
    marks = {
        "type": "scatter", "mode": "markers", "x": [column for column, _ in ridge], "y": [row for _, row in ridge],
        "marker": {"symbol": "diamond", "size": 7, "color": "ink"}, "hoverinfo": "skip",
    }  # fmt: skip
    return [colors, marks], {
        "margin": MARGIN, "shapes": [_flat_cells(surface)],
        "xaxis": axis(x.title, (-0.5, len(columns) - 0.5), **axis_ticks(columns, [*map(str, surface.x_levels)])),
        "yaxis": axis(y.title, (-0.5, len(rows) - 0.5), **axis_ticks(rows, [*map(str, surface.y_levels)])),
    }  # fmt: skip


def _flat_cells(surface: Surface) -> dict[str, Any]:
    ends = [sum(n <= m for n in surface.x_levels) - 0.5 for m in surface.y_levels]
    steps = "".join(f"L{end},{row - 0.5}L{end},{row + 0.5}" for row, end in enumerate(ends))
    path = f"M-0.5,-0.5{steps}L-0.5,{len(ends) - 0.5}Z"
    return {"type": "path", "path": path, "line": {"color": "ink", "width": 1.6}}


def _lines(
    surface: Surface, cells: dict[str, Any], x: Levels, y: Levels
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    contours = {"coloring": "heatmap", "showlabels": True, "labelfont": {"color": "ink", "size": 11}}
    style = {"connectgaps": True, "ncontours": 12, "line": {"color": "muted", "width": 1}, "contours": contours}
    first, foot = surface.x_levels[0], max(surface.x_levels[0], surface.y_levels[0])
    top = min(surface.x_levels[-1], surface.y_levels[-1])
    path = f"M{first},{foot}L{top},{top}L{first},{top}Z"
    flat = {"type": "path", "path": path, "line": {"color": "ink", "width": 1.6}}
    dashed = {"color": "ink", "width": 2.4, "dash": "4px,4px"}
    ridge = {"type": "line", "x0": foot, "y0": foot, "x1": top, "y1": top, "line": dashed}
    trace = {"type": "contour", "x": surface.x_levels, "y": surface.y_levels, **style, **cells}
    layout = {"xaxis": _linear_axis(x.title, surface.x_levels), "yaxis": _linear_axis(y.title, surface.y_levels)}
    return [trace], {"margin": MARGIN, "shapes": [flat, ridge], **layout}


def _linear_axis(title: str, levels: list[int]) -> dict[str, Any]:
    spare = 0.03 * (levels[-1] - levels[0] or 1)
    return axis(title, (levels[0] - spare, levels[-1] + spare), **axis_ticks(levels, [*map(str, levels)]))


def _table(surface: Surface, scale: Scale, measure: str, x: Levels, y: Levels) -> Details:
    title = f"{measure} over {x.title} and {y.title}{f' ({escape_controls(scale.unit)})' if scale.unit else ''}"
    columns = [[str(estimate(cell.estimate, scale)) if cell else DASH for cell in row] for row in surface.cells]
    rows = [[str(n), *cells] for n, *cells in zip(surface.x_levels, *columns, strict=True)]
    head = [x.title, *(f"{y.title} {m}" for m in surface.y_levels)]
    return Details("These numbers as a table", [TextTable(title, head, rows)])


def _height(cell: SurfaceCell | None, scale: Scale) -> float | None:
    value = cell.estimate.value if cell else None
    return None if value is None else float(f"{value * scale.factor:.6g}")


def _hover_lines(cell: SurfaceCell | None, scale: Scale, heading: str) -> list[str]:
    if cell is None:
        return []
    lines = [heading, f"{estimate(cell.estimate, scale)} {scale.unit}"]
    if cell.expected is not None:
        lines.append(f"expected {significant(cell.expected * scale.factor)} {scale.unit}")
    if cell.deviation is not None:
        lines.append(f"over expected {estimate(cell.deviation)}")
    if cell.fairness is not None:
        lines.append(f"fairness of finish times {estimate(cell.fairness)}")
    if cell.busy:
        lines.append(f"CPUs busy: {_busy(cell.busy)}")
    return [escape_controls(line) for line in lines] + ([one_line(cell.flag.text)] if cell.flag else [])


def _busy(shares: list[float]) -> str:
    if len(shares) <= FEW_CPUS:
        return ", ".join(f"{100 * share:.0f}%" for share in shares)
    return f"{100 * min(shares):.0f} to {100 * max(shares):.0f}% of {len(shares)} CPUs"
