"""Draw break-even: which of two versions is faster where, and the line at which they are even."""

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby, pairwise
from typing import Any

from scalograph.protocol.figure import Figure, KeyItem, Plot, View
from scalograph.protocol.findings import Findings
from scalograph.questions.break_even.chart_panels import (
    BreakEvenChart,
    Drawing,
    PairMark,
    Panel,
    PanelRow,
    break_even_chart,
    draw_curve,
    draw_uncertain_band,
    pair_markers,
    speedup_texts,
)
from scalograph.text.plots import MARGIN, Span, edges, escape_markup, fade_color, hover, line, mix_color

# Pixels that a letter takes at most, a line of them, half of a pair's disk; and plots for which there is a label.
LETTER, REGION_LINE, DISK = 7, 17, 7
ROOMS = ((750, 330), (560, 150), (280, 220), (200, 150))


class RegionLabel:
    """One or two lines of text, and their size in terms of a plot's axes."""

    def __init__(self, lines: Sequence[str], room: tuple[int, int], across: Span, up: Span) -> None:
        self.lines = lines
        self.x_pixel, self.y_pixel = (across[1] - across[0]) / room[0], (up[1] - up[0]) / room[1]
        self.across = (LETTER * max(map(len, lines)) + 8) * self.x_pixel
        self.up = REGION_LINE * len(lines) * self.y_pixel

    def covers(self, pair: PairMark, x: float, y: float) -> bool:
        """Tell whether the label, centered here, hides a pair."""
        wide, tall = self.across / 2 + DISK * self.x_pixel, self.up / 2 + DISK * self.y_pixel
        return abs(pair.x - x) < wide and abs(pair.y - y) < tall


def region_labels(chart: BreakEvenChart, panel: Panel, wins: bool, across: Span, up: Span) -> Iterator[dict[str, Any]]:
    """Place the label of one side for each plot size, the largest first."""
    name = chart.other if wins else chart.baseline
    for room in ROOMS:
        labels = [RegionLabel(lines, room, across, up) for lines in ([f"{name} is faster"], [name, "is faster"])]
        spots = [(label, x, y) for label in labels for x, y in _label_spots(panel, wins, label)]
        free = (spot for spot in spots if not any(spot[0].covers(pair, *spot[1:]) for pair in panel.pairs))
        if spot := next(free, spots[0] if spots else None):
            label, x, y = spot
            yield {
                "x": round(x, 5), "y": round(y, 5), "text": "<br>".join(map(escape_markup, label.lines)),
                "showarrow": False, "borderpad": 2, "bgcolor": fade_color("paper", 0.75),
                "font": {"size": 13, "color": "ink"}, "name": f"side {wins}", "room": room,
            }  # fmt: skip


def _label_spots(panel: Panel, wins: bool, label: RegionLabel) -> Iterator[Span]:
    """Find places between two rows where all rows that the label covers are sure, the longest first."""
    stretches = []
    rows = [(row.at, [x > 1 for x in row.low] if wins else [x < 1 for x in row.high]) for row in panel.rows]
    for j, ((below, _), (above, _)) in enumerate(pairwise(rows)):
        y = (below + above) / 2
        covered = [sure for k, (at, sure) in enumerate(rows) if k in (j, j + 1) or abs(at - y) < label.up / 2]
        all_sure = [all(column) or None for column in zip(*covered, strict=True)]
        ends = [(panel.x[first], panel.x[last]) for first, last in equal_stretches(all_sure)]
        stretches += [(high - low, low, high, y) for low, high in ends if high - low > label.across]
    for _, low, high, y in sorted(stretches, key=lambda stretch: -stretch[0]):
        for x in ((low + high) / 2, high - label.across / 2, low + label.across / 2):
            yield x, y


def equal_stretches(kinds: Sequence[Any]) -> list[tuple[int, int]]:
    """Return first and last index of each stretch of equal kinds; None is no kind.

    >>> equal_stretches(["a", "a", None, "b", "a"])
    [(0, 1), (3, 3), (4, 4)]
    """
    groups = [(kind, [*indices]) for kind, indices in groupby(range(len(kinds)), key=lambda i: kinds[i])]
    return [(indices[0], indices[-1]) for kind, indices in groups if kind is not None]


RowGroup = tuple[list[PanelRow], list[float]]
# Of a line's color in the strongest shade, so that marks stay readable on it.
STRONG, WEAK = 0.66, 0.14
# Labels of rows that the line does not cross.
WORDS = {
    "always": "always", "never": "never", "several": "several", "unmeasured": "not measured",
    "undecided": "inconclusive",
}  # fmt: skip


def draw_map(chart: BreakEvenChart, panel: Panel) -> Drawing:
    """Draw a map: colors, the line with its band, the pairs, and words for each side."""
    columns, rows = edges(panel.x), edges([row.at for row in panel.rows])
    across, up = (columns[0], columns[-1]), (rows[0], rows[-1])
    margin = MARGIN | {"r": 88 if any(row.kind in WORDS for row in panel.rows) else 12}
    words, rules = _side_words(panel, rows)
    sides = [label for wins in (True, False) for label in region_labels(chart, panel, wins, across, up)]
    traces = [_heatmap(chart, panel), *_line_traces(panel, rows), pair_markers(panel, lambda pair: pair.y)]
    assert chart.y
    return traces, {
        "margin": margin, "annotations": [*words, *sides], "shapes": rules,
        "xaxis": chart.x.layout(across), "yaxis": chart.y.layout(up),
    }  # fmt: skip


def _heatmap(chart: BreakEvenChart, panel: Panel) -> dict[str, Any]:
    columns = [*enumerate(panel.places)]
    texts = [
        [hover([f"{column}, {row.text}", *speedup_texts(chart, row, i), row.summary]) for i, column in columns]
        for row in panel.rows
    ]
    return {
        "type": "heatmap", "x": panel.x, "y": [row.at for row in panel.rows], "text": texts, "hoverinfo": "text",
        "z": [[round(math.log2(speedup), 4) for speedup in row.speedup] for row in panel.rows],
        "zsmooth": "best", "zmin": -chart.octaves, "zmax": chart.octaves, "showscale": False,
        "colorscale": [[at, mix_color(f"line-{1 - wins}", share)] for at, wins, share in color_stops(chart)],
    }  # fmt: skip


def color_stops(chart: BreakEvenChart) -> list[tuple[float, bool, float]]:
    """Return the color scale as (place from 0 to 1, whether the other version wins, strength of the color).

    No color where both are even, and a step where one of them is not.
    """
    even = round(min(math.log2(1 + chart.even) / (2 * chart.octaves), 0.45), 5)
    loses = [(0.0, False, STRONG), (0.5 - even, False, WEAK), (0.5 - even, False, 0.0)]
    return [*loses, (0.5 + even, True, 0.0), (0.5 + even, True, WEAK), (1.0, True, STRONG)]


def _row_path(rows: Sequence[PanelRow], ends: Sequence[float], position: Callable[[PanelRow], float]) -> list[Span]:
    inside = [(position(row), row.at) for row in rows]
    return [(inside[0][0], ends[0]), *inside, (inside[-1][0], ends[1])]


def _row_groups(panel: Panel, rows: Sequence[float], like: Callable[[PanelRow], Any]) -> list[RowGroup]:
    stretches = equal_stretches([like(row) for row in panel.rows])
    return [(panel.rows[first : last + 1], [rows[first], rows[last + 1]]) for first, last in stretches]


def _line_traces(panel: Panel, rows: Sequence[float]) -> list[dict[str, Any]]:
    traces = []
    for run, ends in _row_groups(panel, rows, lambda row: True if row.band else None):
        low = _row_path(run, ends, lambda row: row.band[0] if row.band else 0.0)
        high = _row_path(run, ends, lambda row: row.band[1] if row.band else 0.0)
        traces += draw_uncertain_band([low, high])
    for run, ends in _row_groups(panel, rows, lambda row: None if row.location is None else row.kind):
        points = _row_path(run, ends, lambda row: row.location or 0.0)
        traces.append(line([x for x, _ in points], [y for _, y in points], "ink", 3, name="break-even"))
    return traces


def _side_words(panel: Panel, rows: Sequence[float]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    words, rules = [], []
    for run, (low, high) in _row_groups(panel, rows, lambda row: row.kind if row.kind in WORDS else None):
        words.append({
            "xref": "paper", "x": 1, "xanchor": "left", "xshift": 8, "y": (run[0].at + run[-1].at) / 2,
            "text": escape_markup(WORDS[run[0].kind]), "showarrow": False, "font": {"size": 12, "color": "ink"},
        })  # fmt: skip
        rules.append({
            "type": "line", "xref": "paper", "xsizemode": "pixel", "xanchor": 1, "x0": 5, "x1": 5,
            "y0": low, "y1": high, "line": {"color": "ink", "width": 2},
        })  # fmt: skip
    return words, rules


def _element(tag: str, style: str, *children: Any, **attributes: Any) -> list[Any]:
    """Make an SVG element; attribute names have `_` for `-`."""
    named = {name.replace("_", "-"): value for name, value in attributes.items()}
    return [tag, {"class": style, **named}, list(children)]


def _horizontal_line(style: str, width: float) -> list[Any]:
    return _element("line", style, x1=1, y1=7, x2=35, y2=7, stroke_width=width)


LINE = [_horizontal_line("even-ink", 3)]
CURVE = [_element("rect", "fill-0", x=1, y=2, width=34, height=10, opacity=0.22), _horizontal_line("stroke-0", 2.4)]
EVEN = [_element("rect", "even-gray", x=1, y=1, width=34, height=12), _horizontal_line("law-line", 1.5)]
OPEN = [
    *(_element("line", "even-ink", x1=x, y1=0, x2=x, y2=14, stroke_width=1.2, stroke_dasharray="5 3") for x in (2, 34)),
    *(_element("circle", "even-dot", cx=x, cy=y, r=1.1) for x in (7, 14, 21, 28) for y in (4, 10)),
]
FASTER = [_element("path", "even-dot", d="M13.5 11h9l-4.5 -8z")]
SLOWER = [_element("path", "even-dot", d="M13.5 3h9l-4.5 8z")]


def legend(chart: BreakEvenChart) -> list[KeyItem]:
    items = [_color_scale(chart)] if chart.y else [KeyItem("speedup", CURVE), KeyItem("even", EVEN)]
    if chart.y and any(row.location is not None for row in chart.rows):
        items.append(KeyItem("break-even", LINE))
    if any(row.band for row in chart.rows):
        items.append(KeyItem("not known who is faster", OPEN))
    full = KeyItem(f"a pair measured, {chart.other} faster", FASTER)
    return [*items, full, KeyItem("a pair measured, not faster", SLOWER)]


def _color_scale(chart: BreakEvenChart) -> KeyItem:
    sides = [("even-wins" if wins else "even-loses", at, share) for at, wins, share in color_stops(chart)]
    colors = [_element("stop", style, offset=at, stop_opacity=share) for style, at, share in sides]
    defined = _element("defs", "", _element("linearGradient", "", *colors, id="even-colors"))
    bar = _element("rect", "even-frame", x=0.5, y=1, width=119, height=12, fill="url(#even-colors)")
    most = f"{2**chart.octaves}\N{MULTIPLICATION SIGN}{' or more' if chart.is_cut else ''}"
    return KeyItem(f"{chart.other} faster, {most}", [defined, bar], f"{chart.baseline} faster, {most}", width=120)


SURE = "95%"
# Rows that the text alternative of a map describes.
FEW_ROWS = 20


def figures(findings: Findings) -> list[Figure]:
    """Draw a map over two factors, or a curve over one."""
    chart = break_even_chart(findings)
    if chart is None:
        return []
    # The one that the page begins with has a line, where any has.
    panels = sorted(chart.panels, key=lambda panel: all(row.location is None for row in panel.rows))
    title = f"Where {chart.other} is faster than {chart.baseline}"
    caption = f"Above 1 {chart.other} is faster. Bands: {SURE} intervals, also of the crossing."
    if chart.y:
        caption = f"Stronger color: further apart, from {100 * chart.even:g}% on. Dotted: {SURE} of the line."
    views = [View([_plot(chart, panel) for panel in panels])]
    return [Figure(id="even", title=title, caption=caption, key=legend(chart), views=views)]


def _plot(chart: BreakEvenChart, panel: Panel) -> Plot:
    rows = [f"{row.text}: {row.summary}" if row.text else row.summary for row in panel.rows[:FEW_ROWS]]
    axes = " and ".join(axis.levels.title for axis in (chart.x, chart.y) if axis)
    speedup = f"speedup of {chart.other} over {chart.baseline} by {axes}"
    parts = [speedup, panel.title, *rows, "numbers in the tables below"]
    data, layout = (draw_map if chart.y else draw_curve)(chart, panel)
    return Plot(title=panel.title, label="; ".join(text for text in parts if text), data=data, layout=layout)
