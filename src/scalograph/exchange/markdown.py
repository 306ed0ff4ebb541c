"""Findings as Markdown: claim, matrix, verdict and tables, as a page that people comment on shows them."""

import re
from collections.abc import Iterator, Sequence

from scalograph.protocol.claim import Matrix
from scalograph.protocol.findings import Findings, TableDoc
from scalograph.report.cells import sheet
from scalograph.report.first_screen import WORDS
from scalograph.report.terminal_matrix import matrix_legend, matrix_title
from scalograph.text.compact import compact, matrix_scale
from scalograph.text.escape import prose

# What Markdown, or HTML inside it, would read as more than a letter.
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~&])")
# A name behind it would be called: a remark between keeps it a text.
_NAMED = "@<!-- -->"


def markdown(findings: Findings) -> str:
    """Return the answer, the verdict, and all tables of a study."""
    claim = findings.claim
    said = claim.sentences if claim else findings.answer[:1]
    parts = [f"# {plain(findings.study.title or findings.study.name)}", f"**{plain(' '.join(said))}**" if said else ""]
    parts += matrix_parts(claim.matrix) if claim and claim.matrix else []
    parts.append(f"**{WORDS[findings.trust.level]}.** {plain(findings.trust.sentence)}")
    parts += [f"- {plain(point)}" for point in findings.trust.points]
    parts += [text for doc in findings.tables for text in _table(doc)]
    return "\n\n".join(filter(None, parts)) + "\n"


def matrix_parts(matrix: Matrix) -> list[str]:
    """Return what a matrix shows, the matrix as a table, and what its signs mean; the last may be empty."""
    scale = matrix_scale(matrix)
    rows = [
        [row.label, *(f"{cell.text or compact(cell.estimate, scale)}{' !' * bool(cell.doubt)}" for cell in row.cells)]
        for row in matrix.rows
    ]
    table = table_text([matrix.rows_are, *matrix.columns], rows)
    return [plain(matrix_title(matrix, scale)), table, plain(matrix_legend(matrix))]


def sheet_parts(doc: TableDoc, most: int | None = None) -> list[str]:
    """Return a table with at most so many rows, how many more there are, its note, and its footnotes."""
    shown = sheet(doc)
    rows = [[str(cell) for cell in row] for row in shown.rows[:most]]
    more = f"{len(shown.rows) - len(rows)} more rows" if len(rows) < len(shown.rows) else ""
    footnotes = [f"({mark}) {plain(text)}" for mark, text in shown.footnotes]
    return [table_text([*map(str, shown.headings)], rows), more, plain(doc.note), *footnotes]


def table_text(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table: the first column to the left, all others to the right."""
    lines = [head, [":--", *["--:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(map(plain, line) if i != 1 else line)} |" for i, line in enumerate(lines))


def plain(text: str) -> str:
    r"""Return a text on one line that Markdown shows as it is.

    >>> print(plain("a|b *c*"))
    a\|b \*c\*
    >>> print(plain("@me"))
    @<!-- -->me
    """
    return _SPECIAL.sub(r"\\\1", prose(text)).replace("@", _NAMED)


def _table(doc: TableDoc) -> Iterator[str]:
    yield f"## {plain(doc.title)}"
    yield from sheet_parts(doc)
