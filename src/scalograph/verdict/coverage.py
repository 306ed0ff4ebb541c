"""Runs of short tasks with long pauses: CPU time may have been taken from them outside their windows."""

from collections.abc import Sequence

from scalograph.protocol.record import Record
from scalograph.verdict.cause import Cause

# Windows that cover a smaller share of a run's time may have missed whatever disturbed it.
COVERED = 0.1
# Share of what the run wanted, or of its time; a larger one hits every window.
MOST = 0.5
# The number of iterations from which on a median ignores single ones.
MANY = 20


def covered(record: Record) -> float:
    """Return the share of a run's time in its windows: an upper bound, for those of several clients may overlap."""
    wall = record.run.wall_ns or 0
    parts = record.iterations
    within = sum(end - start for part in parts for start, end in zip(part.start_ns, part.end_ns, strict=True))
    return within / wall if wall else 1.0


def is_sparse(record: Record) -> bool:
    """Tell whether a run has many windows that cover little of it."""
    parts = record.iterations
    return min((len(part.index) for part in parts), default=0) >= MANY and covered(record) < COVERED


def small(causes: Sequence[Cause]) -> bool:
    """Tell whether so little was taken that it may have spared most windows; a cause without a size is not small."""
    return all(c.amount is not None and c.amount < MOST for c in causes)


def unplaced(record: Record, causes: Sequence[Cause]) -> list[Cause]:
    """Turn the causes of a whole run into bounds for its windows, since it is unknown where they struck."""
    where = f"its windows cover {100 * covered(record):.1f} % of its time; in them or between them"
    return [Cause(c.cause, c.amount, f"{c.unit}, at most", f"{where}: {c.text}") for c in causes]
