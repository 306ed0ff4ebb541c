"""One table on a terminal: columns where they fit, else one block for each row."""

from dataclasses import dataclass
from itertools import groupby

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from scalograph.protocol.old_names import rename_table
from scalograph.report.cells import TableLayout, table_layout
from scalograph.report.screen import Screen, emit, gap, items, say, verbatim, words
from scalograph.text.format import DASH

GAP = 2
TEXT_COLUMNS = 18  # what a column of free text needs at least; it wraps


@dataclass(frozen=True, slots=True)
class TablePlan:
    """The first `lifted` label columns become headlines of sections; the others come in strips.

    Attributes:
        lifted: how many label columns leave the table.
        strips: for each strip the widths of its columns by index.
        stacked: indices of columns that fit beside no label.
    """

    lifted: int
    strips: list[dict[int, int]]
    stacked: list[int]


def plan(sheet: TableLayout, columns: list[list[str]], width: int) -> TablePlan | None:
    """Return the plan that changes least; None where no number fits beside its labels."""
    lifts = [k for k in range(max(labels(sheet), 1)) if k == 0 or len(sections(sheet, k)) * 2 <= len(sheet.rows)]
    for lifted in lifts:
        widths = fit(sheet, columns, list(range(lifted, len(columns))), width)
        if widths is not None:
            return TablePlan(lifted, [widths], [])
    strips = _strips(sheet, columns, lifts[-1], width)
    shown = {i for strip in strips for i in strip}
    stacked = [i for i in range(labels(sheet), len(columns)) if i not in shown]
    return TablePlan(lifts[-1], strips, stacked) if strips else None


def labels(sheet: TableLayout) -> int:
    """Count the leading label columns of a table."""
    return next((i for i, h in enumerate(sheet.headings) if not h.label), len(sheet.headings))


def sections(sheet: TableLayout, lifted: int) -> list[list[int]]:
    """Group adjacent rows that share their first `lifted` labels."""
    numbered = range(len(sheet.rows))
    return [list(rows) for _, rows in groupby(numbered, key=lambda i: [c.text for c in sheet.rows[i][:lifted]])]


def fit(sheet: TableLayout, columns: list[list[str]], chosen: list[int], width: int) -> dict[int, int] | None:
    """Return the widths of the chosen columns; None where they cannot fit, for numbers never wrap."""
    widest = {i: max((cell_len(text) for text in columns[i]), default=0) for i in chosen}
    most = {i: max(cell_len(str(sheet.headings[i])), widest[i]) for i in chosen}
    widths = {}
    for i in chosen:
        heading = sheet.headings[i]
        word = max((cell_len(word) for word in str(heading).split()), default=0)
        is_free = not heading.numeric and not heading.label
        widths[i] = max(word, min(widest[i], TEXT_COLUMNS) if is_free else widest[i])
    room = width - sum(widths.values()) - GAP * (len(widths) - 1)
    if room < 0:
        return None
    while room > 0 and any(widths[i] < most[i] for i in chosen):
        widths[max(chosen, key=lambda i: most[i] - widths[i])] += 1
        room -= 1
    return widths


def _strips(sheet: TableLayout, columns: list[list[str]], lifted: int, width: int) -> list[dict[int, int]]:
    """Pack columns into strips that fit beside the labels; one that alone does not fit is omitted."""
    keys = list(range(lifted, labels(sheet)))
    strips: list[list[int]] = []
    for i in range(labels(sheet), len(columns)):
        if strips and fit(sheet, columns, [*keys, *strips[-1], i], width):
            strips[-1].append(i)
        elif fit(sheet, columns, [*keys, i], width):
            strips.append([i])
    fitted = (fit(sheet, columns, [*keys, *strip], width) for strip in strips)
    return [widths for widths in fitted if widths is not None]


def column_texts(sheet: TableLayout, i: int) -> list[str]:
    """Return the texts of a column, with values and intervals aligned."""
    cells = [row[i] for row in sheet.rows]
    if not sheet.has_intervals(i):
        return [str(cell) for cell in cells]
    value = max(cell_len(cell.text) for cell in cells)
    interval = max(cell_len(cell.interval) for cell in cells)
    numbers = [" " * (value - cell_len(cell.text)) + cell.text for cell in cells]
    marks = [f"({cell.marks})" if cell.marks else "" for cell in cells]
    columns = zip(numbers, cells, marks, strict=True)
    return [f"{number} {cell.interval:<{interval}} {mark}".rstrip() for number, cell, mark in columns]


def draw(sheet: TableLayout, console: Console) -> None:
    """Print a table within the console's width, with its note and footnotes."""
    say(console, sheet.title, "bold")
    columns = [column_texts(sheet, i) for i in range(len(sheet.headings))]
    layout = plan(sheet, columns, console.width)
    if not sheet.rows:
        say(console, "no rows")
    elif layout is None:
        _draw_stacked(sheet, console, [i for i, h in enumerate(sheet.headings) if not h.label])
    else:
        _draw_planned(sheet, columns, layout, console)
        if layout.stacked:
            gap(console)
            _draw_stacked(sheet, console, layout.stacked)
    for text in [sheet.note, *(f"({mark}) {text}" for mark, text in sheet.footnotes)]:
        if text:
            say(console, text, "dim")


def _draw_planned(sheet: TableLayout, columns: list[list[str]], layout: TablePlan, console: Console) -> None:
    for index, rows in enumerate(sections(sheet, layout.lifted)):
        if layout.lifted:
            if index:
                gap(console)
            say(console, _headline(sheet, rows[0], range(layout.lifted)), "bold")
        for strip, widths in enumerate(layout.strips):
            if strip:
                gap(console)
            values = [i for i in widths if not sheet.headings[i].label]
            telling = [row for row in rows if any(str(sheet.rows[row][i]) not in ("", DASH) for i in values)]
            telling = telling if strip else rows
            emit(console, _table(sheet, columns, telling or rows, widths, console))


def _headline(sheet: TableLayout, row: int, labels: range | list[int]) -> str:
    return ", ".join(f"{sheet.headings[i]}: {sheet.rows[row][i]}" for i in labels)


def _table(
    sheet: TableLayout, columns: list[list[str]], rows: list[int], widths: dict[int, int], console: Console
) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, GAP - 1, 0, 0))
    for i, width in widths.items():
        heading = words(console, str(sheet.headings[i]))
        heading.justify = "right" if _is_right(sheet, i) else "left"
        table.add_column(heading, width=width, overflow="fold")
    for row in rows:
        table.add_row(*(_cell(sheet, i, columns[i][row], width, console) for i, width in widths.items()))
    return table


def _is_right(sheet: TableLayout, i: int) -> bool:
    return sheet.headings[i].numeric and not sheet.has_intervals(i)


def _cell(sheet: TableLayout, i: int, text: str, width: int, console: Console) -> Text:
    cell = words(console, text)
    if _is_right(sheet, i):  # not by the table, which would drop those blanks first
        cell.pad_left(max(0, width - cell.cell_len))
    start = cell.plain.find(" [")
    if sheet.has_intervals(i) and start >= 0:
        cell.stylize("dim", start)
    return cell


def _draw_stacked(sheet: TableLayout, console: Console, others: list[int]) -> None:
    labels = [i for i, h in enumerate(sheet.headings) if h.label]
    names = max((cell_len(str(sheet.headings[i])) for i in others), default=0)
    for row, cells in enumerate(sheet.rows):
        say(console, _headline(sheet, row, labels) or f"row {row + 1}", "bold")
        values = {i: " ".join(str(cells[i]).split()) for i in others}
        beside = all(names + 2 * GAP + cell_len(text) <= console.width for text in values.values())
        for i, text in values.items():
            name = str(sheet.headings[i])
            if beside:
                emit(console, words(console, f"{'':{GAP}}{name}{'':{names - cell_len(name) + GAP}}{text}"))
            else:
                say(console, name, indent=GAP)
                say(console, text, indent=2 * GAP)


def render(screen: Screen, console: Console) -> None:
    """Print all tables and remarks.

    Color, width and encoding are the console's: one that writes to a file gets plain text, and tables that
    do not fit its width are split or stacked rather than cut.
    """
    for table in screen.tables:
        draw(table_layout(table), console)
        gap(console)
    for title, texts in screen.remarks.items():
        items(console, title, texts)
    for title, lines in screen.verbatim.items():
        verbatim(console, title, lines)
    gap(console)


def render_table(screen: Screen, name: str, console: Console) -> bool:
    """Print one table; return False where there is none of that name."""
    name = rename_table(name)
    table = next((table for table in screen.tables if table.id == name), None)
    if table:
        draw(table_layout(table), console)
        gap(console)
    return table is not None
