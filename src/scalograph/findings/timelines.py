"""Timelines and task traces of the run nearest the median of each configuration.

The few that are shown are read from the journal now: all of them would be most of a table's memory.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median

from msgspec import to_builtins

from scalograph.findings.row import Row
from scalograph.findings.run_notes import find_trace, iteration_window
from scalograph.findings.sample import Sample
from scalograph.protocol import journal
from scalograph.protocol.findings import TaskTrace, TimelineDoc
from scalograph.protocol.record import Record

MAX_TIMELINES, MAX_TRACES = 64, 8


def read_timelines(samples: Sequence[Sample], response: str, file: Path | None, warmup: int) -> list[TimelineDoc]:
    """Read the timelines of at most 64 configurations, spread evenly over the design."""
    chosen = _typical_rows(samples, response, lambda row: row.timeline_line)
    step = max(1, -(-len(chosen) // MAX_TIMELINES))
    return [
        TimelineDoc(
            run=row.run, configuration=dict(row.configuration), timeline=to_builtins(record.timeline),
            window_ns=iteration_window(record, warmup),
        )
        for row, record in _read_rows(file, {row.timeline_line: row for row in chosen[::step] if row.timeline_line})
    ]  # fmt: skip


def _typical_rows(samples: Sequence[Sample], response: str, line: Callable[[Row], int | None]) -> list[Row]:
    usable = ([row for row in sample.counted if response in row.scores and line(row)] for sample in samples)
    return [row for rows in usable if (row := nearest_to_median(rows, response))]


def _read_rows(file: Path | None, lines: Mapping[int, Row]) -> Iterator[tuple[Row, Record]]:
    events = journal.pick(file, lines) if file and lines else {}
    return ((row, events[line]["record"]) for line, row in lines.items() if events)


def nearest_to_median(rows: Sequence[Row], response: str) -> Row | None:
    """Return the row whose score is nearest the median; None of no rows."""
    if not rows:
        return None
    middle = median(row.scores[response] for row in rows)
    return min(rows, key=lambda row: (abs(row.scores[response] - middle), row.run))


def read_traces(samples: Sequence[Sample], response: str, file: Path | None) -> list[TaskTrace]:
    """Read the traces of at most 8 configurations with several workers, spread evenly over the design."""
    chosen = _typical_rows(samples, response, lambda row: row.trace_line)
    if len(chosen) > MAX_TRACES:
        chosen = [chosen[round(i * (len(chosen) - 1) / (MAX_TRACES - 1))] for i in range(MAX_TRACES)]
    docs = []
    for row, record in _read_rows(file, {row.trace_line: row for row in chosen if row.trace_line}):
        trace = find_trace(record)
        assert trace is not None, "the table keeps the lines of whole traces only"
        start_us, end_us = ([ns / 1e3 for ns in times] for times in (trace.start_ns, trace.end_ns))
        docs.append(
            TaskTrace(
                run=row.run, configuration=dict(row.configuration), start_us=start_us, end_us=end_us,
                worker=list(trace.worker),
            )
        )  # fmt: skip
    return docs
