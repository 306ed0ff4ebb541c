"""What the first screen says beside its figure: the matrix as texts, the verdict in a word, the day."""

from dataclasses import dataclass
from datetime import UTC, datetime

from scalograph.protocol.claim import Matrix, MatrixCell
from scalograph.protocol.findings import RunsDoc
from scalograph.report.terminal_matrix import matrix_legend, matrix_title
from scalograph.text.compact import compact, matrix_scale
from scalograph.text.scale import Scale

WORDS = {"believe": "Believe it", "doubt": "Use with care", "reject": "Do not believe it"}


@dataclass(frozen=True, slots=True)
class MatrixText:
    """The matrix as a table of texts: a cell has its value, its interval, and why it is marked."""

    caption: str
    head: list[str]
    rows: list[tuple[str, list[tuple[str, str, str]]]]
    note: str


def matrix_text(matrix: Matrix) -> MatrixText:
    """Format the matrix."""
    scale = matrix_scale(matrix)
    rows = [(row.label, [_cell(cell, scale) for cell in row.cells]) for row in matrix.rows]
    return MatrixText(
        matrix_title(matrix, scale), [matrix.rows_are or "configuration", *matrix.columns], rows, matrix_legend(matrix)
    )


def _cell(cell: MatrixCell, scale: Scale) -> tuple[str, str, str]:
    text = cell.text or compact(cell.estimate, scale)
    value, blank, interval = text.partition(" ")
    return (value, interval, cell.doubt) if blank and value[-1:].isdigit() else (text, "", cell.doubt)


def day(runs: RunsDoc) -> str:
    """On which day the runs began; empty where that is not known."""
    try:
        return f"{datetime.fromisoformat(runs.started or '').astimezone(UTC):%d %b %Y}".removeprefix("0")
    except (ValueError, OverflowError):
        return ""
