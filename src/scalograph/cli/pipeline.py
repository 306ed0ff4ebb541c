"""Plan a study on this host, run it with progress, and return its session: shared by `run`, `study` and others."""

import os
import resource
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from scalograph.cli.console import say, terminal_echo
from scalograph.cli.progress import show_progress
from scalograph.control.kernel_files import describe_met
from scalograph.control.machine_control import NO_CONSENT, Consent
from scalograph.control.store import lock_machine
from scalograph.errors import HostError, StudyError, raise_on_signals
from scalograph.protocol import results
from scalograph.run.caller_environment import unpassed_variables_note
from scalograph.run.hosts.base import Host
from scalograph.run.hosts.host_names import LOCAL, check_name, is_elsewhere, open_host
from scalograph.run.hosts.machines.machines_host import is_far, is_on_several, open_machines
from scalograph.run.launches import check_programs, refuse_sharing
from scalograph.run.plan import Plan, plan
from scalograph.run.provenance import preparation_lines
from scalograph.run.quiet_gate import QuietGate
from scalograph.run.runner import Runner, Score
from scalograph.run.session import Session, begin, run_session
from scalograph.study.declare import Declared
from scalograph.study.model import Study
from scalograph.system.private_dir import sweep_scratch
from scalograph.text.quantities import count_noun
from scalograph.text.units import format_duration

# How long a start waits for another one to end before it gives up.
WAIT_S = 10.0
# Open files with which a run of one copy was seen to succeed; with fewer, the lock or the probe would be blamed.
LEAST_FILES = 26


@contextmanager
def machine_lock(
    wait_s: float | None = None, elsewhere: bool = False, check: Callable[[], object] = lambda: None
) -> Iterator[list[str]]:
    """Lock the machine, restore what a crash left, remove scratch folders; from here on signals end us in order.

    `wait_s` is the time to wait for another session to end, None WAIT_S; `check` is called before that wait.
    `elsewhere` takes no lock: the other machine's host does. Yields what was restored.

    Raises HostError where the lock is not granted, or too few files may be open.
    """
    raise_on_signals()
    most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most != resource.RLIM_INFINITY and most < LEAST_FILES:
        expected, fix = f"room for {LEAST_FILES} at least", "raise the limit: ulimit -n 1024"
        raise HostError("open files", f"at most {most}", expected, fix)
    if elsewhere:
        sweep_scratch()
        yield []
        return
    with lock_machine(WAIT_S if wait_s is None else wait_s, tell=say, check=check) as restored:
        for text in restored:
            say(f"restored after an earlier crash: {text}", "yellow")
        sweep_scratch()
        yield restored


def examine_machine(planned: Plan, host: Host, ceiling: bool, noise: bool) -> Mapping[str, Mapping[str, Any]]:
    """Examine the machine before a study: `noise` (ten runs, 3 s), `ceiling` (its own scaling) where asked."""
    readings: dict[str, Mapping[str, Any]] = {}
    if noise and (look := _noise(planned, host)) is not None:
        readings["noise"] = look
    if ceiling and (measured := _ceiling(host)) is not None:
        readings["ceiling"] = {"ceiling": measured}
    return readings


def _noise(planned: Plan, host: Host) -> Mapping[str, Any] | None:
    from scalograph.protocol.noise_floor import read_noise

    kept = read_noise()
    if kept is None or kept.floor is None or not kept.is_of(planned.facts):
        return None
    from scalograph.machine.floor.floor import STUDY, recheck

    try:
        check = None if planned.declared.study.name == STUDY else recheck(host, kept)
    except HostError as error:
        say(f"the noise floor was not looked at again: {error}", "yellow")
        return None
    return None if check is None else check.model_dump(mode="json")


def _ceiling(host: Host) -> Mapping[str, Any] | None:
    from scalograph.machine.ceiling.saved_ceiling import machine_ceiling

    say("what this machine itself scales to: about 20 s where it is not known yet")
    try:
        return machine_ceiling(host).model_dump(mode="json")
    except HostError as error:
        say(f"no ceiling: {error}", "yellow")
        return None


@dataclass(frozen=True, kw_only=True)
class StudyStart:
    """Settings of one start of a declared study.

    Attributes:
        folder: of the results; None makes one, or finds the latest.
        accepted: None starts anew; a list resumes, and names the accepted differences.
        ceiling: measure first what the machine itself scales to, unless known.
        noise: check first the machine's noise against the saved floor.
        show_output: whether what the runs write is printed, in place of a live line.
        tries_pipe: whether a short command is tried with its output in a pipe.
        asks_belief: whether a program under a quota is asked how many CPUs it believes to have.
        needs_own_cpus: whether a load generator that shares CPUs with its server is refused.
        label: before the study's name where it is one of several, such as "part 3 of 12".
    """

    folder: Path | None = None
    accepted: Sequence[str] | None = None
    ceiling: bool = False
    noise: bool = True
    host: str = LOCAL
    consent: Consent = NO_CONSENT
    needs_own_cpus: bool = False
    label: str = ""
    wait_lock_s: float | None = None
    show_output: bool = False
    tries_pipe: bool = False
    asks_belief: bool = False


def run_declared(declared: Declared, start: StudyStart) -> Session:
    """Plan and run a study under the machine lock: two at once would measure each other."""
    if start.show_output and start.host != LOCAL:
        text = "what runs write elsewhere comes when they have ended"
        raise StudyError.one("--show-output", text, "", "leave it out, or leave out --host")
    study, wait_s = declared.study, start.wait_lock_s
    far = is_far(study, start.host) if is_on_several(study, start.host) else is_elsewhere(start.host)
    check = partial(_refuse_mistakes, declared, start)
    with machine_lock(wait_s, far, check) as restored, open_machines(study, start.host, wait_s) as host:
        if host.probe.warning:
            say(host.probe.warning, "yellow")
        planned = host.ready(plan(declared, host.facts(), consent=start.consent), say)
        # The folder is made when nothing is left that could refuse: a failed start leaves no empty results.
        earlier = None if start.accepted is None else results.locate_latest(declared.study.name, start.folder)
        learned = examine_machine(planned, host, start.ceiling, start.noise)
        target = earlier or begin(planned, start.folder)
        if target.warning:
            say(target.warning, "yellow")
        host.keep_in(target.folder)
        _announce(planned, target.folder, start.label)
        called = _label_study(planned, start.label) if start.label else ""
        tell = (lambda text: say(f"{called}: {text}")) if called else say
        gate = QuietGate(planned.design.study.protocol.wait_quiet_s, tell, host.sample_load)
        echo = terminal_echo() if start.show_output else None
        runner, probe = Runner(planned, host, score_of(planned.design.study), echo, start.tries_pipe), host.probe.name
        showing, notes = show_progress(planned, called, start.show_output), [*_journal_notes(planned, restored)]
        ended, belief = runner.collect_service_ends, partial(_belief, planned, host, runner, target.journal)
        on_program = runner.output_note, belief if start.asks_belief else str
        session = run_session(
            planned, target, runner, probe, showing, start.accepted, gate, learned, notes, ended, *on_program
        )
        if session.reason == "complete" and session.n_before and not session.n_made:
            say(f"nothing left to run, {count_noun(session.n_before, 'run')} done before")
        return session


def _refuse_mistakes(declared: Declared, start: StudyStart) -> None:
    """Refuse levels and programs that this machine does not have: nobody waits for another session to be told so."""
    check_name(start.host)
    if start.host == LOCAL and not is_on_several(declared.study, LOCAL):
        with open_host() as host:
            planned = plan(declared, host.facts(), consent=start.consent)
            check_programs(planned)
            if start.needs_own_cpus:
                refuse_sharing(planned)


def _belief(planned: Plan, host: Host, runner: Runner, journal: Path) -> str:
    from scalograph.profile.believed_cpus import believed_note

    return believed_note(planned, host, runner, say, journal)


def score_of(study: Study) -> Score | None:
    """Return the reader of harness output, imported only where a response has a reader."""
    if not any(response.reader for response in study.responses.values()):
        return None
    from scalograph.exchange.benchmark_values import printed_score

    return printed_score


def _journal_notes(planned: Plan, restored: Sequence[str]) -> Iterator[tuple[str, str]]:
    for text in restored:
        yield f"restored after an earlier crash: {text}", "restored"
    if met := describe_met(planned.design.study.conditions):
        yield met, "conditions"


def _announce(planned: Plan, folder: Path, label: str) -> None:
    design, name = planned.design, _label_study(planned, label)
    budget = design.study.protocol.budget_s
    limit = f", limit {format_duration(budget)}" if budget is not None else ""
    say(f"{name}: {planned.runs.outlook()}{limit}")
    if (note := unpassed_variables_note(design.study, os.environ)) is not None:
        say(f"  {note}", "yellow")
    for text in design.dropped:
        say(f"  {text}")
    for name, text in preparation_lines(design, planned.origin).items():
        say(f"  {name}: {text}")
    say(f"  results: {folder}")


def _label_study(planned: Plan, label: str) -> str:
    return f"{label}: {planned.design.study.name}" if label else planned.design.study.name
