"""Run the study of `measure`, `ab`, `find` or `load`, and print its answer."""

import shlex
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scalograph.cli.command_line_study.declaration import CommandStudy, map_error, study_text
from scalograph.cli.explaining import answer_explained
from scalograph.cli.options import CommandOptions, SearchOptions
from scalograph.cli.overrides import host_words, option_words, parse_option
from scalograph.cli.profile_command import refuse_recording
from scalograph.cli.start import end_early, print_resume_command
from scalograph.cli.sweep_options import AnswerOptions, LoadOptions, SweepOptions
from scalograph.control.machine_control import NO_CONSENT, Consent
from scalograph.errors import Exit, HostError, ScalographError, StudyError
from scalograph.protocol.explanation import PART
from scalograph.protocol.results import Results, refuse_taken, write_text
from scalograph.questions.claims import add_partners, add_sentence, add_varied
from scalograph.questions.registry import role
from scalograph.system.private_dir import scratch
from scalograph.text.short_names import shorten
from scalograph.text.units import parse_percent
from scalograph.text.warning_catalog import noted_sentences

if TYPE_CHECKING:
    from scalograph.protocol.findings import Findings
    from scalograph.report.screen import Screen
    from scalograph.run.session import Session


# A command line that a person still reads.
_LONGEST = 1000
LONGEST_NAME = 40  # of a command in a sentence


def run_measurement(study: CommandStudy, sweep: SweepOptions, options: CommandOptions, explains: bool = False) -> int:
    """Run the study of `measure` and print its answer; `explains` adds what explain says."""
    target = parse_option("--target", sweep.target, parse_percent)
    answer = partial(_answer, target=target, cost=sweep.cost, options=options, at_least=sweep.at_least)
    if sweep.at_least is not None and study.worker_factor is None:
        raise StudyError.one("--at-least", "no speedup", "two counts or more", "such as --threads 1,2,4")
    return run_command_study(study_text(study), options, answer, sweep.ceiling, explains=explains)


def run_command_study(
    text: str,
    options: AnswerOptions,
    answer: Callable[["Session"], int],
    ceiling: bool = False,
    map_error: Callable[[ScalographError], ScalographError] = map_error,
    consent: Consent = NO_CONSENT,
    explains: bool = False,
) -> int:
    """Run a command's study (`text` is study.toml) as `scalograph run` would; print its answer.

    `answer` prints the answer and returns the exit code. `ceiling` first measures what the machine itself scales to.
    `explains` adds what explain says.
    """
    if explains:
        refuse_recording(options.host)
        answer = partial(answer_explained, answer, options)
    with suppress(OSError):  # what the host refuses is told where the folder is made
        if options.output is not None:
            refuse_taken(Results(options.output))  # its copy goes on: the file of this start ends with it
    with scratch("measure") as folder:
        write_text(folder / "study.toml", text)
        try:
            session = _run(folder / "study.toml", options, ceiling, consent)
        except (StudyError, HostError) as error:
            raise map_error(error) from error
    saved, words = session.results, option_words(None, None, options.wait_quiet, options.when_busy, options.host)
    words += host_words(placed_on(options))
    # With the copy of the study: its file is no more.
    again = ["scalograph", "run", str(saved.study), *words, "--resume", "-o", str(saved.folder), *consent.words()]
    if session.reason == "interrupted":
        return end_early(session, again, partial(answer, session))
    print_resume_command(session.reason, again)
    return answer(session)


def placed_on(options: AnswerOptions) -> Sequence[str]:
    """Return what `--on` says of a command that has it."""
    return (options.on or ()) if isinstance(options, LoadOptions) else ()


def _run(file: Path, options: AnswerOptions, ceiling: bool, consent: Consent) -> "Session":
    from scalograph.cli.overrides import override_hosts, override_protocol, seconds_of
    from scalograph.study.declare import declare

    declared = override_protocol(declare(file), wait_quiet=options.wait_quiet, when_busy=options.when_busy)
    declared = override_hosts(declared, placed_on(options))
    from scalograph.cli.pipeline import StudyStart, run_declared  # after the study is checked: it imports much

    # A look at the noise floor would take longer than many a command.
    waiting = seconds_of("--wait-lock", options.wait_lock)
    start = StudyStart(
        folder=options.output, ceiling=ceiling, noise=False, host=options.host, consent=consent, wait_lock_s=waiting,
        show_output=isinstance(options, CommandOptions) and options.show_output,
        # Steps around a run would be carried out once more.
        tries_pipe=isinstance(options, CommandOptions) and not (options.prepare or options.cleanup),
        asks_belief=options.quota is not None,
        needs_own_cpus=isinstance(options, LoadOptions) and options.quota is not None,
    )  # fmt: skip
    return run_declared(declared, start)


def _answer(
    session: "Session", target: float, cost: float | None, options: CommandOptions, at_least: float | None
) -> int:
    from scalograph.cli.analyze_steps import report
    from scalograph.cli.command_line_study import show
    from scalograph.cli.command_line_study.show import ask_if_unused, sentence
    from scalograph.report.screen import screen

    findings, _ = report(session.results.folder)
    sentences = [text for curve in findings.curves if (text := sentence(findings.study, curve, target))]
    asked = [text for curve in findings.curves if (text := ask_if_unused(findings.study, curve))]
    shown = screen(findings)
    command = shorten(shlex.join(options.command or []), LONGEST_NAME)
    claim = show.alone_claim(findings, command, options.stdout) or shown.claim
    is_curve = findings.study.baseline is not None and len(findings.curves) == 1 and claim.answered
    more = asked or (sentences if is_curve else [])
    if is_curve and claim.matrix and len(claim.matrix.rows) == 1:
        rows = [*claim.matrix.rows, *show.usage_rows(findings, claim.matrix.columns)]
        claim = claim.model_copy(update={"matrix": claim.matrix.model_copy(update={"rows": rows})})
    claim = claim.model_copy(update={"sentences": [*claim.sentences, *more][:3]})
    claim = add_varied(add_partners(claim, findings.runs), findings.study.varied)
    for text in noted_sentences(findings.warnings):
        claim = add_sentence(claim, text)
    screen_shown = replace(shown, claim=claim, tables=[show.steps_table(findings, cost), *shown.tables])
    code = print_results(session, findings, screen_shown, options, show.document(findings, sentences, cost))
    return code if at_least is None else speedup_exit_code(findings, code, at_least)


def speedup_exit_code(findings: "Findings", code: int, at_least: float) -> int:
    """Return 0 where the speedup with most workers surely reaches `at_least`, 7 where it surely does not, else 8.

    The code of a configuration that failed stays.
    """
    from scalograph.cli.command_line_study.show import sort_points

    if code == Exit.CONFIGURATION_FAILED:
        return code
    points = sort_points(findings.curves[0]) if findings.curves else []
    speedup = points[-1].speedup if points and findings.trust.level != "unusable" else None
    reached = speedup.reaches(at_least) if speedup else None
    return {True: Exit.DONE, False: Exit.SLOWER, None: Exit.INCONCLUSIVE}[reached]


def print_results(
    session: "Session", findings: "Findings", shown: "Screen", options: AnswerOptions, document: dict[str, Any]
) -> int:
    """Print the answer of a command's study, or `document` with --json; return the exit code."""
    from scalograph.cli.analyze_steps import exit_code
    from scalograph.cli.answer_output import answer, export_document, study_places

    results = session.results
    # What it was, unless that is too long to read, or its results have a folder of their own, which is taken now.
    given = shlex.join(["scalograph", *sys.argv[1:]])
    by_file = options.output is not None or len(given) > _LONGEST
    # Only searches may change the machine.
    words = options.consent().words() if isinstance(options, SearchOptions) else []
    words += option_words(None, None, None, None, options.host) + host_words(placed_on(options))
    again = shlex.join(["scalograph", "run", str(results.study), *words]) if by_file else given
    places = study_places(results.folder, findings, again)
    explained = {PART: findings.parts[PART].data} if PART in findings.parts else {}
    document = {**document, "results": str(results.folder), **explained}
    answer(shown, places, options.tables, options.table, document if options.json else None)
    export_document(options.export_json, shown, document)
    return exit_code(findings, options.strict, shown.claim.answered)


def print_findings(session: "Session", options: AnswerOptions, document: Callable[["Findings"], dict[str, Any]]) -> int:
    """Print what a study found, or its `document` with --json; return the exit code."""
    from scalograph.cli.analyze_steps import report
    from scalograph.report.screen import screen

    findings, _ = report(session.results.folder)
    shown = screen(findings)
    for text in noted_sentences(findings.warnings):
        shown = replace(shown, claim=add_sentence(shown.claim, text))
    return print_results(session, findings, shown, options, document(findings))


def search_document(question: str, findings: "Findings") -> dict[str, Any]:
    return {**role(question, "find").figures(findings), "verdict": findings.trust.level, "answer": findings.answer}
