"""Tables of memory, parallelism, phases and load of a build; warnings of too little memory."""

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
    """Memory that a group of configurations needed, in bytes.

    Attributes:
        largest: single process, of any run.
        per_level: the same for each level, median of its runs.
        peaks: of the whole tree, for each level, median of its runs; empty where the kernel granted no such figure.
    """

    largest: float
    per_level: Mapping[Level, float]
    peaks: Mapping[Level, float]

    def bound(self, jobs: float) -> float:
        """Return the most that so many jobs take, if no process is larger than those seen."""
        return jobs * self.largest

    def need(self, jobs: float) -> float:
        """Extrapolate from the nearest measured peak of a tree: one largest process for each further job."""
        lower = [(float(level), peak) for level, peak in self.peaks.items() if float(level) <= jobs]
        if not lower:
            return self.bound(jobs)
        level, peak = max(lower)
        return peak + (jobs - level) * self.largest


def memory(table: Table, group: Group) -> Memory | None:
    """Measure the memory of a group; None where the study does not ask for it, or no run has it."""
    largest = _scores(table, group, LARGEST)
    if not (most := max((x for scores in largest.values() for x in scores), default=0.0)):
        return None
    per_level, peaks = ({k: median(x) for k, x in y.items()} for y in (largest, _scores(table, group, PEAK)))
    return Memory(most, per_level, peaks)


def memory_table(table: Table, taken: Samples, factor: str) -> TableDoc | None:
    """Tabulate memory, a row for each configuration that has it."""
    measured = [(group, needs) for group in groups(table, taken, factor) if (needs := memory(table, group))]
    rows = [_row(table, group, factor, needs, level) for group, needs in measured for level in needs.per_level]
    if not rows:
        return None
    names = [title(table, name) for name in varying_factors(table) if name != factor]
    columns = [Column(name=name, kind="label") for name in [*names, title(table, factor)]]
    columns += [Column(name=name, unit="bytes") for name in ("largest process", "the whole tree", "at most")]
    columns.append(Column(name=f"{title(table, factor)} that may fit"))
    has_peaks = any(needs.peaks for _, needs in measured)
    granted = "" if has_peaks else " (here no run has a group that counts its memory)"
    note = _NOTE.format(granted=granted, factor=title(table, factor))
    return TableDoc(id="memory", title="Memory that builds need", note=note, columns=columns, rows=rows)


def memory_warnings(table: Table, taken: Samples, factor: str) -> Iterator[str]:
    """Warn of levels whose runs failed and for which this machine has too little memory."""
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
    """List levels of a group that have failed runs, also those without any other."""
    configurations = (s.configuration for s in taken.values() if s.n_failed)
    return [float(t[factor]) for t in configurations if all(t[name] == level for name, level in group.fixed.items())]


def _row(table: Table, group: Group, factor: str, needs: Memory, level: Level) -> list[Cell]:
    size, jobs = table.machine.get("memory_bytes"), float(level)
    fits = _fits(needs, size) if size else None
    values = [needs.per_level[level], needs.peaks.get(level), needs.bound(jobs), fits]
    return [*fixed_cells(table, group, factor), level, *values]


def _fits(needs: Memory, size: float) -> int:
    return int(size // needs.largest)


def _scores(table: Table, group: Group, source: str) -> dict[Level, list[float]]:
    """Collect scores by level: disturbed runs need the same memory."""
    name = next((name for name, response in table.study.responses.items() if response.source == source), "")
    rows = {level: sample.succeeded for level, sample in group.samples.items()}
    scores = {level: [r.scores[name] for r in every if name in r.scores] for level, every in rows.items()}
    return {level: values for level, values in scores.items() if values}


_PARALLELISM_NOTE = (
    "tasks on a CPU, counted in bins of the timeline, between the start and the end of the work; could be: the smaller "
    "of {factor} and of the CPUs; lost: CPU time that so many tasks would have used and these did not; below: how long "
    "fewer than 0.9 of it were on a CPU; tail: how long at the end at most one was"
)


def parallelism_table(table: Table, taken: Samples, factor: str, timelines: TimedRuns) -> TableDoc | None:
    """Tabulate parallelism, a row for each configuration with timelines."""
    timed = [(sample, timelines[key]) for key, sample in taken.items() if key in timelines]
    if not timed:
        return None
    rows = [_parallelism_row(table, sample, [run.parallelism for run in runs]) for sample, runs in timed]
    columns = [*_labels(table), Column(name="tasks on a CPU", kind="estimate"), Column(name="could be")]
    columns += [Column(name=name, unit="s", kind="estimate") for name in ("lost", "below", "tail")]
    columns.append(Column(name="runs"))
    note = _PARALLELISM_NOTE.format(factor=title(table, factor))
    return TableDoc(id="parallelism", title="How parallel the work was", note=note, columns=columns, rows=rows)


def course_table(table: Table, taken: Samples, timelines: TimedRuns) -> TableDoc | None:
    """Tabulate tasks on a CPU from start to end."""
    timed = [(sample, timelines[key]) for key, sample in taken.items() if key in timelines]
    if not timed:
        return None
    rows: list[list[Cell]] = []
    for sample, runs in timed:
        courses = [run.parallelism.course for run in runs]
        means = [round(mean(float(course[part]) for course in courses), 2) for part in range(N_PARTS)]
        rows.append([*_levels(table, sample.configuration), *means])
    note = "tasks on a CPU in each tenth of the time from the start of the work to its end, mean of the runs that count"
    columns = [*_labels(table), *_part_columns()]
    return TableDoc(id="course", title="Tasks on a CPU from start to end", note=note, columns=columns, rows=rows)


def _part_columns() -> list[Column]:
    return [Column(name=f"to {100 * (part + 1) // N_PARTS} %") for part in range(N_PARTS)]


def _labels(table: Table) -> list[Column]:
    units = {name: table.study.factors[name].unit for name in _label_factors(table)}
    return [Column(name=title(table, name), unit=unit, kind="label") for name, unit in units.items()]


def _levels(table: Table, configuration: Mapping[str, Level]) -> list[Level]:
    return [configuration[name] for name in _label_factors(table)]


def _label_factors(table: Table) -> list[str]:
    return varying_factors(table) or list(table.study.factors)


def _parallelism_row(table: Table, sample: Sample, runs: Sequence[Parallelism]) -> list[Cell]:
    confidence = table.study.protocol.confidence
    cells: list[Cell] = [*_levels(table, sample.configuration)]
    cells += [summarize([run.mean for run in runs], confidence), runs[0].limit]
    cells += [_duration([run.lost_s for run in runs], confidence), _duration([run.below_s for run in runs], confidence)]
    no_tail = Estimate(warnings=("one task is all that there could be",))
    tail = _duration([run.tail_s for run in runs], confidence) if runs[0].limit > 1 else no_tail
    return [*cells, tail, len(runs)]


def _duration(values: Sequence[float], confidence: float) -> Cell:
    """Average durations: those of 0 have no log, and none is negative, whatever a t interval says."""
    duration = summarize(values, confidence, estimand="mean")
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
    """Tabulate each phase of each configuration; None where builds have one phase or none."""
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
    """Tabulate the load of each configuration by tenth; None where no timeline has waits."""
    if not builds.loads:
        return None
    rows: list[list[Cell]] = [
        [*(load.configuration[name] for name in _label_factors(table)), *(round(tasks, 2) for tasks in load.course)]
        for load in builds.loads
    ]
    columns = [*_labels(table), *(Column(name=f"to {100 * (part + 1) // N_PARTS} %") for part in range(N_PARTS))]
    return TableDoc(id="load", title="Runnable tasks from start to end", note=_LOAD, columns=columns, rows=rows)
