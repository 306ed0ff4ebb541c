"""How parallel runs were, read from their timelines in the journal."""

from collections.abc import Mapping, Sequence

from scalograph.findings.answer import Taken
from scalograph.findings.table import Row, Table
from scalograph.protocol import journal
from scalograph.protocol.events import Record
from scalograph.protocol.plain import Level
from scalograph.questions.parallel_build.model_parallelism import Parallelism, parallelism

MAX_RUNS = 2000  # timelines that are read: a journal may hold 100,000

Known = Mapping[tuple[Level, ...], Sequence[Parallelism]]


def measured(table: Table, taken: Taken, factor: str) -> Known:
    """The parallelism of each run that counts, by treatment; none where the journal has no timelines."""
    rows = [row for sample in taken.values() for row in sample.counted if row.timeline_line]
    lines = {row.timeline_line: row for row in rows[:MAX_RUNS] if row.timeline_line}
    events = journal.pick(table.file, lines) if table.file and lines else {}
    found: dict[tuple[Level, ...], list[Parallelism]] = {}
    for line, row in lines.items():
        if (one := of_run(events[line]["record"], row, factor)) is not None:
            found.setdefault(row.key, []).append(one)
    return found


def of_run(record: Record, row: Row, factor: str) -> Parallelism | None:
    """What the timeline of one run tells; None without a timeline or an end."""
    timeline, run = record.timeline, record.run
    asked = row.treatment[factor]
    if timeline is None or run.wall_ns is None or not isinstance(asked, int | float):
        return None
    begin, end = 0.0, float(run.wall_ns)
    if record.iterations:
        begin = max(0, min(min(part.start_ns) for part in record.iterations))
        end = max(max(part.end_ns) for part in record.iterations)
    busy = timeline.busy_ns or ([timeline.tree_busy_ns] if timeline.tree_busy_ns else [])
    if not busy or end <= begin:
        return None
    return parallelism(busy, timeline.bin_ns, asked, row.n_cpus, begin, end, max(end, run.wall_ns))
