"""One table on the terminal: columns where they fit, one block for each row where they do not."""

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from scalograph.report.cells import Sheet
from scalograph.report.paper import (
    emit,
    gap,
    say,
    words,
)
from scalograph.report.table_plan import (
    GAP,
    TablePlan,
    column_texts,
    plan,
    sections,
)
from scalograph.text.format import DASH


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
