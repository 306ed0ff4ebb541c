"""Tables on the terminal, and what else stands above the answer where somebody asks for all of it."""

from rich.console import Console

from scalograph.report.cells import sheet
from scalograph.report.paper import gap, items, verbatim
from scalograph.report.screen import Screen
from scalograph.report.terminal_table import draw


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
