"""The declared tables in words: what each column does along the rows, where no speedup speaks of it already."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations

from scalograph.analysis.estimate import Estimate
from scalograph.findings.curves import curve_factor
from scalograph.findings.names import title
from scalograph.findings.simultaneous_intervals import at_once
from scalograph.findings.speedup_rule import gain
from scalograph.findings.table import Table
from scalograph.findings.whole_run import WARNING
from scalograph.protocol.findings import Level, TableDoc
from scalograph.study.model import Table as Declared
from scalograph.text.format import (
    decimals,
    enough,
    estimate,
    level_text,
    rounded,
)
from scalograph.text.scale import Scale, scale_for

MAX_SENTENCES = 6  # one for each table
MAX_PHRASES = 6  # of a sentence: one for each column, or for several that are alike
MAX_LISTED = 4  # rows without an order that are listed one by one


@dataclass(frozen=True)
class Line:
    """A column of a table: its measured cells in order of the rows, and how they are to be written."""

    row: str
    ordered: bool
    labels: Sequence[str]
    cells: Sequence[Estimate]
    scale: Scale

    def figure(self, index: int) -> str:
        """A cell as the table shows it: value, unit, interval."""
        shown = estimate(self.cells[index], self.scale)
        return f"{shown.value}{self._unit} {shown.interval}".rstrip()

    def place(self, index: int, name: bool = True) -> str:
        """A cell with the row it stands in."""
        return f"{self.figure(index)} ({f'{self.row} ' if name else ''}{self.labels[index]})"

    def span(self) -> str:
        """From the lowest end of an interval to the highest."""
        low = min(x for cell in self.cells for x in (cell.low, cell.value) if x is not None)
        high = max(x for cell in self.cells for x in (cell.high, cell.value) if x is not None)
        low, high = low * self.scale.factor, high * self.scale.factor
        digits = decimals(None, low, high)
        return f"{rounded(low, enough(low, digits))} to {rounded(high, enough(high, digits))}{self._unit}"

    @property
    def _unit(self) -> str:
        return f" {self.scale.unit}" if self.scale.unit else ""


def told(table: Table, shown: Sequence[TableDoc]) -> list[str]:
    """A sentence for each declared table that speedups do not speak of, in the declared order.

    Args:
        table: the runs.
        shown: the declared tables, one for each of `table.study.tables`, in their order.
    """
    asked = [(wish, doc) for wish, doc in zip(table.study.tables, shown, strict=True) if _asked(table, wish)]
    found = [text for wish, doc in asked if (text := _sentence(table, wish, doc))]
    if len(found) > MAX_SENTENCES:
        found = [*found[:MAX_SENTENCES], f"{len(found) - MAX_SENTENCES} further tables are below."]
    return found


def _asked(table: Table, wish: Declared) -> bool:
    """Whether the figures stand for themselves: no speedup, nor a response that speedups are taken on."""
    if wish.response not in table.study.responses:
        return False
    return gain(table, curve_factor(table)) is None or table.study.responses[wish.response].better == "none"


def _sentence(table: Table, wish: Declared, doc: TableDoc) -> str:
    grouped: dict[str, list[str]] = {}
    for level, line in _lines(table, wish, doc).items():
        grouped.setdefault(phrase(line), []).append(level)
    phrases = [_where(table, wish.columns, levels) + text for text, levels in grouped.items()]
    if len(phrases) > MAX_PHRASES:
        phrases = [*phrases[:MAX_PHRASES], f"{len(phrases) - MAX_PHRASES} further columns are in the table"]
    return f"{wish.title.rstrip(' .:')}: {'; '.join(phrases)}." if phrases else ""


def _lines(table: Table, wish: Declared, doc: TableDoc) -> Mapping[str, Line]:
    """Columns that hold a measured cell, by the text of their level."""
    unit = table.study.factors[wish.rows].unit
    columns = [_cells(doc, index) for index in range(1, len(doc.columns))]
    values = [cell.value for column in columns for _, cell in column]
    scale = scale_for(table.study.responses[wish.response].unit, values)
    line = partial(Line, row=title(table, wish.rows), scale=scale)
    found = {}
    for head, column in zip(doc.columns[1:], columns, strict=True):
        if column:
            ordered = all(isinstance(level, int | float) and not isinstance(level, bool) for level, _ in column)
            labels = [level_text(level, unit) for level, _ in column]
            name = head.name.removeprefix(f"{title(table, wish.columns)} ") if wish.columns else head.name
            found[name] = line(ordered=ordered, labels=labels, cells=[cell for _, cell in column])
    return found


def _cells(doc: TableDoc, index: int) -> list[tuple[Level, Estimate]]:
    return [(row[0], row[index]) for row in doc.rows if row[index].value is not None]


def _where(table: Table, factor: str | None, levels: Sequence[str]) -> str:
    if factor is None:
        return ""
    name = title(table, factor)
    # A level that names its factor, as JVM options do, needs no further name.
    head = "" if all(name in level for level in levels) else f"{name} "
    alike = " alike" if len(levels) > 1 else ""
    named = levels if len(levels) <= MAX_LISTED else [*levels[: MAX_LISTED - 1], f"{len(levels) - MAX_LISTED + 1} more"]
    return f"with {head}{_and(named)}{alike}, "


def _and(texts: Sequence[str]) -> str:
    return " and ".join(text for text in (", ".join(texts[:-1]), texts[-1]) if text)


def phrase(line: Line) -> str:
    """What a line does; a difference is claimed only where two intervals, which hold all at once, do not overlap."""
    if len(line.cells) == 1:
        return f"it is {line.place(0)}"
    if len({WARNING in cell.warnings for cell in line.cells}) > 1:
        return "some rows give whole-run times and others the median of iterations, which do not compare"
    if any(cell.low is None or cell.high is None for cell in line.cells):
        return f"{line.span()}, too few runs for intervals"
    if len({end for cell in line.cells for end in (cell.low, cell.high)}) == 1:
        return f"it is {line.figure(0)} throughout"
    directions = _directions(line.cells)
    if not directions:
        return f"no difference along {line.row} is seen (intervals from {line.span()})"
    return _ordered(line, directions) if line.ordered else _listed(line)


def _directions(cells: Sequence[Estimate]) -> dict[tuple[int, int], int]:
    """For each two cells whose intervals do not overlap: 1 where the later one is higher, -1 where it is lower.

    The intervals are those that hold all at once: of 16 rows without any difference, one in four would show one else.
    """
    found, cells = {}, [at_once(cell, len(cells)) for cell in cells]
    for i, j in combinations(range(len(cells)), 2):
        if _below(cells[i], cells[j]):
            found[i, j] = 1
        elif _below(cells[j], cells[i]):
            found[i, j] = -1
    return found


def _below(one: Estimate, other: Estimate) -> bool:
    return one.high is not None and other.low is not None and one.high < other.low


def _ordered(line: Line, directions: Mapping[tuple[int, int], int]) -> str:
    last = len(line.cells) - 1
    trend = directions.get((0, last))
    if trend is None:
        return f"it lies {_between(line)}, and whether it ends higher or lower than it begins is not seen"
    ends = f"from {line.place(0)} to {line.place(last, name=False)}"
    if -trend in directions.values():
        return f"it goes {ends}, not steadily: {_between(line)}"
    return f"it {'rises' if trend > 0 else 'falls'} {ends}"


def _between(line: Line) -> str:
    lowest, highest = _extremes(line.cells)
    return f"between {line.place(lowest)} and {line.place(highest, name=False)}"


def _extremes(cells: Sequence[Estimate]) -> tuple[int, int]:
    first, *_, last = sorted(range(len(cells)), key=lambda i: cells[i].value or 0.0)
    return first, last


def _listed(line: Line) -> str:
    if len(line.cells) > MAX_LISTED:
        return f"it lies {_between(line)}"
    return "it is " + _and([line.place(i, name=i == 0) for i in range(len(line.cells))])
