"""What a search has found, on the terminal or as one document."""

from typing import TYPE_CHECKING

from scalograph.cli.measure_output import close
from scalograph.questions.registry import role

if TYPE_CHECKING:
    from scalograph.cli.options import CommandOptions
    from scalograph.run.session import Session


def tell_search(session: "Session", question: str, options: "CommandOptions") -> int:
    """Tell what a search found; the report has the rest.

    Args:
        session: the search.
        question: that it asks.
        options: of its command.
    """
    from scalograph.cli.last_stops import report
    from scalograph.report.screen import screen

    found, _ = report(session.results.folder)
    document = {"verdict": found.trust.level, "answer": found.answer}
    return close(session, found, screen(found), options, {**role(question, "find").figures(found), **document})
