"""What `scalograph doctor` says: a report of checks, one line each."""

from dataclasses import dataclass
from typing import Literal

Status = Literal["granted", "refused", "warning", "info"]


@dataclass(frozen=True)
class Check:
    """What was looked at and found; for a refusal or a warning why it matters and what to do about it."""

    name: str
    status: Status
    found: str
    why: str = ""
    fix: str = ""


@dataclass(frozen=True)
class Report:
    """All checks, in the order in which a person reads them."""

    checks: tuple[Check, ...]

    def refused(self) -> tuple[Check, ...]:
        """What is not granted here."""
        return tuple(check for check in self.checks if check.status == "refused")
