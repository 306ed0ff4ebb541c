"""What a proof is, and the two ways in which it may not succeed."""

from dataclasses import dataclass
from typing import Literal

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
