"""What colors and marks of break-even mean, in words beside a piece of each."""

from typing import Any

from scalograph.protocol.figure import KeyItem
from scalograph.questions.break_even.figure_map import stops
from scalograph.questions.break_even.figure_panels import Chart


def _element(tag: str, style: str, *children: Any, **attributes: Any) -> list[Any]:
    """Make a piece of a picture; attributes in the writing of SVG have `_` for `-`."""
    named = {name.replace("_", "-"): value for name, value in attributes.items()}
    return [tag, {"class": style, **named}, list(children)]


def _across(style: str, width: float) -> list[Any]:
    return _element("line", style, x1=1, y1=7, x2=35, y2=7, stroke_width=width)


LINE = [_across("even-ink", 3)]
CURVE = [_element("rect", "fill-0", x=1, y=2, width=34, height=10, opacity=0.22), _across("stroke-0", 2.4)]
EVEN = [_element("rect", "even-gray", x=1, y=1, width=34, height=12), _across("law-line", 1.5)]
OPEN = [
    *(_element("line", "even-ink", x1=x, y1=0, x2=x, y2=14, stroke_width=1.2, stroke_dasharray="5 3") for x in (2, 34)),
    *(_element("circle", "even-dot", cx=x, cy=y, r=1.1) for x in (7, 14, 21, 28) for y in (4, 10)),
]
FULL = [_element("circle", "even-dot", cx=18, cy=7, r=4)]
EMPTY = [_element("circle", "even-ring", cx=18, cy=7, r=4, stroke_width=1.6)]


def key(found: Chart) -> list[KeyItem]:
    """Name what is drawn in this figure."""
    items = [_scale(found)] if found.y else [KeyItem("speedup", CURVE), KeyItem("even", EVEN)]
    if found.y and any(row.location is not None for row in found.rows):
        items.append(KeyItem("break-even", LINE))
    if any(row.band for row in found.rows):
        items.append(KeyItem("not known who is faster", OPEN))
    full = KeyItem(f"a pair measured, {found.other} faster", FULL)
    return [*items, full, KeyItem("a pair measured, not faster", EMPTY)]


def _scale(found: Chart) -> KeyItem:
    """Show the colors of the map from one end to the other; the page's own is under them, as in the map."""
    colors = [
        _element("stop", "even-wins" if wins else "even-loses", offset=at, stop_opacity=share)
        for at, wins, share in stops(found)
    ]
    defined = _element("defs", "", _element("linearGradient", "", *colors, id="even-colors"))
    bar = _element("rect", "even-frame", x=0.5, y=1, width=119, height=12, fill="url(#even-colors)")
    most = f"{2**found.octaves}\N{MULTIPLICATION SIGN}{' or more' if found.is_cut else ''}"
    before = f"{found.baseline} faster, {most}"
    return KeyItem(f"{found.other} faster, {most}", [defined, bar], before, width=120)
