"""Findings as Markdown: claim, matrix, verdict and tables, as a page that people comment on shows them."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from scalograph.protocol.findings import Findings, TableDoc
from scalograph.report.cells import sheet
from scalograph.report.first_screen import WORDS, matrix_text
from scalograph.text.escape import prose

# What Markdown, or HTML inside it, would read as more than a letter.
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~&])")
# A name behind it would be called: a remark between keeps it a text.
_NAMED = "@<!-- -->"


class Markup(NamedTuple):
    """A language of marked text: what begins a title, a section and an item; a text as it is; a table."""

    title: str
    section: str
    item: str
    plain: Callable[[str], str]
    table: Callable[[Sequence[str], Sequence[Sequence[str]]], str]


def markdown(findings: Findings) -> str:
    """Return the answer, the verdict, and all tables of a study."""
    return marked(findings, Markup("# ", "## ", "- ", plain, table_text))


def marked(findings: Findings, markup: Markup) -> str:
    """Return the answer, the verdict, and all tables of a study in a language."""
    claim, plain = findings.claim, markup.plain
    said = claim.sentences if claim else findings.answer[:1]
    parts = [markup.title + plain(findings.study.title or findings.study.name)]
    parts.append(f"**{plain(' '.join(said))}**" if said else "")
    if claim and claim.matrix:
        matrix = matrix_text(claim.matrix)
        rows = [[label, *(" ".join(filter(None, cell[:2])) for cell in cells)] for label, cells in matrix.rows]
        parts += [plain(matrix.caption), markup.table(matrix.head, rows), plain(matrix.note)]
    parts.append(f"**{WORDS[findings.trust.level]}.** {plain(findings.trust.sentence)}")
    parts += [markup.item + plain(point) for point in findings.trust.points]
    parts += [text for doc in findings.tables for text in _table(doc, markup)]
    return "\n\n".join(filter(None, parts)) + "\n"


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


def _table(doc: TableDoc, markup: Markup) -> Iterator[str]:
    shown = sheet(doc)
    yield markup.section + markup.plain(doc.title)
    yield markup.table(
        [str(heading) for heading in shown.headings], [[str(cell) for cell in row] for row in shown.rows]
    )
    yield markup.plain(doc.note)
    yield from (f"({mark}) {markup.plain(text)}" for mark, text in shown.footnotes)
