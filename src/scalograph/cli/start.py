"""Start a declared study for `run` and `study`: a pilot and its proposal where asked, the runs, the outcome."""

import shlex
import signal
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scalograph.cli.console import complain, emit_json, out, say, tell
from scalograph.cli.options import StartOptions
from scalograph.cli.overrides import (
    host_words,
    option_words,
    override_hosts,
    override_protocol,
    refuse_unused,
    seconds_of,
    warn_no_quick_form,
)
from scalograph.errors import Exit, ScalographError, StudyError
from scalograph.questions.registry import is_search
from scalograph.text.quantities import count_noun

if TYPE_CHECKING:
    from scalograph.control.machine_control import Consent
    from scalograph.questions.pilot.plan import Proposal, SampleSizePlan
    from scalograph.run.plan import Plan
    from scalograph.run.session import Session
    from scalograph.study.declare import Declared


def run_pilot(
    declared: "Declared", folder: Path | None, resume: bool, json: bool, host: str, consent: "Consent",
    wait_lock_s: float | None = None,
) -> int:  # fmt: skip
    """Run a pilot in a results folder of its own, and propose a protocol."""
    if resume:
        raise StudyError.one("", "--pilot and --resume exclude each other", "", "run the pilot again: it is short")
    if is_search(declared.study.question):
        raise StudyError.one("--pilot", "a search plans its own runs", "", "run the study without --pilot")
    from scalograph.cli.analyze_steps import analyze
    from scalograph.cli.pipeline import StudyStart, run_declared
    from scalograph.questions.pilot.plan import pilot_study, takes_iterations
    from scalograph.run.hosts.machines.machines_host import open_machines
    from scalograph.run.plan import plan

    with open_machines(declared.study, host, wait_lock_s) as machine:
        planned = plan(declared, machine.facts(), consent=consent)
    study = pilot_study(declared.study, planned.design, takes_iterations(declared.study, planned.program.argv))
    start = StudyStart(folder=folder, host=host, consent=consent, wait_lock_s=wait_lock_s)
    conducted = run_declared(replace(declared, study=study), start)
    if conducted.reason == "interrupted":
        return report_interruption(conducted, [])
    findings, _ = analyze(conducted.results.folder)
    proposed = proposal(planned, conducted.results.journal)
    protocol = planned.design.study.protocol
    if json:
        emit_json({"results": str(conducted.results.folder), **document(proposed, protocol.budget_s)})
    else:
        show(proposed, protocol.budget_s)
    return Exit.CONFIGURATION_FAILED if findings.runs.n_empty else Exit.DONE


def proposal(planned: "Plan", journal: Path) -> "Proposal":
    """Return the protocol that a journal proposes for a study."""
    from scalograph.questions.pilot.plan import propose, read_prior_runs, takes_iterations

    study = planned.declared.study
    return propose(planned.design, read_prior_runs(journal), takes_iterations(study, planned.program.argv))


def document(proposed: "Proposal", budget_s: float | None) -> dict[str, Any]:
    """Return the JSON document; `toml` is null where nothing can be proposed."""
    chosen = proposed.choose_plan(budget_s)
    return {**asdict(proposed), "toml": None if chosen is None else toml(chosen)}


def toml(offer: "SampleSizePlan") -> str:
    """Return an offer as lines of the study."""
    return f"[protocol]\nruns = {offer.runs}\niterations = {offer.iterations}\n"


def show(proposed: "Proposal", budget_s: float | None) -> None:
    """Print noise, cost, the table of offers, and the lines for the study."""
    from scalograph.text.units import format_duration

    tell(f"{proposed.study}: {proposed.n_runs} runs of {proposed.n_configurations} configurations")
    if proposed.sd_score is not None:
        tell(f"  noise: {_noise(proposed)}")
    if proposed.start_s is not None:
        more = "" if proposed.iteration_s is None else f", a counted iteration {format_duration(proposed.iteration_s)}"
        tell(f"  time: a start takes {format_duration(proposed.start_s)}{more}")
    chosen = proposed.choose_plan(budget_s)
    if chosen is not None:
        tell("  runs of each configuration after which nineteen of twenty are as precise as asked:")
        _table(proposed)
        over = budget_s is not None and (chosen.expected_s or 0.0) > budget_s
        beyond = f" (more than its time limit, {format_duration(budget_s or 0.0)})" if over else ""
        tell(f"For +-{100 * chosen.precision:g}%, put into the study{beyond}:\n\n{toml(chosen)}")
    for text in proposed.warnings:
        say(f"warning: {text}", "yellow")


def _noise(proposed: "Proposal") -> str:
    parts = [("scores", proposed.sd_score), ("iterations of a run", proposed.sd_within), ("runs", proposed.sd_between)]
    return ", ".join(f"{what} vary by {100 * sd:.2g}%" for what, sd in parts if sd is not None)


def _table(proposed: "Proposal") -> None:
    from rich.table import Table

    from scalograph.text.units import format_duration

    table = Table("precision", "runs", "iterations", "expected", "time")
    for column in table.columns:
        column.justify = "right"
    for o in proposed.offers:
        time = "unknown" if o.expected_s is None else format_duration(o.expected_s)
        widths = f"+-{100 * o.precision:g}%", f"+-{100 * o.half_width:.2g}%"
        table.add_row(widths[0], str(o.runs), str(o.iterations), widths[1], time)
    out().print(table)


_LIMITS = ("--budget", "--max-runs", "--max-node-hours")


def conclude(session: "Session", options: "StartOptions", command: list[str], report: bool) -> int:
    """Print the outcome; with `report` make the page too. `command` starts the study again."""
    resume = [*command, "--resume", "-o", str(session.results.folder)]
    if session.reason == "interrupted":
        return end_early(session, resume, lambda: _answer(session, options, command, report))
    print_resume_command(session.reason, resume)
    return _answer(session, options, command, report)


def _answer(session: "Session", options: "StartOptions", command: list[str], report: bool) -> int:
    folder = session.results.folder
    from scalograph.cli import analyze_steps
    from scalograph.cli.answer_output import answer, study_places
    from scalograph.report.screen import screen

    # Whatever the files' times say: a clock may have been set back since the last start.
    findings, _ = analyze_steps.analyze(folder)
    if report:
        findings, _ = analyze_steps.report(folder)
    document = findings.model_dump(mode="json") if options.json else None
    places = study_places(folder, findings, shlex.join(command))
    answer(screen(findings), places, options.tables, options.table, document)
    return analyze_steps.exit_code(findings)


def end_early(session: "Session", resume: list[str], answer: Callable[[], int]) -> int:
    """Print how to resume after a signal, and after a single Ctrl-C the answer from the runs so far.

    Returns the exit code of the signal. Whoever sends another signal, or SIGTERM, does not wait for an answer.
    """
    n_runs = session.n_before + session.n_made
    if not n_runs or session.is_hurried or session.signal == signal.SIGTERM:
        return report_interruption(session, resume)
    code = report_interruption(session, resume, f"answer from {count_noun(n_runs, 'run')}, Ctrl-C again leaves at once")
    try:
        answer()
    except ScalographError as error:
        complain(error)
    return code


def report_interruption(session: "Session", resume: list[str], more: str = "nothing finished is lost") -> int:
    """Print how to resume after a signal; return the exit code."""
    again = f"Resume with: {shlex.join(resume)}" if resume else "Start over"
    say(f"interrupted: {more}. {again}", "yellow")
    return Exit.TERMINATED if session.signal == signal.SIGTERM else Exit.INTERRUPTED


def print_resume_command(reason: str, command: list[str]) -> None:
    """Print the command that resumes an incomplete study, without the limits that ended it."""
    if reason == "busy":
        say(f"the machine was too busy; go on with: {shlex.join(command)}", "yellow")
    if reason == "budget":
        limits = {at for at, word in enumerate(command) if word in _LIMITS}
        words = [word for at, word in enumerate(command) if not {at, at - 1} & limits]
        larger = _LIMITS[-1] if _LIMITS[-1] in command else "--budget or --max-runs"
        say(f"a limit ended the study; resume with a larger {larger}: {shlex.join(words)}", "yellow")


def start(declared: "Declared", options: StartOptions, command: list[str], report: bool) -> int:
    """Run a study, or its pilot, and print the outcome; `command` names the study again, to resume it."""
    from scalograph.cli.pipeline import StudyStart, run_declared
    from scalograph.control.machine_control import Consent
    from scalograph.study.identity import MORE_RUNS

    o = options
    asked = _extended_runs(declared, o.output) if o.resume and not o.pilot and o.runs is None else o.runs
    declared = override_protocol(
        declared, o.budget, o.max_runs, o.wait_quiet, o.when_busy, asked, o.max_idle, o.max_node_hours
    )
    declared = override_hosts(declared, o.on)
    warn_no_quick_form(declared, o.quick)
    consent = Consent(o.machine_wide, tuple(o.dangerous or ()))
    wait_s = seconds_of("--wait-lock", o.wait_lock)
    refuse_unused(o.pilot, o.resume, o.accept_difference, o.max_runs, o.ceiling, o.runs)
    if o.pilot:
        return run_pilot(declared, o.output, o.resume, o.json, o.host, consent, wait_s)
    accepted = [*(o.accept_difference or []), *[MORE_RUNS] * (asked is not None)] if o.resume else None
    begun = StudyStart(
        folder=o.output, accepted=accepted, ceiling=o.ceiling, host=o.host, consent=consent,
        wait_lock_s=wait_s,
    )  # fmt: skip
    session = run_declared(declared, begun)
    words = option_words(o.budget, o.max_runs, o.wait_quiet, o.when_busy, o.host, asked, o.max_idle, o.max_node_hours)
    words += consent.words()
    words += host_words(o.on)
    return conclude(session, o, [*command, *["--quick"] * o.quick, *words], report)


def _extended_runs(declared: "Declared", folder: Path | None) -> int | None:
    """Return the --runs of the last start of the same study; None without."""
    from scalograph.protocol import journal, results

    asked = list[int]()
    for event in journal.read(results.locate_latest(declared.study.name, folder).journal, whole=False):
        if event["event"] in ("study", "resume") and "study" in event:  # older journals tell it at their begin alone
            with journal.wrap_event_errors(event, len(asked) + 1):
                asked.append(int(event["study"]["protocol"]["runs"]))
    return asked[-1] if asked and asked[0] == declared.study.protocol.runs < asked[-1] else None
