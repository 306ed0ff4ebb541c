"""What the runs just below a cliff and just above it differ in, beside their time."""

from collections.abc import Mapping, Sequence
from statistics import median

from scalograph.findings.row import Row
from scalograph.findings.run_records import records_of
from scalograph.findings.table import Table
from scalograph.protocol.record import Record
from scalograph.verdict.cause import COUNTED

# What may have caused a jump: what a run's record calls it, in words and units.
EVIDENCE = {
    "user_ns": ("user time", "s"),
    "system_ns": ("system time", "s"),
    "wait_ns": ("ready without a CPU", "s"),
    "n_switches": ("switches", ""),
    "n_preemptions": ("preemptions", ""),
    "n_migrations": ("moves to another CPU", ""),
    "n_minor_faults": ("page faults", ""),
    "n_major_faults": ("pages waited for", ""),
    "max_rss_bytes": ("memory of the largest process", "MiB"),
    "memory_stall_ns": ("waiting for memory", "s"),
    "io_stall_ns": ("waiting for a disk", "s"),
    "throttled_ns": ("held back by a quota", "s"),
    "n_tasks": ("tasks", ""),
}
SCALE = {"s": 1e-9, "MiB": 2**-20, "": 1.0}

# Name with its unit, median below, median above; None where it was not measured.
Line = tuple[str, float | None, float | None]


def sides(table: Table, factor: str, low: float, high: float) -> tuple[list[Row], list[Row]]:
    """The runs that count just below a cliff and just above it: of up to three levels each, the nearest ones."""
    counted = [row for row in table.counted() if row.verdict in COUNTED]
    levels: Mapping[str, list[int]] = {
        "below": sorted({n for row in counted if (n := int(row.treatment[factor])) <= low})[-3:],
        "above": sorted({n for row in counted if (n := int(row.treatment[factor])) >= high})[:3],
    }
    below, above = ([row for row in counted if row.treatment[factor] in levels[side]] for side in ("below", "above"))
    return below, above


def evidence(table: Table, factor: str, low: float, high: float) -> list[Line]:
    """Every figure that is not zero on both sides."""
    below, above = ([*records_of(table, rows)] for rows in sides(table, factor, low, high))
    lines = []
    for field, (name, unit) in EVIDENCE.items():
        ends = [_median(records, field, SCALE[unit]) for records in (below, above)]
        if any(ends):
            lines.append((f"{name} ({unit})" if unit else name, ends[0], ends[1]))
    return lines


def _median(records: Sequence[Record], field: str, scale: float) -> float | None:
    values = [value for record in records if (value := getattr(record.run, field)) is not None]
    return scale * float(median(values)) if values else None
