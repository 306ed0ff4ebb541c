"""Detect a cliff whose place moves from run to run: runs of one level lie now below it and now above.

A single place, however wide, gives each level one time. Two groups of runs at one level, as far apart as the jump,
show a place that is drawn anew in each run: by addresses, by what was cached, by a timer. But a run may also have
been slowed by as much as the jump. So the runs are counted that must have been slowed if the place were one: those as
slow as beyond it, as far out as a run is fast, which nothing else explains.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log
from statistics import median

from scipy.special import bdtrc

from scalograph.findings.row import Row
from scalograph.findings.sample import read_records
from scalograph.findings.table import Table
from scalograph.protocol.record import Record
from scalograph.verdict.cause import COUNTED

# Two groups of a level are those of a jump where they lie apart by so much of it, in logs.
APART = (0.6, 1.4)
# A run is on a side where it lies so near, as a share of the jump; levels are compared within so many logs.
ALIKE, REACH = 0.25, 0.5
# Slowed runs that nobody believes in; and without the fast run that reaches furthest, which may be wrong itself.
TELLING, WITHOUT_ONE = 3, 2
# Where that share of runs is slowed, so many of them have less than this chance.
SLOWED, CHANCE = 0.1, 0.01


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Runs that cannot belong to one place unless they were slowed.

    Attributes:
        n: how many.
        of: runs on either side, as far out as a run is fast.
        n_without_one: how many without the fast run that reaches furthest.
        low: lowest level where a place was seen.
    """

    n: int
    of: int
    n_without_one: int
    low: int
    high: int

    @property
    def is_sure(self) -> bool:
        """Tell whether the place moves: so many of so few runs are not slowed where one in ten is."""
        chance = float(bdtrc(self.n - 1, self.of, SLOWED))
        return self.n >= TELLING and self.n_without_one >= WITHOUT_ONE and chance < CHANCE


def contradiction(n: Sequence[int], times: Sequence[float], factor: float) -> Contradiction | None:
    """Count the runs that contradict a single place; None where no level has runs on both sides.

    `factor`: time above the cliff over time below.

    >>> found = contradiction([8, 8, 8, 9, 9, 9], [1.0, 2.0, 2.1, 1.0, 2.0, 2.02], 2.0)
    >>> found.n, found.is_sure
    (4, True)
    """
    slow, fast = _sides([*zip(n, map(log, times), strict=True)], abs(log(factor)))
    if not slow or not fast:
        return None
    if factor < 1:  # the same, seen from above
        slow, fast = [-level for level in slow], [-level for level in fast]
    furthest = sorted(fast)[-2:]
    counts = [sum(level <= reach for level in slow) for reach in furthest]
    if not counts[-1]:
        return None
    ends = (min(slow), furthest[-1])
    low, high = ends if factor > 1 else (-ends[1], -ends[0])
    of = counts[-1] + sum(level <= furthest[-1] for level in fast)
    return Contradiction(counts[-1], of, counts[0] if len(furthest) > 1 else 0, low, high)


def _sides(seen: Sequence[tuple[int, float]], jump: float) -> tuple[list[int], list[int]]:
    """Return the levels of slow and of fast runs, judged by the nearest level with both."""
    both = _bimodal_levels(seen, jump)
    slow, fast = list[int](), list[int]()
    for level, y in seen:
        nearest = min(both, key=lambda other: (abs(log(other / level)), other), default=0)
        if nearest and abs(log(nearest / level)) <= REACH:
            low, high = both[nearest]
            slow += [level] if abs(y - high) <= ALIKE * jump else []
            fast += [level] if abs(y - low) <= ALIKE * jump else []
    return slow, fast


def _bimodal_levels(seen: Sequence[tuple[int, float]], jump: float) -> dict[int, tuple[float, float]]:
    """Find levels with two groups of runs, and the log time of each: the runs beside the widest gap."""
    groups = {}
    for level in sorted({x for x, _ in seen}):
        logs = sorted(y for x, y in seen if x == level)
        gap, low, high = max(((b - a, a, b) for a, b in pairwise(logs)), default=(0.0, 0.0, 0.0))
        if APART[0] * jump <= gap <= APART[1] * jump:
            groups[level] = (low, high)
    return groups


# What may have caused a jump: what a run's record calls it, in words and units.
EVIDENCE = {
    "user_ns": ("user time", "s"), "system_ns": ("system time", "s"), "wait_ns": ("ready without a CPU", "s"),
    "n_switches": ("switches", ""), "n_preemptions": ("preemptions", ""), "n_migrations": ("moves to another CPU", ""),
    "n_minor_faults": ("page faults", ""), "n_major_faults": ("pages waited for", ""),
    "max_rss_bytes": ("memory of the largest process", "MiB"), "memory_stall_ns": ("waiting for memory", "s"),
    "io_stall_ns": ("waiting for a disk", "s"), "throttled_ns": ("held back by a quota", "s"), "n_tasks": ("tasks", ""),
}  # fmt: skip
SCALE = {"s": 1e-9, "MiB": 2**-20, "": 1.0}

# Name with its unit, median below, median above; None where it was not measured.
Line = tuple[str, float | None, float | None]


def sides(table: Table, factor: str, low: float, high: float) -> tuple[list[Row], list[Row]]:
    """Return the counted runs just below a cliff and just above it, of up to three levels each."""
    counted = [(int(row.configuration[factor]), row) for row in table.successful_rows() if row.verdict in COUNTED]
    below = sorted({level for level, _ in counted if level <= low})[-3:]
    above = sorted({level for level, _ in counted if level >= high})[:3]
    return [row for level, row in counted if level in below], [row for level, row in counted if level in above]


def evidence(table: Table, factor: str, low: float, high: float) -> list[Line]:
    """Return the medians of every counter that is not zero on both sides."""
    below, above = ([*read_records(table, rows)] for rows in sides(table, factor, low, high))
    lines = []
    for field, (name, unit) in EVIDENCE.items():
        first, second = (_median(records, field, SCALE[unit]) for records in (below, above))
        lines += [(f"{name} ({unit})" if unit else name, first, second)] if first or second else []
    return lines


def _median(records: Sequence[Record], field: str, scale: float) -> float | None:
    values = [value for record in records if (value := getattr(record.run, field)) is not None]
    return scale * float(median(values)) if values else None
