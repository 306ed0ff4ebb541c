"""Stop 3, run: the one loop. Ask the planner, measure on the host, append to the journal, tell the planner."""

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

# How services that stayed up over runs ended, since this was last asked; after the last run they are ended first.
ServiceEnds = Callable[[bool], Sequence[ServicesEnded]]


def no_service_ends(is_last: bool) -> Sequence[ServicesEnded]:
    """Tell of no services: none stays up over runs."""
    return ()


class Instrument(Protocol):
    """What a run is measured with."""

    def measure(self, run: Run) -> Record:
        """Carry out one run; a failed one is a record with a status, never an exception."""


class EventSink(Protocol):
    """What is appended to: a journal on the disk, or in memory."""

    def append(self, event: str, **fields: Any) -> None:
        """Write one event. Raises EventTooLargeError, and nothing is written, where it is too large."""

    def append_deferred(self, event: str, **fields: Any) -> None:
        """Write one event that may go to the disk with the next."""


class Progress(Protocol):
    """Who is told how the study goes."""

    def run_started(self, run: Run, n_left: int) -> None:
        """A run begins; with it, so many are left as far as is known."""

    def run_finished(self, run: Run, record: Record, judgment: Judgment) -> None:
        """A run has ended."""

    def warned(self, text: str, about: str = "") -> None:
        """Something that a person should know went into the journal; `about` is as there."""


class NullProgress:
    """A `Progress` that tells nobody."""

    def run_started(self, run: Run, n_left: int) -> None:
        """Nothing."""

    def run_finished(self, run: Run, record: Record, judgment: Judgment) -> None:
        """Nothing."""

    def warned(self, text: str, about: str = "") -> None:
        """Nothing."""


class Gate(Protocol):
    """What a block has to pass before it begins."""

    def wait_until_quiet(self, block: int, interrupted: Callable[[], bool]) -> GateResult:
        """Whether the machine is quiet, after waiting for it where that was asked."""

    def observe_run(self, record: Record) -> None:
        """A run has ended: what others took meanwhile is as good as a look."""


@dataclass
class Budget:
    """No block is begun, or gone on with, that is not expected to end in time and within the number of runs.

    `seconds` and `runs` None are no limit; `n_done` runs are done, and a block is expected to hold `block_size`.
    `blocks`: seconds that each block has taken; a resume brings those of its journal.
    """

    seconds: float | None
    blocks: dict[int, float] = field(default_factory=dict)
    runs: int | None = None
    n_done: int = 0
    block_size: int = 0
    _block: int | None = None
    _began: float = 0.0

    def allows(self, run: Run) -> bool:
        """Whether a run may begin: always inside a block, at its start if the block should fit."""
        if not self._has_runs_left(run) or not self._has_time_left(run):
            return False
        self._block = run.block
        self.n_done += 1
        return True

    def _has_runs_left(self, run: Run) -> bool:
        """A block that was begun before goes on: it lacks fewer runs than a whole one."""
        begun = run.block == self._block or run.block < 0
        return self.runs is None or begun or self.n_done + self._missing_runs(run.block) <= self.runs

    def _missing_runs(self, block: int) -> int:
        return 1 if block in self.blocks else self.block_size

    def _has_time_left(self, run: Run) -> bool:
        if self.seconds is None or run.block == self._block:
            return True
        now = time.monotonic()
        if self._block is not None:
            self.blocks[self._block] = self.blocks.get(self._block, 0.0) + now - self._began
        if sum(self.blocks.values()) + self._expected_seconds(run.block) > self.seconds:
            return False
        self._began = now
        return True

    def _expected_seconds(self, block: int) -> float:
        """What a block should still take: the mean of the others (warm-up runs are none) less what it has taken."""
        whole = [seconds for other, seconds in self.blocks.items() if other >= 0 and other != block]
        return max(0.0, fmean(whole) - self.blocks.get(block, 0.0)) if whole else 0.0


class LoopResult(NamedTuple):
    """Why the loop ended, as `end` in the journal says it; the signal, if one ended it; the runs that were made."""

    reason: str
    signal: int | None = None
    n_made: int = 0


class RunContext(NamedTuple):
    """What the loop works with: what measures, the journal, who is told, how a record is judged, and what has ended."""

    instrument: Instrument
    journal: EventSink
    progress: Progress
    judging: Judging = judge
    service_ends: ServiceEnds = no_service_ends


def run_study(
    planner: Planner, loop: RunContext, budget: Budget, gate: Gate | None = None, stop_if_busy: bool = False
) -> LoopResult:
    """Run until the planner has no further run.

    Args:
        planner: says which run comes next.
        loop: what it works with.
        budget: time and runs that it may take.
        gate: what each block has to pass.
        stop_if_busy: end where a block does not find a quiet machine, or did not have one.

    Returns:
        Why it ended, the signal that ended it, if one did, and how many runs were made.
    """
    with Interrupts() as interrupts:
        reason, round_, n_made = "complete", None, 0
        while run := planner.ask():
            if not budget.allows(run):
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
        _report_service_ends(loop, is_last=True)
        loop.journal.append("end", reason=reason)
    return LoopResult(reason, interrupts.number, n_made)


def _round(run: Run) -> tuple[int, str]:
    """A block, or one of the rounds in which its disturbed runs are asked for again."""
    return run.block, run.run.partition("r")[2]


def _wait_at_gate(gate: Gate, block: int, loop: RunContext, interrupts: Interrupts) -> bool:
    passage = gate.wait_until_quiet(block, lambda: interrupts.number is not None)
    write_note(passage.note, loop, about="quiet" if passage.quiet else "busy")
    return passage.quiet


def write_note(text: str | None, loop: RunContext, about: str) -> None:
    """Write what a person should know into the journal, and tell it; None is nothing."""
    if text:
        loop.journal.append("note", text=text, about=about)
        loop.progress.warned(text, about)


def _execute_run(run: Run, planner: Planner, loop: RunContext, gate: Gate | None, interrupts: Interrupts) -> bool:
    """One run; False when it was interrupted, and then it has not happened: resume asks for it again."""
    identity = {
        "run": run.run,
        "block": run.block,
        "configuration": dict(run.configuration),
        "replicate": run.replicate,
        "warmup": run.warmup,
    }
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
    if gate:
        gate.observe_run(record)
    judgment = loop.judging(record)
    loop.journal.append_deferred(
        "verdict", run=run.run, verdict=judgment.verdict, causes=[cause.journal_entry() for cause in judgment.causes]
    )
    noted = planner.tell(run, record, judgment.verdict)
    loop.progress.run_finished(run, record, judgment)
    write_note(noted, loop, about="disturbed")
    return True


def _report_service_ends(loop: RunContext, is_last: bool) -> None:
    for ends in loop.service_ends(is_last):
        loop.journal.append("services", **asdict(ends))
        for text in bad_end(ends):
            loop.progress.warned(text, "services")


def _append_run(journal: EventSink, identity: Mapping[str, Any], record: Record) -> Record:
    """The record as journaled. One that no line can hold loses its tails of stderr, or the run counts as failed.

    From here on only this one counts: a later start will know no other.
    """
    for kept in (record, short := record.without_tails()):
        try:
            journal.append("run", **identity, record=kept)
        except EventTooLargeError as error:
            reason = f"its record is too large for the journal ({error}), most of it {short.largest()}"
        else:
            return kept
    failed = Record(header=record.header, run=record.failed(reason).run)
    journal.append("run", **identity, record=failed)
    return failed
