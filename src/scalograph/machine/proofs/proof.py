"""A proof, and what several checks expect of a run."""

from dataclasses import dataclass
from typing import Literal

from scalograph.machine.proofs.proof_run import ProofRun
from scalograph.protocol.record import Record

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
USABLE = ("clean", "disturbed", "unverified")


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
