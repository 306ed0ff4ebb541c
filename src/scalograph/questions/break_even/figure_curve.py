"""Break-even along one factor: the speedup as a curve, and where it crosses 1."""

import math
from typing import Any

from scalograph.questions.break_even.figure_marks import pairs, told, undecided
from scalograph.questions.break_even.figure_panels import Chart, EvenRow, Panel
from scalograph.text.plots import MARGIN, area, decades, escaped, faded, hover, line, outside, reach

Drawn = tuple[list[dict[str, Any]], dict[str, Any]]


def drawn(found: Chart, panel: Panel) -> Drawn:
    """Draw the curve over the band that counts as even, with the place where it crosses."""
    (row,), ends = panel.rows[:1], found.x.ends()
    spare = 0.03 * (ends[1] - ends[0] or 1)
    across = [ends[0] - spare, ends[1] + spare]
    bottom, top = _span(found, panel, row)
    texts = [hover([place, *told(found, row, i), row.said]) for i, place in enumerate(panel.places)]
    held = undecided([[(x, bottom), (x, top)] for x in row.band]) if row.band else []
    traces = [
        area(across, [1 / (1 + found.even)] * 2, [1 + found.even] * 2, faded("muted", 0.18)),
        line(across, [1, 1], "muted", 1.5),
        *held,
        area(panel.x, row.low, row.high, faded("line-0", 0.22)),
        line(panel.x, row.speedup, "line-0", 2.4, name="speedup", hoverinfo="text", hovertext=texts),
        pairs(panel, lambda pair: pair.speedup),
    ]
    upright = {"title": {"text": "speedup (log scale)"}} | decades(bottom, top)
    return traces, {
        "margin": MARGIN, "annotations": _sides(found, row),
        "xaxis": found.x.drawn(across) | outside(), "yaxis": upright,
    }  # fmt: skip


def _span(found: Chart, panel: Panel, row: EvenRow) -> tuple[float, float]:
    """Curve and pairs are always inside; an interval may leave the frame."""
    even = [1 / (1 + found.even), 1 + found.even]
    low, high = reach([*even, *row.speedup, *(pair.speedup for pair in panel.pairs)], [*row.low, *row.high])
    return low / 1.15, high * 1.15


def _sides(found: Chart, row: EvenRow) -> list[dict[str, Any]]:
    """Say who is faster above the line at 1 and below it, each at the end where the curve is on the other side."""
    rises = row.speedup[0] < row.speedup[-1]
    heights = {True: 1 + found.even, False: 1 / (1 + found.even)}
    return [
        {
            "xref": "paper", "x": 0.01 if above == rises else 0.99, "xanchor": "left" if above == rises else "right",
            "y": round(math.log10(heights[above]), 5), "yanchor": "bottom" if above else "top",
            "text": escaped(f"{name} is faster"), "showarrow": False, "font": {"size": 13, "color": "ink"},
        }
        for name, above in ((found.other, True), (found.baseline, False))
    ]  # fmt: skip
