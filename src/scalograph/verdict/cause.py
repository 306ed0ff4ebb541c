"""A cause as the journal keeps it, and how much of it is too much."""

from typing import Any

# Of the CPU time that a run wanted, or of the time that it took: quiet machines show about 0.5 %.
SHARE = 0.02
# Ticks of /proc/stat and of rusage.
TICK_NS = 10_000_000
# CPU time may exceed what there was by this much: the clocks of parts of a kernel do not agree to the last tick.
PLAY = 1.05


def cause(name: str, amount: float | None, unit: str, text: str) -> dict[str, Any]:
    """A cause as the journal keeps it; `amount` is None where it has no size."""
    return {"cause": name, "amount": amount, "unit": unit, "text": text}
