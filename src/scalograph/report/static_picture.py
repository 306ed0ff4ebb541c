"""A plot as a still picture: the traces and layout that the page's script draws, as SVG without script.

Drawn are lines, areas, markers, error bars, heat maps and contours (as cells), shapes, annotations, and axes that have
a range. Colors stay roles of the style sheet, so that dark and paper hold. What is told under the pointer is left out.
"""

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from scalograph.report.picture_marks import LETTER_WIDTH, PictureAxis, element, paint, shade, sign, text_lines
from scalograph.text.plots import MARGIN, MOST_LETTERS, edges, shorten_middle

SHADES = 24  # steps of color that a map is drawn in
PLACE = re.compile(r"(-?[\d.]+),(-?[\d.]+)")
DASHES = {"dot": "2 3", "dash": "6 4"}


@dataclass(frozen=True, slots=True)
class Canvas:
    """A plot of a size in pixels, and its axes."""

    width: float
    height: float
    layout: dict[str, Any]
    x: PictureAxis
    y: PictureAxis

    def pixels(self, xs: Sequence[Any], ys: Sequence[Any]) -> list[tuple[float, float] | None]:
        """Return the pixels of points; None where one has no value."""
        pairs = zip(xs, ys, strict=False)
        return [(self.x(x), self.y(y)) if self.x.has(x) and self.y.has(y) else None for x, y in pairs]

    def holds(self, point: tuple[float, float]) -> bool:
        """Return whether a pixel lies between the axes."""
        return all(abs(pixel - axis.clamp(pixel)) < 1 for axis, pixel in zip((self.x, self.y), point, strict=True))


def picture(data: Sequence[dict[str, Any]], layout: dict[str, Any], width: float, height: float) -> str:
    """Draw a plot of traces as in `protocol/figure.py`, as an unlabeled `svg`; both axes have a range."""
    margin = MARGIN | layout.get("margin", {})
    margin["r"] = min(margin["r"], 0.32 * width)
    x = PictureAxis(layout["xaxis"], margin["l"], width - margin["r"])
    y = PictureAxis(layout["yaxis"], height - margin["b"], max(margin["t"], 24))
    canvas = Canvas(width, height, layout, x, y)
    shapes = [(shape.get("layer") == "below", _shape(canvas, shape)) for shape in layout.get("shapes", [])]
    parts = [
        *_grid(canvas), *(drawn for below, drawn in shapes if below),
        *(part for trace in data for part in _trace(canvas, trace)),
        *(drawn for below, drawn in shapes if not below), *_axes(canvas), *_notes(canvas),
    ]  # fmt: skip
    box = f"0 0 {width:g} {height:g}"
    return element("svg", "".join(parts), viewBox=box, aria_hidden="true", focusable="false")


def _grid(canvas: Canvas) -> Iterator[str]:
    for axis, across in ((canvas.x, False), (canvas.y, True)):
        if axis.layout.get("showgrid", True):
            ends = (canvas.x.start, canvas.x.end) if across else (canvas.y.start, canvas.y.end)
            pixels, (a, b) = [pixel for pixel, _ in axis.ticks()], ends
            d = "".join(f"M{a:g} {p:.1f}H{b:g}" if across else f"M{p:.1f} {a:g}V{b:g}" for p in pixels)
            yield element("path", d=d, **paint("stroke", "rule"), fill="none")


def _axes(canvas: Canvas) -> Iterator[str]:
    foot = canvas.y.start
    for pixel, label in canvas.x.fitting_ticks():
        yield element("path", d=f"M{pixel:.1f} {foot:g}v4", stroke="var(--muted)")
        yield text_lines([label], pixel, foot + 17, "middle")
    for pixel, label in canvas.y.ticks():
        yield text_lines([label], canvas.x.start - 7, pixel + 4, "end")
    titles = [shorten_middle(axis.title, int(canvas.width / (size * LETTER_WIDTH)))
              for axis, size in ((canvas.x, 12), (canvas.y, 13))]  # fmt: skip
    yield text_lines(titles[:1], (canvas.x.start + canvas.x.end) / 2, foot + 36, "middle")
    yield text_lines(titles[1:], 0, 13, "start", "ink", 13)


def _trace(canvas: Canvas, trace: dict[str, Any]) -> Iterator[str]:
    if trace["type"] in ("heatmap", "contour"):
        yield from _cells(canvas, trace)
        return
    points = canvas.pixels(trace.get("x", []), trace.get("y", []))
    if trace.get("fill") == "toself":
        color = trace.get("fillcolor") or "muted/0.2"
        yield element("path", d=_path(points) + "Z", **paint("fill", color))
    if "error_y" in trace:
        bar, d = trace["error_y"], []
        for x, y, up, down in zip(trace["x"], trace["y"], bar["array"], bar["arrayminus"], strict=True):
            if y is not None and (up or down):
                d.append(f"M{canvas.x(x):.1f} {canvas.y.inside(y - down):.1f}V{canvas.y.inside(y + up):.1f}")
        yield element("path", d="".join(d), fill="none", **paint("stroke", bar["color"]), stroke_width=bar["thickness"])
    mode, pen = trace.get("mode", "lines"), trace.get("line", {})
    if "lines" in mode and pen.get("width", 1.5) > 0:
        drawn = element("path", d=_path(points), fill="none", **_pen(pen))
        if not all(canvas.holds(point) for point in points if point):
            # A nested `svg` shows nothing beyond its box.
            (left, right), (top, foot) = (sorted((axis.start, axis.end)) for axis in (canvas.x, canvas.y))
            box = {"x": left, "y": top, "width": right - left, "height": foot - top}
            drawn = element("svg", drawn, **box, viewBox=f"{left:g} {top:g} {right - left:g} {foot - top:g}")
        yield drawn
    if "markers" in mode:
        yield from _markers(points, trace.get("marker", {}))


def _path(points: Sequence[tuple[float, float] | None]) -> str:
    runs = [[point for point in run if point] for is_known, run in groupby(points, key=bool) if is_known]
    return "".join("M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in run) for run in runs)


def _pen(pen: dict[str, Any]) -> dict[str, Any]:
    dash = pen.get("dash", "solid")
    dashes = None if dash == "solid" else DASHES.get(dash, dash.replace("px", "").replace(",", " "))
    color = paint("stroke", pen.get("color", "ink"))
    return {**color, "stroke_width": pen.get("width", 1.5), "stroke_dasharray": dashes}


def _markers(points: Sequence[tuple[float, float] | None], marker: dict[str, Any]) -> Iterator[str]:
    def each(value: Any, i: int) -> Any:
        return value[i] if isinstance(value, list) else value

    edge = marker.get("line", {})
    looks: dict[tuple[Any, ...], list[str]] = {}
    for i, point in enumerate(points):
        if point:
            look = each(marker["color"], i), each(edge.get("color", "ink"), i), each(edge.get("width", 0), i)
            mark = sign(each(marker.get("symbol", "circle"), i), *point, each(marker.get("size", 6), i) / 2)
            looks.setdefault(look, []).append(mark)
    for (color, ink, width), d in looks.items():
        pen = _pen({"color": ink, "width": width} if width else {"color": "", "width": None})
        yield element("path", d="".join(d), **paint("fill", color), **pen)


def _cells(canvas: Canvas, trace: dict[str, Any]) -> Iterator[str]:
    across = [canvas.x.clamp(canvas.x(x)) for x in edges(trace["x"])]
    up = [canvas.y.clamp(canvas.y(y)) for y in edges(trace["y"])]
    values = [z for row in trace["z"] for z in row if z is not None]
    low, high = trace.get("zmin", min(values, default=0)), trace.get("zmax", max(values, default=0))
    paths: dict[int, list[str]] = {}
    for j, row in enumerate(trace["z"]):
        steps = [None if z is None else round(SHADES * min(max((z - low) / ((high - low) or 1), 0), 1)) for z in row]
        for step, run in groupby(range(len(row)), key=steps.__getitem__):
            cells = [*run]
            left, right = across[cells[0]], across[cells[-1] + 1]
            box = f"M{left:.1f} {up[j]:.1f}H{right:.1f}V{up[j + 1]:.1f}H{left:.1f}Z"
            paths.setdefault(-1 if step is None else step, []).append(box)
    paths.pop(-1, None)
    for step, d in paths.items():
        color = paint("fill", shade(trace["colorscale"], step / SHADES))
        yield element("path", d="".join(d), **color, shape_rendering="crispEdges")


def _shape(canvas: Canvas, shape: dict[str, Any]) -> str:
    if shape["type"] == "path":
        places = (f"{canvas.x(float(x)):.1f} {canvas.y(float(y)):.1f}" for x, y in PLACE.findall(shape["path"]))
        d = "M" + "L".join(places)
    else:
        (a, b), (c, e) = _ends(canvas.x, shape, "x"), _ends(canvas.y, shape, "y")
        d = f"M{a:.1f} {c:.1f}" + (f"H{b:.1f}V{e:.1f}H{a:.1f}Z" if shape["type"] == "rect" else f"L{b:.1f} {e:.1f}")
    return element("path", d=d, **paint("fill", shape.get("fillcolor", "")), **_pen(shape.get("line", {})))


def _ends(axis: PictureAxis, shape: dict[str, Any], name: str) -> tuple[float, float]:
    ends = shape[f"{name}0"], shape[f"{name}1"]
    position = axis.share if shape.get(f"{name}ref") == "paper" else axis
    if shape.get(f"{name}sizemode") == "pixel":
        start = position(shape[f"{name}anchor"])
        return start + ends[0], start + ends[1]
    return position(ends[0]), position(ends[1])


def _notes(canvas: Canvas) -> Iterator[str]:
    room = abs(canvas.x.end - canvas.x.start), abs(canvas.y.end - canvas.y.start)
    taken: set[str] = set()
    for note in canvas.layout.get("annotations", []):
        name, needed = note.get("name", ""), note.get("room", (0, 0))
        if name in taken or needed[0] > room[0] or needed[1] > room[1]:
            continue
        taken |= {name} - {""}
        yield _note(canvas, note)


def _note(canvas: Canvas, note: dict[str, Any]) -> str:
    x = (canvas.x.share if note.get("xref") == "paper" else canvas.x.linear)(note["x"]) + note.get("xshift", 0)
    y = (canvas.y.share if note.get("yref") == "paper" else canvas.y.linear)(note["y"]) - note.get("yshift", 0)
    font = note.get("font", {})
    size = font.get("size", 12)
    room = int((canvas.width - x) / (size * LETTER_WIDTH)) if note.get("xanchor") == "left" else MOST_LETTERS
    lines = [shorten_middle(html.unescape(text), room) for text in note["text"].split("<br>")]
    more, edge = len(lines) - 1, note.get("yanchor", "")
    y += {"top": size, "bottom": -4 - 1.3 * size * more}.get(edge, size * (0.35 - 0.65 * more))
    anchor = {"left": "start", "right": "end"}.get(note.get("xanchor", ""), "middle")
    return text_lines(lines, x, y, anchor, font.get("color", "muted"), size)
