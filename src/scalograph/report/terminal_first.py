"""The answer on a terminal, in 25 lines: claim, matrix, verdict, where the rest is."""

import re
from collections.abc import Sequence
from itertools import chain

from rich.console import Console
from rich.text import Text

from scalograph.protocol.findings import Trust
from scalograph.report.screen import PROSE_COLUMNS, Screen, words
from scalograph.report.terminal_matrix import matrix_lines
from scalograph.text.escape import prose
from scalograph.text.quantities import counted
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
    """Print the answer for people.

    Args:
        screen: what was found.
        console: where to; its width and encoding are respected.
        places: what is named at the end, such as ("report", its path).
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
    """All lines, blocks apart; that a study is not to be believed stands above what it would say."""
    claim, is_rejected = screen.claim, screen.trust is not None and screen.trust.level == "reject"
    # Why a rejected study claims nothing is what its verdict says.
    first, *more = [""] if _is_unsaid(screen) else claim.sentences[:n_sentences]
    heads = ((screen.title, "bold"), *((text, "dim") for text in _machine(screen.machine, console)))
    said = _wrapped(console, (first, "" if is_rejected else "bold"), (" ".join(more), ""))
    said += _labelled(console, "paper", "" if is_rejected else screen.published, "bold")
    numbers = matrix_lines(claim.matrix, console, n_rows, is_rejected) if claim.matrix else []
    told = [line for part in _told(screen, n_points) for line in _labelled(console, *part)]
    blocks = [
        [line for part in heads for line in _wrapped(console, part, room=console.width)],
        *([told, said, numbers] if is_rejected else [said, numbers, told]),
        [_place(screen, console, *place) for place in places if place[0] != "tables" or screen.tables],
    ]
    return [*chain.from_iterable([*block, Text()] for block in blocks if block)][:-1]


def _machine(text: str, console: Console) -> list[str]:
    """The machine in one line, where need be without how many configurations there were, else the runs below it."""
    head, *rest = text.split(DOT)
    fitting = [line for line in (text, DOT.join([head, *rest[-1:]])) if len(line) <= console.width]
    return fitting[:1] or [head, *rest[-1:]]


def _is_unsaid(screen: Screen) -> bool:
    """Whether nothing is claimed, for the reason for which the study is rejected."""
    return screen.trust is not None and screen.trust.level == "reject" and not screen.claim.answered


def _told(screen: Screen, n_points: int) -> list[tuple[str, str, str]]:
    """What is said of the claim: label, text and style of the label."""
    trust, failed = screen.trust, [("failed", screen.failures, "bold red")] if screen.failures else []
    if trust is None:
        return failed
    text = f"{'Cannot be said. ' * _is_unsaid(screen)}{_verdict(trust, n_points)}"
    return [(TRUST_WORDS[trust.level], text, TRUST_STYLES[trust.level]), *failed]


def _verdict(trust: Trust, n_points: int) -> str:
    return " ".join([trust.sentence, *(f"{point[:1].upper()}{point[1:]}" for point in trust.points[:n_points])])


def _wrapped(console: Console, *parts: tuple[str, str], room: int = PROSE_COLUMNS) -> list[Text]:
    """One paragraph of texts and their styles, in lines."""
    texts = [words(console, prose(text), style) for text, style in parts if text]
    for text in texts:
        text.plain = _UNIT.sub(_HELD, text.plain)
    lines = list(Text(" ").join(texts).wrap(console, min(console.width, room))) if texts else []
    for line in lines:
        line.plain = line.plain.replace(_HELD, " ")
    return lines


def _labelled(console: Console, label: str, text: str, style: str) -> list[Text]:
    lines = _wrapped(console, (text, ""), room=min(console.width, PROSE_COLUMNS) - LABEL)
    labels = [Text(f"{label:{LABEL}}", style), *(Text(" " * LABEL) for _ in lines)]
    return [head.append_text(line) for head, line in zip(labels, lines, strict=False)]


def _place(screen: Screen, console: Console, name: str, place: str) -> Text:
    """Where the rest is, in one line that can be pasted; how much that is, where there is room."""
    text = f"{name:{LABEL}}{prose(place)}"
    rows = sum(len(table.rows) for table in screen.tables)
    much = f"  ({counted(len(screen.tables), 'table')}, {counted(rows, 'row')})"
    return words(console, text + much if name == "tables" and len(text + much) <= console.width else text)
