"""A reproduction on a terminal, in 25 lines: outcome per study, verdict, where the rest is."""

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from scalograph.protocol.reproduction import Reproduction
from scalograph.report.screen import emit, words
from scalograph.text.escape import one_line
from scalograph.text.reproduction_words import (
    COLUMNS,
    circumstances,
    columns,
    headline,
    part_verdicts,
    table_rows,
    unfinished_parts,
)

LABEL = 8  # columns of what stands before a remark or a place
REMARKS = 6  # lines that parts without results may take
WIDTH = 80


def render_reproduction(reproduction: Reproduction, console: Console, places: Sequence[tuple[str, str]]) -> None:
    """Print the outcome of the claims.

    `places` are named at the end, such as ("report", its path).
    """
    for text, style in ((headline(reproduction), "bold"), (circumstances(reproduction), "")):
        emit(console, words(console, one_line(text), style), WIDTH)
    console.print()
    heads, rows = [("", "claims"), *(COLUMNS[kind] for kind in columns(reproduction))], table_rows(reproduction)
    left, wide = max((len(label) for label, _ in rows), default=0), [max(map(len, head)) for head in heads]
    texts = [("", [head[i] for head in heads]) for i in range(2)]
    texts += [(label, [str(n or "-") for n in counts]) for label, counts in rows]
    for line in [f"{label:{left}}  {'  '.join(map(str.rjust, cells, wide))}" for label, cells in texts]:
        _line(console, line)
    console.print()
    unfinished = unfinished_parts(reproduction.parts)
    if (more := len(unfinished) - REMARKS) > 0:
        unfinished = [*unfinished[: REMARKS - 1], ("", f"and {more + 1} more")]
    remarks = [("verdict", part_verdicts(reproduction.parts)), *unfinished]
    for label, text in (pair for pair in remarks if pair[1]):
        _line(console, f"{label:{LABEL}}{_one_line(text)}")
    for label, path in places:
        _line(console, f"{label:{LABEL}}{one_line(path)}")


def _one_line(text: str) -> str:
    shown, room = one_line(text), WIDTH - LABEL
    if len(shown) <= room:
        return shown
    return f"{shown[: room - 1].rpartition(' ')[0] or shown[: room - 2]} \N{HORIZONTAL ELLIPSIS}"


def _line(console: Console, text: str) -> None:
    line: Text = words(console, text)
    line.rstrip()
    console.print(line, no_wrap=True, overflow="ignore", crop=False, highlight=False, soft_wrap=True)
