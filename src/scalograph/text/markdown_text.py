"""Text in Markdown: what comes from outside stays text, and calls nobody."""

import re
from collections.abc import Sequence

from scalograph.text.escape import prose

_MARKS = re.compile(r"([\\`*_{}\[\]()#+!|~-])")
# GitHub tells whoever is named so; an empty remark between keeps it a text.
_NAMED = "@<!-- -->"


def escaped(text: str) -> str:
    r"""Return a text on one line as Markdown shows it.

    >>> print(escaped("a|b *c* <img> @me #1\nx"))
    a\|b \*c\* &lt;img&gt; @<!-- -->me \#1 x
    """
    plain = prose(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _MARKS.sub(r"\\\1", plain).replace("@", _NAMED)


def pipe_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table, labels to the left and figures to the right.

    >>> pipe_table(["", "1"], [["a", "2"]])
    ['|  | 1 |', '|---|---:|', '| a | 2 |']
    """
    marks = "|".join(["---", *("---:" for _ in head[1:])])
    lines = [f"| {' | '.join(map(escaped, cells))} |" for cells in (head, *rows)]
    return [lines[0], f"|{marks}|", *lines[1:]]
