"""What `measure` and `find` do: a wish becomes a study, the study is run, and what it learned is told."""

import shlex
import signal
from collections.abc import Callable, Container
from contextlib import ExitStack, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

from scalograph.cli.adhoc.command_study import Wish
from scalograph.cli.adhoc.declaration import as_options, study_text
from scalograph.cli.console import (
    emit_json,
    out,
    say,
    tell,
)
from scalograph.cli.outcome import tell_failures, tell_how_on
from scalograph.errors import Exit, HostError, StudyError
from scalograph.protocol.results import Results, refuse_taken
from scalograph.text.units import parse_percent

if TYPE_CHECKING:
    from scalograph.protocol.findings import Findings
    from scalograph.run.session import Conducted


class Start(NamedTuple):
    """What a start asks beside the study: the efficiency worth having, money, and what the machine may be like."""

    target: str = "80%"
    cost: float | None = None
    wait_quiet: str | None = None
    when_busy: str | None = None
    ceiling: bool = False


def measured(wish: Wish, output: Path | None, start: Start, json: bool) -> int:
    """Run it as `scalograph run` would, and answer.

    Raises:
        StudyError: the options make no study.
        HostError: the host refuses.
    """
    worth = _share(start.target)
    return carried_out(wish, output, start, lambda conducted: _answer(conducted, worth, start.cost, json))


def carried_out(wish: Wish, output: Path | None, start: Start, answer: Callable[["Conducted"], int]) -> int:
    """Run a wish as `scalograph run` would; `answer` tells what came of it, unless it was interrupted.

    Raises:
        StudyError: the options make no study.
        HostError: the host refuses.
    """
    with suppress(OSError):  # what the host refuses is told where the folder is made
        if output is not None:
            refuse_taken(Results(output))  # its copy goes on: the file of this start ends with it
    with ExitStack() as held:
        try:
            file = Path(held.enter_context(TemporaryDirectory(prefix="scalograph-measure-"))) / "study.toml"
            file.write_text(study_text(wish), encoding="utf-8")
        except OSError as error:
            found, fix = f"cannot be written: {error.strerror or error}", "make room, or set TMPDIR to another folder"
            raise HostError("scratch folder", found, "room for a study", fix) from error
        conducted = _run(file, output, start)
    again = _again(conducted.results, start)
    if conducted.reason == "interrupted":
        say(f"interrupted; go on with: {shlex.join(again)}", "yellow")
        return Exit.TERMINATED if conducted.signal == signal.SIGTERM else Exit.INTERRUPTED
    tell_how_on(conducted.reason, again)
    return answer(conducted)


def _again(made: Results, start: Start) -> list[str]:
    """The command that goes on: with the copy of the study, for its file is no more."""
    from scalograph.cli.overrides import given

    options = given(None, None, start.wait_quiet, start.when_busy)
    return ["scalograph", "run", str(made.study), *options, "--resume", "-o", str(made.folder)]


def _run(file: Path, output: Path | None, start: Start) -> "Conducted":
    from scalograph.cli.overrides import overridden
    from scalograph.study.declare import declare

    try:
        declared = overridden(declare(file), wait_quiet=start.wait_quiet, when_busy=start.when_busy)
        from scalograph.cli.five_stops import run_declared  # after the study is checked: it imports much

        # A look at the noise floor would take longer than many a command.
        return run_declared(declared, output, resume=False, accepted=None, ceiling=start.ceiling, noise=False)
    except (StudyError, HostError) as error:
        raise as_options(error) from error


def _share(text: str) -> float:
    try:
        return parse_percent(text)
    except ValueError as error:
        raise StudyError.one("--target", str(error)) from error


def _answer(conducted: "Conducted", target: float, cost: float | None, json: bool) -> int:
    from scalograph.cli.adhoc import show
    from scalograph.cli.adhoc.answer import answer
    from scalograph.cli.adhoc.answer_sentence import sentence
    from scalograph.cli.last_stops import exit_code, report
    from scalograph.findings import table

    found, page = report(conducted.results.folder)
    read = table.load(conducted.results.journal, keep_observations=False)
    curves = answer(read, cost)
    said = [text for along in curves if (text := sentence(along, target))]
    if json:
        emit_json({**show.document(read, curves, said, found), "results": str(conducted.results.folder)})
        return exit_code(found)
    warn_first(found)
    _tell(read, curves, said)
    close(conducted, found, read.notes, page)
    return exit_code(found)


def warn_first(found: "Findings") -> None:
    """What is not to be believed says so above its figures; whoever copies them must have seen it."""
    if found.trust.level == "reject":
        tell(f"{_trust(found)}\n")


def _trust(found: "Findings") -> str:
    return f"{found.trust.level.upper()}: {found.trust.sentence}"


def close(conducted: "Conducted", found: "Findings", noted: Container[str], page: Path) -> None:
    """What stands below every answer: whether to believe it, what failed, and where it lies."""
    if found.trust.level != "reject":  # that stands above
        tell(_trust(found))
    tell_failures(found)
    for warning in found.warnings:
        if warning not in noted:  # these were told while it ran
            say(f"warning: {warning}", "yellow")
    tell(f"Report: {page}")
    tell(f"Study: {conducted.results.study}")


def _tell(read: Any, curves: Any, said: list[str]) -> None:
    from scalograph.cli.adhoc import law_note, show
    from scalograph.report.cells import sheet
    from scalograph.report.terminal_table import draw

    draw(sheet(show.steps_table(read, curves)), out())
    for along in curves:
        if lines := show.figure(along):
            tell()
            tell("\n".join([f"speedup{''.join(f', {n} {v}' for n, v in along.group.items())}", *lines]))
            if text := law_note.law_line(along):
                tell(text)
    tell()
    if len(curves) == 1 and len(curves[0].steps) == 1:
        tell(show.spread(read, curves[0]))
    for text in [*said, *filter(None, (law_note.unused(read, along) for along in curves))]:
        tell(text)
