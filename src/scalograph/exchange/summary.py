"""The answer of a command as Markdown, for a pull request or a step of a build: verdict, claim, matrix, causes."""

from html import escape

from scalograph.exchange.markdown import matrix_parts, plain, sheet_parts
from scalograph.protocol.findings import TableDoc
from scalograph.report.screen import Screen
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
    parts = [f"### {plain(': '.join(filter(None, [verdict, screen.title])))}", f"**{plain(first)}**"]
    parts += ["\n".join(map(plain, more))]
    parts += matrix_parts(screen.claim.matrix) if screen.claim.matrix else []
    if screen.trust:
        told = " ".join([screen.trust.sentence, *screen.trust.points])
        parts.append(f"{_WORDS[screen.trust.level]}{plain(told)}")
    parts.append(plain(screen.machine))
    for title, texts in screen.remarks.items():
        parts += [f"{plain(title)}:", "\n".join(f"- {plain(text)}" for text in texts)] if texts else []
    parts += [part for table in screen.tables[:MOST_TABLES] for part in _folded(table)]
    return "\n\n".join(filter(None, parts)) + "\n"


def _folded(table: TableDoc) -> list[str]:
    head = f"<details><summary>{escape(prose(table.title))}</summary>"
    return [head, *sheet_parts(table, MOST_ROWS), "</details>"]
