"""One line of what `scalograph doctor` says."""

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
