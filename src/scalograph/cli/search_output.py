"""What a search has found, on the terminal or as one document."""

from pathlib import Path
from typing import TYPE_CHECKING

from scalograph.cli.console import emit_json, out, tell
from scalograph.cli.measure_output import close, warn_first
from scalograph.questions.registry import role

if TYPE_CHECKING:
    from scalograph.protocol.findings import Findings
    from scalograph.run.session import Session


def tell_search(session: "Session", question: str, json: bool) -> int:
    """Tell what a search found; the report has the rest.

    Args:
        session: the search.
        question: that it asks.
        json: one document instead of tables.
    """
    from scalograph.cli.last_stops import exit_code, report

    found, page = report(session.results.folder)
    if json:
        told = {"verdict": found.trust.level, "answer": found.answer, "results": str(session.results.folder)}
        emit_json({**role(question, "find").figures(found), **told})
    else:
        _tell(session, found, page, question)
    return exit_code(found)


def _tell(session: "Session", found: "Findings", page: Path, question: str) -> None:
    """The tables of a search, its sentence, and what stands below every answer."""
    from scalograph.report.cells import sheet
    from scalograph.report.terminal_table import draw

    tell(found.study.title)
    warn_first(found)
    for table in found.tables:
        if table.question == question:
            tell()
            draw(sheet(table), out())
    tell()
    tell(found.answer[0])
    close(session, found, page)
