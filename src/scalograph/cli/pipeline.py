"""Plan a study on this host, run it with progress, and return its session: shared by `run`, `study` and others."""

import os
import resource
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.text import Text

from scalograph.cli.console import err, printable, say
from scalograph.control.conditions import describe_met
from scalograph.control.consent import NO_CONSENT, Consent
from scalograph.control.store import lock_machine
from scalograph.design.planner import Design, Planner
from scalograph.design.search import SearchPlanner
from scalograph.design.sequential import PrecisionProgress, SequentialPlanner
from scalograph.errors import HostError
from scalograph.protocol import results
from scalograph.protocol.record import Record
from scalograph.run.caller_environment import unpassed_variables_note
from scalograph.run.hosts.base import Host
from scalograph.run.hosts.host_names import LOCAL, is_elsewhere, open_host
from scalograph.run.interrupts import raise_on_signals
from scalograph.run.plan import Plan, plan
from scalograph.run.provenance import preparation_lines
from scalograph.run.quiet_gate import QuietGate
from scalograph.run.runner import Runner, Score
from scalograph.run.scratch import sweep_scratch
from scalograph.run.session import Session, begin, run_session
from scalograph.study.declare import Declared
from scalograph.study.levels import Configuration, Run
from scalograph.study.model import Study
from scalograph.text.quantities import count_noun
from scalograph.text.units import format_duration
from scalograph.verdict.judge import Judgment

if TYPE_CHECKING:
    from rich.live import Live


# How long a start waits for another one to end before it gives up.
WAIT_S = 10.0
# Open files with which a run of one copy was seen to succeed; with fewer, the lock or the probe would be blamed.
LEAST_FILES = 20


@contextmanager
def machine_lock(wait_s: float | None = None, elsewhere: bool = False) -> Iterator[list[str]]:
    """Lock the machine, restore what a crash left, remove scratch folders; from here on signals end us in order.

    `wait_s` is the time to wait for another start to end, None WAIT_S. `elsewhere` takes no lock: the other machine's
    host does. Yields what was restored. Raises HostError where the lock is not granted, or too few files may be open.
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
    with lock_machine(WAIT_S if wait_s is None else wait_s, tell=say) as restored:
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
    from scalograph.machine.floor.floor import STUDY
    from scalograph.machine.floor.saved_noise import read_noise

    kept = read_noise()
    if kept is None or kept.floor is None or not kept.is_of(planned.facts) or planned.declared.study.name == STUDY:
        return None
    from scalograph.machine.floor.recheck import recheck

    try:
        check = recheck(host, kept)
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


# Configurations that a line names; a block may end with hundreds.
NAMED = 3
# Where nobody looks on, a line is said no sooner after the last.
QUIET_S = 30.0
# What is noted again and again is said once, then counted.
AGAIN = {"busy": "busy again", "disturbed": "mostly disturbed again"}


class LiveProgress:
    """Show progress: a live line on a terminal, periodic lines elsewhere.

    Args:
        n_done: runs that earlier starts finished.
        left_s: seconds of the time budget that earlier starts left; None is no limit.
        planner: shows precision reached, or the state of a search.
        called: begins the line, where the study is one of several.
    """

    def __init__(
        self, design: Design, n_done: int, left_s: float | None, planner: Planner | None = None, called: str = ""
    ) -> None:
        self._called = called
        self._total = design.n_runs + design.study.protocol.warmup_runs
        self._left_s = left_s
        self._planner = planner if isinstance(planner, SequentialPlanner) else None
        self._search = planner if isinstance(planner, SearchPlanner) else None
        self._n_skipped = len(reached.skipped) if (reached := self._precision()) else 0
        self._done = self._before = n_done
        self._began = self._printed_at = self._finished_at = time.monotonic()
        self._failures, self._notes = Counter[str](), Counter[str]()
        self._levels = ""
        console = err()
        self._live = _live(self) if console.is_terminal and not console.is_dumb_terminal else None

    def __enter__(self) -> "LiveProgress":
        if self._live:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live:
            self._live.stop()

    def __rich__(self) -> Text:
        """Return the live line, cut where the terminal is narrow."""
        return Text(f"{self._line()}  {self._levels}", no_wrap=True, overflow="ellipsis")

    def run_started(self, run: Run, n_left: int) -> None:
        """Show a run that begins."""
        self._total = self._done + n_left  # disturbed runs are asked for again
        self._levels = printable(_levels(run.configuration))

    def run_finished(self, run: Run, record: Record, judgment: Judgment) -> None:
        """Count a finished run, and print the line where it is due."""
        self._done += 1
        self._finished_at = time.monotonic()
        self._failures.update([judgment.verdict] if judgment.verdict in ("disturbed", "failed") else [])
        if not self._live and self._finished_at - self._printed_at >= QUIET_S:
            self._printed_at = self._finished_at
            say(self._line())
        if reached := self._precision():
            self._report_skipped(run, reached.skipped[self._n_skipped :])
            self._n_skipped = len(reached.skipped)

    def run_warned(self, text: str, about: str = "") -> None:
        """Print a warning, above the live line where there is one; repeated kinds are counted."""
        self._notes[about] += 1
        if about in AGAIN and self._notes[about] > 1:
            return
        if self._live:
            self._live.console.print(Text(printable(text)))
        else:
            say(text)

    def _precision(self) -> PrecisionProgress | None:
        return self._planner.progress if self._planner else None

    def _report_skipped(self, run: Run, configurations: Sequence[Configuration]) -> None:
        if not configurations:
            return
        more = f" and {len(configurations) - NAMED} more" if len(configurations) > NAMED else ""
        named = ", ".join(map(_levels, configurations[:NAMED]))
        self.run_warned(f"block {run.block + 1}: precise enough, no further runs of {named}{more}")

    def _line(self) -> str:
        about = "about " if self._search else ""
        wrong = [f"{self._failures[word]} {word}" for word in ("disturbed", "failed") if self._failures[word]]
        again = [f"{text}: {count_noun(n - 1, 'time')}" for key, text in AGAIN.items() if (n := self._notes[key]) > 1]
        near = [_near(reached)] if (reached := self._precision()) else []
        near += [self._search.state.summary] if self._search and self._search.state.summary else []
        left = left_text(*self._times(), at_most=self._planner is not None) if self._done < self._total else ""
        run = f"run {self._done} of {about}{self._total}"
        return ", ".join(filter(None, [self._called, run, left, *near, *wrong, *again]))

    def _times(self) -> tuple[float | None, float | None]:
        """Estimate seconds until all runs are done and until the budget ends; None is unknown."""
        now, n = time.monotonic(), self._done - self._before
        until = self._finished_at + (self._finished_at - self._began) / n * (self._total - self._done) if n else None
        return until and until - now, None if self._left_s is None else self._began + self._left_s - now


def left_text(runs_s: float | None, budget_s: float | None, at_most: bool = False) -> str:
    """Describe the remaining time of runs and budget, below 0 where exceeded; `at_most` where it may end sooner.

    >>> left_text(80, None), left_text(80, 30), left_text(None, 30)
    ('about 1 min 20 s left', 'about 30 s left', 'at most 30 s left')
    >>> left_text(80, -12), left_text(-3, None), left_text(None, None)
    ('over the budget by 12 s', 'over by 3 s', '')
    """
    limits = [s for s in (runs_s, budget_s) if s is not None]
    if not limits:
        return ""
    seconds = round(min(limits))
    if seconds < 0:
        return f"over {'the budget ' if budget_s is not None and budget_s < 0 else ''}by {format_duration(-seconds)}"
    return f"{'at most' if at_most or runs_s is None else 'about'} {format_duration(max(seconds, 1))} left"


def _levels(configuration: Configuration) -> str:
    return " ".join(f"{name}={level}" for name, level in configuration.items())


def _near(reached: PrecisionProgress) -> str:
    """Describe the widest interval and how many configurations are precise."""
    n, of, asked = reached.n_precise, reached.n_configurations, f"(asked {100 * reached.asked:g} %)"
    if n == of:
        return f"all {of} precise {asked}"
    if reached.worst is None:
        widest = "no interval yet"
    else:  # on logs, as the rule looks at it: beyond 1 it is no share of the value
        widest = "beyond +-100 %" if reached.worst >= 1 else f"+-{100 * reached.worst:.2g} %"
    return f"{widest} {asked}, {n} of {of} precise"


def _live(shown: LiveProgress) -> "Live":
    # Where nobody looks on it would only make the start longer.
    from rich.live import Live

    return Live(shown, console=err(), transient=True, refresh_per_second=2)


@dataclass(frozen=True, kw_only=True)
class StudyStart:
    """Settings of one start of a declared study.

    Attributes:
        folder: of the results; None makes one, or finds the latest.
        accepted: None starts anew; a list resumes, and names the accepted differences.
        ceiling: measure first what the machine itself scales to, unless known.
        noise: check first the machine's noise against the saved floor.
        label: before the study's name where it is one of several, such as "part 3 of 12".
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
    """Plan and run a study under the machine lock: two at once would measure each other."""
    is_far = is_elsewhere(start.host)
    with machine_lock(start.wait_lock_s, is_far) as restored, open_host(start.host, start.wait_lock_s) as host:
        if host.probe.warning:
            say(host.probe.warning, "yellow")
        planned = host.ready(plan(declared, host.facts(), consent=start.consent), say)
        # The folder is made when nothing is left that could refuse: a failed start leaves no empty results.
        earlier = None if start.accepted is None else results.locate_latest(declared.study.name, start.folder)
        learned = examine_machine(planned, host, start.ceiling, start.noise)
        target = earlier or begin(planned, start.folder)
        if target.warning:
            say(target.warning, "yellow")
        _announce(planned, target.folder, start.label)
        gate = QuietGate(planned.design.study.protocol.wait_quiet_s, say, host.sample_load)
        runner, probe = Runner(planned, host, score_of(planned.design.study)), host.probe.name
        showing, notes = _progress(planned, start.label), [*_journal_notes(planned, restored)]
        ended = runner.collect_service_ends
        session = run_session(planned, target, runner, probe, showing, start.accepted, gate, learned, notes, ended)
        if session.reason == "complete" and session.n_before and not session.n_made:
            say(f"nothing left to run, {count_noun(session.n_before, 'run')} done before")
        return session


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
    within = f", within {format_duration(budget)}" if budget is not None else ""
    say(f"{name}: {planned.runs.outlook()}{within}")
    if (note := unpassed_variables_note(design.study, os.environ)) is not None:
        say(f"  {note}", "yellow")
    for text in design.dropped:
        say(f"  {text}")
    for name, text in preparation_lines(design, planned.origin).items():
        say(f"  {name}: {text}")
    say(f"  results: {folder}")


def _label_study(planned: Plan, label: str) -> str:
    return f"{label}: {planned.design.study.name}" if label else planned.design.study.name


def _progress(planned: Plan, label: str) -> Callable[[int, float, Planner], LiveProgress]:
    budget_s, called = planned.design.study.protocol.budget_s, _label_study(planned, label) if label else ""

    def showing(n_done: int, spent_s: float, planner: Planner) -> LiveProgress:
        left_s = None if budget_s is None else budget_s - spent_s
        return LiveProgress(planned.design, n_done, left_s, planner, called)

    return showing
