"""Lines of plain text on a console: nothing printed here is markup, a link or an escape sequence."""

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from scalograph.text.escape import encodable, prose

PROSE_COLUMNS = 100  # longer lines are hard to read back to the next one's start


def emit(console: Console, renderable: RenderableType, width: int | None = None) -> None:
    """Print something without the blanks at the end of its lines, which only dirty a file or a diff."""
    options = console.options.update(width=min(width or console.width, console.width), highlight=False)
    for segments in console.render_lines(renderable, options, pad=False):
        line = Text.assemble(*((s.text, s.style or "") for s in segments if not s.control))
        line.rstrip()
        console.print(line, no_wrap=True, overflow="ignore", crop=False, highlight=False)


def words(console: Console, text: str, style: str = "") -> Text:
    """Text that this console can encode."""
    return Text(encodable(text, console.encoding), style=style)


def say(console: Console, text: str, style: str = "", indent: int = 0) -> None:
    """One paragraph, wrapped."""
    emit(console, Padding(words(console, prose(text), style), (0, 0, 0, indent)), PROSE_COLUMNS)


def items(console: Console, title: str, texts: list[str]) -> None:
    """A titled list; no title over nothing."""
    if not texts:
        return
    gap(console)
    say(console, title, "bold")
    for text in texts:
        item = Table.grid(padding=(0, 1, 0, 0))
        item.add_row(words(console, "  \N{MIDDLE DOT}"), words(console, prose(text)))
        emit(console, item, PROSE_COLUMNS)


def verbatim(console: Console, title: str, lines: list[str]) -> None:
    """Lines that somebody will copy: never wrapped."""
    if not lines:
        return
    gap(console)
    say(console, title, "bold")
    for line in lines:
        text = words(console, "  " + prose(line))
        console.print(text, no_wrap=True, overflow="ignore", crop=False, highlight=False)


def gap(console: Console) -> None:
    """An empty line."""
    console.print()
