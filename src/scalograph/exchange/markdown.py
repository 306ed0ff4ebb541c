"""Findings as Markdown or AsciiDoc: answer, matrix, verdict and tables."""

import re
from collections.abc import Callable, Sequence
from html import escape
from typing import NamedTuple

from scalograph.protocol.findings import Findings, Matrix, TableDoc
from scalograph.report.cells import table_layout
from scalograph.report.first_screen import WORDS
from scalograph.report.screen import Screen
from scalograph.report.terminal_first import matrix_legend, matrix_title
from scalograph.text.cell_numbers import cell_number, matrix_scale
from scalograph.text.escape import one_line

# Characters with a meaning in Markdown, or in HTML inside it.
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~&])")
# A comment after these keeps a name from being mentioned, and an address from becoming a link.
_LINKS = re.compile(r"@|(?<=[A-Za-z]):(?=//)|(?<=www)\.", re.IGNORECASE)
_UNLINKED = "<!-- -->"


class Markup(NamedTuple):
    """A markup language: marks of a title, a section and an item; how to escape a text; how to write a table."""

    title: str
    section: str
    item: str
    plain: Callable[[str], str]
    table: Callable[[Sequence[str], Sequence[Sequence[str]]], str]


def table_text(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table: the first column left-aligned, the others right-aligned."""
    lines = [head, [":--", *["--:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(map(plain, line) if i != 1 else line)} |" for i, line in enumerate(lines))


def plain(text: str) -> str:
    r"""Return a text on one line, escaped for Markdown.

    >>> print(plain("a|b *c*"))
    a\|b \*c\*
    >>> print(plain("@me"))
    @<!-- -->me
    >>> print(plain("http://a.b www.c.d"))
    http:<!-- -->//a.b www.<!-- -->c.d
    """
    return _LINKS.sub(rf"\g<0>{_UNLINKED}", _SPECIAL.sub(r"\\\1", one_line(text)))


MARKDOWN = Markup("# ", "## ", "- ", plain, table_text)


def markdown(findings: Findings) -> str:
    """Return answer, verdict and tables of a study as Markdown."""
    return render_findings(findings, MARKDOWN)


def render_findings(findings: Findings, markup: Markup) -> str:
    """Return answer, verdict and tables of a study in a markup language."""
    claim, as_it_is = findings.claim, markup.plain
    sentences = claim.sentences if claim else findings.answer[:1]
    parts = [markup.title + as_it_is(findings.study.title or findings.study.name)]
    parts.append(f"**{as_it_is(' '.join(sentences))}**" if sentences else "")
    parts += matrix_parts(claim.matrix, markup) if claim and claim.matrix else []
    parts.append(f"**{WORDS[findings.trust.level]}.** {as_it_is(findings.trust.sentence)}")
    parts += [markup.item + as_it_is(point) for point in findings.trust.points]
    for doc in findings.tables:
        parts += [markup.section + as_it_is(doc.title), *sheet_parts(doc, markup=markup)]
    return "\n\n".join(filter(None, parts)) + "\n"


def matrix_parts(matrix: Matrix, markup: Markup = MARKDOWN) -> list[str]:
    """Return the title of a matrix, its table, and its legend, which may be empty."""
    scale = matrix_scale(matrix)
    rows = [
        [row.label, *(f"{c.text or cell_number(c.estimate, scale)}{' !' * bool(c.doubt)}" for c in row.cells)]
        for row in matrix.rows
    ]
    table = markup.table([matrix.rows_are, *matrix.columns], rows)
    return [markup.plain(matrix_title(matrix, scale)), table, markup.plain(matrix_legend(matrix))]


def sheet_parts(doc: TableDoc, most: int | None = None, markup: Markup = MARKDOWN) -> list[str]:
    """Return a table cut to `most` rows, the number cut, its note, and its footnotes."""
    shown = table_layout(doc)
    rows = [[str(cell) for cell in row] for row in shown.rows[:most]]
    more = f"{len(shown.rows) - len(rows)} more rows" if len(rows) < len(shown.rows) else ""
    footnotes = [f"({mark}) {markup.plain(text)}" for mark, text in shown.footnotes]
    return [markup.table([*map(str, shown.headings)], rows), more, markup.plain(doc.note), *footnotes]


# Characters with a meaning in AsciiDoc, anywhere or at the start of a line.
_MARK = re.compile(r"[\\`*_{}\[\]<>#|~^+&@:'\"()-]|^[.=/;!]")


def asciidoc(findings: Findings) -> str:
    """Return answer, verdict and tables of a study as AsciiDoc."""
    return render_findings(findings, Markup("= ", "== ", "* ", literal, asciidoc_table))


def literal(text: str) -> str:
    """Return a text on one line, escaped for AsciiDoc.

    >>> literal("a|b *c* .d"), literal(".d")
    ('a&#124;b &#42;c&#42; .d', '&#46;d')
    """
    return _MARK.sub(lambda mark: f"&#{ord(mark[0])};", one_line(text))


def asciidoc_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return an AsciiDoc table: the first column left-aligned, the others right-aligned."""
    sides = ",".join(["<", *[">"] * (len(head) - 1)])
    lines = [" ".join(f"| {literal(cell)}" for cell in line) for line in (head, *rows)]
    return "\n".join([f'[cols="{sides}", options="header"]', "|===", *lines, "|==="])


# Rows of one table, and tables: a build summary may have 1 MiB, a comment 64 KiB.
MOST_ROWS, MOST_TABLES = 60, 4
_WORDS = {"reliable": "", "caution": "Caution: ", "unusable": "Unusable: "}


def summary(screen: Screen, verdict: str = "") -> str:
    """Return Markdown for a build summary or a comment. It ends in a line break; a verdict goes into the heading."""
    first, *more = screen.claim.sentences
    parts = [f"### {plain(': '.join(filter(None, [verdict, screen.title])))}", f"**{plain(first)}**"]
    parts += ["\n".join(map(plain, more))]
    parts += matrix_parts(screen.claim.matrix) if screen.claim.matrix else []
    if screen.trust:
        sentences = " ".join([screen.trust.sentence, *screen.trust.points])
        parts.append(f"{_WORDS[screen.trust.level]}{plain(sentences)}")
    parts.append(plain(screen.machine))
    for title, texts in screen.remarks.items():
        parts += [f"{plain(title)}:", "\n".join(f"- {plain(text)}" for text in texts)] if texts else []
    for table in screen.tables[:MOST_TABLES]:
        head = f"<details><summary>{escape(one_line(table.title))}</summary>"
        parts += [head, *sheet_parts(table, MOST_ROWS), "</details>"]
    return "\n\n".join(filter(None, parts)) + "\n"
