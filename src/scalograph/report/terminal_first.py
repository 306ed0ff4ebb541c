"""The answer on a terminal, in 25 lines: claim, matrix, verdict, where the rest is."""

import re
from collections.abc import Sequence
from itertools import chain

from rich.console import Console
from rich.text import Text

from scalograph.protocol.findings import Trust
from scalograph.report.screen import PROSE_COLUMNS, Screen, words
from scalograph.report.terminal_matrix import matrix_lines
from scalograph.text.escape import one_line
from scalograph.text.quantities import count_noun
from scalograph.text.summaries import DOT

LINES, COLUMNS = 25, 80  # of a terminal as it opens; a narrow one may take more lines
LABEL = 8  # columns of what stands before verdict and places
TRUST_STYLES = {"believe": "bold green", "doubt": "bold yellow", "reject": "bold red"}
TRUST_WORDS = {"believe": "BELIEVE", "doubt": "? CARE", "reject": "REJECT"}
# A blank between a number and its percent sign ends no line: while lines are broken, a letter stands for it.
_UNIT, _HELD = re.compile(r"(?<=\d) (?=%)"), "\uf8ff"
# What is left out first where the answer is too long: how many rows, points of the verdict and sentences stay.
CUTS = [
    *((n, 3, 3) for n in range(24, 6, -1)),
    (6, 2, 3),
    (5, 1, 3),
    (5, 1, 2),
    (4, 1, 2),
    (3, 0, 2),
    (4, 1, 1),
    (3, 0, 1),
    (0, 0, 1),
]

Places = Sequence[tuple[str, str]]


def render_first(screen: Screen, console: Console, places: Places = ()) -> None:
    """Print the answer.

    `places` are named at the end, such as ("report", its path).
    """
    most = LINES if console.width >= COLUMNS else LINES * COLUMNS // console.width
    for cut in CUTS:
        lines = _lines(screen, console, places, *cut)
        if sum(max(1, -(-line.cell_len // console.width)) for line in lines) <= most:
            break
    for line in lines:
        line.rstrip()
        console.print(line, no_wrap=True, overflow="ignore", crop=False, highlight=False, soft_wrap=True)


def _lines(
    screen: Screen, console: Console, places: Places, n_rows: int, n_points: int, n_sentences: int
) -> list[Text]:
    """Return all lines in blocks; the verdict comes first where the study is rejected."""
    claim, is_rejected = screen.claim, screen.trust is not None and screen.trust.level == "reject"
    # Why a rejected study claims nothing is what its verdict says.
    first, *more = [""] if _is_unsaid(screen) else claim.sentences[:n_sentences]
    heads = ((screen.title, "bold"), *((text, "dim") for text in _machine(screen.machine, console)))
    claim_lines = _wrap_text(console, (first, "" if is_rejected else "bold"), (" ".join(more), ""))
    claim_lines += _label_lines(console, "paper", "" if is_rejected else screen.published, "bold")
    numbers = matrix_lines(claim.matrix, console, n_rows, is_rejected) if claim.matrix else []
    verdict_lines = [line for part in _verdict_lines(screen, n_points) for line in _label_lines(console, *part)]
    blocks = [
        [line for part in heads for line in _wrap_text(console, part, room=console.width)],
        *([verdict_lines, claim_lines, numbers] if is_rejected else [claim_lines, numbers, verdict_lines]),
        [_place(screen, console, *pair) for pair in places if pair[0] != "tables" or screen.tables],
    ]
    return [*chain.from_iterable([*block, Text()] for block in blocks if block)][:-1]


def _machine(text: str, console: Console) -> list[str]:
    """Return the machine in one line, if needed without the configuration count, else on two lines."""
    head, *rest = text.split(DOT)
    fitting = [line for line in (text, DOT.join([head, *rest[-1:]])) if len(line) <= console.width]
    return fitting[:1] or [head, *rest[-1:]]


def _is_unsaid(screen: Screen) -> bool:
    """Return whether nothing is claimed because the study is rejected."""
    return screen.trust is not None and screen.trust.level == "reject" and not screen.claim.answered


def _verdict_lines(screen: Screen, n_points: int) -> list[tuple[str, str, str]]:
    trust, failed = screen.trust, [("failed", screen.failures, "bold red")] if screen.failures else []
    if trust is None:
        return failed
    text = f"{'Cannot be said. ' * _is_unsaid(screen)}{_verdict(trust, n_points)}"
    return [(TRUST_WORDS[trust.level], text, TRUST_STYLES[trust.level]), *failed]


def _verdict(trust: Trust, n_points: int) -> str:
    return " ".join([trust.sentence, *(f"{point[:1].upper()}{point[1:]}" for point in trust.points[:n_points])])


def _wrap_text(console: Console, *parts: tuple[str, str], room: int = PROSE_COLUMNS) -> list[Text]:
    """Wrap texts and their styles as one paragraph."""
    texts = [words(console, one_line(text), style) for text, style in parts if text]
    for text in texts:
        text.plain = _UNIT.sub(_HELD, text.plain)
    lines = list(Text(" ").join(texts).wrap(console, min(console.width, room))) if texts else []
    for line in lines:
        line.plain = line.plain.replace(_HELD, " ")
    return lines


def _label_lines(console: Console, label: str, text: str, style: str) -> list[Text]:
    lines = _wrap_text(console, (text, ""), room=min(console.width, PROSE_COLUMNS) - LABEL)
    labels = [Text(f"{label:{LABEL}}", style), *(Text(" " * LABEL) for _ in lines)]
    return [head.append_text(line) for head, line in zip(labels, lines, strict=False)]


def _place(screen: Screen, console: Console, name: str, path: str) -> Text:
    """Return a path in one line that can be pasted, with the size of the tables where it fits."""
    text = f"{name:{LABEL}}{one_line(path)}"
    rows = sum(len(table.rows) for table in screen.tables)
    much = f"  ({count_noun(len(screen.tables), 'table')}, {count_noun(rows, 'row')})"
    return words(console, text + much if name == "tables" and len(text + much) <= console.width else text)
