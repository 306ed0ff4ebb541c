"""The runs of each treatment: all that succeeded, and those that the estimates rest on."""

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from scalograph.analysis.baseline import block_logs
from scalograph.analysis.center import FloatArray
from scalograph.analysis.estimate import Flag
from scalograph.design.search_steps import C, Search, SearchSteps
from scalograph.design.stopping_rule import work_time
from scalograph.findings.row import Row, keys
from scalograph.findings.table import Table
from scalograph.protocol import journal
from scalograph.protocol.plain import Level
from scalograph.protocol.record import Record
from scalograph.questions.registry import is_search
from scalograph.study.model import Study
from scalograph.study.responses import CPU_TIMES, primary
from scalograph.verdict.cause import COUNTED, REPEATED

# Changes of its settings by a program that are told.
MOST_CHANGES = 3

OtherLevels = tuple[tuple[str, Level], ...]


class ScoreColumn:
    """The runs of a sample that count for a response. Each is looked at once: a run is a wait for the memory."""

    def __init__(self, rows: Iterable[Row], response: str) -> None:
        self.rows = [row for row in rows if response in row.scores]
        self.scores = [row.scores[response] for row in self.rows]
        self.blocks = [row.block for row in self.rows]

    @cached_property
    def values(self) -> FloatArray:
        """The scores as numbers to reckon with."""
        values = np.array(self.scores, dtype=np.float64)
        values.flags.writeable = False
        return values

    @cached_property
    def block_logs(self) -> Mapping[Hashable, float]:
        """The mean log score of each block; all scores are above zero."""
        return block_logs(0, self.values, {0: self.blocks})


@dataclass(frozen=True)
class Sample:
    """The runs of one treatment: all that succeeded, and those that the estimates rest on.

    Attributes:
        by_cpu: responses that count contaminated runs too, because they read CPU time and the study went on by it.
        whole: responses whose scores are of the whole run, because no window stands for it.
    """

    treatment: Mapping[str, Level]
    every: tuple[Row, ...]
    counted: tuple[Row, ...]
    n_failed: int
    by_cpu: frozenset[str] = frozenset()
    whole: frozenset[str] = frozenset()
    # Every estimate asks for them anew, of up to 100,000 runs.
    _known: dict[str, ScoreColumn] = field(default_factory=dict, init=False, repr=False, compare=False)

    @cached_property
    def names(self) -> list[str]:
        """What the runs that succeeded are called."""
        return [row.run for row in self.every]

    @cached_property
    def verdicts(self) -> list[str]:
        """The verdict of each run that succeeded."""
        return [row.verdict for row in self.every]

    @cached_property
    def courses(self) -> Counter[str]:
        """How the iterations of the runs that count went."""
        return Counter([row.course for row in self.counted])

    @cached_property
    def n_disturbed(self) -> int:
        """Runs that succeeded and are not counted as clean."""
        return len(self.every) - sum(map(self.verdicts.count, COUNTED))

    @property
    def n_undecided(self) -> int:
        """Runs that succeeded, of which nobody can tell whether they were disturbed."""
        return self.verdicts.count("undecided")

    @property
    def falls_back(self) -> bool:
        """Whether the estimates rest on disturbed runs, because too few clean ones are left."""
        return self.n_disturbed > 0 and len(self.counted) == len(self.every)

    def scores(self, response: str) -> list[float]:
        """Scores of the runs that count, in order."""
        return self._found(response).scores.copy()

    def values(self, response: str) -> FloatArray:
        """The same as an array, shape (n,), that nobody changes."""
        return self._found(response).values

    def blocks(self, response: str) -> list[int]:
        """The block of each of `scores`."""
        return self._found(response).blocks.copy()

    def block_logs(self, response: str) -> Mapping[Hashable, float]:
        """The mean log score of each block; all scores are above zero."""
        return self._found(response).block_logs

    def undivided(self) -> "Sample":
        """The sample with all runs that succeeded, as if none had been disturbed."""
        return replace(self, counted=self.every, by_cpu=frozenset())

    def rows(self, response: str) -> Sequence[Row]:
        """Runs that have a score and count for this response, in order."""
        return self._found(response).rows

    def _found(self, response: str) -> ScoreColumn:
        if response not in self._known:
            taken: Iterable[Row] = self.counted
            if response in self.by_cpu and not self.falls_back:
                taken = (row for row in self.every if row.verdict != "impossible")
            self._known[response] = ScoreColumn(taken, response)
        return self._known[response]


def is_functional(row: Row) -> bool:
    """Tell whether a run shows what happens, and not how fast: the CPUs of its guest were emulated."""
    return row.verdict == "undecided" and any(cause.cause == "functional" for cause in row.causes)


def samples(table: Table) -> dict[tuple[Level, ...], Sample]:
    """The sample of each planned treatment, also of one that has no run yet."""
    rows: dict[tuple[Level, ...], list[Row]] = {tuple(t.values()): [] for t in table.treatments}
    real = [row for row in table.rows if not row.warmup]
    for key, row in zip(keys(real), real, strict=True):
        rows.setdefault(key, []).append(row)
    names, by_cpu = list(table.study.factors), cpu_times(table.study)
    return {key: _sample(dict(zip(names, key, strict=True)), found, by_cpu) for key, found in rows.items()}


def others(treatment: Mapping[str, Level], *factors: str) -> OtherLevels:
    """Return the levels of all factors but these: treatments that share them are of one group."""
    return tuple((name, level) for name, level in treatment.items() if name not in factors)


def grouped(taken: Iterable[Sample], *factors: str) -> dict[OtherLevels, list[Sample]]:
    """Group samples that differ in these factors only, in their order."""
    groups: dict[OtherLevels, list[Sample]] = {}
    for sample in taken:
        groups.setdefault(others(sample.treatment, *factors), []).append(sample)
    return groups


def measured(table: Table, taken: Mapping[tuple[Level, ...], Sample]) -> dict[tuple[Level, ...], Sample]:
    """Leave the samples that stand for something: a search measures the levels that tell most, and no others."""
    search = is_search(table.study.question)
    return {key: sample for key, sample in taken.items() if not search or sample.every or sample.n_failed}


def repeats(table: Table) -> int:
    """Count the runs that were made because another was disturbed; a search plans none of its later runs either."""
    real = [row for row in table.rows if not row.warmup]
    if is_search(table.study.question):
        return sum("r" in row.run[1:] for row in real)  # e0007r1 is e0007 again
    return sum(not row.is_planned for row in real)


def cpu_times(study: Study) -> frozenset[str]:
    """Responses that a busy machine leaves nearly as they were, where the study goes on by them."""
    # A search looks at clean runs alone.
    if study.protocol.when_busy != "cpu-time" or is_search(study.question):
        return frozenset()
    return frozenset(name for name, response in study.responses.items() if response.source in CPU_TIMES)


def left_out(by_cpu: Collection[str]) -> str:
    """What became of disturbed runs, in words."""
    return "left out of all but CPU times" if by_cpu else "left out"


def _sample(treatment: Mapping[str, Level], rows: Sequence[Row], by_cpu: frozenset[str]) -> Sample:
    every = tuple(row for row in rows if row.status == "ok")
    clean = tuple(row for row in every if row.verdict in COUNTED)
    # Fewer than two clean runs carry no interval; the disturbed ones do, under a flag.
    return Sample(treatment, every, clean if len(clean) >= 2 else every, len(rows) - len(every), by_cpu)


def flags(sample: Sample) -> list[Flag]:
    """What a reader must know about the runs of one treatment."""
    found = [_disturbed, _undecided, _failed, _survivors, _changed, _work]
    return [flag for look in found for flag in look(sample)]


def is_open(sample: Sample) -> bool:
    """Whether half of the runs or more could not be checked for disturbance."""
    return 2 * sample.n_undecided >= len(sample.every) > 0


def _undecided(sample: Sample) -> Iterable[Flag]:
    if is_open(sample):
        functional = all(map(is_functional, sample.every))
        n = sample.n_undecided
        text = "functional, not timing" if functional else f"{n} of {len(sample.every)} runs unverified: they count"
        yield Flag("undecided", text, n)


def _disturbed(sample: Sample) -> Iterable[Flag]:
    n, of = sample.n_disturbed, len(sample.every)
    if sample.falls_back:
        yield Flag("falls back", f"rests on disturbed runs: {n} of {of}", n)
    elif n:
        yield Flag("disturbed", f"{n} of {of} runs disturbed, {left_out(sample.by_cpu)}", n)


def _failed(sample: Sample) -> Iterable[Flag]:
    if sample.n_failed:
        n, of = sample.n_failed, sample.n_failed + len(sample.every)
        yield Flag("failed", f"{n} of {of} runs failed", n)


def _survivors(sample: Sample) -> Iterable[Flag]:
    if left := sum(row.n_survivors > 0 for row in sample.every):
        yield Flag("survivors", f"{left} of {len(sample.every)} runs left processes behind, which were killed", left)


def _changed(sample: Sample) -> Iterable[Flag]:
    if words := list(dict.fromkeys(text for row in sample.every for text in row.changed)):
        n = sum(bool(row.changed) for row in sample.every)
        told = ", ".join(words[:MOST_CHANGES])
        yield Flag("changed", f"in {n} of {len(sample.every)} runs the program changed {told}", n)


def _work(sample: Sample) -> Iterable[Flag]:
    works = [row.work for row in sample.every]
    counted, n = {work for work in {*works} if work is not None}, works.count(None)
    if len(counted) > 1:
        yield Flag("work differs", f"the work differs between runs: {min(counted):,} to {max(counted):,} units")
    if counted and n:
        yield Flag("work not counted", f"{n} of {len(works)} runs did not count their work", n)


# Records that are read again: each may be megabytes, and one tells nearly as much as ten.
MOST_RECORDS = 10


def records_of(table: Table, rows: Sequence[Row]) -> Iterator[Record]:
    """Read the records of the first ten of these runs: to keep all would be most of a table's memory.

    Args:
        table: whose journal is read; without one there is no record.
        rows: the runs.
    """
    yield from (record for _, record in named_records(table, rows[:MOST_RECORDS]))


def named_records(table: Table, rows: Sequence[Row]) -> Iterator[tuple[str, Record]]:
    """Read the records of these runs, however many, one after the other, each with the name of its run."""
    names = {row.run for row in rows}
    events: Iterator[Mapping[str, Any]] = journal.read(table.file) if table.file and names else iter(())
    for event in events:
        if event["event"] == "run" and event["run"] in names:
            yield event["run"], event["record"]


def telling(search: Search[Any], table: Table) -> Iterator[Row]:
    """Tell a search what its planner knew, run by run: it is a function of the runs in their order.

    Yields:
        Each run that was told: none that was made again, and none of a treatment that no step has.
    """
    steps = SearchSteps(search)
    for row in table.rows:
        if not row.warmup and row.verdict not in REPEATED and steps.level_of(row.treatment) is not None:
            steps.begin(row.block)
            steps.take(row.treatment, time_of(table, row))
            yield row


def retold(search: Search[C], table: Table) -> C:
    """Tell a search all runs of a study; returns its course."""
    for _ in telling(search, table):
        pass
    return search.course


def time_of(table: Table, row: Row) -> float | None:
    """Time of a run that counts, for the same work, in any unit; None where it has none."""
    counts = row.status == "ok" and row.verdict in COUNTED
    return work_time(table.study, row.scores.get(primary(table.study))) if counts else None
