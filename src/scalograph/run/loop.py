"""Make the runs of a study: ask the planner, measure on the host, append to the journal, report to the planner."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any, NamedTuple, Protocol

from msgspec.structs import asdict

from scalograph.design.planner import Planner
from scalograph.protocol.journal import EventTooLargeError
from scalograph.protocol.record import Record
from scalograph.protocol.record_processes import ServicesEnded
from scalograph.run.interrupts import Interrupts
from scalograph.run.quiet_gate import GateResult
from scalograph.study.levels import Run
from scalograph.text.load_words import bad_end
from scalograph.verdict.judge import Judging, Judgment, judge

# The phase of a study before a block that waits for a quiet machine.
QUIET_WAIT = "quiet wait"
# Returns how services kept up over runs ended since the last call; True (after the last run) ends them first.
ServiceEnds = Callable[[bool], Sequence[ServicesEnded]]


def no_service_ends(is_last: bool) -> Sequence[ServicesEnded]:
    """Report no services: none stays up over runs."""
    return ()


class Instrument(Protocol):
    """What measures runs."""

    def measure(self, run: Run) -> Record:
        """Carry out one run; a failure is a record with a status, never an exception."""


class EventSink(Protocol):
    """Receives the events of a study: a journal on disk, or a list in memory."""

    def append(self, event: str, **fields: Any) -> None:
        """Write one event. Raises EventTooLargeError, and writes nothing, if it is too large."""

    def append_deferred(self, event: str, **fields: Any) -> None:
        """Write one event that may reach the disk together with the next."""


class Progress(Protocol):
    """Receives the progress of a study."""

    def phase_began(self, name: str) -> None:
        """Report what goes on between two runs, such as "quiet wait"; the next run ends it."""

    def run_started(self, run: Run, n_left: int) -> None:
        """Report the start of a run; with it, `n_left` runs are left as far as is known."""

    def run_finished(self, run: Run, record: Record, judgment: Judgment) -> None:
        """Report the end of a run."""

    def run_warned(self, text: str, about: str = "") -> None:
        """Report a note of the journal that a person should see; `about` is its subject there."""


class NullProgress:
    """Ignores all progress."""

    def phase_began(self, name: str) -> None: ...

    def run_started(self, run: Run, n_left: int) -> None: ...

    def run_finished(self, run: Run, record: Record, judgment: Judgment) -> None: ...

    def run_warned(self, text: str, about: str = "") -> None: ...


class Gate(Protocol):
    """What a block has to pass before it begins."""

    def wait_until_quiet(self, block: int, interrupted: Callable[[], bool]) -> GateResult:
        """Wait, as long as the study allows, until the machine is quiet."""

    def observe_run(self, record: Record) -> None:
        """Use a finished run as a load sample: what others took of its CPUs."""


@dataclass
class Budget:
    """Limits of time and runs: no block starts that is not expected to end within them.

    Attributes:
        seconds: limit of time; None is no limit.
        blocks: seconds that each block has taken; a resume brings those of its journal.
        runs: limit of runs; None is no limit.
        n_done: runs that were made.
        block_size: runs that a block is expected to hold.
    """

    seconds: float | None
    blocks: dict[int, float] = field(default_factory=dict)
    runs: int | None = None
    n_done: int = 0
    block_size: int = 0
    _block: int | None = None
    _began: float = 0.0

    def allows(self, run: Run) -> bool:
        """Tell whether a run may start: always inside a block, at its start if the block should fit."""
        # A block that was begun before goes on: it lacks fewer runs than a whole one.
        begun = run.block == self._block or run.block < 0
        needed = 1 if run.block in self.blocks else self.block_size
        if not (self.runs is None or begun or self.n_done + needed <= self.runs) or not self._has_time_left(run):
            return False
        self._block = run.block
        self.n_done += 1
        return True

    def _has_time_left(self, run: Run) -> bool:
        if self.seconds is None or run.block == self._block:
            return True
        now = time.monotonic()
        if self._block is not None:
            self.blocks[self._block] = self.blocks.get(self._block, 0.0) + now - self._began
        # The block still takes the mean of the others (without warm-up) less its own time.
        others = [seconds for block, seconds in self.blocks.items() if block >= 0 and block != run.block]
        expected_s = max(0.0, fmean(others) - self.blocks.get(run.block, 0.0)) if others else 0.0
        if sum(self.blocks.values()) + expected_s > self.seconds:
            return False
        self._began = now
        return True


@dataclass
class NodeTime:
    """Node-seconds of the jobs of a study on a cluster, by block, and their limit.

    Attributes:
        limit_s: no block starts that is not expected to end within it; None is no limit.
        each_s: what a job takes beside its runs, seconds on each of its nodes.
        blocks: node-seconds of each block; jobs that left no run are not among them.
    """

    limit_s: float | None = None
    each_s: float = 0.0
    blocks: dict[int, float] = field(default_factory=dict)
    _jobs: set[str] = field(default_factory=set)

    def observe(self, block: int, record: Record) -> None:
        """Add a finished run."""
        if (job := record.job) is None:
            return
        seconds = (record.run.wall_outer_ns or record.run.wall_ns or 0) / 1e9
        seconds += 0.0 if job.job in self._jobs else self.each_s
        self._jobs.add(job.job)
        self.blocks[block] = self.blocks.get(block, 0.0) + job.n_nodes * seconds

    def refusal(self, block: int) -> str:
        """Return why a block may not start; empty if it may, or was begun."""
        used = sum(self.blocks.values())
        expected_s = fmean(self.blocks.values()) if self.blocks else 0.0
        if self.limit_s is None or block in self.blocks or used + expected_s <= self.limit_s:
            return ""
        hours = f"{used / 3600:.3g} of {self.limit_s / 3600:g} node-hours are used"
        return f"{hours}; another block takes about {expected_s / 3600:.2g}; no further job is submitted"


class LoopResult(NamedTuple):
    """Why the loop ended (as in `end` of the journal), the signal that ended it, and how many runs it made.

    `is_hurried`: a second signal came.
    """

    reason: str
    signal: int | None = None
    n_made: int = 0
    is_hurried: bool = False


class RunContext(NamedTuple):
    """What the loop works with."""

    instrument: Instrument
    journal: EventSink
    progress: Progress
    judging: Judging = judge
    service_ends: ServiceEnds = no_service_ends
    output_note: Callable[[], str] = str
    last_note: Callable[[], str] = str
    nodes: NodeTime | None = None


def run_study(
    planner: Planner, loop: RunContext, budget: Budget, gate: Gate | None = None, stop_if_busy: bool = False
) -> LoopResult:
    """Make runs until the planner has none left.

    With `stop_if_busy` it ends at the first block that does not find a quiet machine.
    """
    with Interrupts() as interrupts:
        reason, round_, n_made = "complete", None, 0
        while run := planner.ask():
            if not budget.allows(run):
                reason = "budget"
                break
            if loop.nodes and (refusal := loop.nodes.refusal(run.block)):
                write_note(refusal, loop, about="node-hours")
                reason = "budget"
                break
            quiet = _round(run) == round_ or gate is None or _wait_at_gate(gate, run.block, loop, interrupts)
            if stop_if_busy and not quiet and not interrupts.number:
                reason = "busy"
                break
            round_ = _round(run)
            if interrupts.number or not _execute_run(run, planner, loop, gate, interrupts):
                reason = "interrupted"
                break
            n_made += 1
        if reason == "complete":
            reason = planner.stop_reason or reason
            write_note(loop.last_note(), loop, about="believed")
        _report_service_ends(loop, is_last=True)
        loop.journal.append("end", reason=reason)
    return LoopResult(reason, interrupts.number, n_made, interrupts.n_signals > 1)


def _round(run: Run) -> tuple[int, str]:
    """Return the block, or the round in which its disturbed runs are repeated."""
    return run.block, run.run.partition("r")[2]


def _wait_at_gate(gate: Gate, block: int, loop: RunContext, interrupts: Interrupts) -> bool:
    loop.progress.phase_began(QUIET_WAIT)
    passage = gate.wait_until_quiet(block, lambda: interrupts.number is not None)
    write_note(passage.note, loop, about="quiet" if passage.quiet else "busy")
    return passage.quiet


def write_note(text: str | None, loop: RunContext, about: str) -> None:
    """Append a note to the journal and report it; None does nothing."""
    if text:
        loop.journal.append("note", text=text, about=about)
        loop.progress.run_warned(text, about)


def _execute_run(run: Run, planner: Planner, loop: RunContext, gate: Gate | None, interrupts: Interrupts) -> bool:
    """Make one run. Return False if it was interrupted: then it has not happened, and a resume repeats it."""
    identity = {
        "run": run.run, "block": run.block, "configuration": dict(run.configuration), "replicate": run.replicate,
        "warmup": run.warmup,
    }  # fmt: skip
    loop.journal.append("ask", **identity)
    loop.progress.run_started(run, planner.n_left)
    try:
        record = loop.instrument.measure(run)
    except KeyboardInterrupt:
        return False
    # What failed while somebody stopped us may have been stopped too: a shell that is told so ends with 130.
    if record.run.status == "interrupted" or (interrupts.number and record.run.status == "failed"):
        return False
    _report_service_ends(loop, is_last=False)
    record = _append_run(loop.journal, identity, record)
    if loop.nodes:
        loop.nodes.observe(run.block, record)
    if gate:
        gate.observe_run(record)
    judgment = loop.judging(record)
    loop.journal.append_deferred(
        "verdict", run=run.run, verdict=judgment.verdict, causes=[cause.journal_entry() for cause in judgment.causes]
    )
    noted = planner.tell(run, record, judgment.verdict)
    loop.progress.run_finished(run, record, judgment)
    write_note(noted, loop, about="disturbed")
    write_note(loop.output_note(), loop, about="output")
    return True


def _report_service_ends(loop: RunContext, is_last: bool) -> None:
    for ends in loop.service_ends(is_last):
        loop.journal.append("services", **asdict(ends))
        for text in bad_end(ends):
            loop.progress.run_warned(text, "services")


def _append_run(journal: EventSink, identity: Mapping[str, Any], record: Record) -> Record:
    """Append a record and return it as journaled: without tails of stderr, or as failed, if no line can hold it.

    From here on only this one counts: a later session will know no other.
    """
    for kept in (record, short := record.drop_stderr()):
        try:
            journal.append("run", **identity, record=kept)
        except EventTooLargeError as error:
            reason = f"its record is too large for the journal ({error}), most of it {short.largest()}"
        else:
            return kept
    failed = Record(header=record.header, run=record.mark_failed(reason).run)
    journal.append("run", **identity, record=failed)
    return failed
