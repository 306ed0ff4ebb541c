"""The answer on a terminal, in 25 lines: claim, matrix, verdict, where the rest is."""

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import chain

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

from scalograph.protocol.findings import Matrix, MatrixCell, MatrixRow
from scalograph.report.screen import PROSE_COLUMNS, Screen, words
from scalograph.text.cell_numbers import INCONCLUSIVE, cell_number, matrix_scale
from scalograph.text.escape import encodable, one_line
from scalograph.text.format import DASH
from scalograph.text.quantities import count_noun
from scalograph.text.scale import Scale
from scalograph.text.summaries import DOT

GAP = 2
LEAST_LABEL = 16  # columns that a long label keeps where numbers need the room, and no more than a quarter of all
INDENT = 2  # of a label's further lines
# Bars of a sparkline: from so many columns on, and where the numbers differ by a tenth.
BARS, LEAST_BARS, LEAST_SPAN = "\u2581\u2582\u2583\u2584\u2585\u2586\u2587\u2588", 3, 0.1
DOTS = "\N{HORIZONTAL ELLIPSIS}"
Plain = Callable[[str], str]
BETTER = {"lower": "lower is better", "higher": "higher is better", "none": ""}


def matrix_lines(matrix: Matrix, console: Console, most: int, only_resolved: bool = False) -> list[Text]:
    """Lay out at most `most` rows of a matrix; `only_resolved` omits rows without a conclusive value."""
    kept_rows = [row for row in matrix.rows if not only_resolved or any(map(_is_resolved, row.cells))]
    if kept_rows and len(matrix.rows) <= FEW_ROWS:
        kept_rows = matrix.rows
    if not most or not kept_rows:
        return []
    # One line counts the hidden ones.
    rows = kept_rows if len(kept_rows) + (len(kept_rows) < len(matrix.rows)) <= most else kept_rows[: most - 1]
    plain: Plain = lambda text: encodable(one_line(text), console.encoding)  # noqa: E731
    labels = [plain(text) for text in (matrix.rows_are, *(row.label for row in rows))]
    columns = _columns(matrix, rows, plain, console.width - _width(labels))
    kept = _fitting([_width(column) for column in columns], _width(labels), console.width)
    room = console.width - sum(_width(columns[i]) + GAP for i in kept)
    width = min(_width(labels), max(room, 1))
    lines = [matrix_title(matrix, matrix_scale(matrix))]
    shapes = ["", *_sparklines(matrix, rows)]
    has_room = len(kept) == len(columns) and room - width >= GAP + len(columns) and plain(BARS) == BARS
    for at, label in enumerate(labels):
        first, *rest = _wrap_label(label, width, console)
        shape = [shapes[at]] if has_room and at < len(shapes) and shapes[at] else []
        lines += [(" " * GAP).join([set_cell_size(first, width), *(columns[i][at] for i in kept), *shape]), *rest]
    kinds = (((len(matrix.rows) - len(rows)), "row"), ((len(columns) - len(kept)), "column"))
    counts = [f"{n} more {kind}{'s' * (n > 1)}" for n, kind in kinds if n]
    lines += [f"{DOTS} {' and '.join(counts)}: --tables"] if counts else []
    texts = words(console, "\n".join(lines)).split()
    texts[1].stylize("bold")
    legend = words(console, matrix_legend(matrix), "dim")
    return [*texts, *legend.wrap(console, console.width)] if legend.plain else [*texts]


def _sparklines(matrix: Matrix, rows: Sequence[MatrixRow]) -> list[str]:
    """Return a bar for each number of a row along counted levels, on one log scale; none where nothing changes."""
    if len(matrix.columns) < LEAST_BARS or not all(name[:1].isdigit() for name in matrix.columns):
        return []
    values = [[c.estimate.value if c.estimate and _is_resolved(c) else None for c in row.cells] for row in rows]
    logs = [[math.log(x) if x and x > 0 else None for x in row] for row in values]
    every = [x for row in logs for x in row if x is not None]
    span = max(every, default=0.0) - min(every, default=0.0)
    if span < LEAST_SPAN:
        return []
    at = [[None if x is None else round((x - min(every)) / span * (len(BARS) - 1)) for x in row] for row in logs]
    return ["".join(" " if i is None else BARS[i] for i in row).rstrip() for row in at]


def _is_resolved(cell: MatrixCell) -> bool:
    return (cell.text or cell_number(cell.estimate)) not in (DASH, INCONCLUSIVE)


def matrix_title(matrix: Matrix, scale: Scale) -> str:
    """Return the quantity, its unit, and which direction is better."""
    beside = ", ".join(filter(None, [scale.unit, BETTER[matrix.better]]))
    return one_line(matrix.title) + (f" ({beside})" if beside else "")


def _columns(matrix: Matrix, rows: Sequence[MatrixRow], plain: Plain, room: int) -> list[list[str]]:
    """Return the texts of all columns with headings; without ends of lopsided intervals where too wide."""
    for tight in (False, True):
        cells = [[row.cells[i] for row in rows] for i in range(len(matrix.columns))]
        scale = matrix_scale(matrix)
        texts = [[plain(cell.text or cell_number(cell.estimate, scale, tight)) for cell in column] for column in cells]
        columns = [
            _column(plain(name), *pair)
            for name, pair in zip(matrix.columns, zip(cells, texts, strict=True), strict=True)
        ]
        if sum(_width(column) + GAP for column in columns) <= room:
            break
    return columns


def _column(name: str, cells: Sequence[MatrixCell], texts: Sequence[str]) -> list[str]:
    parts = [text.partition(" ") if any(c.isdigit() for c in text) else ("", "", text) for text in texts]
    value = max((cell_len(head) for head, blank, _ in parts if blank), default=0)
    lined = [f"{head:>{value}} {tail}" if blank else head or tail for head, blank, tail in parts]
    shown = [name, *(f"{text} !" if cell.doubt else text for text, cell in zip(lined, cells, strict=True))]
    width = _width(shown)
    return [text + " " * (width - cell_len(text)) for text in shown]


def _width(texts: Sequence[str]) -> int:
    return max(map(cell_len, texts), default=0)


def _fitting(widths: Sequence[int], label: int, room: int) -> list[int]:
    least = min(label, LEAST_LABEL, room // 4)
    for n in range(len(widths), 1, -1):
        kept = sorted({round(i * (len(widths) - 1) / (n - 1)) for i in range(n)})
        if least + sum(widths[i] + GAP for i in kept) <= room:
            return kept
    return [len(widths) - 1]


def _wrap_label(label: str, width: int, console: Console) -> list[str]:
    first = Text(label).wrap(console, width)[0].plain.rstrip() if label else ""
    rest = label[len(first) :].lstrip(", ")
    more = Text(rest).wrap(console, max(width - INDENT, 1)) if rest else ()
    return [first, *(f"{'':{INDENT}}{line.plain.rstrip()}" for line in more)]


def matrix_legend(matrix: Matrix) -> str:
    """Return the legend: the level of the intervals, and the most frequent flag."""
    cells = [cell for row in matrix.rows for cell in row.cells]
    estimates = [cell.estimate for cell in cells if cell.estimate and not cell.text]
    levels = {f"{100 * estimate.confidence:g}" for estimate in estimates if estimate.low is not None}
    reasons = Counter(cell.doubt for cell in cells if cell.doubt).most_common()
    more = f" (and {len(reasons) - 1} more reason{'s' * (len(reasons) > 2)})" if len(reasons) > 1 else ""
    parts = [
        f"\N{PLUS-MINUS SIGN}: {levels.pop()}% interval" if len(levels) == 1 else "",
        f"!: {reasons[0][0].rstrip('.')}{more}" if reasons else "",
        matrix.note,
    ]
    return "; ".join(one_line(text) for text in parts if text)


LINES, COLUMNS = 25, 80  # of a terminal as it opens; a narrow one may take more lines
FEW_ROWS = 4  # are shown whatever they hold, if one holds a number
LABEL = 8  # columns of what stands before verdict and places
TRUST_STYLES = {"reliable": "bold green", "caution": "bold yellow", "unusable": "bold red"}
TRUST_WORDS = {"reliable": "RELIABLE", "caution": "CAUTION", "unusable": "UNUSABLE"}
# No line breaks between a number and its percent sign: a placeholder stands for the blank while wrapping.
_UNIT, _HELD = re.compile(r"(?<=\d) (?=%)"), "\uf8ff"
# How many rows, points of the verdict and sentences stay, for answers that are too long.
CUTS = [
    *((n, 3, 3) for n in range(24, 6, -1)),
    (6, 2, 3), (5, 1, 3), (5, 1, 2), (4, 1, 2), (3, 0, 2), (4, 1, 1), (3, 0, 1), (0, 0, 1),
]  # fmt: skip

Places = Sequence[tuple[str, str]]


def render_first(screen: Screen, console: Console, places: Places = ()) -> None:
    """Print the answer. `places` are named at the end, such as ("report", its path)."""
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
    claim, is_rejected = screen.claim, screen.trust is not None and screen.trust.level == "unusable"
    # The verdict already says why a rejected study claims nothing.
    first, *more = [""] if _is_unsaid(screen) else claim.sentences[:n_sentences]
    # The machine is one line, if needed without the configuration count, else two.
    head, *rest = screen.machine.split(DOT)
    fitting = [text for text in (screen.machine, DOT.join([head, *rest[-1:]])) if len(text) <= console.width]
    machine = fitting[:1] or [head, *rest[-1:]]
    heads = ((screen.title, "bold"), *((text, "dim") for text in machine))
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


def _is_unsaid(screen: Screen) -> bool:
    return screen.trust is not None and screen.trust.level == "unusable" and not screen.claim.answered


def _verdict_lines(screen: Screen, n_points: int) -> list[tuple[str, str, str]]:
    trust, failed = screen.trust, [("failed", screen.failures, "bold red")] if screen.failures else []
    if trust is None:
        return failed
    points = (f"{point[:1].upper()}{point[1:]}" for point in trust.points[:n_points])
    text = " ".join([f"{'No answer: ' * _is_unsaid(screen)}{trust.sentence}", *points])
    return [(TRUST_WORDS[trust.level], text, TRUST_STYLES[trust.level]), *failed]


def _wrap_text(console: Console, *parts: tuple[str, str], room: int = PROSE_COLUMNS) -> list[Text]:
    texts = [words(console, one_line(text), style) for text, style in parts if text]
    for text in texts:
        text.plain = _UNIT.sub(_HELD, text.plain)
    lines = list(Text(" ").join(texts).wrap(console, min(console.width, room))) if texts else []
    for line in lines:
        line.plain = line.plain.replace(_HELD, " ")
    return lines


def _label_lines(console: Console, label: str, text: str, style: str) -> list[Text]:
    width = max(LABEL, len(label) + 2)
    lines = _wrap_text(console, (text, ""), room=min(console.width, PROSE_COLUMNS) - width)
    labels = [Text(f"{label:{width}}", style), *(Text(" " * width) for _ in lines)]
    return [head.append_text(line) for head, line in zip(labels, lines, strict=False)]


def _place(screen: Screen, console: Console, name: str, path: str) -> Text:
    text = f"{name:{LABEL}}{one_line(path)}"
    rows = sum(len(table.rows) for table in screen.tables)
    much = f"  ({count_noun(len(screen.tables), 'table')}, {count_noun(rows, 'row')})"
    return words(console, text + much if name == "tables" and len(text + much) <= console.width else text)
