"""A cause as the journal keeps it, and how much of it is too much."""

from dataclasses import dataclass

# Of the CPU time that a run wanted, or of the time that it took: quiet machines show about 0.5 %.
SHARE = 0.02
# Ticks of /proc/stat and of rusage.
TICK_NS = 10_000_000
# CPU time may exceed what there was by this much: the clocks of parts of a kernel do not agree to the last tick.
PLAY = 1.05


@dataclass(frozen=True, slots=True)
class Cause:
    """Why a run is not clean.

    Attributes:
        cause: its name, the same for all that is alike.
        amount: in `unit`; None where it has no size.
        unit: what the amount is a share of.
        text: the same for people.
    """

    cause: str
    amount: float | None
    unit: str
    text: str
