"""One shot that stands for its treatment: which worker did which subtask when, in the run nearest the median."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from scalograph.findings.row import Row
from scalograph.findings.sample import Sample
from scalograph.findings.task_trace import traced
from scalograph.findings.timelines import nearest
from scalograph.protocol import journal
from scalograph.protocol.findings import TaskTrace

MAX_TRACES = 8


def traces(samples: Sequence[Sample], response: str, file: Path | None) -> list[TaskTrace]:
    """Traces of at most 8 treatments that use several workers, spread evenly over the design, from their journal."""
    chosen = [row for sample in samples if (row := nearest(_with_trace(sample, response), response))]
    lines = {row.trace_line: row for row in _spread(chosen) if row.trace_line}
    events = journal.pick(file, lines) if file and lines else {}
    return [_doc(row, events[line]) for line, row in lines.items()]


def _with_trace(sample: Sample, response: str) -> list[Row]:
    return [row for row in sample.counted if response in row.scores and row.trace_line]


def _spread(rows: Sequence[Row]) -> Sequence[Row]:
    if len(rows) <= MAX_TRACES:
        return rows
    return [rows[round(i * (len(rows) - 1) / (MAX_TRACES - 1))] for i in range(MAX_TRACES)]


def _doc(row: Row, event: Mapping[str, Any]) -> TaskTrace:
    found = traced(event["record"])
    assert found is not None, "the table keeps the lines of whole traces only"
    return TaskTrace(
        run=row.run,
        treatment=dict(row.treatment),
        start_us=[ns / 1e3 for ns in found.start_ns],
        end_us=[ns / 1e3 for ns in found.end_ns],
        worker=list(found.worker),
    )
