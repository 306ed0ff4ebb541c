"""Tables of a parallel build: costs, best level, discarded runs, memory, parallelism, phases and load."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from statistics import mean, median
from typing import Any

from scalograph.analysis.estimate import Estimate
from scalograph.analysis.interval import summarize
from scalograph.findings.answer import ItemColumn, SampleMap, level_columns, tabulate
from scalograph.findings.table import Table
from scalograph.protocol import journal
from scalograph.protocol.findings import Cell, Column, TableDoc
from scalograph.protocol.plain import Level
from scalograph.questions.parallel_build.document import Builds
from scalograph.questions.parallel_build.model_equivalence import (
    MARGIN,
    Group,
    against_first,
    compare_with_best,
    groups,
    rests_on_disturbed,
    user_time,
)
from scalograph.questions.parallel_build.model_parallelism import N_PARTS, Parallelism, TimedRuns
from scalograph.text.quantities import gibibytes, percent
from scalograph.text.short_names import shorten

_WORDS = {"equivalent": f"the same within {MARGIN:.0%}", "different": "different", "not shown": "not decided"}


def inflation_table(table: Table, taken: SampleMap, factor: str) -> TableDoc | None:
    """Tabulate growth of user time, or of CPU time where that is all there is; None without either."""
    response = user_time(table)
    note = (
        f"{table.view.title(response)}, over that of the first {table.view.title(factor)}; the same files are "
        f"compiled, so what is more is the price of running side by side. {_margin(table)}"
    )
    heading = f"Growth of {table.view.title(response)}, with {table.view.title(factor)}"
    return next(iter(_tables(table, taken, factor, response, "inflation", (heading, note))), None)


def same_tables(table: Table, taken: SampleMap) -> list[TableDoc]:
    """Tabulate, for each tunable, whether it changes the primary response."""
    response, tables = table.view.primary, list[TableDoc]()
    for name in table.view.varying:
        if table.study.factors[name].kind == "tunable":
            note = f"{table.view.title(response)}, over that of the first level. {_margin(table)}"
            heading = f"Does {table.view.title(name)} make a difference?"
            tables += _tables(table, taken, name, response, f"same-{name}", (heading, note))
    return tables


def _tables(
    table: Table, taken: SampleMap, factor: str, response: str, name: str, texts: tuple[str, str]
) -> list[TableDoc]:
    """Tabulate the ratio of each level to the first; empty where there is none. `texts`: heading and note."""
    ratios = [(group, against_first(table, group, response)) for group in groups(table, taken, factor)]
    items = [(group, level, ratio) for group, by_level in ratios for level, ratio in by_level.items()]
    doc = tabulate(name, texts[0], items, [
        *_level_columns(table, factor, lambda x: x[0].levels(factor, x[1])),
        ("ratio", "estimate", lambda x: x[2].ratio),
        ("so it is", "text", lambda x: _WORDS[x[2].label] + _doubt(x[0], response, next(iter(x[0].samples)), x[1])),
    ], texts[1])  # fmt: skip
    return [doc] if items else []


def _level_columns(table: Table, factor: str, levels_of: Callable[[Any], Mapping[str, Level]]) -> list[ItemColumn[Any]]:
    return level_columns(table.view, [*(name for name in table.view.varying if name != factor), factor], levels_of)


def _doubt(group: Group, response: str, *levels: Level) -> str:
    return ", on disturbed runs" if rests_on_disturbed(group, response, *levels) else ""


def _margin(table: Table) -> str:
    confidence = table.view.confidence
    return (
        f"The same within {MARGIN:.0%}: two one-sided tests at {1 - confidence:.2g} each (Schuirmann 1987), so the "
        f"interval is one of {2 * confidence - 1:.0%}"
    )


def best_table(table: Table, taken: SampleMap, factor: str) -> TableDoc | None:
    """Tabulate each level beside the best of the others; None where nothing can be compared."""
    if table.view.response.better != "lower":
        return None
    every = groups(table, taken, factor)
    compared = [(group, c) for group in every for c in compare_with_best(table, group, len(every))]
    if not compared:
        return None
    least = median(c.visible for _, c in compared)
    visible = f"a level that is slower by {percent(least)} is detected four times in five"
    if least >= 1:
        visible = "levels that differ less than twofold cannot be distinguished with these blocks and this noise"
    note = (
        f"{table.view.primary_title}, compared within blocks; all intervals hold at once, and among the "
        f"levels that may be the best is the best with {table.view.confidence:.0%} confidence (Hsu 1984); "
        f"{visible}"
    )
    return tabulate("best", f"The best {table.view.title(factor)}", compared, [
        *_level_columns(table, factor, lambda x: x[0].levels(factor, x[1].level)),
        ("over the best of the others", "estimate", lambda x: x[1].over_best),
        ("may be the best", "text", lambda x: ("yes" if x[1].may_be_best else "no") + _doubt(x[0], table.view.primary)),
    ], note)  # fmt: skip


def prepared_table(table: Table) -> TableDoc | None:
    """Tabulate what was fetched or built before the first run; None where nothing was."""
    uses = journal.first_event(table.file).get("uses") if table.file else None
    prepared = uses.get("prepared") if isinstance(uses, dict) else None
    if not isinstance(prepared, dict) or not prepared:
        return None
    note = "fetched once by the package manager, which checks it by the signed index of its distribution"
    return tabulate("prepared", "What was built", prepared.items(), [
        ("name", "label", lambda x: shorten(x[0])),
        ("package, version, file and checksum", "text", lambda x: shorten(x[1])),
    ], note)  # fmt: skip


def discarded_table(table: Table) -> TableDoc | None:
    """Tabulate the discarded first runs and what they read from disk: why they do not count."""
    rows = [row for row in table.rows if row.warmup]
    if not rows:
        return None
    name = table.view.primary
    cells: list[list[Cell]] = [[row.run, row.read_bytes, row.n_major_faults, row.scores.get(name)] for row in rows]
    counted = [row for row in table.successful_rows() if row.n_major_faults is not None]
    if counted:
        read, faults = mean(row.read_bytes or 0 for row in counted), mean(row.n_major_faults or 0 for row in counted)
        cells.append(["mean of those that count", read, faults, None])
    columns = [
        Column(name="run", kind="label"), Column(name="read from disk", unit="bytes"), Column(name="pages waited for"),
        Column(name=table.view.title(name), unit=table.study.responses[name].unit),
    ]  # fmt: skip
    note = "the first runs of a study find its files on the disk, later ones in memory; they are made and do not count"
    return TableDoc(id="discarded", title="Runs made first and discarded", note=note, columns=columns, rows=cells)


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


def memory_table(table: Table, taken: SampleMap, factor: str) -> TableDoc | None:
    measured = [(group, needs) for group in groups(table, taken, factor) if (needs := memory(table, group))]
    if not measured:
        return None
    title, size = table.view.title(factor), table.machine.get("memory_bytes")
    has_peaks = any(needs.peaks for _, needs in measured)
    granted = "" if has_peaks else " (here no run has a group that counts its memory)"
    items = [(group, needs, level) for group, needs in measured for level in needs.per_level]
    return tabulate("memory", "Memory that builds need", items, [
        *_level_columns(table, factor, lambda x: x[0].levels(factor, x[2])),
        ("largest process", "number", lambda x: x[1].per_level[x[2]], "bytes"),
        ("the whole tree", "number", lambda x: x[1].peaks.get(x[2]), "bytes"),
        ("at most", "number", lambda x: x[1].bound(float(x[2])), "bytes"),
        (f"{title} that may fit", "number", lambda x: _fits(x[1], size) if size else None),
    ], _NOTE.format(granted=granted, factor=title))  # fmt: skip


def memory_warnings(table: Table, taken: SampleMap, factor: str) -> Iterator[str]:
    """Warn of levels whose runs failed and for which this machine has too little memory."""
    size = table.machine.get("memory_bytes")
    for group in groups(table, taken, factor):
        needs = memory(table, group)
        if needs is None or not size:
            continue
        # Also levels of which no run succeeded.
        failed = [s.configuration for s in taken.values() if s.n_failed]
        for jobs in (float(x[factor]) for x in failed if group.fixed.items() <= x.items()):
            if (need := needs.need(jobs)) > size:
                where = "".join(f", {table.view.title(n)} {group.fixed[n]}" for n in table.view.varying if n != factor)
                yield (
                    f"{table.view.title(factor)} {jobs:g}{where}: would need about {gibibytes(need)}, by the largest "
                    f"process of the other builds ({gibibytes(needs.largest)}); this machine has {gibibytes(size)}, "
                    f"which may do for {table.view.title(factor)} {_fits(needs, size)}"
                )


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


def parallelism_table(table: Table, taken: SampleMap, factor: str, timelines: TimedRuns) -> TableDoc | None:
    timed = [(sample, [run.parallelism for run in timelines[key]]) for key, sample in taken.items() if key in timelines]
    if not timed:
        return None
    confidence = table.view.confidence
    return tabulate("parallelism", "How parallel the work was", timed, [
        *level_columns(table.view, _label_factors(table), lambda x: x[0].configuration),
        ("tasks on a CPU", "estimate", lambda x: summarize([run.mean for run in x[1]], confidence)),
        ("could be", "number", lambda x: x[1][0].limit),
        ("lost", "estimate", lambda x: _duration([run.lost_s for run in x[1]], confidence), "s"),
        ("below", "estimate", lambda x: _duration([run.below_s for run in x[1]], confidence), "s"),
        ("tail", "estimate", lambda x: _tail(x[1], confidence), "s"), ("runs", "number", lambda x: len(x[1])),
    ], _PARALLELISM_NOTE.format(factor=table.view.title(factor)))  # fmt: skip


def course_table(table: Table, taken: SampleMap, timelines: TimedRuns) -> TableDoc | None:
    timed = [(sample, timelines[key]) for key, sample in taken.items() if key in timelines]
    if not timed:
        return None
    courses = [
        (sample.configuration, [mean(float(run.parallelism.course[part]) for run in runs) for part in range(N_PARTS)])
        for sample, runs in timed
    ]
    note = "tasks on a CPU in each tenth of the time from the start of the work to its end, mean of the runs that count"
    return _tenths_table(table, "course", "Tasks on a CPU from start to end", courses, note)


def _tenths_table(
    table: Table, key: str, title: str, courses: Sequence[tuple[Mapping[str, Level], Sequence[float]]], note: str
) -> TableDoc:
    def tasks(part: int, course: tuple[Mapping[str, Level], Sequence[float]]) -> float:
        return round(course[1][part], 2)

    tenths: list[ItemColumn[tuple[Mapping[str, Level], Sequence[float]]]] = [
        (f"to {100 * (part + 1) // N_PARTS}%", "number", partial(tasks, part)) for part in range(N_PARTS)
    ]
    columns = [*level_columns(table.view, _label_factors(table), itemgetter(0)), *tenths]
    return tabulate(key, title, courses, columns, note)


def _label_factors(table: Table) -> list[str]:
    return table.view.varying or list(table.study.factors)


def _tail(runs: Sequence[Parallelism], confidence: float) -> Estimate:
    if runs[0].limit > 1:
        return _duration([run.tail_s for run in runs], confidence)
    return Estimate(warnings=("one task is all that there could be",))


def _duration(values: Sequence[float], confidence: float) -> Estimate:
    """Average durations: those of 0 have no log, and none is negative, whatever a t interval says."""
    return summarize(values, confidence, estimand="mean").clip_at_zero()


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
    return tabulate("phases", "Phases of a build", builds.phases, [
        *level_columns(table.view, _label_factors(table), lambda x: x.configuration),
        ("phase", "label", lambda x: x.phase), ("share of the wall time", "estimate", lambda x: x.share),
        ("CPU %", "estimate", lambda x: x.cpu_percent, "%"), ("tasks on a CPU", "estimate", lambda x: x.tasks),
        ("runnable tasks", "estimate", lambda x: x.runnable),
    ], _PHASES)  # fmt: skip


def load_table(table: Table, builds: Builds) -> TableDoc | None:
    """Tabulate the load of each configuration by tenth; None where no timeline has waits."""
    courses = [(load.configuration, load.course) for load in builds.loads]
    return _tenths_table(table, "load", "Runnable tasks from start to end", courses, _LOAD) if courses else None
