"""What `run` and `study` share: plan on this host, run with progress, tell what came of it."""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from scalograph.cli.console import say
from scalograph.cli.machine_lock import alone
from scalograph.cli.preflight import examined
from scalograph.cli.progress import LiveProgress
from scalograph.control.conditions import told
from scalograph.control.consent import NO_CONSENT, Consent
from scalograph.design.planner import Planner
from scalograph.protocol import results
from scalograph.run.begin import begin
from scalograph.run.caller_environment import left_behind_note
from scalograph.run.captured import Score
from scalograph.run.hosts.host_names import LOCAL, connected, is_elsewhere
from scalograph.run.plan import Plan, plan
from scalograph.run.provenance import prepared
from scalograph.run.quiet_gate import QuietGate
from scalograph.run.runner import Runner
from scalograph.run.session import Session, run_session
from scalograph.study.declare import Declared
from scalograph.study.model import Study
from scalograph.text.quantities import counted
from scalograph.text.units import format_duration


@dataclass(frozen=True, kw_only=True)
class StudyStart:
    """How a declared study is started.

    Attributes:
        folder: of the results; None makes one, or finds the latest.
        accepted: None starts anew; a list resumes, and names the differences that are accepted.
        ceiling: learn first what the machine itself scales to, unless that is known.
        noise: look first whether the machine's noise is as it was kept, if it was.
        host: name of the host that runs it.
        consent: what it may do to the whole machine.
        label: what stands before its name where it is one of several, such as "part 3 of 12".
        wait_lock_s: how long it waits for another start on this machine to end; None is the default.
    """

    folder: Path | None = None
    accepted: Sequence[str] | None = None
    ceiling: bool = False
    noise: bool = True
    host: str = LOCAL
    consent: Consent = NO_CONSENT
    label: str = ""
    wait_lock_s: float | None = None


def run_declared(declared: Declared, start: StudyStart) -> Session:
    """Plan a study and run it, alone on this machine: two studies at once would measure each other.

    Raises:
        StudyError: the host cannot carry the study out, or it differs from the one that is resumed.
        HostError: another study holds the machine, or the host refuses something that the study needs.
    """
    is_far = is_elsewhere(start.host)
    with alone(start.wait_lock_s, is_far) as restored, connected(start.host, start.wait_lock_s) as host:
        if host.probe.warning:
            say(host.probe.warning, "yellow")
        planned = host.ready(plan(declared, host.facts(), consent=start.consent), say)
        # The folder is made when nothing is left that could refuse: a failed start leaves no empty results.
        earlier = None if start.accepted is None else results.latest(declared.study.name, start.folder)
        learned = examined(planned, host, start.ceiling, start.noise)
        made = earlier or begin(planned, start.folder)
        if made.warning:
            say(made.warning, "yellow")
        _announce(planned, made.folder, start.label)
        gate = QuietGate(planned.design.study.protocol.wait_quiet_s, say, host.look)
        runner, probe = Runner(planned, host, score_of(planned.design.study)), host.probe.name
        showing, notes = _progress(planned, start.label), [*_noted(planned, restored)]
        ended = runner.ended
        session = run_session(planned, made, runner, probe, showing, start.accepted, gate, learned, notes, ended)
        if session.reason == "complete" and session.n_before and not session.n_made:
            say(f"nothing left to run, {counted(session.n_before, 'run')} done before")
        return session


def score_of(study: Study) -> Score | None:
    """Return what reads the output of a harness, imported where a response has a reader; None otherwise."""
    if not any(response.reader for response in study.responses.values()):
        return None
    from scalograph.exchange.printed_benchmark import printed_score

    return printed_score


def _noted(planned: Plan, restored: Sequence[str]) -> Iterator[tuple[str, str]]:
    """What the journal keeps of the machine: settings that a crash had left, and conditions that were met."""
    for text in restored:
        yield f"restored after an earlier crash: {text}", "restored"
    if met := told(planned.design.study.conditions):
        yield met, "conditions"


def _announce(planned: Plan, folder: Path, label: str) -> None:
    design, name = planned.design, _called(planned, label)
    budget = design.study.protocol.budget_s
    within = f", within {format_duration(budget)}" if budget is not None else ""
    say(f"{name}: {planned.runs.outlook()}{within}")
    if (note := left_behind_note(design.study, os.environ)) is not None:
        say(f"  {note}", "yellow")
    for text in design.dropped:
        say(f"  {text}")
    for name, text in prepared(design, planned.origin).items():
        say(f"  {name}: {text}")
    say(f"  results: {folder}")


def _called(planned: Plan, label: str) -> str:
    return f"{label}: {planned.design.study.name}" if label else planned.design.study.name


def _progress(planned: Plan, label: str) -> Callable[[int, float, Planner], LiveProgress]:
    budget_s, called = planned.design.study.protocol.budget_s, _called(planned, label) if label else ""

    def showing(n_done: int, spent_s: float, planner: Planner) -> LiveProgress:
        left_s = None if budget_s is None else budget_s - spent_s
        return LiveProgress(planned.design, n_done, left_s, planner, called)

    return showing
