"""A speedup curve in plain characters: o what was measured, | its interval, . the ideal, - the law."""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

HEIGHT, WIDTH = 12, 56
# Past this the levels stand at equal factors, not at equal distances.
_WIDE = 16


class Mark(NamedTuple):
    """One level: its size, and the speedup with its interval."""

    size: float
    value: float
    low: float
    high: float


def plot(marks: Sequence[Mark], law: Callable[[float], float] | None = None) -> list[str]:
    """Lines of a figure; none for fewer than two levels.

    Args:
        marks: in order of size; the first is the baseline.
        law: speedup at a size.
    """
    if len(marks) < 2:
        return []
    top = 1.05 * max(mark.high for mark in marks)
    first, last = marks[0].size, marks[-1].size
    grid = [[" "] * WIDTH for _ in range(HEIGHT)]
    x_of, size_of = _scale(first, last)
    for column in range(WIDTH):
        size = size_of(column)
        _put(grid, column, size / first, top, ".")
        if law:
            _put(grid, column, law(size), top, "-")
    for mark in marks:
        column = x_of(mark.size)
        for row in range(_row(mark.high, top), _row(mark.low, top) + 1):
            grid[row][column] = "|"
        grid[_row(mark.value, top)][column] = "o"
    return [*_framed(grid, top), *_axis(marks, x_of)]


def _scale(first: float, last: float) -> tuple[Callable[[float], int], Callable[[int], float]]:
    if last / first > _WIDE:
        span = math.log(last / first)
        return (
            lambda size: round(math.log(size / first) / span * (WIDTH - 1)),
            lambda column: first * math.exp(span * column / (WIDTH - 1)),
        )
    span = last - first
    return lambda size: round((size - first) / span * (WIDTH - 1)), lambda column: first + span * column / (WIDTH - 1)


def _row(value: float, top: float) -> int:
    return min(HEIGHT - 1, max(0, HEIGHT - 1 - int(value / top * HEIGHT)))


def _put(grid: list[list[str]], column: int, value: float, top: float, sign: str) -> None:
    if 0 <= value <= top:
        grid[_row(value, top)][column] = sign


def _framed(grid: list[list[str]], top: float) -> list[str]:
    """Every third line says how high it is."""
    lines = []
    for row, cells in enumerate(grid):
        value = (HEIGHT - row - 0.5) / HEIGHT * top
        label = f"{value:6.2f}" if row % 3 == 0 else " " * 6
        lines.append(f"{label} |{''.join(cells)}".rstrip())
    return lines


def _axis(marks: Sequence[Mark], x_of: Callable[[float], int]) -> list[str]:
    """The sizes under the figure, as many as have room."""
    line = [" "] * (WIDTH + 8)
    free = 0
    for mark in marks:
        text, column = f"{mark.size:g}", x_of(mark.size)
        if column >= free:
            line[column : column + len(text)] = text
            free = column + len(text) + 1
    return [f"{'':6} +{'-' * WIDTH}", f"{'':8}{''.join(line)}".rstrip()]
