"""One table on the terminal: columns where they fit, one block for each row where they do not."""

from dataclasses import dataclass
from itertools import groupby

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from scalograph.report.cells import Sheet, ShownCell, sheet
from scalograph.report.screen import Screen, emit, gap, items, say, verbatim, words
from scalograph.text.format import DASH

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


def draw(sheet: Sheet, console: Console) -> None:
    """Print a table within the console's width, with its note and footnotes."""
    say(console, sheet.title, "bold")
    columns = [column_texts(sheet, i) for i in range(len(sheet.headings))]
    found = plan(sheet, columns, console.width)
    if not sheet.rows:
        say(console, "no rows")
    elif found is None:
        _stacked(sheet, console, [i for i, h in enumerate(sheet.headings) if not h.label])
    else:
        _planned(sheet, columns, found, console)
        if found.stacked:
            gap(console)
            _stacked(sheet, console, found.stacked)
    for text in [sheet.note, *(f"({mark}) {text}" for mark, text in sheet.footnotes)]:
        if text:
            say(console, text, "dim")


def _planned(sheet: Sheet, columns: list[list[str]], found: TablePlan, console: Console) -> None:
    for place, rows in enumerate(sections(sheet, found.lifted)):
        if found.lifted:
            if place:
                gap(console)
            say(console, _headline(sheet, rows[0], range(found.lifted)), "bold")
        for strip, widths in enumerate(found.strips):
            if strip:
                gap(console)
            telling = [row for row in rows if not strip or _tells(sheet, row, widths)]
            emit(console, _table(sheet, columns, telling or rows, widths, console))


def _tells(sheet: Sheet, row: int, widths: dict[int, int]) -> bool:
    """Whether a row has anything in these columns beside its labels."""
    return any(str(sheet.rows[row][i]) not in ("", DASH) for i in widths if not sheet.headings[i].label)


def _headline(sheet: Sheet, row: int, labels: range | list[int]) -> str:
    return ", ".join(f"{sheet.headings[i]}: {sheet.rows[row][i]}" for i in labels)


def _table(sheet: Sheet, columns: list[list[str]], rows: list[int], widths: dict[int, int], console: Console) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, GAP - 1, 0, 0))
    for i, width in widths.items():
        heading = words(console, str(sheet.headings[i]))
        heading.justify = "right" if _is_right(sheet, i) else "left"
        table.add_column(heading, width=width, overflow="fold")
    for row in rows:
        table.add_row(*(_cell(sheet, i, columns[i][row], width, console) for i, width in widths.items()))
    return table


def _is_right(sheet: Sheet, i: int) -> bool:
    return sheet.headings[i].numeric and not sheet.has_intervals(i)


def _cell(sheet: Sheet, i: int, text: str, width: int, console: Console) -> Text:
    """Intervals are set back where the console can do so; numbers keep the blanks that put points under points."""
    cell = words(console, text)
    if _is_right(sheet, i):  # not by the table, which would drop those blanks first
        cell.pad_left(max(0, width - cell.cell_len))
    start = cell.plain.find(" [")
    if sheet.has_intervals(i) and start >= 0:
        cell.stylize("dim", start)
    return cell


def _stacked(sheet: Sheet, console: Console, others: list[int]) -> None:
    """Each row as a block: its labels as a headline, then a line for each column, or two where that is tight."""
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
    """Print all tables and remarks for people.

    Color, width and encoding are the console's: one that writes to a file gets plain text, and tables that
    do not fit its width are split or stacked rather than cut.
    """
    for table in screen.tables:
        draw(sheet(table), console)
        gap(console)
    for title, texts in screen.remarks.items():
        items(console, title, texts)
    for title, lines in screen.verbatim.items():
        verbatim(console, title, lines)
    gap(console)


def render_table(screen: Screen, name: str, console: Console) -> bool:
    """Print one table; False where there is none of that name."""
    for table in screen.tables:
        if table.id == name:
            draw(sheet(table), console)
            gap(console)
            return True
    return False
