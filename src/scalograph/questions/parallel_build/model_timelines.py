"""How parallel runs and their phases were, read from their timelines in the journal."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scalograph.findings.answer import Taken
from scalograph.findings.row import Row
from scalograph.findings.table import Table
from scalograph.protocol import journal
from scalograph.protocol.plain import Level
from scalograph.protocol.record import Record, Timeline
from scalograph.questions.parallel_build.model_load import Load, load
from scalograph.questions.parallel_build.model_parallelism import Parallelism, parallelism

MAX_RUNS = 2000  # timelines that are read: a journal may hold 100,000
# What a workload tells of the phases of a build (workloads/source-build): the first ends there, in nanoseconds after
# the window's begin, and the second with the window.
IMAGE_END = "image_end_ns"
PHASES = ("image", "modules")


@dataclass(frozen=True, slots=True)
class PhaseRun:
    """One phase of one run.

    Attributes:
        share: of the window's wall time.
        cpu_percent: as the workload tells it; None where it does not.
        parallelism: its tasks on a CPU.
        load: its runnable tasks; None where waits were not recorded.
    """

    share: float
    cpu_percent: float | None
    parallelism: Parallelism
    load: Load | None


@dataclass(frozen=True, slots=True)
class TimedRun:
    """What the timeline of one run tells: of the whole window, and of each phase in its order."""

    parallelism: Parallelism
    load: Load | None
    phases: Mapping[str, PhaseRun]


Known = Mapping[tuple[Level, ...], Sequence[TimedRun]]


def measured(table: Table, taken: Taken, factor: str) -> Known:
    """What is known of each run that counts, by treatment; nothing where the journal has no timelines."""
    rows = [row for sample in taken.values() for row in sample.counted if row.timeline_line]
    lines = {row.timeline_line: row for row in rows[:MAX_RUNS] if row.timeline_line}
    events = journal.pick(table.file, lines) if table.file and lines else {}
    found: dict[tuple[Level, ...], list[TimedRun]] = {}
    for line, row in lines.items():
        if (one := of_run(events[line]["record"], row, factor)) is not None:
            found.setdefault(row.key, []).append(one)
    return found


def of_run(record: Record, row: Row, factor: str) -> TimedRun | None:
    """What the timeline of one run tells; None without a timeline or an end."""
    timeline, run = record.timeline, record.run
    asked = row.treatment[factor]
    if timeline is None or run.wall_ns is None or not isinstance(asked, int | float):
        return None
    begin, end = 0.0, float(run.wall_ns)
    if record.iterations:
        begin = max(0, min(min(part.start_ns) for part in record.iterations))
        end = max(max(part.end_ns) for part in record.iterations)
    read = _Reader(timeline, asked, row.n_cpus, max(end, run.wall_ns))
    whole = read.tasks(begin, end) if end > begin else None
    return TimedRun(whole, read.load(begin, end), _phases(read, record, begin, end)) if whole else None


@dataclass(frozen=True)
class _Reader:
    """Reads parts of one timeline."""

    timeline: Timeline
    asked: float
    n_cpus: int
    last_ns: float

    def tasks(self, begin: float, end: float) -> Parallelism | None:
        timeline = self.timeline
        busy = timeline.busy_ns or ([timeline.tree_busy_ns] if timeline.tree_busy_ns else [])
        if not busy:
            return None
        return parallelism(busy, timeline.bin_ns, self.asked, self.n_cpus, begin, end, self.last_ns)

    def load(self, begin: float, end: float) -> Load | None:
        timeline = self.timeline
        if timeline.waiting_ns is None or not timeline.busy_ns:
            return None
        return load([*timeline.busy_ns, timeline.waiting_ns], timeline.bin_ns, begin, end, self.last_ns)


def _phases(read: _Reader, record: Record, begin: float, end: float) -> dict[str, PhaseRun]:
    """The phases that the workload told, of a run of one iteration."""
    told = record.values[0].values if len(record.values) == 1 else {}
    if len(told.get(IMAGE_END, ())) != 1:
        return {}
    middle = min(begin + told[IMAGE_END][0], end)
    found = {}
    for name, first, last in zip(PHASES, (begin, middle), (middle, end), strict=True):
        tasks = read.tasks(first, last) if f"{name}_wall_s" in told and last > first else None
        if tasks is not None:
            percent = next(iter(told.get(f"{name}_cpu_percent", ())), None)
            found[name] = PhaseRun((last - first) / (end - begin), percent, tasks, read.load(first, last))
    return found
