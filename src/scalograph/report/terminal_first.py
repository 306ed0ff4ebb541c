"""The answer on a terminal, in 25 lines: claim, matrix, verdict, where the rest is."""

from collections.abc import Sequence

from rich.console import Console

from scalograph.protocol.claim import Matrix, MatrixCell
from scalograph.protocol.findings import Trust
from scalograph.report.paper import gap, say
from scalograph.report.screen import Screen
from scalograph.text.compact import compact
from scalograph.text.scale import Scale, scale_for

TRUST_STYLES = {"believe": "green", "doubt": "yellow", "reject": "bold red"}
TRUST_WORDS = {"believe": "BELIEVE", "doubt": "CARE", "reject": "DO NOT BELIEVE"}


def render_first(screen: Screen, console: Console, places: Sequence[tuple[str, str]] = ()) -> None:
    """Print the answer for people.

    Args:
        screen: what was found.
        console: where to; its width and encoding are respected.
        places: what is named at the end, such as ("report", its path).
    """
    say(console, screen.title, "bold")
    if screen.machine:
        say(console, screen.machine)
    gap(console)
    say(console, " ".join(screen.claim.sentences), "bold")
    if screen.claim.matrix:
        gap(console)
        _matrix(screen.claim.matrix, console)
    if screen.trust:
        gap(console)
        _trust(screen.trust, console)
    if places:
        gap(console)
    for name, place in places:
        say(console, f"{name:8}{place}")


def _matrix(matrix: Matrix, console: Console) -> None:
    scale = scale_for(matrix.unit, [c.estimate.value for row in matrix.rows for c in row.cells if c.estimate])
    rows = [[row.label, *(_cell(cell, scale) for cell in row.cells)] for row in matrix.rows]
    rows.insert(0, [matrix.rows_are, *matrix.columns])
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    say(console, matrix.title)
    for row in rows:
        say(console, "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)))
    if matrix.note:
        say(console, matrix.note, "dim")


def _cell(cell: MatrixCell, scale: Scale) -> str:
    text = cell.text or compact(cell.estimate, scale)
    return f"{text} !" if cell.doubt else text


def _trust(trust: Trust, console: Console) -> None:
    say(console, f"{TRUST_WORDS[trust.level]}  {trust.sentence}", TRUST_STYLES[trust.level])
    for point in trust.points:
        say(console, point, indent=8)
