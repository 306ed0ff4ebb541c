"""Lay out the break-even chart: panels of speedups on the same axes, and the curve over one factor."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from scalograph.analysis.estimate import Estimate
from scalograph.protocol.findings import Findings
from scalograph.protocol.plain import is_number
from scalograph.questions.break_even.document import BreakEven, BreakEvenLine, BreakEvenMap, BreakEvenPair
from scalograph.text.answer_form import place_ends
from scalograph.text.axes import Factors, Levels
from scalograph.text.escape import escape_controls
from scalograph.text.format import level_text, significant, version_name
from scalograph.text.plots import (
    MARGIN,
    area,
    axis,
    axis_ticks,
    decades,
    escape_markup,
    fade_color,
    hover,
    line,
    log_range,
    outline,
    outside_ticks,
    round_numbers,
)

# More declared levels than that get round numbers as ticks.
FEW_LEVELS = 24
# Ratio of the largest level to the smallest from which they stand by their ratios.
WIDE = 3


class ChartAxis:
    """Position of the levels of a factor: logarithmic where they span a factor of three, else linear."""

    def __init__(self, levels: Levels, numbers: Sequence[float]) -> None:
        self.levels = levels
        self.low, self.high = min(numbers), max(numbers)
        self.is_log = self.low > 0 and self.high / self.low >= WIDE

    def __call__(self, level: float) -> float:
        inside = min(max(level, self.low), self.high)
        return round(math.log10(inside) if self.is_log else inside, 6)

    def text(self, level: float) -> str:
        return f"{self.levels.title}: {escape_controls(level_text(level, self.levels.unit))}"

    def layout(self, span: Sequence[float]) -> dict[str, Any]:
        ticks = self._ticks()
        unit, scale = self.levels.unit, " (log scale)" if self.is_log else ""
        title = self.levels.title + (f" ({unit})" if unit else "") + scale
        labels = axis_ticks([self(n) for n in ticks], [level_text(n) for n in ticks])
        return axis(title, span, **outside_ticks(**labels))

    def _ticks(self) -> list[float]:
        numbers = [float(n) for n in self.levels.levels if is_number(n)]
        declared = sorted(n for n in numbers if self.low <= n <= self.high)
        return declared if 2 <= len(declared) <= FEW_LEVELS else round_numbers(self.low, self.high, self.is_log)


# What the eye can tell apart in one page; evenly chosen where there are more.
MOST_MAPS, MOST_ROWS, MOST_COLUMNS, MOST_PAIRS = 16, 64, 64, 1024
# Color is strongest from 2**4 times faster on: beyond, one number would take all colors from the others.
MOST_OCTAVES = 4


@dataclass(frozen=True)
class PanelRow:
    """One level of the second factor: speedups along the first, with ends; `band` holds the line."""

    at: float
    text: str
    kind: str
    location: float | None
    band: tuple[float, float] | None
    summary: str
    speedup: list[float]
    low: list[float]
    high: list[float]


@dataclass(frozen=True)
class PairMark:
    """Pairs that were measured at one point."""

    x: float
    y: float
    speedup: float
    n: int
    texts: list[str]


@dataclass(frozen=True)
class Panel:
    """One map, or one curve; `places` describes each of its columns."""

    title: str
    x: list[float]
    places: list[str]
    rows: list[PanelRow]
    pairs: list[PairMark]


@dataclass(frozen=True)
class BreakEvenChart:
    """All panels of one search; `octaves` is how far colors reach, `is_cut` whether speedups reach further."""

    other: str
    baseline: str
    even: float
    octaves: int
    is_cut: bool
    x: ChartAxis
    y: ChartAxis | None
    panels: list[Panel]

    @property
    def rows(self) -> list[PanelRow]:
        return [row for panel in self.panels for row in panel.rows]


def break_even_chart(findings: Findings) -> BreakEvenChart | None:
    """Lay out a search for break-even; None where there is nothing to draw."""
    document, factors = findings.document("break-even", BreakEven), Factors(findings)
    maps = [m for m in document.maps if _is_consistent(m)] if document else []
    maps = [m for m in maps if (m.x, m.y) == (maps[0].x, maps[0].y)][:MOST_MAPS]
    if document is None or not maps:
        return None
    x, y = _axes(maps, factors)
    octaves = max(abs(math.log2(n)) for m in maps for row in m.ratio for n in row)
    return BreakEvenChart(
        other=escape_controls(version_name(document.factor, document.other)),
        baseline=escape_controls(version_name(document.factor, document.baseline)),
        even=document.even,
        octaves=min(max(math.ceil(octaves), 1), MOST_OCTAVES),
        is_cut=octaves > MOST_OCTAVES,
        x=x, y=y, panels=[_panel(document, m, x, y, factors) for m in maps],
    )  # fmt: skip


def _axes(maps: Sequence[BreakEvenMap], factors: Factors) -> tuple[ChartAxis, ChartAxis | None]:
    pairs = [pair for m in maps for pair in m.pairs]
    x = ChartAxis(factors[maps[0].x], [*(n for m in maps for n in m.x_levels), *(pair.x for pair in pairs)])
    if not maps[0].y:
        return x, None
    measured = [pair.y for pair in pairs if pair.y is not None]
    return x, ChartAxis(factors[maps[0].y], [*(n for m in maps for n in m.y_levels), *measured])


def _is_consistent(m: BreakEvenMap) -> bool:
    """Tell whether rows and columns agree, and every ratio has an inverse."""
    n_rows, n_columns = len(m.y_levels) if m.y else 1, len(m.x_levels)
    rows = [row for table in (m.ratio, m.low, m.high) for row in table]
    return (
        n_columns > 1
        and 0 < n_rows == len(m.lines) == len(m.ratio) == len(m.low) == len(m.high)
        and all(len(row) == n_columns and min(row) > 0 for row in rows)
    )


def _panel(document: BreakEven, m: BreakEvenMap, x: ChartAxis, y: ChartAxis | None, factors: Factors) -> Panel:
    columns = _spread_indices(len(m.x_levels), MOST_COLUMNS)
    return Panel(
        title=factors.group(m.group),
        x=[x(m.x_levels[i]) for i in columns],
        places=[x.text(m.x_levels[i]) for i in columns],
        rows=[_row(document, m, row, columns, x, y) for row in _spread_indices(len(m.lines), MOST_ROWS)],
        pairs=[_pair(pair, x, y) for pair in m.pairs[:MOST_PAIRS] if pair.ratio > 0],
    )


def _row(
    document: BreakEven, m: BreakEvenMap, row: int, columns: Sequence[int], x: ChartAxis, y: ChartAxis | None
) -> PanelRow:
    """Lay out one row; the high end of a time is the low one of a speedup."""
    line = m.lines[row]
    return PanelRow(
        at=y(m.y_levels[row]) if y else 0.0, text=y.text(m.y_levels[row]) if y else "", kind=line.kind,
        location=None if line.location is None else x(line.location), band=_band(line, x),
        summary=_row_summary(document, line, x), speedup=[_inverse(m.ratio[row][i]) for i in columns],
        low=[_inverse(m.high[row][i]) for i in columns], high=[_inverse(m.low[row][i]) for i in columns],
    )  # fmt: skip


def _band(line: BreakEvenLine, x: ChartAxis) -> tuple[float, float] | None:
    """Return the band between sure loss and sure win; an unknown end is the end of the axis."""
    if line.kind not in ("from", "until", "undecided"):
        return None
    low, high = (x.low if line.low is None else line.low), (x.high if line.high is None else line.high)
    return x(low), x(high)


def _row_summary(document: BreakEven, line: BreakEvenLine, x: ChartAxis) -> str:
    other = escape_controls(version_name(document.factor, document.other))
    if line.location is not None:
        how, on = ("from", " on") if line.kind == "from" else ("up to", "")
        ends = place_ends(Estimate(line.location, line.low, line.high))
        return f"{other} is faster {how} {x.levels.title} {ends}{on}"
    return {
        "always": f"{other} is always faster, or within {100 * document.even:g}%",
        "never": f"{other} is never faster by more than {100 * document.even:g}%",
        "several": f"{other} is faster in several regions",
        "unmeasured": "not measured: no pair there has two times",
    }.get(line.kind, "inconclusive where they are even")


def _pair(pair: BreakEvenPair, x: ChartAxis, y: ChartAxis | None) -> PairMark:
    speedup, n = _inverse(pair.ratio), f"{pair.n} {'pair' if pair.n == 1 else 'pairs'}"
    places = [x.text(pair.x), *([y.text(pair.y)] if y and pair.y is not None else [])]
    at = y(pair.y) if y and pair.y is not None else 0.0
    return PairMark(x(pair.x), at, speedup, pair.n, [", ".join(places), f"{n}: speedup {significant(speedup)}"])


def _inverse(ratio: float) -> float:
    return float(f"{1 / ratio:.4g}")


def _spread_indices(n: int, most: int) -> Sequence[int]:
    return range(n) if n <= most else [round(i * (n - 1) / (most - 1)) for i in range(most)]


Point = tuple[float, float]
OPEN = {
    "shape": ".", "fgcolor": "ink", "fgopacity": 0.7, "bgcolor": "rgba(0,0,0,0)", "size": 6, "solidity": 0.13,
    "fillmode": "replace",
}  # fmt: skip


def pair_markers(panel: Panel, height: Callable[[PairMark], float]) -> dict[str, Any]:
    """Draw triangles: up where the other version was faster, else down; larger where there are several pairs."""
    marker = {
        "size": [round(min(8 + 2.5 * math.sqrt(pair.n - 1), 16), 2) for pair in panel.pairs],
        "symbol": [f"triangle-{'up' if pair.speedup > 1 else 'down'}" for pair in panel.pairs],
        "color": "ink", "opacity": 1, "line": {"color": "paper", "width": 0.8},
    }  # fmt: skip
    return {
        "type": "scatter", "mode": "markers", "x": [pair.x for pair in panel.pairs], "y": [*map(height, panel.pairs)],
        "marker": marker, "hoverinfo": "text", "cliponaxis": False,
        "hovertext": [hover(pair.texts) for pair in panel.pairs],
    }  # fmt: skip


def draw_uncertain_band(sides: Sequence[Sequence[Point]]) -> list[dict[str, Any]]:
    """Dot the area between two dashed edges where the winner is not known."""
    around = [*sides[0], *reversed(sides[1])]
    inside = outline([x for x, _ in around], [y for _, y in around], fillpattern=OPEN)
    dashed = {"style": {"dash": "5px,3px"}}
    return [inside, *(line([x for x, _ in side], [y for _, y in side], "ink", 1, **dashed) for side in sides)]


def speedup_texts(chart: BreakEvenChart, row: PanelRow, i: int) -> list[str]:
    """Describe a speedup: value with interval, and which version is faster."""
    low, high, least = row.low[i], row.high[i], 1 + chart.even
    kind = "not known which is faster"
    if low > 1:
        kind = f"{chart.other} is faster"
    elif high < 1:
        kind = f"{chart.baseline} is faster"
    elif low > 1 / least and high < least:
        kind = "even"
    return [f"speedup {significant(row.speedup[i])} [{significant(low)}, {significant(high)}]", kind]


Drawing = tuple[list[dict[str, Any]], dict[str, Any]]


def draw_curve(chart: BreakEvenChart, panel: Panel) -> Drawing:
    """Draw the curve over the band that counts as even, with its crossing."""
    (row,), low, high = panel.rows[:1], chart.x(chart.x.low), chart.x(chart.x.high)
    spare = 0.03 * (high - low or 1)
    across = [low - spare, high + spare]
    bottom, top = _y_range(chart, panel, row)
    texts = [hover([column, *speedup_texts(chart, row, i), row.summary]) for i, column in enumerate(panel.places)]
    band = draw_uncertain_band([[(x, bottom), (x, top)] for x in row.band]) if row.band else []
    traces = [
        area(across, [1 / (1 + chart.even)] * 2, [1 + chart.even] * 2, fade_color("muted", 0.18)),
        line(across, [1, 1], "muted", 1.5),
        *band,
        area(panel.x, row.low, row.high, fade_color("line-0", 0.22)),
        line(panel.x, row.speedup, "line-0", 2.4, name="speedup", hoverinfo="text", hovertext=texts),
        pair_markers(panel, lambda pair: pair.speedup),
    ]
    upright = {"title": {"text": "speedup (log scale)"}} | decades(bottom, top)
    return traces, {
        "margin": MARGIN, "annotations": _winner_labels(chart, row),
        "xaxis": chart.x.layout(across) | outside_ticks(), "yaxis": upright,
    }  # fmt: skip


def _y_range(chart: BreakEvenChart, panel: Panel, row: PanelRow) -> tuple[float, float]:
    """Return the range that holds the curve and all pairs; intervals may leave it."""
    even = [1 / (1 + chart.even), 1 + chart.even]
    low, high = log_range([*even, *row.speedup, *(pair.speedup for pair in panel.pairs)], [*row.low, *row.high])
    return low / 1.15, high * 1.15


def _winner_labels(chart: BreakEvenChart, row: PanelRow) -> list[dict[str, Any]]:
    rises = row.speedup[0] < row.speedup[-1]
    heights = {True: 1 + chart.even, False: 1 / (1 + chart.even)}
    return [
        {
            "xref": "paper", "x": 0.01 if above == rises else 0.99, "xanchor": "left" if above == rises else "right",
            "y": round(math.log10(heights[above]), 5), "yanchor": "bottom" if above else "top",
            "text": escape_markup(f"{name} is faster"), "showarrow": False, "font": {"size": 13, "color": "ink"},
        }
        for name, above in ((chart.other, True), (chart.baseline, False))
    ]  # fmt: skip
