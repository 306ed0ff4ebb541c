"""Pieces of a still picture: elements, colors by role, signs, lines of text."""

import html
import re
from collections.abc import Sequence
from typing import Any

from scalograph.text.escape import visible

ROLE = re.compile(r"(ink|muted|rule|paper|wait|line-\d)(?:[/~]([\d.]+))?")
# Corners around the middle, of a mark 2 wide; a circle has none.
CORNERS = {
    "square": "-.9,-.9 .9,-.9 .9,.9 -.9,.9",
    "diamond": "-1.3,0 0,-1.3 1.3,0 0,1.3",
    "triangle-up": "0,-1.2 1.1,.8 -1.1,.8",
    "cross": "-.4,-1.2 .4,-1.2 .4,-.4 1.2,-.4 1.2,.4 .4,.4 .4,1.2 -.4,1.2 -.4,.4 -1.2,.4 -1.2,-.4 -.4,-.4",
    "x": "-1,-.5 -.5,-1 0,-.5 .5,-1 1,-.5 .5,0 1,.5 .5,1 0,.5 -.5,1 -1,.5 -.5,0",
}


def sign(symbol: str, x: float, y: float, half: float) -> str:
    """The outline of a mark, in the letters of a path.

    >>> sign("diamond", 10, 10, 2)
    'M7.4 10L10 7.4L12.6 10L10 12.6Z'
    """
    if symbol not in CORNERS:
        return (
            f"M{x - half:.1f} {y:.1f}a{half:g} {half:g} 0 1 0 {2 * half:g} 0a{half:g} {half:g} 0 1 0 {-2 * half:g} 0Z"
        )
    corners = (map(float, corner.split(",")) for corner in CORNERS[symbol].split())
    return "M" + "L".join(f"{round(x + half * dx, 1):g} {round(y + half * dy, 1):g}" for dx, dy in corners) + "Z"


def element(tag: str, *children: str, **attributes: Any) -> str:
    """Write an element; in names of attributes `_` stands for `-`, None leaves one out.

    >>> element("path", d="M0 0", stroke_width=2, fill=None)
    '<path d="M0 0" stroke-width="2"/>'
    """
    named = {key if key == "viewBox" else key.replace("_", "-"): value for key, value in attributes.items()}
    written = "".join(f' {name}="{html.escape(_plain(value))}"' for name, value in named.items() if value is not None)
    return f"<{tag}{written}>{''.join(children)}</{tag}>" if children else f"<{tag}{written}/>"


def _plain(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def colored(kind: str, color: str) -> dict[str, Any]:
    """A fill or a stroke of the style sheet's color: what is mixed into the paper is let through over it.

    >>> colored("fill", "line-0~0.3")
    {'fill': 'var(--line-0)', 'fill_opacity': '0.3'}
    """
    role = ROLE.fullmatch(color)
    if role is None:
        return {kind: "none"}
    return {kind: f"var(--{role[1]})", f"{kind}_opacity": role[2]}


def shade(scale: Sequence[tuple[float, str]], place: float) -> str:
    """The color of a scale between its stops, of which neighbors share a role or have nothing of it.

    >>> shade([(0, "paper"), (1, "line-0")], 0.25)
    'line-0/0.25'
    """
    below = max((stop for stop in scale if stop[0] <= place), key=lambda stop: stop[0])
    above = min((stop for stop in scale if stop[0] >= place), key=lambda stop: stop[0])
    (a, low), (b, high) = ((stop[0], _amount(stop[1])) for stop in (below, above))
    amount = low[1] + (high[1] - low[1]) * ((place - a) / (b - a) if b > a else 0)
    return f"{(high if high[1] else low)[0]}/{amount:.3g}"


def _amount(color: str) -> tuple[str, float]:
    role = ROLE.fullmatch(color)
    assert role is not None
    return role[1], 0.0 if role[1] == "paper" else float(role[2] or 1)


def text_lines(lines: Sequence[str], x: float, y: float, anchor: str, color: str = "muted", size: int = 12) -> str:
    """Write lines below each other, the first at `y`."""
    spans = [
        element("tspan", html.escape(visible(text)), x=round(x, 1), dy=size * 1.3 if i else None)
        for i, text in enumerate(lines)
        if text
    ]
    halo = {"stroke": "var(--paper)", "stroke_width": 3, "paint_order": "stroke"}
    place = {"x": round(x, 1), "y": round(y, 1), "text_anchor": anchor, "font_size": size}
    return element("text", *spans, **place, **halo, **colored("fill", color)) if spans else ""
