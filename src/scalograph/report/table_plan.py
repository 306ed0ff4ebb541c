"""How a table gets into a width: whole, by sections, in several strips of columns, or not at all."""

from dataclasses import dataclass
from itertools import groupby

from rich.cells import cell_len

from scalograph.report.cells import Sheet, ShownCell

GAP = 2
TEXT_COLUMNS = 18  # what a column of free text needs at least; it wraps


@dataclass(frozen=True, slots=True)
class TablePlan:
    """The first `lifted` label columns become headlines of sections; the others come in strips.

    Attributes:
        lifted: how many label columns leave the table.
        strips: for each strip the indices of its columns and their widths.
        stacked: indices of columns that fit beside no label.
    """

    lifted: int
    strips: list[dict[int, int]]
    stacked: list[int]


def plan(sheet: Sheet, columns: list[list[str]], width: int) -> TablePlan | None:
    """The plan that changes least, or None where no number fits beside its labels."""
    lifts = [k for k in range(max(labels(sheet), 1)) if k == 0 or len(sections(sheet, k)) * 2 <= len(sheet.rows)]
    for lifted in lifts:
        widths = fit(sheet, columns, list(range(lifted, len(columns))), width)
        if widths is not None:
            return TablePlan(lifted, [widths], [])
    strips = _strips(sheet, columns, lifts[-1], width)
    shown = {i for strip in strips for i in strip}
    stacked = [i for i in range(labels(sheet), len(columns)) if i not in shown]
    return TablePlan(lifts[-1], strips, stacked) if strips else None


def labels(sheet: Sheet) -> int:
    """How many label columns a table starts with."""
    return next((i for i, h in enumerate(sheet.headings) if not h.label), len(sheet.headings))


def sections(sheet: Sheet, lifted: int) -> list[list[int]]:
    """Neighboring rows that share their first `lifted` labels."""
    numbered = range(len(sheet.rows))
    return [list(rows) for _, rows in groupby(numbered, key=lambda i: [c.text for c in sheet.rows[i][:lifted]])]


def fit(sheet: Sheet, columns: list[list[str]], chosen: list[int], width: int) -> dict[int, int] | None:
    """Widths of the chosen columns, or None where their narrowest readable form is wider than `width`.

    Headings wrap between words and free text wraps anywhere; numbers never do.
    """
    widest = {i: max((cell_len(text) for text in columns[i]), default=0) for i in chosen}
    most = {i: max(cell_len(str(sheet.headings[i])), widest[i]) for i in chosen}
    widths = {i: _least(sheet, i, widest[i]) for i in chosen}
    room = width - sum(widths.values()) - GAP * (len(widths) - 1)
    if room < 0:
        return None
    while room > 0 and any(widths[i] < most[i] for i in chosen):
        widths[max(chosen, key=lambda i: most[i] - widths[i])] += 1
        room -= 1
    return widths


def _least(sheet: Sheet, i: int, widest: int) -> int:
    heading = sheet.headings[i]
    word = max((cell_len(word) for word in str(heading).split()), default=0)
    free = not heading.numeric and not heading.label
    return max(word, min(widest, TEXT_COLUMNS) if free else widest)


def _strips(sheet: Sheet, columns: list[list[str]], lifted: int, width: int) -> list[dict[int, int]]:
    """As many columns in each strip as fit beside the labels; one that alone does not fit is left out."""
    keys = list(range(lifted, labels(sheet)))
    strips: list[list[int]] = []
    for i in range(labels(sheet), len(columns)):
        if strips and fit(sheet, columns, [*keys, *strips[-1], i], width):
            strips[-1].append(i)
        elif fit(sheet, columns, [*keys, i], width):
            strips.append([i])
    fitted = (fit(sheet, columns, [*keys, *strip], width) for strip in strips)
    return [widths for widths in fitted if widths is not None]


def column_texts(sheet: Sheet, i: int) -> list[str]:
    """The texts of a column, values under values and intervals under intervals."""
    cells = [row[i] for row in sheet.rows]
    if not sheet.has_intervals(i):
        return [str(cell) for cell in cells]
    value = max(cell_len(cell.text) for cell in cells)
    interval = max(cell_len(cell.interval) for cell in cells)
    return [_estimate(cell, value, interval) for cell in cells]


def _estimate(cell: ShownCell, value: int, interval: int) -> str:
    marks = f"({cell.marks})" if cell.marks else ""
    number = " " * (value - cell_len(cell.text)) + cell.text
    return f"{number} {cell.interval:<{interval}} {marks}".rstrip()
