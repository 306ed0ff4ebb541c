"""What the map and the curve of break-even have in common: pairs, areas of which nobody knows the side, texts."""

import math
from collections.abc import Callable, Sequence
from typing import Any

from scalograph.questions.break_even.figure_panels import Chart, EvenRow, PairMark, Panel
from scalograph.text.format import significant
from scalograph.text.plots import hover, line, outlined

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
