"""Stop 3, run: the one loop. Ask the planner, measure on the host, append to the journal, tell the planner."""

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any, Protocol

from scalograph.analysis.verdict import Judgment, judge
from scalograph.design.planner import Planner, Run
from scalograph.journal import EventTooLargeError, Journal


class Host(Protocol):
    """Where a run happens."""

    def measure(self, run: Run) -> Mapping[str, Any]:
        """Carry out one run; a failed one is a record with a status, never an exception."""


class Progress(Protocol):
    """Who is told how the study goes."""

    def asked(self, run: Run) -> None:
        """A run begins."""

    def told(self, run: Run, record: Mapping[str, Any], judgment: Judgment) -> None:
        """A run has ended."""


@dataclass
class Budget:
    """No block is begun that is not expected to end in time. `seconds` None is no limit."""

    seconds: float | None
    spent: float = 0.0
    _blocks: list[float] = field(default_factory=list)
    _began: float | None = None
    _block: int | None = None

    def allows(self, run: Run) -> bool:
        """Whether a run may begin: always inside a block, at its start if the block should fit."""
        if self.seconds is None or run.block == self._block:
            return True
        self._close_block()
        if self._blocks and self.spent + fmean(self._blocks) > self.seconds:
            return False
        self._block, self._began = run.block, time.monotonic()
        return True

    def _close_block(self) -> None:
        if self._began is not None:
            duration = time.monotonic() - self._began
            self.spent += duration
            if self._block is not None and self._block >= 0:
                self._blocks.append(duration)
            self._began = None


def run_study(planner: Planner, host: Host, journal: Journal, budget: Budget, progress: Progress) -> str:
    """Run until the planner has no further run.

    Returns:
        Why it ended: "complete", "budget" or "interrupted".
    """
    reason = "complete"
    while run := planner.ask():
        if not budget.allows(run):
            reason = "budget"
            break
        if not _one(run, planner, host, journal, progress):
            reason = "interrupted"
            break
    journal.append("end", reason=reason)
    return reason


def _one(run: Run, planner: Planner, host: Host, journal: Journal, progress: Progress) -> bool:
    """One run; False when it was interrupted, and then it has not happened: resume asks for it again."""
    identity = {
        "run": run.run,
        "block": run.block,
        "treatment": dict(run.treatment),
        "replicate": run.replicate,
        "warmup": run.warmup,
    }
    journal.append("ask", **identity)
    progress.asked(run)
    try:
        record = host.measure(run)
    except KeyboardInterrupt:
        return False
    if record["run"]["status"] == "interrupted":
        return False
    judgment = judge(record)
    _append_run(journal, identity, record)
    journal.append("verdict", run=run.run, verdict=judgment.verdict, causes=judgment.causes)
    planner.tell(run, record, judgment.verdict)
    progress.told(run, record, judgment)
    return True


def _append_run(journal: Journal, identity: Mapping[str, Any], record: Mapping[str, Any]) -> None:
    """A run line; what cannot fit in one (a million iterations) is left out by name, and the run counts as failed."""
    try:
        journal.append("run", **identity, record=record)
    except EventTooLargeError as error:
        reason = f"its record is too large for the journal ({error}): ask for fewer iterations or copies"
        run = {**record["run"], "status": "failed", "reason": reason}
        journal.append("run", **identity, record={"header": record["header"], "copies": [], "run": run})


def replay(planner: Planner, events: Iterable[Mapping[str, Any]]) -> int:
    """Tell a planner what the journal already holds.

    Returns:
        How many finished runs there were.
    """
    runs: dict[str, Mapping[str, Any]] = {}
    told = 0
    for event in events:
        if event["event"] == "run":
            runs[event["run"]] = event
        elif event["event"] == "verdict" and event["run"] in runs:
            finished = runs.pop(event["run"])
            planner.tell(_run(finished), finished["record"], event["verdict"])
            told += 1
    for finished in runs.values():  # killed between `run` and `verdict`: the verdict is a function of the record
        planner.tell(_run(finished), finished["record"], judge(finished["record"]).verdict)
        told += 1
    return told


def _run(event: Mapping[str, Any]) -> Run:
    return Run(event["run"], event["block"], event["treatment"], event["replicate"], event["warmup"])
