"""Measure how many tasks of a run were on a CPU over time, and when they were fewer than possible."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from scalograph.analysis.center import FloatArray
from scalograph.findings.answer import SampleMap
from scalograph.findings.row import Row
from scalograph.findings.table import Table
from scalograph.protocol import journal
from scalograph.protocol.plain import Level
from scalograph.protocol.record import Record, Timeline

N_PARTS = 10  # of a course: enough to see a decay, few enough for a table
SLACK = 0.1  # a bin holds a mean: one whose last task ended within it lies a little below the whole number


@dataclass(frozen=True, slots=True)
class Parallelism:
    """On-CPU tasks of one run.

    Attributes:
        mean: tasks on a CPU, over the window.
        limit: how many could have been: the smaller of what was asked for and of the CPUs.
        below_s: how long they were fewer than 0.9 of the limit, to one bin.
        lost_s: CPU time that could have been used and was not, `limit` x wall less what was used: exact.
        tail_s: how long at the end at most one task was on a CPU, to one bin; the whole window where it never was more.
        tasks: mean tasks on a CPU in each bin of the window, shape (n_bins,).
        course: mean tasks on a CPU in each tenth of the window, shape (10,).
    """

    mean: float
    limit: float
    below_s: float
    lost_s: float
    tail_s: float
    tasks: FloatArray
    course: FloatArray


def parallelism(
    busy_ns: Sequence[Sequence[float]], bin_ns: int, asked: float, n_cpus: int, begin_ns: float, end_ns: float,
    last_ns: float = math.inf,
) -> Parallelism | None:  # fmt: skip
    """Measure parallelism from a timeline (protocol/probe.md).

    `busy_ns`: on-CPU time of the run in each bin, one row for each CPU, or one for all of them; `asked`: tasks that
    may run at once, -j of make; `begin_ns`: where its window begins, nanoseconds after the first bin's start;
    `last_ns`: where the run ends, and with it the last bin.

    None without a bin that lies in the window.

    Raises ValueError: a width, a window or a limit without a meaning.

    >>> p = parallelism([[10, 10, 5], [10, 0, 0]], 10, asked=4, n_cpus=2, begin_ns=0, end_ns=30)
    >>> round(p.mean, 3), p.limit, round(p.below_s * 1e9), round(p.tail_s * 1e9), round(p.lost_s * 1e9)
    (1.167, 2, 20, 20, 25)
    """
    limit, wall = min(asked, n_cpus), end_ns - begin_ns
    if bin_ns <= 0 or wall <= 0 or limit < 1:
        values = f"bins of {bin_ns} ns, {begin_ns} .. {end_ns} ns, {limit} tasks"
        raise ValueError(f"parallelism: found {values}, expected each above zero")
    used, widths = clip_to_window(busy_ns, bin_ns, (begin_ns, end_ns), last_ns)
    if not widths.size:
        return None
    tasks = used / widths
    many = np.flatnonzero(tasks > 1 + SLACK)  # the tail begins after the last of them
    return Parallelism(
        mean=float(used.sum() / wall), limit=limit, below_s=float(widths[tasks < (1 - SLACK) * limit].sum() / 1e9),
        lost_s=max(0.0, float(limit * wall - used.sum()) / 1e9),
        tail_s=float(widths[int(many[-1]) + 1 if many.size else 0 :].sum() / 1e9), tasks=tasks,
        course=course(used, widths),
    )  # fmt: skip


def clip_to_window(
    busy_ns: Sequence[Sequence[float]], bin_ns: int, window: tuple[float, float], last_ns: float
) -> tuple[FloatArray, FloatArray]:
    """Sum CPU time over all CPUs in each bin of the window, and the part of the bin inside it; both in ns.

    A bin that the window enters or leaves counts by its share, as if it were even.
    """
    rows = [row for row in busy_ns if len(row)]
    total = np.sum(np.asarray(rows, dtype=np.float64), axis=0) if rows else np.zeros(0)
    edges = bin_ns * np.arange(total.size + 1)
    inside = np.clip(np.minimum(edges[1:], window[1]) - np.maximum(edges[:-1], window[0]), 0, None)
    lengths = np.minimum(edges[1:], last_ns) - edges[:-1]
    within = inside > 0
    return total[within] * inside[within] / lengths[within], inside[within]


def course(used: FloatArray, widths: FloatArray) -> FloatArray:
    """Average equal parts of the window; within a bin, tasks count as evenly spread."""
    ends = np.concatenate(([0.0], np.cumsum(widths)))
    edges = np.linspace(0, ends[-1], N_PARTS + 1)
    return np.diff(np.interp(edges, ends, np.concatenate(([0.0], np.cumsum(used))))) / np.diff(edges)


# Below it a third of the window has too few bins for a typical one.
LEAST_BINS = 9


@dataclass(frozen=True, slots=True)
class Load:
    """Runnable tasks of one run, which is what a load average counts before it is smoothed.

    Attributes:
        course: mean of each tenth of the window, shape (10,).
        thirds: of the bins in each third of the window the median, shape (3,): a third of which a little belongs to
            a beginning or an end is told by the rest. None with fewer than 9 bins.
    """

    mean: float
    course: FloatArray
    thirds: FloatArray | None

    @property
    def most_in_first_half(self) -> float:
        return float(self.course[: len(self.course) // 2].max())

    @property
    def last_over_first(self) -> float | None:
        """Divide the median of the last third by that of the first: far below 1 where the load decays."""
        return float(self.thirds[2] / self.thirds[0]) if self.thirds is not None and self.thirds[0] > 0 else None


def load(
    rows_ns: Sequence[Sequence[float]], bin_ns: int, begin_ns: float, end_ns: float, last_ns: float
) -> Load | None:
    """Count the tasks that a timeline shows as runnable (protocol/probe.md).

    `rows_ns`: in each bin the time on each CPU, and the time for which tasks waited after they were preempted;
    `begin_ns`: where the window begins, nanoseconds after the first bin's start; `last_ns`: where the run ends, and
    with it the last bin.

    None without a bin that lies in the window.

    >>> found = load([[10] * 9, [10] * 9, [20] * 3 + [0] * 6], 10, 0, 90, 90)
    >>> round(found.mean, 2), found.last_over_first
    (2.67, 0.5)
    """
    used, widths = clip_to_window(rows_ns, bin_ns, (begin_ns, end_ns), last_ns)
    if not widths.size:
        return None
    tasks = used / widths
    thirds = np.array([np.median(part) for part in np.array_split(tasks, 3)]) if tasks.size >= LEAST_BINS else None
    return Load(float(used.sum() / widths.sum()), course(used, widths), thirds)


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
        load: its runnable tasks; None where waits were not recorded.
    """

    share: float
    cpu_percent: float | None
    parallelism: Parallelism
    load: Load | None


@dataclass(frozen=True, slots=True)
class TimedRun:
    """Timeline of one run: the whole window, and each phase in order."""

    parallelism: Parallelism
    load: Load | None
    phases: Mapping[str, PhaseRun]


TimedRuns = Mapping[tuple[Level, ...], Sequence[TimedRun]]


def read_timelines(table: Table, taken: SampleMap, factor: str) -> TimedRuns:
    """Read the timelines of runs that count, by configuration; empty where the journal has none.

    In those of corrected runs others have the CPUs too: they are left out.
    """
    counted = [row for sample in taken.values() for row in sample.counted if row.timeline_line]
    rows = [row for row in counted if row.verdict != "corrected"]
    lines = {row.timeline_line: row for row in rows[:MAX_RUNS] if row.timeline_line}
    events = journal.pick(table.file, lines) if table.file and lines else {}
    by_key: dict[tuple[Level, ...], list[TimedRun]] = {}
    for line, row in lines.items():
        if (timed_run := read_run(events[line]["record"], row, factor)) is not None:
            by_key.setdefault(row.key, []).append(timed_run)
    return by_key


def read_run(record: Record, row: Row, factor: str) -> TimedRun | None:
    """Read the timeline of one run; None without a timeline or an end."""
    timeline, run = record.timeline, record.run
    asked = row.configuration[factor]
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
    values = record.values[0].values if len(record.values) == 1 else {}
    if len(values.get(IMAGE_END, ())) != 1:
        return {}
    middle = min(begin + values[IMAGE_END][0], end)
    phases = {}
    for name, first, last in zip(PHASES, (begin, middle), (middle, end), strict=True):
        tasks = read.tasks(first, last) if f"{name}_wall_s" in values and last > first else None
        if tasks is not None:
            percent = next(iter(values.get(f"{name}_cpu_percent", ())), None)
            phases[name] = PhaseRun((last - first) / (end - begin), percent, tasks, read.load(first, last))
    return phases
