"""What several proofs ask of a run."""

from dataclasses import dataclass
from typing import Literal

from scalograph.machine.proofs.proof_run import Ran
from scalograph.protocol.record import Record

Status = Literal["proved", "failed", "not provable"]


@dataclass(frozen=True)
class Proof:
    """One property of the path that a measurement takes.

    Attributes:
        name: short, unique.
        what: the property, one sentence.
        status: `not provable`: this host does not grant what it takes to tell; neither passed nor failed.
        found: what the runs showed, or why it cannot be told here.
        expected: instead; empty unless failed.
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

    def __init__(self, found: str, expected: str) -> None:
        super().__init__(f"{found}, expected {expected}")
        self.found, self.expected = found, expected


class NotProvableError(Exception):
    """This host does not grant what it takes to tell: why, and what would help."""

    def __init__(self, why: str, fix: str) -> None:
        super().__init__(f"{why}; {fix}")
        self.why, self.fix = why, fix


def expect(holds: bool, found: object, expected: object) -> None:
    """Go on only where this holds.

    Raises:
        DisprovedError: it does not.
    """
    if not holds:
        raise DisprovedError(str(found), str(expected))


# Whether a run was disturbed is the machine's affair: no proof depends on it.
BELIEVED = ("clean", "contaminated", "undecided")


def went_well(ran: Ran) -> None:
    """The run succeeded, and its verdict is none that denies it.

    Raises:
        DisprovedError: it did not.
    """
    run = ran.record.run
    expect(run.status == "ok", f"{_who(ran)}status {run.status} ({run.reason})", "ok")
    causes = "; ".join(ran.causes) or "no cause"
    expect(ran.verdict in BELIEVED, f"{_who(ran)}verdict {ran.verdict} ({causes})", "one of " + ", ".join(BELIEVED))


def has_failed(ran: Ran, status: str, reason: str = "") -> None:
    """The run failed in this way, says why, and its verdict tells the same.

    Raises:
        DisprovedError: it did not.
    """
    run = ran.record.run
    expect(run.status == status, f"{_who(ran)}status {run.status} ({run.reason})", status)
    told = run.reason or ""
    expect(told.isprintable() and reason in told and bool(told), f"{_who(ran)}reason {told!r}", reason or "a sentence")
    expect(ran.verdict == "failed", f"{_who(ran)}verdict {ran.verdict}", "failed")
    expect(ran.causes == (told,), f"{_who(ran)}causes {list(ran.causes)}", told)


def nothing_left(ran: Ran) -> None:
    """No process of the run is there after its record.

    Raises:
        DisprovedError: one is.
    """
    expect(not ran.left, f"{_who(ran)}{len(ran.left)} processes left, first {ran.left[:1]}", "none")


def figure(ran: Ran, name: str, copy: int = 0) -> float:
    """The one figure of this name that a copy reported.

    Raises:
        DisprovedError: it reported none, or several.
    """
    said = ran.values(copy).get(name, [])
    expect(len(said) == 1, f"{_who(ran)}copy {copy} reported {name} {len(said)} times", "once")
    return said[0]


def missing(record: Record, word: str, otherwise: str) -> NotProvableError:
    """Why something was not granted, in the probe's words; `otherwise` where it told nothing."""
    told = [part for part in (*record.run.degraded, *record.header.degraded) if word in part.what]
    if told:
        return NotProvableError(told[0].why, told[0].fix)
    return NotProvableError(otherwise, "see `scalograph doctor`")


def _who(ran: Ran) -> str:
    return ", ".join(f"{name} = {level}" for name, level in ran.treatment.items()) + ": "
