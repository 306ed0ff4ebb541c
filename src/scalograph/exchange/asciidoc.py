"""Findings as AsciiDoc: what the Markdown has, for pages in that language."""

import re
from collections.abc import Sequence

from scalograph.exchange.markdown import Markup, marked
from scalograph.protocol.findings import Findings
from scalograph.text.escape import prose

# What AsciiDoc would read as more than a letter, anywhere or at the start of a line.
_MARK = re.compile(r"[\\`*_{}\[\]<>#|~^+&@:'\"()-]|^[.=/;!]")


def asciidoc(findings: Findings) -> str:
    """Return the answer, the verdict, and all tables of a study."""
    return marked(findings, Markup("= ", "== ", "* ", literal, ruled))


def literal(text: str) -> str:
    """Return a text on one line that AsciiDoc shows as it is: marks by their numbers.

    >>> literal("a|b *c* .d"), literal(".d")
    ('a&#124;b &#42;c&#42; .d', '&#46;d')
    """
    return _MARK.sub(lambda found: f"&#{ord(found[0])};", prose(text))


def ruled(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table: the first column to the left, all others to the right."""
    sides = ",".join(["<", *[">"] * (len(head) - 1)])
    lines = [" ".join(f"| {literal(cell)}" for cell in line) for line in (head, *rows)]
    return "\n".join([f'[cols="{sides}", options="header"]', "|===", *lines, "|==="])
