"""How a command that ran a study ends: the answer, how to go on, and the exit code."""

import shlex
import signal
from typing import TYPE_CHECKING

from scalograph.cli.console import say
from scalograph.errors import Exit

if TYPE_CHECKING:
    from scalograph.cli.options import StartOptions
    from scalograph.run.session import Session

_LIMITS = ("--budget", "--max-runs")


def conclude(session: "Session", options: "StartOptions", command: list[str], report: bool) -> int:
    """Print the outcome.

    Args:
        session: what was run.
        options: of its start.
        command: words that start it again.
        report: whether to make the page, too.
    """
    folder = session.results.folder
    resume = [*command, "--resume", "-o", str(folder)]
    if session.reason == "interrupted":
        return interrupted(session, resume)
    from scalograph.cli import last_stops
    from scalograph.cli.answer_output import answer, study_places
    from scalograph.report.screen import screen

    # Whatever the files' times say: a clock may have been set back since the last start.
    found, _ = last_stops.analyze(folder)
    if report:
        found, _ = last_stops.report(folder)
    tell_how_on(session.reason, resume)
    document = found.model_dump(mode="json") if options.json else None
    places = study_places(folder, found, shlex.join(command))
    answer(screen(found), places, options.tables, options.table, document)
    return last_stops.exit_code(found)


def interrupted(session: "Session", resume: list[str]) -> int:
    """Say how to go on after a signal; without words of a command it starts anew."""
    again = f"Go on with: {shlex.join(resume)}" if resume else "Start it anew"
    say(f"interrupted; nothing finished is lost. {again}", "yellow")
    return Exit.TERMINATED if session.signal == signal.SIGTERM else Exit.INTERRUPTED


def tell_how_on(reason: str, command: list[str]) -> None:
    """Print the command that resumes a study that did not come to its end, without the limits that ended it."""
    if reason == "busy":
        say(f"the machine was too busy; go on with: {shlex.join(command)}", "yellow")
    if reason == "budget":
        limits = {at for at, word in enumerate(command) if word in _LIMITS}
        words = [word for at, word in enumerate(command) if not {at, at - 1} & limits]
        say(f"the budget is used up; go on with a larger --budget or --max-runs: {shlex.join(words)}", "yellow")
