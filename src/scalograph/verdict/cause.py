"""A cause as the journal keeps it, and the limits above which it counts."""

from dataclasses import dataclass
from typing import Any

# Share of the CPU time that a run wanted, or of the time that it took: quiet machines show about 0.5 %.
SHARE = 0.02
# A tick of /proc/stat and of rusage.
TICK_NS = 10_000_000
# CPU time may exceed the available time by this factor: the clocks within a kernel differ slightly.
PLAY = 1.05
# Runs with these verdicts carry the estimates; the others are kept, drawn and counted.
COUNTED = ("clean", "undecided")
# More was measured than the treatment. A failed run would fail again, and nothing says that an undecided one is bad.
REPEATED = ("contaminated", "impossible")


@dataclass(frozen=True, slots=True)
class Cause:
    """Why a run is not clean.

    Attributes:
        cause: its name, the same for all causes of one kind.
        amount: in `unit`; None if it has no size.
        unit: what the amount is a share of.
        text: the cause and its amount for people.
    """

    cause: str
    amount: float | None
    unit: str
    text: str

    def as_journaled(self) -> dict[str, Any]:
        """Return the cause as a `verdict` event has it."""
        return {"cause": self.cause, "amount": self.amount, "unit": self.unit, "text": self.text}
