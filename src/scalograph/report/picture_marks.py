"""Pieces of a still picture: elements, colors by role, marks, text, and its axes."""

import html
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from scalograph.text.escape import escape_controls
from scalograph.text.format import number
from scalograph.text.plots import round_numbers, shorten_middle

ROLE = re.compile(r"(ink|muted|rule|paper|wait|line-\d)(?:[/~]([\d.]+))?")
# Corners around the middle, of a mark 2 wide; a circle has none.
CORNERS = {
    "square": "-.9,-.9 .9,-.9 .9,.9 -.9,.9",
    "diamond": "-1.3,0 0,-1.3 1.3,0 0,1.3",
    "triangle-up": "0,-1.2 1.1,.8 -1.1,.8",
    "triangle-down": "0,1.2 1.1,-.8 -1.1,-.8",
    "cross": "-.4,-1.2 .4,-1.2 .4,-.4 1.2,-.4 1.2,.4 .4,.4 .4,1.2 -.4,1.2 -.4,.4 -1.2,.4 -1.2,-.4 -.4,-.4",
    "arrow-up": "0,0 1,2 -1,2",
    "arrow-down": "0,0 1,-2 -1,-2",
    "line-ew": "-1,0 1,0",
    "x": "-1,-.5 -.5,-1 0,-.5 .5,-1 1,-.5 .5,0 1,.5 .5,1 0,.5 -.5,1 -1,.5 -.5,0",
}


def sign(symbol: str, x: float, y: float, half: float) -> str:
    """Return the outline of a mark as an SVG path.

    >>> sign("diamond", 10, 10, 2)
    'M7.4 10L10 7.4L12.6 10L10 12.6Z'
    """
    if symbol not in CORNERS:
        arc = f"a{half:g} {half:g} 0 1 0"
        return f"M{x - half:.1f} {y:.1f}{arc} {2 * half:g} 0{arc} {-2 * half:g} 0Z"
    corners = (map(float, corner.split(",")) for corner in CORNERS[symbol].split())
    return "M" + "L".join(f"{round(x + half * dx, 1):g} {round(y + half * dy, 1):g}" for dx, dy in corners) + "Z"


def element(tag: str, *children: str, **attributes: Any) -> str:
    """Write an element; in names of attributes `_` stands for `-`, None omits one.

    >>> element("path", d="M0 0", stroke_width=2, fill=None)
    '<path d="M0 0" stroke-width="2"/>'
    """
    named = {key if key == "viewBox" else key.replace("_", "-"): value for key, value in attributes.items()}
    written = "".join(f' {name}="{html.escape(_plain(value))}"' for name, value in named.items() if value is not None)
    return f"<{tag}{written}>{''.join(children)}</{tag}>" if children else f"<{tag}{written}/>"


def _plain(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def paint(kind: str, color: str) -> dict[str, Any]:
    """Return fill or stroke in a color of the style sheet; mixing becomes opacity.

    >>> paint("fill", "line-0~0.3")
    {'fill': 'var(--line-0)', 'fill_opacity': '0.3'}
    """
    role = ROLE.fullmatch(color)
    if role is None:
        return {kind: "none"}
    return {kind: f"var(--{role[1]})", f"{kind}_opacity": role[2]}


def shade(scale: Sequence[tuple[float, str]], position: float) -> str:
    """Return the color of a scale between its stops; adjacent stops share a role or one has none of it.

    >>> shade([(0, "paper"), (1, "line-0")], 0.25)
    'line-0/0.25'
    """
    below = max((stop for stop in scale if stop[0] <= position), key=lambda stop: stop[0])
    above = min((stop for stop in scale if stop[0] >= position), key=lambda stop: stop[0])
    (a, low), (b, high) = ((stop[0], _amount(stop[1])) for stop in (below, above))
    amount = low[1] + (high[1] - low[1]) * ((position - a) / (b - a) if b > a else 0)
    return f"{(high if high[1] else low)[0]}/{amount:.3g}"


def _amount(color: str) -> tuple[str, float]:
    role = ROLE.fullmatch(color)
    assert role is not None
    return role[1], 0.0 if role[1] == "paper" else float(role[2] or 1)


def text_lines(lines: Sequence[str], x: float, y: float, anchor: str, color: str = "muted", size: int = 12) -> str:
    """Write lines below each other, the first at `y`."""
    texts = [(html.escape(escape_controls(text)), size * 1.3 if i else None) for i, text in enumerate(lines) if text]
    spans = [element("tspan", text, x=round(x, 1), dy=dy) for text, dy in texts]
    halo = {"stroke": "var(--paper)", "stroke_width": 3, "paint_order": "stroke"}
    position = {"x": round(x, 1), "y": round(y, 1), "text_anchor": anchor, "font_size": size}
    return element("text", *spans, **position, **halo, **paint("fill", color)) if spans else ""


LETTER_WIDTH = 0.53  # of the height of letters, how wide one is


@dataclass(frozen=True, slots=True)
class PictureAxis:
    """An axis of a layout between two pixels; a vertical one runs downwards."""

    layout: dict[str, Any]
    start: float
    end: float

    def __call__(self, value: float) -> float:
        return self.linear(math.log10(value) if self.is_log else value)

    @property
    def is_log(self) -> bool:
        """Return whether the range holds powers of ten."""
        return self.layout.get("type") == "log"

    @property
    def title(self) -> str:
        return str(self.layout.get("title", {}).get("text", ""))

    def linear(self, position: float) -> float:
        """Return the pixel of a position in the range."""
        low, high = map(float, self.layout["range"])
        return self.start + (position - low) / (high - low) * (self.end - self.start)

    def share(self, share: float) -> float:
        """Return the pixel at a share of the length."""
        return self.start + share * (self.end - self.start)

    def has(self, value: float | None) -> bool:
        """Return whether the axis can show a value."""
        return value is not None and (value > 0 or not self.is_log)

    def clamp(self, pixel: float) -> float:
        return min(max(pixel, min(self.start, self.end)), max(self.start, self.end))

    def inside(self, value: float) -> float:
        """Return the pixel of a value, clamped to the axis."""
        return self.clamp(self(value)) if self.has(value) else self.start

    def ticks(self) -> list[tuple[float, str]]:
        """Return pixel and label of each tick inside."""
        low, high = sorted(self.layout["range"])
        values = self.layout.get("tickvals")
        if values is None:
            ends = (10**low, 10**high) if self.is_log else (low, high)
            values = round_numbers(*ends, self.is_log and high - low >= 0.3)
        texts = self.layout.get("ticktext") or [number(value) for value in values]
        placed = [(self(value), text) for value, text in zip(values, texts, strict=True) if self.has(value)]
        return [(pixel, text) for pixel, text in placed if abs(pixel - self.clamp(pixel)) < 1]

    def fitting_ticks(self) -> list[tuple[float, str]]:
        """Return the first and the last tick of a horizontal axis, and those that fit between."""
        ticks = sorted((pixel, shorten_middle(text, 14)) for pixel, text in self.ticks())
        kept: list[tuple[float, str]] = []
        for tick in ticks:
            if not kept or tick is ticks[-1] or (_apart(kept[-1], tick) and _apart(tick, ticks[-1])):
                kept.append(tick)
        return kept


def _apart(tick: tuple[float, str], other: tuple[float, str]) -> bool:
    return abs(tick[0] - other[0]) >= 6 * LETTER_WIDTH * (len(tick[1]) + len(other[1])) + 8
