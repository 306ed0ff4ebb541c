"""Stop 3, run: the one loop. Ask the planner, measure on the host, append to the journal, tell the planner."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any, NamedTuple, Protocol

from scalograph.analysis.verdict import Judging, Judgment, judge
from scalograph.design.planner import Planner, Run
from scalograph.interrupts import Interrupts
from scalograph.journal import EventTooLargeError, Journal


class Host(Protocol):
    """Where a run happens."""

    def measure(self, run: Run) -> Mapping[str, Any]:
        """Carry out one run; a failed one is a record with a status, never an exception."""


class Progress(Protocol):
    """Who is told how the study goes."""

    def asked(self, run: Run, n_left: int) -> None:
        """A run begins; with it, so many are left as far as is known."""

    def told(self, run: Run, record: Mapping[str, Any], judgment: Judgment) -> None:
        """A run has ended."""


@dataclass
class Budget:
    """No block is begun, or gone on with, that is not expected to end in time.

    `seconds` None is no limit. `blocks`: seconds that each block has taken; a resume brings those of its journal.
    """

    seconds: float | None
    blocks: dict[int, float] = field(default_factory=dict)
    _block: int | None = None
    _began: float = 0.0

    def allows(self, run: Run) -> bool:
        """Whether a run may begin: always inside a block, at its start if the block should fit."""
        if self.seconds is None or run.block == self._block:
            return True
        now = time.monotonic()
        if self._block is not None:
            self.blocks[self._block] = self.blocks.get(self._block, 0.0) + now - self._began
        if sum(self.blocks.values()) + self._expected(run.block) > self.seconds:
            return False
        self._block, self._began = run.block, now
        return True

    def _expected(self, block: int) -> float:
        """What a block should still take: the mean of the others (warm-up runs are none) less what it has taken."""
        whole = [seconds for other, seconds in self.blocks.items() if other >= 0 and other != block]
        return max(0.0, fmean(whole) - self.blocks.get(block, 0.0)) if whole else 0.0


class Ended(NamedTuple):
    """Why the loop ended: "complete", "budget" or "interrupted"; and the signal, if one ended it."""

    reason: str
    signal: int | None = None


def run_study(
    planner: Planner, host: Host, journal: Journal, budget: Budget, progress: Progress, judging: Judging = judge
) -> Ended:
    """Run until the planner has no further run; `judging` gives each record its verdict.

    Returns:
        Why it ended, and the signal that came between two runs, if one did; the host knows of one that came within.
    """
    with Interrupts() as interrupts:
        reason = "complete"
        while run := planner.ask():
            if not budget.allows(run):
                reason = "budget"
                break
            if interrupts.number or not _one(run, planner, host, journal, progress, judging):
                reason = "interrupted"
                break
        journal.append("end", reason=reason)
    return Ended(reason, interrupts.number)


def _one(run: Run, planner: Planner, host: Host, journal: Journal, progress: Progress, judging: Judging) -> bool:
    """One run; False when it was interrupted, and then it has not happened: resume asks for it again."""
    identity = {
        "run": run.run,
        "block": run.block,
        "treatment": dict(run.treatment),
        "replicate": run.replicate,
        "warmup": run.warmup,
    }
    journal.append("ask", **identity)
    progress.asked(run, planner.n_left)
    try:
        record = host.measure(run)
    except KeyboardInterrupt:
        return False
    if record["run"]["status"] == "interrupted":
        return False
    record = _append_run(journal, identity, record)
    judgment = judging(record)
    journal.append("verdict", run=run.run, verdict=judgment.verdict, causes=judgment.causes)
    if note := planner.tell(run, record, judgment.verdict):
        journal.append("note", text=note)
    progress.told(run, record, judgment)
    return True


def _append_run(journal: Journal, identity: Mapping[str, Any], record: Mapping[str, Any]) -> Mapping[str, Any]:
    """The record as journaled; what no line can hold (a million iterations) is left out, and the run counts as failed.

    From here on only this one counts: a later start will know no other.
    """
    try:
        journal.append("run", **identity, record=record)
    except EventTooLargeError as error:
        reason = f"its record is too large for the journal ({error}): ask for fewer iterations or copies"
        run = {**record["run"], "status": "failed", "reason": reason}
        record = {"header": record["header"], "copies": [], "run": run}
        journal.append("run", **identity, record=record)
    return record
