"""Run the study of `measure`, `ab`, `find` or `load`, and print its answer."""

import shlex
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scalograph.cli.command_line_study.command_study import CommandStudy
from scalograph.cli.command_line_study.declaration import map_error, study_text
from scalograph.cli.options import AnswerOptions, CommandOptions, SearchOptions
from scalograph.cli.pilot_output import print_resume_command, report_interruption
from scalograph.cli.sweep_options import SweepOptions
from scalograph.control.consent import NO_CONSENT, Consent
from scalograph.errors import HostError, ScalographError, StudyError
from scalograph.protocol.results import Results, refuse_taken, write_text
from scalograph.questions.registry import role
from scalograph.run.scratch import scratch
from scalograph.text.units import parse_percent

if TYPE_CHECKING:
    from scalograph.cli.options import CommandOptions
    from scalograph.protocol.findings import Findings
    from scalograph.report.screen import Screen
    from scalograph.run.session import Session


# A command line that a person still reads.
_LONGEST = 1000


def run_measurement(study: CommandStudy, sweep: SweepOptions, options: CommandOptions) -> int:
    """Run the study of `measure` and print its answer."""
    target = _share(sweep.target)
    answer = partial(_answer, target=target, cost=sweep.cost, options=options)
    return run_command_study(study_text(study), options, answer, sweep.ceiling)


def run_command_study(
    text: str,
    options: AnswerOptions,
    answer: Callable[["Session"], int],
    ceiling: bool = False,
    as_told: Callable[[ScalographError], ScalographError] = map_error,
    consent: Consent = NO_CONSENT,
) -> int:
    """Run a command's study as `scalograph run` would; print its answer unless interrupted.

    Args:
        text: the study of the command.
        options: where its results go, and what the machine may be like.
        answer: tells what came of it, and gives the exit code.
        ceiling: learn first what the machine itself scales to.
        as_told: tells what is wrong with the study of the options that made it.
        consent: what may be done to the whole machine.

    Raises:
        StudyError: the options make no study.
        HostError: the host refuses.
    """
    with suppress(OSError):  # what the host refuses is told where the folder is made
        if options.output is not None:
            refuse_taken(Results(options.output))  # its copy goes on: the file of this start ends with it
    with scratch("measure") as folder:
        write_text(folder / "study.toml", text)
        try:
            session = _run(folder / "study.toml", options, ceiling, consent)
        except (StudyError, HostError) as error:
            raise as_told(error) from error
    again = [*_again(session.results, options), *consent.words()]
    if session.reason == "interrupted":
        return report_interruption(session, again)
    print_resume_command(session.reason, again)
    return answer(session)


def _again(saved: Results, options: AnswerOptions) -> list[str]:
    """Return the command that resumes, with the saved copy of the study."""
    from scalograph.cli.overrides import option_words

    words = option_words(None, None, options.wait_quiet, options.when_busy)
    return ["scalograph", "run", str(saved.study), *words, "--resume", "-o", str(saved.folder)]


def _run(file: Path, options: AnswerOptions, ceiling: bool, consent: Consent) -> "Session":
    from scalograph.cli.overrides import override_protocol, seconds_of
    from scalograph.study.declare import declare

    declared = override_protocol(declare(file), wait_quiet=options.wait_quiet, when_busy=options.when_busy)
    from scalograph.cli.pipeline import StudyStart, run_declared  # after the study is checked: it imports much

    # A look at the noise floor would take longer than many a command.
    waiting = seconds_of("--wait-lock", options.wait_lock)
    start = StudyStart(folder=options.output, ceiling=ceiling, noise=False, consent=consent, wait_lock_s=waiting)
    return run_declared(declared, start)


def _share(text: str) -> float:
    try:
        return parse_percent(text)
    except ValueError as error:
        raise StudyError.one("--target", str(error)) from error


def _answer(session: "Session", target: float, cost: float | None, options: CommandOptions) -> int:
    from scalograph.cli.analyze_steps import report
    from scalograph.cli.command_line_study import show
    from scalograph.cli.command_line_study.show import ask_if_unused, sentence
    from scalograph.report.screen import screen

    findings, _ = report(session.results.folder)
    sentences = [text for curve in findings.curves if (text := sentence(findings.study, curve, target))]
    shown, asked = (
        screen(findings),
        [text for curve in findings.curves if (text := ask_if_unused(findings.study, curve))],
    )
    is_curve = findings.study.baseline is not None or len(findings.curves[0].points) == 1
    more = asked or (sentences if is_curve and len(findings.curves) == 1 and shown.claim.answered else [])
    claim = shown.claim.model_copy(update={"sentences": [*shown.claim.sentences, *more][:3]})
    screen_shown = replace(shown, claim=claim, tables=[show.steps_table(findings, cost), *shown.tables])
    return print_results(session, findings, screen_shown, options, show.document(findings, sentences, cost))


def _consent_words(options: AnswerOptions) -> list[str]:
    return options.consent().words() if isinstance(options, SearchOptions) else []


def print_results(
    session: "Session", findings: "Findings", shown: "Screen", options: AnswerOptions, document: dict[str, Any]
) -> int:
    """Print the answer of a command's study, or `document` with --json; return the exit code."""
    from scalograph.cli.analyze_steps import exit_code
    from scalograph.cli.answer_output import answer, study_places

    results = session.results
    # What it was, unless that is too long to read, or its results have a folder of their own, which is taken now.
    given = shlex.join(["scalograph", *sys.argv[1:]])
    by_file = options.output is not None or len(given) > _LONGEST
    again = shlex.join(["scalograph", "run", str(results.study), *_consent_words(options)]) if by_file else given
    places = study_places(results.folder, findings, again)
    as_one = {**document, "results": str(results.folder)} if options.json else None
    answer(shown, places, options.tables, options.table, as_one)
    return exit_code(findings)


def tell_search(session: "Session", question: str, options: "CommandOptions") -> int:
    """Print the answer of a search, and return the exit code."""
    from scalograph.cli.analyze_steps import report
    from scalograph.report.screen import screen

    findings, _ = report(session.results.folder)
    document = {"verdict": findings.trust.level, "answer": findings.answer}
    return print_results(
        session, findings, screen(findings), options, {**role(question, "find").figures(findings), **document}
    )
