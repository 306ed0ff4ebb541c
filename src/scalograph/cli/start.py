"""How `run` and `study` start a declared study: its options, a pilot if one was asked for, the runs, the outcome."""

from dataclasses import dataclass
from pathlib import Path

from scalograph.cli.five_stops import run_declared
from scalograph.cli.outcome import conclude
from scalograph.cli.overrides import given, note_quick, overridden, refuse_unused
from scalograph.study.declare import Declared


@dataclass(frozen=True)
class StartOptions:
    """What a start says beside the study; None leaves a key as the study declares it."""

    quick: bool
    output: Path | None
    resume: bool
    accepted: list[str] | None
    budget: str | None
    max_runs: int | None
    wait_quiet: str | None
    when_busy: str | None
    pilot: bool
    ceiling: bool
    host: str
    json: bool


def start(declared: Declared, options: StartOptions, command: list[str], report: bool) -> int:
    """Run a study, or its pilot, and tell what came of it.

    Args:
        declared: the study.
        options: of this start.
        command: words that name the study again, for whoever goes on with it.
        report: whether all tables and the page follow.

    Raises:
        StudyError: options that contradict each other, or that the study cannot take.
        HostError: the host refuses.
    """
    o = options
    declared = overridden(declared, o.budget, o.max_runs, o.wait_quiet, o.when_busy)
    note_quick(declared, o.quick)
    refuse_unused(o.pilot, o.resume, o.accepted, o.max_runs, o.ceiling)
    if o.pilot:
        from scalograph.cli.pilot_output import run_pilot

        return run_pilot(declared, o.output, o.resume, o.json, o.host)
    session = run_declared(declared, o.output, o.resume, o.accepted, o.ceiling, host=o.host)
    again = [*command, *["--quick"] * o.quick, *given(o.budget, o.max_runs, o.wait_quiet, o.when_busy, o.host)]
    return conclude(session, o.json, report=report, command=again)
