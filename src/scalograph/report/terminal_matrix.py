"""The matrix of an answer on a terminal: values aligned, hidden rows and columns counted."""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

from scalograph.protocol.findings import Matrix, MatrixCell, MatrixRow
from scalograph.report.screen import words
from scalograph.text.cell_numbers import NOT_RESOLVED, cell_number, matrix_scale
from scalograph.text.escape import encodable, one_line
from scalograph.text.format import DASH
from scalograph.text.scale import Scale

GAP = 2
LEAST_LABEL = 16  # columns that a long label keeps where numbers need the room, and no more than a quarter of all
INDENT = 2  # of a label's further lines
DOTS = "\N{HORIZONTAL ELLIPSIS}"
Plain = Callable[[str], str]
BETTER = {"lower": "lower is better", "higher": "higher is better", "none": ""}


def matrix_lines(matrix: Matrix, console: Console, most: int, only_resolved: bool = False) -> list[Text]:
    """Lay out a matrix in the width of a console.

    At most `most` rows, with 0 none; `only_resolved` omits rows without a conclusive value.
    """
    kept_rows = [row for row in matrix.rows if not only_resolved or any(map(_is_resolved, row.cells))]
    if not most or not kept_rows:
        return []
    # One line tells how many are left out.
    rows = kept_rows if len(kept_rows) + (len(kept_rows) < len(matrix.rows)) <= most else kept_rows[: most - 1]
    plain: Plain = lambda text: encodable(one_line(text), console.encoding)  # noqa: E731
    labels = [plain(text) for text in (matrix.rows_are, *(row.label for row in rows))]
    columns = _columns(matrix, rows, plain, console.width - _width(labels))
    kept = _fitting([_width(column) for column in columns], _width(labels), console.width)
    room = console.width - sum(_width(columns[i]) + GAP for i in kept)
    width = min(_width(labels), max(room, 1))
    lines = [matrix_title(matrix, matrix_scale(matrix))]
    for at, label in enumerate(labels):
        first, *rest = _wrap_label(label, width, console)
        lines += [(" " * GAP).join([set_cell_size(first, width), *(columns[i][at] for i in kept)]), *rest]
    lines += _hidden_line(len(matrix.rows) - len(rows), len(columns) - len(kept))
    texts = words(console, "\n".join(lines)).split()
    texts[1].stylize("bold")
    legend = words(console, matrix_legend(matrix), "dim")
    return [*texts, *legend.wrap(console, console.width)] if legend.plain else [*texts]


def _is_resolved(cell: MatrixCell) -> bool:
    return (cell.text or cell_number(cell.estimate)) not in (DASH, NOT_RESOLVED)


def matrix_title(matrix: Matrix, scale: Scale) -> str:
    """Return the quantity, its unit, and which direction is better."""
    beside = ", ".join(filter(None, [scale.unit, BETTER[matrix.better]]))
    return one_line(matrix.title) + (f" ({beside})" if beside else "")


def _columns(matrix: Matrix, rows: Sequence[MatrixRow], plain: Plain, room: int) -> list[list[str]]:
    """Return the texts of all columns with headings; without ends of lopsided intervals where too wide."""
    for tight in (False, True):
        cell_text = partial(_text, scale=matrix_scale(matrix), tight=tight, plain=plain)
        cells = [[row.cells[i] for row in rows] for i in range(len(matrix.columns))]
        columns = [_column(plain(name), cells[i], cell_text) for i, name in enumerate(matrix.columns)]
        if sum(_width(column) + GAP for column in columns) <= room:
            break
    return columns


def _text(cell: MatrixCell, scale: Scale, tight: bool, plain: Plain) -> str:
    return plain(cell.text or cell_number(cell.estimate, scale, tight))


def _column(name: str, cells: Sequence[MatrixCell], cell_text: Callable[[MatrixCell], str]) -> list[str]:
    """Return a heading and its texts in one width, with values and intervals aligned."""
    texts = [cell_text(cell) for cell in cells]
    parts = [text.partition(" ") if any(c.isdigit() for c in text) else ("", "", text) for text in texts]
    value = max((cell_len(head) for head, blank, _ in parts if blank), default=0)
    lined = [f"{head:>{value}} {tail}" if blank else head or tail for head, blank, tail in parts]
    shown = [name, *(f"{text} !" if cell.doubt else text for text, cell in zip(lined, cells, strict=True))]
    width = _width(shown)
    return [text + " " * (width - cell_len(text)) for text in shown]


def _width(texts: Sequence[str]) -> int:
    return max(map(cell_len, texts), default=0)


def _fitting(widths: Sequence[int], label: int, room: int) -> list[int]:
    """Return the columns that fit beside the narrowest label: first, last, and spread between."""
    least = min(label, LEAST_LABEL, room // 4)
    for n in range(len(widths), 1, -1):
        kept = sorted({round(i * (len(widths) - 1) / (n - 1)) for i in range(n)})
        if least + sum(widths[i] + GAP for i in kept) <= room:
            return kept
    return [len(widths) - 1]


def _wrap_label(label: str, width: int, console: Console) -> list[str]:
    """Wrap a label between words, within a word only where it is too wide."""
    first = Text(label).wrap(console, width)[0].plain.rstrip() if label else ""
    rest = label[len(first) :].lstrip()
    more = Text(rest).wrap(console, max(width - INDENT, 1)) if rest else ()
    return [first, *(f"{'':{INDENT}}{line.plain.rstrip()}" for line in more)]


def _hidden_line(n_rows: int, n_columns: int) -> list[str]:
    kinds = ((n_rows, "row"), (n_columns, "column"))
    counts = [f"{n} more {kind}{'s' * (n > 1)}" for n, kind in kinds if n]
    return [f"{DOTS} {' and '.join(counts)}: --tables"] if counts else []


def matrix_legend(matrix: Matrix) -> str:
    """Return the legend: the level of the intervals, and the most frequent flag."""
    cells = [cell for row in matrix.rows for cell in row.cells]
    levels = {
        f"{100 * cell.estimate.confidence:g}" for cell in cells if cell.estimate and cell.estimate.low is not None
    }
    reasons = Counter(cell.doubt for cell in cells if cell.doubt).most_common()
    more = f" (and {len(reasons) - 1} more reason{'s' * (len(reasons) > 2)})" if len(reasons) > 1 else ""
    parts = [
        f"\N{PLUS-MINUS SIGN}: {levels.pop()} % interval" if len(levels) == 1 else "",
        f"!: {reasons[0][0]}{more}" if reasons else "",
        matrix.note,
    ]
    return "; ".join(one_line(text) for text in parts if text)
