"""The answer of a command as Markdown, for a pull request or a step of a build: verdict, claim, matrix, causes."""

from html import escape

from scalograph.exchange.markdown import plain, table_text
from scalograph.protocol.claim import Matrix
from scalograph.protocol.findings import TableDoc
from scalograph.report.cells import sheet
from scalograph.report.screen import Screen
from scalograph.report.terminal_matrix import matrix_legend, matrix_title
from scalograph.text.compact import compact, matrix_scale
from scalograph.text.escape import prose

# A summary of a build may have 1 MiB, a comment 64 KiB: rows of one table, and tables.
MOST_ROWS, MOST_TABLES = 60, 4
_WORDS = {"believe": "", "doubt": "With care: ", "reject": "Not to be believed: "}


def summary(screen: Screen, verdict: str = "") -> str:
    """Return Markdown that ends in a line break.

    Args:
        screen: what was found.
        verdict: in a word or two, for the heading; empty for none.
    """
    first, *more = screen.claim.sentences
    lines = [f"### {plain(': '.join(filter(None, [verdict, screen.title])))}", "", f"**{plain(first)}**"]
    lines += [plain(text) for text in more]
    lines += ["", *_matrix(screen.claim.matrix)] if screen.claim.matrix else []
    if screen.trust:
        told = " ".join([screen.trust.sentence, *screen.trust.points])
        lines += ["", f"{_WORDS[screen.trust.level]}{plain(told)}"]
    lines += ["", plain(screen.machine)] if screen.machine else []
    for title, texts in screen.remarks.items():
        lines += ["", f"{plain(title)}:", "", *(f"- {plain(text)}" for text in texts)] if texts else []
    for table in screen.tables[:MOST_TABLES]:
        lines += ["", *_folded(table)]
    return "\n".join(lines) + "\n"


def _matrix(matrix: Matrix) -> list[str]:
    scale = matrix_scale(matrix)
    rows = [
        [row.label, *(f"{cell.text or compact(cell.estimate, scale)}{' !' * bool(cell.doubt)}" for cell in row.cells)]
        for row in matrix.rows
    ]
    head = [matrix.rows_are, *matrix.columns]
    return [plain(matrix_title(matrix, scale)), "", table_text(head, rows), "", plain(matrix_legend(matrix))]


def _folded(table: TableDoc) -> list[str]:
    shown = sheet(table)
    rows = [[str(cell) for cell in row] for row in shown.rows[:MOST_ROWS]]
    more = [f"{len(shown.rows) - MOST_ROWS} more rows"] if len(shown.rows) > MOST_ROWS else []
    body = table_text([*map(str, shown.headings)], rows)
    return [f"<details><summary>{escape(prose(table.title))}</summary>", "", body, "", *more, "</details>"]
