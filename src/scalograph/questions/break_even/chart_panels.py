"""Break-even as it is drawn: panels of speedups on the same axes, with the line where two versions are even."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from scalograph.protocol.findings import Findings
from scalograph.questions.break_even.document import BreakEven, EvenLine, EvenMap, EvenPair
from scalograph.text.axes import Factors, Levels
from scalograph.text.escape import visible
from scalograph.text.format import level_text, number, significant, version_name
from scalograph.text.plots import (
    MARGIN,
    area,
    at,
    axis,
    decades,
    escaped,
    faded,
    hover,
    line,
    outlined,
    outside,
    reach,
    round_numbers,
)

# More declared levels than that get round numbers as ticks.
FEW_LEVELS = 24
# Ratio of the largest level to the smallest from which they stand by their ratios.
WIDE = 3


class EvenAxis:
    """Where the levels of a factor stand: by their ratios where they reach far, else by their differences."""

    def __init__(self, levels: Levels, numbers: Sequence[float]) -> None:
        self.levels = levels
        self.low, self.high = min(numbers), max(numbers)
        self.is_log = self.low > 0 and self.high / self.low >= WIDE

    def __call__(self, level: float) -> float:
        inside = min(max(level, self.low), self.high)
        return round(math.log10(inside) if self.is_log else inside, 6)

    def text(self, level: float) -> str:
        return f"{self.levels.title}: {visible(level_text(level, self.levels.unit))}"

    def ends(self) -> list[float]:
        """Where its first and its last level stand."""
        return [self(self.low), self(self.high)]

    def drawn(self, span: Sequence[float]) -> dict[str, Any]:
        """Make it an axis of a figure, from one place to another."""
        ticks = self.ticks()
        unit, scale = self.levels.unit, " (log scale)" if self.is_log else ""
        title = self.levels.title + (f" ({unit})" if unit else "") + scale
        return axis(title, span, **outside(**at([self(n) for n in ticks], [level_text(n) for n in ticks])))

    def ticks(self) -> list[float]:
        """Declared levels where they are few, else round numbers."""
        numbers = [float(n) for n in self.levels.levels if isinstance(n, int | float) and not isinstance(n, bool)]
        declared = sorted(n for n in numbers if self.low <= n <= self.high)
        return declared if 2 <= len(declared) <= FEW_LEVELS else round_numbers(self.low, self.high, self.is_log)


# What the eye can tell apart in one page; evenly chosen where there are more.
MOST_MAPS, MOST_ROWS, MOST_COLUMNS, MOST_PAIRS = 16, 64, 64, 1024
# Color is strongest from 2**4 times faster on: beyond, one number would take all colors from the others.
MOST_OCTAVES = 4


@dataclass(frozen=True)
class EvenRow:
    """One level of the second factor: speedups along the first, who wins, and the places that hold the line."""

    at: float
    text: str
    kind: str
    location: float | None
    band: tuple[float, float] | None
    said: str
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
    text: str


@dataclass(frozen=True)
class Panel:
    """One map, or one curve; `places` has each of its columns in words."""

    title: str
    x: list[float]
    places: list[str]
    rows: list[EvenRow]
    pairs: list[PairMark]


@dataclass(frozen=True)
class Chart:
    """All panels of one search; `octaves` is how far colors reach, `is_cut` whether speedups reach further."""

    other: str
    baseline: str
    even: float
    octaves: int
    is_cut: bool
    x: EvenAxis
    y: EvenAxis | None
    panels: list[Panel]

    @property
    def rows(self) -> list[EvenRow]:
        """Those of all panels."""
        return [row for panel in self.panels for row in panel.rows]


def chart(findings: Findings) -> Chart | None:
    """Lay out a search for break-even; None where there is nothing to draw."""
    one, factors = findings.document("break-even", BreakEven), Factors(findings)
    maps = [m for m in one.maps if _is_whole(m)] if one else []
    maps = [m for m in maps if (m.x, m.y) == (maps[0].x, maps[0].y)][:MOST_MAPS]
    if one is None or not maps:
        return None
    x, y = _axes(maps, factors)
    octaves = max(abs(math.log2(n)) for m in maps for row in m.ratio for n in row)
    return Chart(
        other=visible(version_name(one.factor, one.other)),
        baseline=visible(version_name(one.factor, one.baseline)),
        even=one.even,
        octaves=min(max(math.ceil(octaves), 1), MOST_OCTAVES),
        is_cut=octaves > MOST_OCTAVES,
        x=x,
        y=y,
        panels=[_panel(one, m, x, y, factors) for m in maps],
    )


def _axes(maps: Sequence[EvenMap], factors: Factors) -> tuple[EvenAxis, EvenAxis | None]:
    pairs = [pair for m in maps for pair in m.pairs]
    x = EvenAxis(factors[maps[0].x], [*(n for m in maps for n in m.x_levels), *(pair.x for pair in pairs)])
    if not maps[0].y:
        return x, None
    measured = [pair.y for pair in pairs if pair.y is not None]
    return x, EvenAxis(factors[maps[0].y], [*(n for m in maps for n in m.y_levels), *measured])


def _is_whole(one: EvenMap) -> bool:
    """Whether rows and columns agree, and every ratio has an inverse."""
    n_rows, n_columns = len(one.y_levels) if one.y else 1, len(one.x_levels)
    known = (one.ratio, one.low, one.high)
    return n_columns > 1 and 0 < n_rows == len(one.lines) and all(_is_table(t, n_rows, n_columns) for t in known)


def _is_table(rows: list[list[float]], n_rows: int, n_columns: int) -> bool:
    return len(rows) == n_rows and all(len(row) == n_columns and min(row) > 0 for row in rows)


def _panel(one: BreakEven, m: EvenMap, x: EvenAxis, y: EvenAxis | None, factors: Factors) -> Panel:
    columns = _chosen(len(m.x_levels), MOST_COLUMNS)
    return Panel(
        title=factors.group(m.group),
        x=[x(m.x_levels[i]) for i in columns],
        places=[x.text(m.x_levels[i]) for i in columns],
        rows=[_row(one, m, row, columns, x, y) for row in _chosen(len(m.lines), MOST_ROWS)],
        pairs=[_pair(pair, x, y) for pair in m.pairs[:MOST_PAIRS] if pair.ratio > 0],
    )


def _row(one: BreakEven, m: EvenMap, row: int, columns: Sequence[int], x: EvenAxis, y: EvenAxis | None) -> EvenRow:
    """One row; the high end of a time is the low one of a speedup."""
    line = m.lines[row]
    return EvenRow(
        at=y(m.y_levels[row]) if y else 0.0,
        text=y.text(m.y_levels[row]) if y else "",
        kind=line.kind,
        location=None if line.location is None else x(line.location),
        band=_band(line, x),
        said=_said(one, line, x),
        speedup=[_inverse(m.ratio[row][i]) for i in columns],
        low=[_inverse(m.high[row][i]) for i in columns],
        high=[_inverse(m.low[row][i]) for i in columns],
    )


def _band(line: EvenLine, x: EvenAxis) -> tuple[float, float] | None:
    """Between which levels nobody knows who wins; to the end of the axis where only one of them is known."""
    if line.kind not in ("from", "until", "undecided"):
        return None
    low, high = (x.low if line.low is None else line.low), (x.high if line.high is None else line.high)
    return x(low), x(high)


def _said(one: BreakEven, line: EvenLine, x: EvenAxis) -> str:
    """What a row says, in words."""
    other = visible(version_name(one.factor, one.other))
    if line.location is not None:
        how, on = ("from", " on") if line.kind == "from" else ("up to", "")
        ends = f" [{_text(line.low)}, {_text(line.high)}]" if line.low is not None and line.high is not None else ""
        return f"{other} is faster {how} {x.levels.title} {_text(line.location)}{ends}{on}"
    return {
        "always": f"{other} is always faster, or within {100 * one.even:g} %",
        "never": f"{other} is never faster by more than {100 * one.even:g} %",
        "several": f"{other} is faster in several regions",
        "unmeasured": "not measured: no pair there has two times",
    }.get(line.kind, "not decided where they are even")


def _text(level: float | None) -> str:
    return "" if level is None else number(level)


def _pair(pair: EvenPair, x: EvenAxis, y: EvenAxis | None) -> PairMark:
    places = [x.text(pair.x), *([y.text(pair.y)] if y and pair.y is not None else [])]
    at = y(pair.y) if y and pair.y is not None else 0.0
    return PairMark(x(pair.x), at, _inverse(pair.ratio), pair.n, ", ".join(places))


def _inverse(ratio: float) -> float:
    return float(f"{1 / ratio:.4g}")


def _chosen(n: int, most: int) -> Sequence[int]:
    return range(n) if n <= most else [round(i * (n - 1) / (most - 1)) for i in range(most)]


Point = tuple[float, float]
OPEN = {
    "shape": ".", "fgcolor": "ink", "fgopacity": 0.7, "bgcolor": "rgba(0,0,0,0)", "size": 6, "solidity": 0.13,
    "fillmode": "replace",
}  # fmt: skip


def pairs(panel: Panel, height: Callable[[PairMark], float]) -> dict[str, Any]:
    """Draw disks: full where the other version was faster, larger where there are several pairs."""
    marker = {
        "size": [round(min(8 + 2.5 * math.sqrt(pair.n - 1), 16), 2) for pair in panel.pairs],
        "color": ["ink" if pair.speedup > 1 else "paper" for pair in panel.pairs],
        "opacity": 1, "line": {"color": "ink", "width": 1.6},
    }  # fmt: skip
    return {
        "type": "scatter", "mode": "markers", "x": [pair.x for pair in panel.pairs], "y": [*map(height, panel.pairs)],
        "marker": marker, "hoverinfo": "text", "cliponaxis": False,
        "hovertext": [hover([pair.text, _count(pair)]) for pair in panel.pairs],
    }  # fmt: skip


def _count(pair: PairMark) -> str:
    return f"{pair.n} {'pair' if pair.n == 1 else 'pairs'}: speedup {significant(pair.speedup)}"


def undecided(sides: Sequence[Sequence[Point]]) -> list[dict[str, Any]]:
    """Dot an area of which nobody knows the side, between two dashed edges."""
    around = [*sides[0], *reversed(sides[1])]
    inside = outlined([x for x, _ in around], [y for _, y in around], fillpattern=OPEN)
    dashed = {"style": {"dash": "5px,3px"}}
    return [inside, *(line([x for x, _ in side], [y for _, y in side], "ink", 1, **dashed) for side in sides)]


def told(found: Chart, row: EvenRow, i: int) -> list[str]:
    """Say the speedup with its ends, and what they mean."""
    low, high, least = row.low[i], row.high[i], 1 + found.even
    kind = "not known which is faster"
    if low > 1:
        kind = f"{found.other} is faster"
    elif high < 1:
        kind = f"{found.baseline} is faster"
    elif low > 1 / least and high < least:
        kind = "even"
    return [f"speedup {significant(row.speedup[i])} [{significant(low)}, {significant(high)}]", kind]


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
