"""A proof, what several checks expect of a run, and one run of a sanity workload by its journal."""

import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from scalograph.design.planner import Planner
from scalograph.protocol import journal
from scalograph.protocol.record import Record
from scalograph.run.loop import NullProgress
from scalograph.study.levels import Run
from scalograph.verdict.judge import Judgment

_TRIES = 200


def find_marked(mark: str, root: Path = Path("/")) -> tuple[int, ...]:
    """Find live processes with this text on their command line; a zombie has none."""
    return tuple(
        int(entry.name) for entry in (root / "proc").iterdir() if entry.name.isdigit() and _has_mark(entry, mark)
    )


def kill_marked(mark: str) -> None:
    """Kill processes with our mark: only our runs leave them. One that hops may take several tries."""
    for _ in range(_TRIES):
        left = find_marked(mark)
        for pid in left:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        if not left:
            return
        time.sleep(0.005)


def _has_mark(entry: Path, mark: str) -> bool:
    try:
        # A zombie has no command line.
        return mark.encode() in (entry / "cmdline").read_bytes()
    except OSError:
        return False


# Where nothing holds a tree together ("best effort"), what is left is looked for and killed, which takes time.
_LAST_OF_TREE_S = 5.0

Mask = tuple[int, ...] | None


@dataclass(frozen=True)
class ProofRun:
    """A run under a mask of `cpus`, None without one; `left` are processes that were there after its record."""

    configuration: Mapping[str, Any]
    cpus: Mask
    record: Record
    verdict: str
    causes: tuple[str, ...]
    left: tuple[int, ...] = ()

    def values(self, copy: int = 0) -> dict[str, list[float]]:
        parts = (part.values for part in self.record.values if part.copy_index == copy)
        return {name: list(figures) for values in parts for name, figures in values.items()}


class Leftovers(NullProgress):
    """Progress that finds the processes with the mark which are left when a run has ended."""

    def __init__(self, mark: str) -> None:
        self.mark, self.left = mark, dict[str, tuple[int, ...]]()

    @contextmanager
    def watching(self, n_before: int, spent_s: float, planner: Planner) -> Iterator["Leftovers"]:
        """Yield itself, as a session wants its progress."""
        yield self

    def run_finished(self, run: Run, record: Record, judgment: Judgment) -> None:
        """Find what is left of a run; where nothing holds the tree together, it is given time to end."""
        patience_s = _LAST_OF_TREE_S if record.header.containment == "best effort" else 0.0
        deadline = time.monotonic() + patience_s
        while (left := find_marked(self.mark)) and time.monotonic() < deadline:
            time.sleep(0.05)
        self.left[run.run] = left


def read_proof_runs(
    file: Path, mask: Callable[[Mapping[str, Any]], Mask], left: Mapping[str, tuple[int, ...]]
) -> list[ProofRun]:
    """Read all runs of a journal, in order. Raises ProtocolError.

    `mask` returns the CPUs asked for by a configuration; `left` has the processes that were left, by run.
    """
    events = list(journal.read(file))
    judged = {event["run"]: event for event in events if event["event"] == "verdict"}
    runs = []
    for event in events:
        if event["event"] == "run":
            verdict, configuration = judged[event["run"]], event["configuration"]
            causes = tuple(cause["text"] for cause in verdict["causes"])
            record, pids = event["record"], left[event["run"]]
            runs.append(ProofRun(configuration, mask(configuration), record, verdict["verdict"], causes, pids))
    return runs


Status = Literal["proved", "failed", "not provable"]


@dataclass(frozen=True)
class Proof:
    """One property of the path that a measurement takes.

    Attributes:
        name: short, unique.
        what: the property, one sentence.
        status: `not provable`: this host does not grant what it takes to tell; neither passed nor failed.
        found: what the runs showed, or why it cannot be shown here.
        expected: empty unless failed.
        fix: what to do, or what would help; empty when proved.
    """

    name: str
    what: str
    status: Status
    found: str
    expected: str = ""
    fix: str = ""


class DisprovedError(Exception):
    """A record, or the machine after it, is not what it must be."""

    def __init__(self, observed: str, expected: str) -> None:
        super().__init__(f"{observed}, expected {expected}")
        self.found, self.expected = observed, expected


class NotProvableError(Exception):
    """This host does not grant what a proof needs: why, and what would help."""

    def __init__(self, reason: str, fix: str) -> None:
        super().__init__(f"{reason}; {fix}")
        self.why, self.fix = reason, fix


def expect(holds: bool, observed: object, expected: object) -> None:
    """Raise DisprovedError unless this holds."""
    if not holds:
        raise DisprovedError(str(observed), str(expected))


# Whether a run was disturbed is the machine's affair: no proof depends on it.
USABLE = ("clean", "corrected", "disturbed", "unverified")


def expect_success(ran: ProofRun) -> None:
    """Expect a run that succeeded, and whose verdict does not deny it. Raises DisprovedError."""
    run = ran.record.run
    expect(run.status == "ok", f"{_describe_run(ran)}status {run.status} ({run.reason})", "ok")
    causes = "; ".join(ran.causes) or "no cause"
    expect(
        ran.verdict in USABLE, f"{_describe_run(ran)}verdict {ran.verdict} ({causes})", "one of " + ", ".join(USABLE)
    )


def expect_failure(ran: ProofRun, status: str, reason: str = "") -> None:
    """Expect a run that failed in this way, with a reason that its verdict repeats. Raises DisprovedError."""
    run = ran.record.run
    expect(run.status == status, f"{_describe_run(ran)}status {run.status} ({run.reason})", status)
    reason_given = run.reason or ""
    expect(
        reason_given.isprintable() and reason in reason_given and bool(reason_given),
        f"{_describe_run(ran)}reason {reason_given!r}",
        reason or "a sentence",
    )
    expect(ran.verdict == "failed", f"{_describe_run(ran)}verdict {ran.verdict}", "failed")
    expect(ran.causes == (reason_given,), f"{_describe_run(ran)}causes {list(ran.causes)}", reason_given)


def expect_no_processes(ran: ProofRun) -> None:
    """Expect no process of the run after its record. Raises DisprovedError."""
    expect(not ran.left, f"{_describe_run(ran)}{len(ran.left)} processes left, first {ran.left[:1]}", "none")


def single_value(ran: ProofRun, name: str, copy: int = 0) -> float:
    """Return the only value of this name that a copy reported. Raises DisprovedError for none, or several."""
    values = ran.values(copy).get(name, [])
    expect(len(values) == 1, f"{_describe_run(ran)}copy {copy} reported {name} {len(values)} times", "once")
    return values[0]


def missing_error(record: Record, word: str, otherwise: str) -> NotProvableError:
    """Return the error for what was not granted, in the probe's words; `otherwise` without them."""
    degraded = [part for part in (*record.run.degraded, *record.header.degraded) if word in part.what]
    if degraded:
        return NotProvableError(degraded[0].why, degraded[0].fix)
    return NotProvableError(otherwise, "see scalograph doctor --all")


def _describe_run(ran: ProofRun) -> str:
    return ", ".join(f"{name} = {level}" for name, level in ran.configuration.items()) + ": "
