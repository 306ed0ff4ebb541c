"""Break-even over two factors: colors for the speedup, one row for each level of the second factor."""

import math
from collections.abc import Callable, Sequence
from typing import Any

from scalograph.questions.break_even.figure_marks import pairs, told, undecided
from scalograph.questions.break_even.figure_panels import Chart, EvenRow, Panel
from scalograph.questions.break_even.figure_region import region, runs
from scalograph.text.plots import MARGIN, Span, edges, escaped, hover, line, mixed

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
