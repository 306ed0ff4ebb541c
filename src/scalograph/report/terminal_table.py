"""One table on the terminal: columns where they fit, one block for each row where they do not."""

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from scalograph.report.cells import Cell, Sheet
from scalograph.report.escape import encodable

GAP = 2
TEXT_COLUMNS = 18  # what a column of free text needs at least; it wraps


def draw(sheet: Sheet, console: Console) -> None:
    """Print a table within the console's width, with its note and footnotes."""
    say(console, sheet.title, "bold")
    columns = [_column(sheet, i) for i in range(len(sheet.headings))]
    widths = fit(sheet, columns, console.width)
    if not sheet.rows:
        say(console, "no rows")
    elif widths is None:
        _stacked(sheet, console)
    else:
        console.print(_table(sheet, columns, widths, console), highlight=False)
    for text in [sheet.note, *(f"({mark}) {text}" for mark, text in sheet.footnotes)]:
        if text:
            say(console, text, "dim")


def say(console: Console, text: str, style: str = "") -> None:
    """One paragraph of plain text, in what the console can encode."""
    console.print(Text(encodable(text, console.encoding), style=style), highlight=False)


def fit(sheet: Sheet, columns: list[list[str]], width: int) -> list[int] | None:
    """Widths of the columns, or None where the narrowest readable table is wider than `width`.

    Headings wrap between words and free text wraps anywhere; numbers never do.
    """
    indices = range(len(columns))
    cells = [max((cell_len(text) for text in column), default=0) for column in columns]
    most = [max(cell_len(str(h)), cells[i]) for i, h in enumerate(sheet.headings)]
    widths = [_least(sheet, i, cells[i]) for i in indices]
    room = width - sum(widths) - GAP * (len(widths) - 1)
    if room < 0:
        return None
    while room > 0 and any(widths[i] < most[i] for i in indices):
        widths[max(indices, key=lambda i: most[i] - widths[i])] += 1
        room -= 1
    return widths


def _least(sheet: Sheet, i: int, widest: int) -> int:
    heading = sheet.headings[i]
    word = max((cell_len(word) for word in str(heading).split()), default=0)
    free = not heading.numeric and not heading.label
    return max(word, min(widest, TEXT_COLUMNS) if free else widest)


def _column(sheet: Sheet, i: int) -> list[str]:
    """The texts of a column, values under values and intervals under intervals."""
    cells = [row[i] for row in sheet.rows]
    if not any(cell.interval for cell in cells):
        return [str(cell) for cell in cells]
    value = max(cell_len(cell.text) for cell in cells)
    interval = max(cell_len(cell.interval) for cell in cells)
    return [_estimate(cell, value, interval) for cell in cells]


def _estimate(cell: Cell, value: int, interval: int) -> str:
    marks = f"({cell.marks})" if cell.marks else ""
    number = " " * (value - cell_len(cell.text)) + cell.text
    return f"{number} {cell.interval:<{interval}} {marks}".rstrip()


def _table(sheet: Sheet, columns: list[list[str]], widths: list[int], console: Console) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, GAP - 1, 0, 0))
    for i, heading in enumerate(sheet.headings):
        estimates = any(row[i].interval for row in sheet.rows)
        right = heading.numeric and not estimates
        words = Text(encodable(str(heading), console.encoding))
        table.add_column(words, justify="right" if right else "left", width=widths[i], overflow="fold")
    for texts in zip(*columns, strict=True):
        table.add_row(*(Text(encodable(text, console.encoding)) for text in texts))
    return table


def _stacked(sheet: Sheet, console: Console) -> None:
    """Each row as a block: its labels as a headline, then one line a column."""
    labels = [i for i, h in enumerate(sheet.headings) if h.label]
    others = [i for i, h in enumerate(sheet.headings) if not h.label]
    name = min(max((cell_len(str(sheet.headings[i])) for i in others), default=0), console.width // 2)
    for row in sheet.rows:
        headline = ", ".join(f"{sheet.headings[i]} {row[i]}" for i in labels)
        say(console, headline or "row", "bold")
        grid = Table.grid(padding=(0, GAP, 0, 0))
        grid.add_column(width=name + GAP, overflow="fold")
        grid.add_column(overflow="fold")
        for i in others:
            heading = encodable(f"  {sheet.headings[i]}", console.encoding)
            grid.add_row(Text(heading), Text(encodable(str(row[i]).strip(), console.encoding)))
        console.print(grid, highlight=False)
