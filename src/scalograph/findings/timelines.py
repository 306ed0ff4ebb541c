"""Timelines and task traces of the run nearest the median of each configuration.

The few that are shown are read from the journal now: all of them would be most of a table's memory.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from msgspec import to_builtins

from scalograph.findings.row import Row
from scalograph.findings.run_notes import find_trace
from scalograph.findings.sample import Sample
from scalograph.protocol import journal
from scalograph.protocol.findings import TaskTrace, TimelineDoc
from scalograph.protocol.record import Record

MAX_TIMELINES = 64


def read_timelines(samples: Sequence[Sample], response: str, file: Path | None, warmup: int) -> list[TimelineDoc]:
    """Read the timelines of at most 64 configurations, spread evenly over the design."""
    chosen = [row for row in (_typical(sample, response) for sample in samples) if row is not None]
    step = max(1, -(-len(chosen) // MAX_TIMELINES))
    lines = {row.timeline_line: row for row in chosen[::step] if row.timeline_line}
    events = journal.pick(file, lines) if file and lines else {}
    return [_doc(row, events[line], warmup) for line, row in lines.items()]


def _typical(sample: Sample, response: str) -> Row | None:
    return nearest_to_median([row for row in sample.counted if response in row.scores and row.timeline_line], response)


def nearest_to_median(rows: Sequence[Row], response: str) -> Row | None:
    """Return the row whose score is nearest the median; None of no rows."""
    if not rows:
        return None
    middle = median(row.scores[response] for row in rows)
    return min(rows, key=lambda row: (abs(row.scores[response] - middle), row.run))


def _doc(row: Row, event: Mapping[str, Any], warmup: int) -> TimelineDoc:
    record: Record = event["record"]
    return TimelineDoc(
        run=row.run,
        configuration=dict(row.configuration),
        timeline=to_builtins(record.timeline),
        window_ns=_window(record, warmup),
    )  # fmt: skip


def _window(record: Record, warmup: int) -> tuple[int, int] | None:
    """Span the counted iterations; None if the whole run is measured."""
    spans = [
        (start, end)
        for part in record.iterations
        for index, start, end in zip(part.index, part.start_ns, part.end_ns, strict=True)
        if index >= warmup
    ]
    return (min(start for start, _ in spans), max(end for _, end in spans)) if spans else None


MAX_TRACES = 8


def read_traces(samples: Sequence[Sample], response: str, file: Path | None) -> list[TaskTrace]:
    """Read the traces of at most 8 configurations with several workers, spread evenly over the design."""
    chosen = [row for sample in samples if (row := nearest_to_median(_with_trace(sample, response), response))]
    lines = {row.trace_line: row for row in _spread_evenly(chosen) if row.trace_line}
    events = journal.pick(file, lines) if file and lines else {}
    return [_trace_doc(row, events[line]) for line, row in lines.items()]


def _with_trace(sample: Sample, response: str) -> list[Row]:
    return [row for row in sample.counted if response in row.scores and row.trace_line]


def _spread_evenly(rows: Sequence[Row]) -> Sequence[Row]:
    if len(rows) <= MAX_TRACES:
        return rows
    return [rows[round(i * (len(rows) - 1) / (MAX_TRACES - 1))] for i in range(MAX_TRACES)]


def _trace_doc(row: Row, event: Mapping[str, Any]) -> TaskTrace:
    trace = find_trace(event["record"])
    assert trace is not None, "the table keeps the lines of whole traces only"
    return TaskTrace(
        run=row.run,
        configuration=dict(row.configuration),
        start_us=[ns / 1e3 for ns in trace.start_ns],
        end_us=[ns / 1e3 for ns in trace.end_ns],
        worker=list(trace.worker),
    )
