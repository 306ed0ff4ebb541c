"""How a command that ran a study ends: what came of it, where it lies, and the exit code."""

import shlex
import signal
from typing import TYPE_CHECKING

from scalograph.cli.console import (
    emit_json,
    out,
    say,
    tell,
)
from scalograph.errors import Exit

if TYPE_CHECKING:
    from scalograph.protocol.findings import Findings
    from scalograph.run.session import Session

_LIMITS = ("--budget", "--max-runs")


def conclude(conducted: "Session", as_json: bool, report: bool, command: list[str] | None) -> int:
    """Print the outcome; with `report`, all tables and the page too. `command`: words of the one that goes on."""
    if conducted.reason == "interrupted":
        words = [*command, "--resume", "-o", str(conducted.results.folder)] if command else []
        again = f"Go on with: {shlex.join(words)}" if words else "Start it anew"
        say(f"interrupted; nothing finished is lost. {again}", "yellow")
        return Exit.TERMINATED if conducted.signal == signal.SIGTERM else Exit.INTERRUPTED
    from scalograph.cli.last_stops import analyze, exit_code
    from scalograph.cli.last_stops import report as make_report

    found, file = (make_report if report else analyze)(conducted.results.folder)
    if command:
        tell_how_on(conducted.reason, [*command, "--resume", "-o", str(conducted.results.folder)])
    if as_json:
        emit_json(found.model_dump(mode="json"))
    elif report:
        from scalograph.report.terminal import render

        render(found, out())
        tell()
        tell(f"Report: {file}")
    else:
        tell(found.trust.sentence)
        tell_failures(found)
        warn(found)
        again = f" and {found.runs.n_repeated} repeated" if found.runs.n_repeated else ""
        tell(f"{found.runs.n_done} of {found.runs.n_asked} runs{again}, {conducted.reason}")
        tell(f"Next: {shlex.join(['scalograph', 'report', str(conducted.results.folder)])}")
    return exit_code(found)


def tell_failures(found: "Findings") -> None:
    """Why runs failed, each reason once."""
    for why, count in found.runs.failures.items():
        tell(f"failed: {count} x {why}")


def tell_how_on(reason: str, command: list[str]) -> None:
    """Where a study ended before its end: the command that resumes it, without the limits that ended it."""
    if reason == "busy":
        say(f"the machine was too busy; go on with: {shlex.join(command)}", "yellow")
    if reason == "budget":
        limits = {at for at, word in enumerate(command) if word in _LIMITS}
        words = [word for at, word in enumerate(command) if not {at, at - 1} & limits]
        say(f"the budget is used up; go on with a larger --budget or --max-runs: {shlex.join(words)}", "yellow")


def warn(found: "Findings") -> None:
    """What the findings warn of, beside a result that is too short to hold it."""
    for warning in found.warnings:
        say(f"warning: {warning}", "yellow")
