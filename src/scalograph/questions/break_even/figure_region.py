"""Who is faster, in words on the map: where it is sure, where there is room, and where no pair was measured."""

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from typing import Any

from scalograph.questions.break_even.figure_panels import Chart, EvenRow, PairMark, Panel
from scalograph.text.plots import Span, escaped, faded

# Pixels that a letter takes at most, a line of them, half of a pair's disk; and plots for which there is a label.
LETTER, LINE, DISK = 7, 17, 7
ROOMS = ((750, 330), (560, 150), (280, 220), (200, 150))


class RegionLabel:
    """One or two lines of text, as large as a plot of this room makes them in terms of its axes."""

    def __init__(self, lines: Sequence[str], room: tuple[int, int], across: Span, up: Span) -> None:
        self.lines = lines
        self.x_pixel, self.y_pixel = (across[1] - across[0]) / room[0], (up[1] - up[0]) / room[1]
        self.across = (LETTER * max(map(len, lines)) + 8) * self.x_pixel
        self.up = LINE * len(lines) * self.y_pixel

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
