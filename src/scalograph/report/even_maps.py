"""Break-even as figures take it: maps of speedup with the line where two versions are even, or a curve of it."""

import math
from collections.abc import Callable, Sequence
from typing import Any

from scalograph.findings import BreakEven, EvenLine, EvenMap, EvenPair, Findings
from scalograph.report.axis import WIDE, Factors, Levels
from scalograph.report.escape import visible
from scalograph.report.format import level_text

# What the eye can tell apart in one page; evenly chosen where there are more.
MOST_MAPS, MOST_ROWS, MOST_COLUMNS, MOST_PAIRS = 16, 64, 64, 1024
# More declared levels than that get round numbers as ticks.
FEW_LEVELS = 24
# Color is strongest from 2**4 times faster on: beyond, one number would take all colors from the others.
MOST_OCTAVES = 4

Place = Callable[[float], float]


def even_maps(findings: Findings, factors: Factors) -> dict[str, Any] | None:
    """All maps of one search, on the same axes; None where there is nothing to draw."""
    one = findings.break_even
    maps = [m for m in one.maps if _is_whole(m)] if one else []
    maps = [m for m in maps if (m.x, m.y) == (maps[0].x, maps[0].y)][:MOST_MAPS]
    if one is None or not maps:
        return None
    x = _Axis(factors[maps[0].x], [n for m in maps for n in m.x_levels])
    y = _Axis(factors[maps[0].y], [n for m in maps for n in m.y_levels]) if maps[0].y else None
    octaves = max(abs(math.log2(n)) for m in maps for row in m.ratio for n in row)
    return {
        "other": visible(level_text(one.other)),
        "baseline": visible(level_text(one.baseline)),
        "even": one.even,
        "octaves": min(max(math.ceil(octaves), 1), MOST_OCTAVES),
        "is_cut": octaves > MOST_OCTAVES,
        "x": x.drawn(),
        "y": y.drawn() if y else None,
        "maps": [_map(one, m, x, y, factors) for m in maps],
    }


def _is_whole(one: EvenMap) -> bool:
    """Whether rows and columns agree, and every ratio has an inverse."""
    n_rows, n_columns = len(one.y_levels) if one.y else 1, len(one.x_levels)
    known = (one.ratio, one.low, one.high)
    return n_columns > 1 and 0 < n_rows == len(one.lines) and all(_is_table(t, n_rows, n_columns) for t in known)


def _is_table(rows: list[list[float]], n_rows: int, n_columns: int) -> bool:
    return len(rows) == n_rows and all(len(row) == n_columns and min(row) > 0 for row in rows)


class _Axis:
    """Where the levels of a factor stand: by their ratios where they reach far, else by their differences."""

    def __init__(self, levels: Levels, numbers: Sequence[float]) -> None:
        self.levels = levels
        self.low, self.high = min(numbers), max(numbers)
        self.is_log = self.low > 0 and self.high / self.low >= WIDE

    def __call__(self, level: float) -> float:
        return round(math.log10(level) if self.is_log else level, 6)

    def text(self, level: float) -> str:
        return f"{self.levels.title}: {visible(level_text(level, self.levels.unit))}"

    def drawn(self) -> dict[str, Any]:
        ticks = self._ticks()
        return {
            "title": self.levels.title + (f" ({self.levels.unit})" if self.levels.unit else ""),
            "is_log": self.is_log,
            "ends": [self(self.low), self(self.high)],
            "at": [self(n) for n in ticks],
            "labels": [f"{n:.12g}" for n in ticks],
        }

    def _ticks(self) -> list[float]:
        """Declared levels where they are few, else round numbers."""
        numbers = [float(n) for n in self.levels.levels if isinstance(n, int | float) and not isinstance(n, bool)]
        declared = sorted(n for n in numbers if self.low <= n <= self.high)
        return declared if 2 <= len(declared) <= FEW_LEVELS else round_numbers(self.low, self.high, self.is_log)


def round_numbers(low: float, high: float, is_log: bool) -> list[float]:
    """Ticks between two ends: 1, 2 and 5 of each power of ten, or steps of such a number.

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


def _map(one: BreakEven, m: EvenMap, x: _Axis, y: _Axis | None, factors: Factors) -> dict[str, Any]:
    columns = _chosen(len(m.x_levels), MOST_COLUMNS)
    return {
        "title": factors.treatment(m.group),
        "x": [x(m.x_levels[i]) for i in columns],
        "places": [x.text(m.x_levels[i]) for i in columns],
        "rows": [_row(one, m, row, columns, x, y) for row in _chosen(len(m.lines), MOST_ROWS)],
        "pairs": [_pair(pair, x, y) for pair in m.pairs[:MOST_PAIRS]],
    }


def _row(one: BreakEven, m: EvenMap, row: int, columns: Sequence[int], x: _Axis, y: _Axis | None) -> dict[str, Any]:
    line = m.lines[row]
    return {
        "at": y(m.y_levels[row]) if y else 0,
        "text": y.text(m.y_levels[row]) if y else "",
        "kind": line.kind,
        "location": None if line.location is None else x(line.location),
        "band": _band(line, x),
        "said": _said(one, line, x),
        **{name: [_inverse(table[row][i]) for i in columns] for name, table in _speedups(m).items()},
    }


def _speedups(m: EvenMap) -> dict[str, list[list[float]]]:
    """Tables of ratios by what their inverses are: the high end of a time is the low one of a speedup."""
    return {"speedup": m.ratio, "low": m.high, "high": m.low}


def _band(line: EvenLine, x: _Axis) -> list[float] | None:
    """Between which levels nobody knows who wins; to the end of the axis where only one of them is known."""
    if line.kind not in ("from", "until", "undecided"):
        return None
    low, high = (x.low if line.low is None else line.low), (x.high if line.high is None else line.high)
    return [x(low), x(high)]


def _said(one: BreakEven, line: EvenLine, x: _Axis) -> str:
    """What a row says, in words."""
    other = visible(level_text(one.other))
    if line.location is not None:
        how, on = ("from", " on") if line.kind == "from" else ("up to", "")
        ends = f" [{_text(line.low)}, {_text(line.high)}]" if line.low is not None and line.high is not None else ""
        return f"{other} is faster {how} {x.levels.title} {_text(line.location)}{ends}{on}"
    return {
        "always": f"{other} is always faster, or even",
        "never": f"{other} is never faster",
        "several": f"{other} is faster in several regions",
    }.get(line.kind, "not decided where they are even")


def _text(level: float | None) -> str:
    return "" if level is None else level_text(level)


def _pair(pair: EvenPair, x: _Axis, y: _Axis | None) -> dict[str, Any]:
    places = [x.text(pair.x), *([y.text(pair.y)] if y and pair.y is not None else [])]
    at = y(pair.y) if y and pair.y is not None else 0
    return {"x": x(pair.x), "y": at, "speedup": _inverse(pair.ratio), "n": pair.n, "text": ", ".join(places)}


def _inverse(ratio: float) -> float:
    return float(f"{1 / ratio:.4g}")


def _chosen(n: int, most: int) -> Sequence[int]:
    return range(n) if n <= most else [round(i * (n - 1) / (most - 1)) for i in range(most)]
