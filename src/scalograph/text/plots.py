"""Pieces of charts that questions and the report share: lines, areas, axes, texts, colors by role."""

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

from scalograph.text.format import number

COLORS = 8  # lines with a color each; beyond, dash and marker distinguish them
MANY_POINTS = 60  # lines of more points have no markers
MOST_LETTERS = 90  # of a line of text under the pointer, or of a name in a chart
SPARE = 0.5  # share of the height of a chart by which intervals may extend it
MARGIN = {"l": 54, "r": 10, "t": 8, "b": 42}

Span = tuple[float, float]


def fade_color(color: str, share: float) -> str:
    """Return a color with an opacity.

    >>> fade_color("line-0", 0.25)
    'line-0/0.25'
    """
    return f"{color}/{share:.3g}"


def mix_color(color: str, share: float) -> str:
    """Return a share of a color mixed into the background.

    >>> mix_color("line-0", 0.6)
    'line-0~0.6'
    """
    return f"{color}~{share:.3g}"


def escape_markup(text: str) -> str:
    """Escape markup that plotly would read.

    >>> escape_markup("<b>")
    '&lt;b&gt;'
    """
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def hover(lines: Iterable[str]) -> str:
    """Join the non-empty lines shown under the pointer.

    >>> hover(["a < b", "", "c"])
    'a &lt; b<br>c'
    """
    return "<br>".join(escape_markup(shorten_middle(line, MOST_LETTERS)) for line in lines if line)


def mode(n: int, is_ordered: bool) -> str:
    """Choose how a line of n points is drawn; levels without an order are not joined.

    >>> mode(3, True), mode(100, True), mode(3, False)
    ('lines+markers', 'lines', 'markers')
    """
    return "markers" if not is_ordered else "lines" if n > MANY_POINTS else "lines+markers"


def shorten_middle(text: str, letters: int) -> str:
    """Cut a text in its middle to a number of letters.

    >>> shorten_middle("abcdefg", 4)
    'a…fg'
    """
    head = max(letters - 1, 2) // 2
    tail = max(letters - 1, 2) - head
    return text if len(text) <= letters else f"{text[:head]}\N{HORIZONTAL ELLIPSIS}{text[-tail:]}"


def line(x: Sequence[float | None], y: Sequence[float | None], color: str, width: float, **more: Any) -> dict[str, Any]:
    """Make a line, without text under the pointer unless `more` has one."""
    style = {"color": color, "width": width} | more.pop("style", {})
    return {"type": "scatter", "mode": "lines", "x": x, "y": y, "line": style, "hoverinfo": "skip"} | more


def split_hollow(trace: dict[str, Any], is_open: Sequence[bool]) -> list[dict[str, Any]]:
    """Split a line with markers: joined points, and those that are inconclusive, hollow and unjoined."""
    if not any(is_open):
        return [trace]
    ys = [[y if each is side else None for y, each in zip(trace["y"], is_open, strict=True)] for side in (False, True)]
    edge = {"color": trace["marker"]["color"], "width": 1.4}
    hollow = {"y": ys[1], "mode": "markers", "marker": trace["marker"] | {"color": "paper", "line": edge}}
    return [trace | {"y": ys[0]}, trace | hollow]


def area(x: Sequence[float], low: Sequence[float], high: Sequence[float], color: str) -> dict[str, Any]:
    """Make the filled area between two lines."""
    return outline([*x, *reversed(x)], [*high, *reversed(low)], fillcolor=color)


def outline(x: Sequence[float], y: Sequence[float], **fill: Any) -> dict[str, Any]:
    """Make the filled area within an outline."""
    return line(x, y, "ink", 0, fill="toself", style={"width": 0}, **fill)


def axis(title: str, span: Sequence[float], **more: Any) -> dict[str, Any]:
    """Make an axis without a grid."""
    return {"title": {"text": title}, "range": list(span), "showgrid": False} | more


def outside_ticks(**more: Any) -> dict[str, Any]:
    """Give an axis short marks at its ticks."""
    return {"ticks": "outside", "ticklen": 4, "tickcolor": "muted"} | more


def axis_ticks(places: Sequence[float], labels: Sequence[str]) -> dict[str, Any]:
    return {"tickmode": "array", "tickvals": list(places), "ticktext": list(labels)}


def edges(places: Sequence[float]) -> list[float]:
    """Return the edges between rows at these positions.

    >>> edges([1, 2, 4]), edges([3])
    ([0.5, 1.5, 3.0, 5.0], [2.5, 3.5])
    """
    inner = [(a + b) / 2 for a, b in pairwise(places)]
    if not inner:
        return [places[0] - 0.5, places[0] + 0.5]
    return [2 * places[0] - inner[0], *inner, 2 * places[-1] - inner[-1]]


def log_range(core: Iterable[float], whole: Iterable[float]) -> Span:
    """Return the range of a logarithmic axis: `core` is inside, the rest may leave the frame.

    >>> log_range([1, 4], [0.001, 5])
    (0.5, 5.0)
    """
    must, may = [math.log(y) for y in core], [math.log(y) for y in whole if y > 0]
    low, high = min(must), max(must)
    spare = SPARE * (high - low) or 1.0
    ends = max(min([low, *may]), low - spare), min(max([high, *may]), high + spare)
    return float(f"{math.exp(ends[0]):.7g}"), float(f"{math.exp(ends[1]):.7g}")  # nanoseconds are no zero


def decades(low: float, high: float) -> dict[str, Any]:
    """Make a logarithmic axis with as many labels in a decade as its length has room for.

    >>> decades(0.9, 12)["ticktext"]
    ['0.1', '0.2', '0.5', '1', '2', '5', '10', '20', '50', '100', '200', '500']
    """
    ends = [math.log10(low), math.log10(high)]
    length = ends[1] - ends[0]
    scale = {"type": "log", "range": [round(end, 5) for end in ends]}
    if length < 0.3:  # 1, 2 and 5 may all lie outside
        return scale | {"nticks": 6}
    steps = (1,) if length > 2.5 else (1, 3) if length > 1.2 else (1, 2, 5)
    first, every = math.floor(ends[0]), math.ceil(length / 6)
    powers = range(first, first + math.ceil(length) + 2, every)
    ticks = [float(f"{step}e{power}") for power in powers for step in steps]
    return scale | axis_ticks(ticks, [number(tick) for tick in ticks])


def round_numbers(low: float, high: float, is_log: bool) -> list[float]:
    """Return ticks between two ends: 1, 2 and 5 of each power of ten, or steps of such a number.

    >>> round_numbers(3, 100, True), round_numbers(0, 9, False)
    ([5.0, 10.0, 20.0, 50.0, 100.0], [0.0, 2.0, 4.0, 6.0, 8.0])
    """
    if is_log:
        powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        return [n for p in powers for k in (1, 2, 5) if low <= (n := float(f"{k}e{p}")) <= high]
    if low == high:
        return [low]
    power = 10.0 ** math.floor(math.log10((high - low) / 4))
    step = next(power * k for k in (1, 2, 5, 10) if (high - low) / (power * k) <= 6)
    return [float(f"{i * step:.12g}") for i in range(math.ceil(low / step), math.floor(high / step) + 1)]
