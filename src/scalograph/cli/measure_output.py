"""What `measure` and `find` do: a command's study is run, and what it learned is told."""

import shlex
import signal
from collections.abc import Callable
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from scalograph.cli.adhoc.command_study import CommandStudy
from scalograph.cli.adhoc.declaration import as_options, study_text
from scalograph.cli.console import (
    emit_json,
    out,
    say,
    tell,
)
from scalograph.cli.measure_command import SweepOptions
from scalograph.cli.options import CommandOptions
from scalograph.cli.outcome import tell_failures, tell_how_on
from scalograph.errors import Exit, HostError, StudyError
from scalograph.protocol import journal
from scalograph.protocol.results import Results, refuse_taken
from scalograph.text.units import parse_percent

if TYPE_CHECKING:
    from scalograph.protocol.findings import Findings
    from scalograph.run.session import Session


def measured(study: CommandStudy, sweep: SweepOptions, options: CommandOptions) -> int:
    """Run a command's study as `scalograph run` would, and answer.

    Raises:
        StudyError: the options make no study.
        HostError: the host refuses.
    """
    target = _share(sweep.target)
    answer = partial(_answer, target=target, cost=sweep.cost, json=options.json)
    return carried_out(study, options, answer, sweep.ceiling)


def carried_out(
    study: CommandStudy, options: CommandOptions, answer: Callable[["Session"], int], ceiling: bool = False
) -> int:
    """Run a command's study as `scalograph run` would, and tell what came of it, unless it was interrupted.

    Args:
        study: of the command.
        options: where its results go, and what the machine may be like.
        answer: tells what came of it, and gives the exit code.
        ceiling: learn first what the machine itself scales to.

    Raises:
        StudyError: the options make no study.
        HostError: the host refuses.
    """
    with suppress(OSError):  # what the host refuses is told where the folder is made
        if options.output is not None:
            refuse_taken(Results(options.output))  # its copy goes on: the file of this start ends with it
    with ExitStack() as held:
        try:
            file = Path(held.enter_context(TemporaryDirectory(prefix="scalograph-measure-"))) / "study.toml"
            file.write_text(study_text(study), encoding="utf-8")
        except OSError as error:
            found, fix = f"cannot be written: {error.strerror or error}", "make room, or set TMPDIR to another folder"
            raise HostError("scratch folder", found, "room for a study", fix) from error
        session = _run(file, options, ceiling)
    again = _again(session.results, options)
    if session.reason == "interrupted":
        say(f"interrupted; go on with: {shlex.join(again)}", "yellow")
        return Exit.TERMINATED if session.signal == signal.SIGTERM else Exit.INTERRUPTED
    tell_how_on(session.reason, again)
    return answer(session)


def _again(made: Results, options: CommandOptions) -> list[str]:
    """The command that goes on: with the copy of the study, for its file is no more."""
    from scalograph.cli.overrides import given

    words = given(None, None, options.wait_quiet, options.when_busy)
    return ["scalograph", "run", str(made.study), *words, "--resume", "-o", str(made.folder)]


def _run(file: Path, options: CommandOptions, ceiling: bool) -> "Session":
    from scalograph.cli.overrides import overridden
    from scalograph.study.declare import declare

    try:
        declared = overridden(declare(file), wait_quiet=options.wait_quiet, when_busy=options.when_busy)
        from scalograph.cli.five_stops import StudyStart, run_declared  # after the study is checked: it imports much

        # A look at the noise floor would take longer than many a command.
        return run_declared(declared, StudyStart(folder=options.output, ceiling=ceiling, noise=False))
    except (StudyError, HostError) as error:
        raise as_options(error) from error


def _share(text: str) -> float:
    try:
        return parse_percent(text)
    except ValueError as error:
        raise StudyError.one("--target", str(error)) from error


def _answer(session: "Session", target: float, cost: float | None, json: bool) -> int:
    from scalograph.cli.adhoc import show
    from scalograph.cli.adhoc.answer_sentence import sentence
    from scalograph.cli.last_stops import exit_code, report

    found, page = report(session.results.folder)
    said = [text for curve in found.curves if (text := sentence(found.study, curve, target))]
    if json:
        emit_json({**show.document(found, said, cost), "results": str(session.results.folder)})
        return exit_code(found)
    warn_first(found)
    _tell(found, said, cost)
    close(session, found, page)
    return exit_code(found)


def warn_first(found: "Findings") -> None:
    """What is not to be believed says so above its figures; whoever copies them must have seen it."""
    if found.trust.level == "reject":
        tell(f"{_trust(found)}\n")


def _trust(found: "Findings") -> str:
    return f"{found.trust.level.upper()}: {found.trust.sentence}"


def close(session: "Session", found: "Findings", page: Path) -> None:
    """What stands below every answer: whether to believe it, what failed, and where it lies."""
    if found.trust.level != "reject":  # that stands above
        tell(_trust(found))
    tell_failures(found)
    noted = _noted(session.results)
    for warning in found.warnings:
        if warning not in noted:
            say(f"warning: {warning}", "yellow")
    tell(f"Report: {page}")
    tell(f"Study: {session.results.study}")


def _noted(made: Results) -> set[str]:
    """What was told while it ran."""
    return {str(event["text"]) for event in journal.read(made.journal) if event["event"] == "note"}


def _tell(found: "Findings", said: list[str], cost: float | None) -> None:
    from scalograph.cli.adhoc import notes, show
    from scalograph.report.cells import sheet
    from scalograph.report.terminal_table import draw

    draw(sheet(show.steps_table(found, cost)), out())
    for curve in found.curves:
        if lines := show.figure(curve):
            tell()
            tell("\n".join([f"speedup{''.join(f', {n} {v}' for n, v in curve.group.items())}", *lines]))
            if text := notes.law_line(curve):
                tell(text)
    tell()
    if len(found.curves) == 1 and len(found.curves[0].points) == 1:
        tell(notes.spread(found.study, found.curves[0].points[0]))
    for text in [*said, *filter(None, (notes.unused(found.study, curve) for curve in found.curves))]:
        tell(text)
