"""Runs of short tasks with long pauses: what was taken from them may have been taken while nobody measured."""

from collections.abc import Sequence

from scalograph.protocol.record import Record
from scalograph.verdict.cause import Cause

# Windows that cover less of a run's time than that leave room for whatever disturbed it.
COVERED = 0.1
# Of what the run wanted, or of its time; more of it hits every window.
MOST = 0.5
# Iterations from which on a median leaves single ones out.
MANY = 20


def covered(record: Record) -> float:
    """Share of a run's time that lies in its windows: at most, for those of several clients may overlap."""
    wall = record.run.wall_ns or 0
    parts = record.iterations
    within = sum(end - start for part in parts for start, end in zip(part.start_ns, part.end_ns, strict=True))
    return within / wall if wall else 1.0


def is_sparse(record: Record) -> bool:
    """Whether a run has many windows that cover little of it."""
    parts = record.iterations
    return min((len(part.index) for part in parts), default=0) >= MANY and covered(record) < COVERED


def small(causes: Sequence[Cause]) -> bool:
    """Whether so little was taken that most windows may have been spared; what has no size is not small."""
    return all(c.amount is not None and c.amount < MOST for c in causes)


def unplaced(record: Record, causes: Sequence[Cause]) -> list[Cause]:
    """Causes of a whole run as what they are for its windows: bounds, since nobody knows where they struck."""
    where = f"its windows cover {100 * covered(record):.1f} % of its time; in them or between them"
    return [Cause(c.cause, c.amount, f"{c.unit}, at most", f"{where}: {c.text}") for c in causes]
