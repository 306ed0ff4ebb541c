"""Lay out a table once: texts, alignment and footnotes; terminal and page only draw it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from scalograph.analysis.estimate import Estimate
from scalograph.protocol.findings import Column, TableDoc
from scalograph.protocol.plain import is_number
from scalograph.text.escape import escape_controls, one_line
from scalograph.text.format import DASH, declared_text, estimate, level_text, number
from scalograph.text.scale import Scale, scale_for_label, shared_scales

MARKS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True, slots=True)
class ShownCell:
    """One printed cell: text, interval, footnotes, hover text, and sort key."""

    text: str
    interval: str = ""
    marks: str = ""
    title: str = ""
    sort: float | str | None = None

    def __str__(self) -> str:
        marks = f"({self.marks})" if self.marks else ""
        return " ".join(part for part in (self.text, self.interval, marks) if part)


@dataclass(frozen=True, slots=True)
class Heading:
    """A column's name and the unit its numbers are printed in."""

    name: str
    unit: str = ""
    numeric: bool = False
    label: bool = False
    marks: str = ""

    def __str__(self) -> str:
        marks = f"({self.marks})" if self.marks else ""
        unit = f"({self.unit})" if self.unit else ""
        return " ".join(part for part in (self.name, unit, marks) if part)


@dataclass(frozen=True)
class TableLayout:
    """A table ready to draw; every row has as many cells as there are headings."""

    id: str
    title: str
    note: str
    headings: list[Heading]
    rows: list[list[ShownCell]]
    footnotes: list[tuple[str, str]]

    def has_intervals(self, i: int) -> bool:
        """Return whether any cell of a column has an interval."""
        return i in self._interval_columns

    @cached_property
    def _interval_columns(self) -> frozenset[int]:
        return frozenset(i for row in self.rows for i, cell in enumerate(row) if cell.interval)

    def value_width(self, i: int) -> int:
        """Return the characters of a column's widest value, without intervals and marks."""
        return max((len(row[i].text) for row in self.rows), default=0)

    def style(self, i: int) -> str:
        """Return the kind of a column: label, estimate, number or text."""
        if self.has_intervals(i):
            return "estimate"
        if self.headings[i].numeric:
            return "number"
        return "label" if self.headings[i].label else "text"


@dataclass(slots=True)
class Footnotes:
    """The warnings of a table, each once, marked by a letter."""

    marks: dict[str, str] = field(default_factory=dict)

    def mark(self, warnings: Sequence[str]) -> str:
        return "".join(sorted({self._letter(one_line(w)) for w in warnings}))

    def _letter(self, warning: str) -> str:
        return self.marks.setdefault(warning, MARKS[len(self.marks)] if len(self.marks) < 26 else "*")

    def entries(self) -> list[tuple[str, str]]:
        """Return mark and text of each; warnings past the alphabet share one line."""
        named = [(mark, text) for text, mark in self.marks.items() if mark != "*"]
        rest = [text for text, mark in self.marks.items() if mark == "*"]
        return named + ([("*", f"{len(rest)} further warnings, in findings.json")] if rest else [])


def table_layout(table: TableDoc) -> TableLayout:
    """Lay out a table of the findings; missing or unexpected cells still print."""
    footnotes = Footnotes()
    width = len(table.columns)
    rows = [(row + [None] * width)[:width] for row in table.rows]
    raw = [[row[i] for row in rows] for i in range(width)]
    scales = _scales(table.columns, raw)
    drawn = zip(table.columns, raw, scales, strict=True)
    columns = [
        _column(column, values, scale, footnotes) for column, values, scale in drawn
        if not (column.kind == "text" and values and all(x in (None, "", []) for x in values))
    ]  # fmt: skip
    headings = [heading for heading, _ in columns]
    cells = [[column[i] for _, column in columns] for i in range(len(rows))]
    title, note = one_line(table.title), one_line(table.note)
    return TableLayout(escape_controls(table.id), title, note, headings, cells, footnotes.entries())


def _column(column: Column, values: list[Any], scale: Scale, footnotes: Footnotes) -> tuple[Heading, list[ShownCell]]:
    first, *others = [x for x in values if isinstance(x, Estimate)] or [Estimate()]
    shared = [w for w in first.warnings if others and all(w in e.warnings for e in others)]
    marks = footnotes.mark(shared)
    label = column.kind == "label"
    cells = [_cell(x, None if label else scale, footnotes, shared) for x in values]
    numeric = any(isinstance(c.sort, float) for c in cells) and column.kind != "text"
    heading = Heading(one_line(column.name), scale.unit, numeric, label, marks)
    room = max((_fraction(c.text) for c in cells if isinstance(c.sort, float)), default=0)
    if numeric:  # padded on the right, decimal points align
        cells = [replace(c, text=f"{c.text}{' ' * (room - _fraction(c.text))}") if isinstance(c.sort, float) else c
                 for c in cells]  # fmt: skip
    return heading, cells


def _scales(columns: list[Column], raw: list[list[Any]]) -> list[Scale]:
    numbers = [
        (c.unit, [_magnitude(x) for x in values]) if _is_scaled(c) else ("", [])
        for c, values in zip(columns, raw, strict=True)
    ]
    scales = shared_scales(numbers)
    return [s if _is_scaled(c) else scale_for_label(c.unit) for c, s in zip(columns, scales, strict=True)]


def _is_scaled(column: Column) -> bool:
    return column.kind in ("number", "estimate")


def _magnitude(x: Any) -> float | None:
    if isinstance(x, Estimate):
        return x.value
    return float(x) if is_number(x) else None


def _cell(x: Any, scale: Scale | None, footnotes: Footnotes, shared: list[str]) -> ShownCell:
    if isinstance(x, Estimate) and scale:
        shown = estimate(x, scale)
        title = one_line("; ".join(x.warnings)) or one_line(f"{x.method}; {x.n} runs" if x.method else f"{x.n} runs")
        was_run = x.value is not None or x.n > 0  # the dash already says that nothing was run
        marks = footnotes.mark([w for w in x.warnings if w not in shared]) if was_run else ""
        return ShownCell(shown.value, shown.interval, marks, title, _magnitude(x))
    if is_number(x):
        return ShownCell(number(x, scale) if scale else declared_text(x), sort=float(x) if math.isfinite(x) else None)
    if x is None:
        return ShownCell(DASH, title="no value")
    if isinstance(x, bool):
        return ShownCell(level_text(x), sort=level_text(x))
    text = one_line(", ".join(str(part) for part in x)) if isinstance(x, list) else escape_controls(str(x))
    return ShownCell(text, sort=text)


def _fraction(text: str) -> int:
    return len(text) - text.index(".") if "." in text and "e" not in text else 0
