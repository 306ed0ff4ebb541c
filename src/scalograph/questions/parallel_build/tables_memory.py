"""How much memory each number of jobs needs, and which of them this machine has none for."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import mean, median

from scalograph.analysis.estimate import Estimate
from scalograph.analysis.interval import summarize
from scalograph.findings.answer import Samples
from scalograph.findings.names import title, varying_factors
from scalograph.findings.sample import Sample
from scalograph.findings.table import Table
from scalograph.protocol.findings import Cell, Column, TableDoc
from scalograph.protocol.plain import Level
from scalograph.questions.parallel_build.document import Builds
from scalograph.questions.parallel_build.model_equivalence import Group, fixed_cells, groups
from scalograph.questions.parallel_build.model_parallelism import N_PARTS, Parallelism, TimedRuns
from scalograph.text.quantities import gibibytes

LARGEST, PEAK = "run.max_rss", "value.tree_peak_bytes"
_NOTE = (
    "largest process: most resident memory of a single process (getrusage); the whole tree: most that the run's "
    "control group held at once, page cache included{granted}; at most: as many processes as {factor} says, each as "
    "large as the largest"
)


@dataclass(frozen=True)
class Memory:
    """What a group of configurations was seen to need, in bytes.

    Attributes:
        largest: single process, of any run.
        per_level: the same for each level, median of its runs.
        peaks: of the whole tree, for each level, median of its runs; empty where the kernel granted no such figure.
    """

    largest: float
    per_level: Mapping[Level, float]
    peaks: Mapping[Level, float]

    def bound(self, jobs: float) -> float:
        """What so many jobs take at most, if no process is larger than those that were seen."""
        return jobs * self.largest

    def need(self, jobs: float) -> float:
        """From the nearest measured peak of a tree on, one largest process for each further job; else the bound."""
        lower = [(float(level), peak) for level, peak in self.peaks.items() if float(level) <= jobs]
        if not lower:
            return self.bound(jobs)
        level, peak = max(lower)
        return peak + (jobs - level) * self.largest


def memory(table: Table, group: Group) -> Memory | None:
    """None where the study does not ask for the largest process, or no run tells it."""
    largest = _scores(table, group, LARGEST)
    if not (most := max((x for scores in largest.values() for x in scores), default=0.0)):
        return None
    per_level, peaks = (
        {k: median(x) for k, x in by_level.items()} for by_level in (largest, _scores(table, group, PEAK))
    )
    return Memory(most, per_level, peaks)


def memory_table(table: Table, taken: Samples, factor: str) -> TableDoc | None:
    """A row for each configuration whose memory is known."""
    measured = [(group, memory_of) for group in groups(table, taken, factor) if (memory_of := memory(table, group))]
    rows = [
        _row(table, group, factor, memory_of, level) for group, memory_of in measured for level in memory_of.per_level
    ]
    if not rows:
        return None
    names = [title(table, name) for name in varying_factors(table) if name != factor]
    columns = [Column(name=name, kind="label") for name in [*names, title(table, factor)]]
    columns += [Column(name=name, unit="bytes") for name in ("largest process", "the whole tree", "at most")]
    columns.append(Column(name=f"{title(table, factor)} that may fit"))
    granted = (
        "" if any(memory_of.peaks for _, memory_of in measured) else " (here no run has a group that counts its memory)"
    )
    note = _NOTE.format(granted=granted, factor=title(table, factor))
    return TableDoc(id="memory", title="Memory that builds need", note=note, columns=columns, rows=rows)


def memory_warnings(table: Table, taken: Samples, factor: str) -> Iterator[str]:
    """Levels of which runs failed and which, by what the others needed, this machine has too little memory for."""
    size = table.machine.get("memory_bytes")
    for group in groups(table, taken, factor):
        needs = memory(table, group)
        if needs is None or not size:
            continue
        for jobs in _failed_levels(taken, group, factor):
            if (need := needs.need(jobs)) > size:
                where = "".join(f", {title(table, n)} {group.fixed[n]}" for n in varying_factors(table) if n != factor)
                yield (
                    f"{title(table, factor)} {jobs:g}{where}: would need about {gibibytes(need)}, by the largest "
                    f"process of the other builds ({gibibytes(needs.largest)}); this machine has {gibibytes(size)}, "
                    f"which may do for {title(table, factor)} {_fits(needs, size)}"
                )


def _failed_levels(taken: Samples, group: Group, factor: str) -> list[float]:
    """Levels of a group that have failed runs, also those without any other."""
    configurations = (s.configuration for s in taken.values() if s.n_failed)
    return [float(t[factor]) for t in configurations if all(t[name] == level for name, level in group.fixed.items())]


def _row(table: Table, group: Group, factor: str, needs: Memory, level: Level) -> list[Cell]:
    size, jobs = table.machine.get("memory_bytes"), float(level)
    fits = _fits(needs, size) if size else None
    figures = [needs.per_level[level], needs.peaks.get(level), needs.bound(jobs), fits]
    return [*fixed_cells(table, group, factor), level, *figures]


def _fits(needs: Memory, size: float) -> int:
    return int(size // needs.largest)


def _scores(table: Table, group: Group, source: str) -> dict[Level, list[float]]:
    """By level, empty ones left out; disturbed runs need the same memory."""
    name = next((name for name, response in table.study.responses.items() if response.source == source), "")
    scores = {
        level: [row.scores[name] for row in s.succeeded if name in row.scores] for level, s in group.samples.items()
    }
    return {level: values for level, values in scores.items() if values}


_PARALLELISM_NOTE = (
    "tasks on a CPU, counted in bins of the timeline, between the start and the end of the work; could be: the smaller "
    "of {factor} and of the CPUs; lost: CPU time that so many tasks would have used and these did not; below: how long "
    "fewer than 0.9 of it were on a CPU; tail: how long at the end at most one was"
)


def parallelism_table(
    table: Table, taken: Mapping[tuple[Level, ...], Sample], factor: str, timelines: TimedRuns
) -> TableDoc | None:
    """A row for each configuration with timelines."""
    rows = [
        _parallelism_row(table, sample, [run.parallelism for run in timelines[key]])
        for key, sample in taken.items()
        if key in timelines
    ]
    if not rows:
        return None
    columns = [
        *_labels(table),
        Column(name="tasks on a CPU", kind="estimate"),
        Column(name="could be"),
        Column(name="lost", unit="s", kind="estimate"),
        Column(name="below", unit="s", kind="estimate"),
        Column(name="tail", unit="s", kind="estimate"),
        Column(name="runs"),
    ]
    note = _PARALLELISM_NOTE.format(factor=title(table, factor))
    return TableDoc(id="parallelism", title="How parallel the work was", note=note, columns=columns, rows=rows)


def course_table(table: Table, taken: Mapping[tuple[Level, ...], Sample], timelines: TimedRuns) -> TableDoc | None:
    """How the tasks on a CPU went from start to end: where they were few, and how they decay."""
    timed = [(sample, timelines[key]) for key, sample in taken.items() if key in timelines]
    if not timed:
        return None
    parts = range(N_PARTS)
    rows: list[list[Cell]] = [
        [
            *_levels(table, sample),
            *(round(mean(float(run.parallelism.course[part]) for run in runs), 2) for part in parts),
        ]
        for sample, runs in timed
    ]
    columns = [*_labels(table), *(Column(name=f"to {100 * (part + 1) // N_PARTS} %") for part in parts)]
    note = "tasks on a CPU in each tenth of the time from the start of the work to its end, mean of the runs that count"
    return TableDoc(id="course", title="Tasks on a CPU from start to end", note=note, columns=columns, rows=rows)


def _labels(table: Table) -> list[Column]:
    return [
        Column(name=title(table, name), unit=table.study.factors[name].unit, kind="label")
        for name in _label_factors(table)
    ]


def _levels(table: Table, sample: Sample) -> list[Level]:
    return [sample.configuration[name] for name in _label_factors(table)]


def _label_factors(table: Table) -> list[str]:
    return varying_factors(table) or list(table.study.factors)


def _parallelism_row(table: Table, sample: Sample, runs: Sequence[Parallelism]) -> list[Cell]:
    confidence = table.study.protocol.confidence
    cells: list[Cell] = [*_levels(table, sample)]
    cells += [summarize([run.mean for run in runs], confidence), runs[0].limit]
    cells += [_duration([run.lost_s for run in runs], confidence), _duration([run.below_s for run in runs], confidence)]
    no_tail = Estimate(warnings=("one task is all that there could be",))
    tail = _duration([run.tail_s for run in runs], confidence) if runs[0].limit > 1 else no_tail
    return [*cells, tail, len(runs)]


def _duration(figures: Sequence[float], confidence: float) -> Cell:
    """Durations of 0 have no log, and they add up: their mean is what a reader of a sum wants."""
    return _clamp_at_zero(summarize(figures, confidence, estimand="mean"))


def _clamp_at_zero(duration: Estimate) -> Estimate:
    """No duration is below zero, whatever a t interval says."""
    return replace(duration, low=max(0.0, duration.low)) if duration.low is not None else duration


_PHASES = (
    "image: one call of make; modules: one call after another, each of one directory, so that no job of the next one "
    "begins before the last of this one has ended; runnable: tasks on a CPU, or waiting for one after a preemption"
)
_LOAD = (
    "tasks on a CPU, and those that were preempted and wait for one, in each tenth of the time from the start of the "
    "work to its end, mean of the runs that count: the load, before any smoothing; a task that was woken and has not "
    "run yet is not in it"
)


def phases_table(table: Table, builds: Builds) -> TableDoc | None:
    """A row for each phase of each configuration; None where builds have no phases, or one only."""
    if len({phase.phase for phase in builds.phases}) < 2:
        return None
    rows: list[list[Cell]] = [
        [
            *(phase.configuration[name] for name in _label_factors(table)),
            phase.phase,
            phase.share,
            phase.cpu_percent,
            phase.tasks,
            phase.runnable,
        ]
        for phase in builds.phases
    ]
    columns = [
        *_labels(table),
        Column(name="phase", kind="label"),
        Column(name="share of the wall time", kind="estimate"),
    ]
    columns += [Column(name="CPU %", unit="%", kind="estimate"), Column(name="tasks on a CPU", kind="estimate")]
    columns.append(Column(name="runnable tasks", kind="estimate"))
    return TableDoc(id="phases", title="Phases of a build", note=_PHASES, columns=columns, rows=rows)


def load_table(table: Table, builds: Builds) -> TableDoc | None:
    """The load of each configuration by tenth; None where no timeline tells of waits."""
    if not builds.loads:
        return None
    rows: list[list[Cell]] = [
        [*(load.configuration[name] for name in _label_factors(table)), *(round(tasks, 2) for tasks in load.course)]
        for load in builds.loads
    ]
    columns = [*_labels(table), *(Column(name=f"to {100 * (part + 1) // N_PARTS} %") for part in range(N_PARTS))]
    return TableDoc(id="load", title="Runnable tasks from start to end", note=_LOAD, columns=columns, rows=rows)
