"""Break-even as a figure: which of two versions is faster where, and the line at which they are even."""

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby, pairwise
from typing import Any

from scalograph.protocol.figure import Figure, KeyItem, Plot, View
from scalograph.protocol.findings import Findings
from scalograph.questions.break_even.chart_panels import Chart, EvenRow, PairMark, Panel, chart, pairs, told, undecided
from scalograph.questions.break_even.chart_panels import drawn as curve
from scalograph.text.plots import MARGIN, Span, edges, escaped, faded, hover, line, mixed

# Pixels that a letter takes at most, a line of them, half of a pair's disk; and plots for which there is a label.
LETTER, REGION_LINE, DISK = 7, 17, 7
ROOMS = ((750, 330), (560, 150), (280, 220), (200, 150))


class RegionLabel:
    """One or two lines of text, as large as a plot of this room makes them in terms of its axes."""

    def __init__(self, lines: Sequence[str], room: tuple[int, int], across: Span, up: Span) -> None:
        self.lines = lines
        self.x_pixel, self.y_pixel = (across[1] - across[0]) / room[0], (up[1] - up[0]) / room[1]
        self.across = (LETTER * max(map(len, lines)) + 8) * self.x_pixel
        self.up = REGION_LINE * len(lines) * self.y_pixel

    def covers(self, pair: PairMark, x: float, y: float) -> bool:
        """Tell whether it hides a pair where its middle stands here."""
        wide, tall = self.across / 2 + DISK * self.x_pixel, self.up / 2 + DISK * self.y_pixel
        return abs(pair.x - x) < wide and abs(pair.y - y) < tall


def region(found: Chart, panel: Panel, wins: bool, across: Span, up: Span) -> Iterator[dict[str, Any]]:
    """Place the label of one side for each room that a plot may have, the largest first."""
    name = found.other if wins else found.baseline
    for room in ROOMS:
        labels = [RegionLabel(lines, room, across, up) for lines in ([f"{name} is faster"], [name, "is faster"])]
        spots = [(label, x, y) for label in labels for x, y in _spots(panel, wins, label)]
        free = (spot for spot in spots if not any(spot[0].covers(pair, *spot[1:]) for pair in panel.pairs))
        if spot := next(free, spots[0] if spots else None):
            yield _annotation(*spot, name=f"side {wins}", room=room)


def _annotation(label: RegionLabel, x: float, y: float, **known: Any) -> dict[str, Any]:
    text = "<br>".join(map(escaped, label.lines))
    style = {"bgcolor": faded("paper", 0.75), "font": {"size": 13, "color": "ink"}}
    return {"x": round(x, 5), "y": round(y, 5), "text": text, "showarrow": False, "borderpad": 2} | style | known


def _spots(panel: Panel, wins: bool, label: RegionLabel) -> Iterator[Span]:
    """Find places between two rows where all rows that the label covers are sure, the longest first."""
    stretches, rows = [], [(row.at, _sure(row, wins)) for row in panel.rows]
    for j, ((below, _), (above, _)) in enumerate(pairwise(rows)):
        y = (below + above) / 2
        covered = [sure for k, (at, sure) in enumerate(rows) if k in (j, j + 1) or abs(at - y) < label.up / 2]
        all_sure = [all(column) or None for column in zip(*covered, strict=True)]
        ends = [(panel.x[first], panel.x[last]) for first, last in runs(all_sure)]
        stretches += [(high - low, low, high, y) for low, high in ends if high - low > label.across]
    for _, low, high, y in sorted(stretches, key=lambda stretch: -stretch[0]):
        for x in ((low + high) / 2, high - label.across / 2, low + label.across / 2):
            yield x, y


def _sure(row: EvenRow, wins: bool) -> list[bool]:
    """Tell of each place of a row whether one side is sure to be faster there."""
    return [low > 1 for low in row.low] if wins else [high < 1 for high in row.high]


def runs(kinds: Sequence[Any]) -> list[tuple[int, int]]:
    """Tell the first and the last of neighbors that are alike; None is no kind.

    >>> runs(["a", "a", None, "b", "a"])
    [(0, 1), (3, 3), (4, 4)]
    """
    found = []
    for kind, group in groupby(range(len(kinds)), key=lambda i: kinds[i]):
        places = list(group)
        if kind is not None:
            found.append((places[0], places[-1]))
    return found


Drawn = tuple[list[dict[str, Any]], dict[str, Any]]
Run = tuple[list[EvenRow], list[float]]
# Of a line's color in the strongest shade, so that marks stay readable on it.
STRONG, WEAK = 0.66, 0.14
# What stands beside rows that the line does not cross.
WORDS = {
    "always": "always",
    "never": "never",
    "several": "several",
    "unmeasured": "not measured",
    "undecided": "not decided",
}


def drawn(found: Chart, panel: Panel) -> Drawn:
    """Draw colors, the line with the band that holds it, the pairs, and words for each side."""
    columns, rows = edges(panel.x), edges([row.at for row in panel.rows])
    across, up = (columns[0], columns[-1]), (rows[0], rows[-1])
    margin = MARGIN | {"r": 88 if any(row.kind in WORDS for row in panel.rows) else 12}
    words, rules = _beside(panel, rows)
    sides = [place for wins in (True, False) for place in region(found, panel, wins, across, up)]
    traces = [_colors(found, panel), *_bands(panel, rows), *_lines(panel, rows), pairs(panel, lambda pair: pair.y)]
    assert found.y
    return traces, {
        "margin": margin, "annotations": [*words, *sides], "shapes": rules,
        "xaxis": found.x.drawn(across), "yaxis": found.y.drawn(up),
    }  # fmt: skip


def _colors(found: Chart, panel: Panel) -> dict[str, Any]:
    texts = [
        [hover([f"{place}, {row.text}", *told(found, row, i), row.said]) for i, place in enumerate(panel.places)]
        for row in panel.rows
    ]
    return {
        "type": "heatmap", "x": panel.x, "y": [row.at for row in panel.rows], "text": texts, "hoverinfo": "text",
        "z": [[round(math.log2(speedup), 4) for speedup in row.speedup] for row in panel.rows],
        "zsmooth": "best", "zmin": -found.octaves, "zmax": found.octaves, "showscale": False,
        "colorscale": [[at, mixed(f"line-{1 - wins}", share)] for at, wins, share in stops(found)],
    }  # fmt: skip


def stops(found: Chart) -> list[tuple[float, bool, float]]:
    """Place colors: none where both are even, and a step where one of them is not.

    Returns:
        Places from 0 to 1, whose color it is, and how much of it.
    """
    even = round(min(math.log2(1 + found.even) / (2 * found.octaves), 0.45), 5)
    loses = [(0.0, False, STRONG), (0.5 - even, False, WEAK), (0.5 - even, False, 0.0)]
    return [*loses, (0.5 + even, True, 0.0), (0.5 + even, True, WEAK), (1.0, True, STRONG)]


def _through(rows: Sequence[EvenRow], ends: Sequence[float], place: Callable[[EvenRow], float]) -> list[Span]:
    """Lead through the rows of a run, from its lower edge to its upper one."""
    inside = [(place(row), row.at) for row in rows]
    return [(inside[0][0], ends[0]), *inside, (inside[-1][0], ends[1])]


def _runs(panel: Panel, rows: Sequence[float], like: Callable[[EvenRow], Any]) -> list[Run]:
    """Split into rows that follow each other and are alike, with the edges of each run."""
    found = runs([like(row) for row in panel.rows])
    return [(panel.rows[first : last + 1], [rows[first], rows[last + 1]]) for first, last in found]


def _bands(panel: Panel, rows: Sequence[float]) -> list[dict[str, Any]]:
    found = []
    for run, ends in _runs(panel, rows, lambda row: True if row.band else None):
        low = _through(run, ends, lambda row: row.band[0] if row.band else 0.0)
        high = _through(run, ends, lambda row: row.band[1] if row.band else 0.0)
        found += undecided([low, high])
    return found


def _lines(panel: Panel, rows: Sequence[float]) -> list[dict[str, Any]]:
    found = []
    for run, ends in _runs(panel, rows, lambda row: None if row.location is None else row.kind):
        points = _through(run, ends, lambda row: row.location or 0.0)
        found.append(line([x for x, _ in points], [y for _, y in points], "ink", 3, name="break-even"))
    return found


def _beside(panel: Panel, rows: Sequence[float]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Put one word beside each run of rows that are no part of the line, and a rule along them."""
    words, rules = [], []
    for run, (low, high) in _runs(panel, rows, lambda row: row.kind if row.kind in WORDS else None):
        words.append({
            "xref": "paper", "x": 1, "xanchor": "left", "xshift": 8, "y": (run[0].at + run[-1].at) / 2,
            "text": escaped(WORDS[run[0].kind]), "showarrow": False, "font": {"size": 12, "color": "ink"},
        })  # fmt: skip
        rules.append({
            "type": "line", "xref": "paper", "xsizemode": "pixel", "xanchor": 1, "x0": 5, "x1": 5,
            "y0": low, "y1": high, "line": {"color": "ink", "width": 2},
        })  # fmt: skip
    return words, rules


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


SURE = "95 %"
# Rows of which each is told to who does not see the map.
FEW_ROWS = 20


def figures(findings: Findings) -> list[Figure]:
    """Draw a map over two factors, or a curve over one."""
    found = chart(findings)
    if found is None:
        return []
    # The one that the page begins with has a line, where any has.
    panels = sorted(found.panels, key=lambda panel: all(row.location is None for row in panel.rows))
    plots = [_plot(found, panel) for panel in panels]
    title = f"Where {found.other} is faster than {found.baseline}"
    return [Figure(id="even", title=title, caption=_caption(found), key=key(found), views=[View(plots)])]


def _plot(found: Chart, panel: Panel) -> Plot:
    rows = [f"{row.text}: {row.said}" if row.text else row.said for row in panel.rows[:FEW_ROWS]]
    told = [f"s{_over(found)}", panel.title, *rows, "numbers in the tables below"]
    data, layout = (drawn if found.y else curve)(found, panel)
    return Plot(title=panel.title, label="; ".join(text for text in told if text), data=data, layout=layout)


def _over(found: Chart) -> str:
    titles = [axis.levels.title for axis in (found.x, found.y) if axis]
    return f"peedup of {found.other} over {found.baseline} by {' and '.join(titles)}"


def _caption(found: Chart) -> str:
    if not found.y:
        return f"Above 1 {found.other} is faster. Bands: {SURE} intervals, also of the crossing."
    return f"Stronger color: further apart, from {100 * found.even:g} % on. Dotted: {SURE} of the line."
