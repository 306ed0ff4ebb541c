"""Samples: the runs of each configuration, all successful ones and those that estimates count."""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import nan
from statistics import fmean, geometric_mean
from typing import Any

import numpy as np

from scalograph.analysis.baseline import block_logs
from scalograph.analysis.center import FloatArray
from scalograph.analysis.estimate import Flag
from scalograph.design.search_steps import C, Search, SearchSteps
from scalograph.design.stopping_rule import work_time
from scalograph.findings.row import Key, Row, row_keys
from scalograph.findings.table import Table
from scalograph.protocol import journal
from scalograph.protocol.plain import Level
from scalograph.protocol.record import Record
from scalograph.study.responses import UNDISTURBED, limited_score
from scalograph.text.warning_catalog import flag_text
from scalograph.verdict.cause import COUNTED, REPEATED

MAX_CHANGES = 3  # of its settings by a program that a flag names

OtherLevels = tuple[tuple[str, Level], ...]


class ScoreColumn:
    """The counted runs of a sample with their scores of one response, read once."""

    def __init__(self, rows: Iterable[Row], response: str) -> None:
        self.rows = [row for row in rows if response in row.scores]
        self.scores = [row.scores[response] for row in self.rows]
        self.blocks = [row.block for row in self.rows]

    @cached_property
    def values(self) -> FloatArray:
        """Return the scores as a read-only array, shape (n,)."""
        values = np.array(self.scores, dtype=np.float64)
        values.flags.writeable = False
        return values

    @cached_property
    def block_logs(self) -> Mapping[Hashable, float]:
        """Return the mean log score of each block; all scores are positive."""
        return block_logs(0, self.values, {0: self.blocks})


@dataclass(frozen=True)
class Sample:
    """The runs of one configuration: all successful ones and those that estimates count.

    Attributes:
        cpu_responses: responses that count disturbed runs too: they read CPU time, and the study continued by it.
        whole: responses with whole-run scores, because no window stands for the run.
        raw: responses that exclude corrected runs, because their values include interference.
    """

    configuration: Mapping[str, Level]
    succeeded: tuple[Row, ...]
    counted: tuple[Row, ...]
    n_failed: int
    cpu_responses: frozenset[str] = frozenset()
    whole: frozenset[str] = frozenset()
    raw: frozenset[str] = frozenset()
    # Every estimate asks for them anew, of up to 100,000 runs.
    _columns: dict[str, ScoreColumn] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def key(self) -> Key:
        """Return the levels, in the order of the study's factors."""
        return tuple(self.configuration.values())

    @cached_property
    def names(self) -> list[str]:
        """Return the names of the successful runs."""
        return [row.run for row in self.succeeded]

    @cached_property
    def verdicts(self) -> list[str]:
        """Return the verdicts of the successful runs."""
        return [row.verdict for row in self.succeeded]

    @cached_property
    def course_counts(self) -> Counter[str]:
        """Count the counted runs by steady-state behavior."""
        return Counter([row.course for row in self.counted])

    @cached_property
    def n_disturbed(self) -> int:
        """Count the successful runs that are not clean or unverified."""
        return len(self.succeeded) - sum(map(self.verdicts.count, COUNTED))

    @property
    def n_unverified(self) -> int:
        """Count the successful runs that could not be checked for interference."""
        return self.verdicts.count("unverified")

    @property
    def unknown_rows(self) -> list[Row]:
        """Return the unverified runs that do not count, because it is unknown what others took from them."""
        return [row for row in self.succeeded if self.raw and _is_unknown(row)]

    @property
    def falls_back(self) -> bool:
        """Return whether estimates include disturbed runs because too few clean ones are left."""
        return self.n_disturbed > 0 and len(self.counted) == len(self.succeeded)

    @property
    def is_uncorrected(self) -> bool:
        """Return whether the study uses undisturbed time, and no run of this configuration has one."""
        return bool(self.raw and self.succeeded) and not self.counted

    def rests_on_disturbed(self, response: str) -> bool:
        """Return whether a response includes runs with what others took in it, because too few clean ones are left."""
        if self.falls_back:
            return response not in self.cpu_responses
        return response in self.raw and any(row.verdict in ("corrected", "disturbed") for row in self.rows(response))

    def scores(self, response: str) -> list[float]:
        """Return the scores of the counted runs, in order."""
        return self._column(response).scores.copy()

    def values(self, response: str) -> FloatArray:
        """Return the scores as a read-only array, shape (n,)."""
        return self._column(response).values

    def blocks(self, response: str) -> list[int]:
        return self._column(response).blocks.copy()

    def block_logs(self, response: str) -> Mapping[Hashable, float]:
        """Return the mean log score of each block; all scores are positive."""
        return self._column(response).block_logs

    def scores_by_block(self, response: str) -> dict[int, list[float]]:
        """Return the scores of each block: a repeated run may stand in the block of another."""
        column, scores = self._column(response), dict[int, list[float]]()
        for block, score in zip(column.blocks, column.scores, strict=True):
            scores.setdefault(block, []).append(score)
        return scores

    def block_means(self, response: str) -> dict[int, float]:
        """Return the geometric mean of the scores of each block; 0 where one has no log."""
        by_block = self.scores_by_block(response).items()
        return {block: geometric_mean(scores) if min(scores) > 0 else 0.0 for block, scores in by_block}

    def ignore_disturbance(self) -> "Sample":
        """Return the sample with all successful runs counted."""
        return replace(self, counted=self.succeeded, cpu_responses=frozenset())

    def open_log(self, response: str) -> float:
        """Return half of the distance between the ends of corrected values, as a log; 0 for others."""
        rows = self.rows(response) if response == UNDISTURBED and self.raw else ()
        return fmean([row.open_log for row in rows]) if rows else 0.0

    def rows(self, response: str) -> Sequence[Row]:
        """Return the counted runs that have a score of this response, in order."""
        return self._column(response).rows

    def _column(self, response: str) -> ScoreColumn:
        if response not in self._columns:
            rows: Iterable[Row] = self.counted
            # If no run can be corrected, all but undisturbed time is still known.
            if self.is_uncorrected or (response in self.cpu_responses and not self.falls_back):
                rows = (row for row in self.succeeded if row.verdict != "invalid")
            elif response in self.raw and not self.falls_back:
                clean = [row for row in self.counted if row.verdict != "corrected"]
                rows = clean if len(clean) >= 2 else rows
            self._columns[response] = ScoreColumn(rows, response)
        return self._columns[response]


def is_functional(row: Row, name: str = "functional") -> bool:
    """Return whether a run shows function, not timing: its guest was emulated, or (`one machine`) its nodes are one."""
    return row.verdict == "unverified" and any(cause.cause == name for cause in row.causes)


def samples_by_configuration(table: Table) -> dict[Key, Sample]:
    """Return the sample of each planned configuration, empty ones included."""
    groups: dict[Key, list[Row]] = {tuple(t.values()): [] for t in table.configurations}
    real = [row for row in table.rows if not row.warmup]
    for key, row in zip(row_keys(real), real, strict=True):
        groups.setdefault(key, []).append(row)
    names, by_cpu, raw, samples = list(table.study.factors), table.view.cpu_responses, table.view.raw_responses, {}
    for key, rows in groups.items():
        succeeded = tuple(row for row in rows if row.status == "ok")
        clean = tuple(row for row in succeeded if row.verdict in COUNTED and not (raw and _is_unknown(row)))
        # Fewer than two clean runs carry no interval; the disturbed ones do, under a flag.
        # A disturbed run has no undisturbed time.
        counted, n_failed = clean if len(clean) >= 2 or raw else succeeded, len(rows) - len(succeeded)
        samples[key] = Sample(dict(zip(names, key, strict=True)), succeeded, counted, n_failed, by_cpu, raw=raw)
    return samples


def _is_unknown(row: Row) -> bool:
    """Return whether it is unknown what others took from a run."""
    return row.verdict == "unverified" and UNDISTURBED not in row.scores


def other_levels(configuration: Mapping[str, Level], *factors: str) -> OtherLevels:
    """Return the levels of all other factors; configurations that share them form a group."""
    return tuple((name, level) for name, level in configuration.items() if name not in factors)


def group_samples(samples: Iterable[Sample], *factors: str) -> dict[OtherLevels, list[Sample]]:
    """Group samples that differ in these factors only."""
    groups: dict[OtherLevels, list[Sample]] = {}
    for sample in samples:
        groups.setdefault(other_levels(sample.configuration, *factors), []).append(sample)
    return groups


def drop_unmeasured(table: Table, samples: Mapping[Key, Sample]) -> dict[Key, Sample]:
    """Drop the samples that a search never measured."""
    search = table.view.is_search
    return {key: sample for key, sample in samples.items() if not search or sample.succeeded or sample.n_failed}


def count_repeats(table: Table) -> int:
    """Count the runs that replaced a disturbed one."""
    real = [row for row in table.rows if not row.warmup]
    if table.view.is_search:
        return sum("r" in row.run[1:] for row in real)  # e0007r1 is e0007 again
    return sum(not row.is_planned for row in real)


def sample_flags(sample: Sample) -> Iterator[Flag]:
    """Yield the flags of a configuration's runs."""
    rows, of = sample.succeeded, len(sample.succeeded)
    if n := sample.n_disturbed:
        text = f"{n} of {of} runs disturbed, excluded" + " from all but CPU times" * bool(sample.cpu_responses)
        rests = f"{flag_text('disturbed')}: {n} of {of}"
        yield Flag("falls back", rests, n) if sample.falls_back else Flag("disturbed", text, n)
    if is_mostly_unverified(sample):
        text = flag_text("unverified", unverified=sample.n_unverified, runs=of)
        yield Flag(
            "unverified", "functional, not timing" if all(map(is_functional, rows)) else text, sample.n_unverified
        )
    if n := sample.n_failed:
        yield Flag("failed", f"{n} of {n + of} runs failed", n)
    if n := sum(row.n_survivors > 0 for row in rows):
        yield Flag("survivors", f"{n} of {of} runs left processes behind, which were killed", n)
    if words := list(dict.fromkeys(text for row in rows for text in row.changed)):
        n, changes = sum(bool(row.changed) for row in rows), ", ".join(words[:MAX_CHANGES])
        yield Flag("changed", f"in {n} of {of} runs the program changed {changes}", n)
    works = [row.work for row in rows]
    counted, n = {work for work in {*works} if work is not None}, works.count(None)
    if len(counted) > 1:
        yield Flag("work differs", f"the work differs between runs: {min(counted):,} to {max(counted):,} units")
    if counted and n:
        yield Flag("work not counted", f"{n} of {of} runs did not count their work", n)


def is_mostly_unverified(sample: Sample) -> bool:
    """Return whether at least half of the runs could not be checked for interference."""
    return 2 * sample.n_unverified >= len(sample.succeeded) > 0


MAX_RECORDS = 10  # that are read again: each may be megabytes, and one tells nearly as much as ten


def read_records(table: Table, rows: Sequence[Row]) -> Iterator[Record]:
    """Read the records of the first ten of these runs."""
    yield from (record for _, record in read_named_records(table, rows[:MAX_RECORDS]))


def read_named_records(table: Table, rows: Sequence[Row]) -> Iterator[tuple[str, Record]]:
    """Read the records of these runs one by one, each with the name of its run."""
    names = {row.run for row in rows}
    events: Iterator[Mapping[str, Any]] = journal.read(table.file) if table.file and names else iter(())
    for event in events:
        if event["event"] == "run" and event["run"] in names:
            yield event["run"], event["record"]


def replay_events(search: Search[Any], table: Table) -> Iterator[Row]:
    """Feed the runs of a study to a search in their order.

    Yields:
        Each run that was observed: no repeats, and none of a configuration outside the steps.
    """
    steps, names = SearchSteps(search), {row.run for row in table.rows}
    for row in table.rows:
        stem, _, times = row.run[1:].partition("r")
        # An earlier release repeated runs that are corrected now.
        is_last = f"{row.run[:1]}{stem}r{int(times or 0) + 1}" not in names
        counts = not row.warmup and row.verdict not in REPEATED and is_last
        if counts and steps.level_of(row.configuration) is not None:
            steps.begin(row.block)
            steps.observe(row.configuration, run_time(table, row))
            yield row


def replay_runs(search: Search[C], table: Table) -> C:
    """Feed all runs of a study to a search; return its state."""
    for _ in replay_events(search, table):
        pass
    return search.state


def run_time(table: Table, row: Row) -> float | None:
    """Return the time per work of a counted run, in any unit; None if there is none, NaN where no time counts."""
    if row.status == "ok" and is_functional(row):
        return nan
    counts = row.status == "ok" and row.verdict in COUNTED
    # A planner uses the record of this run alone, not whether another run will be corrected.
    name = table.correction.response if table.correction and table.view.is_search else table.view.primary
    score = row.scores.get(name) if row.search_s is None else row.search_s
    if table.view.is_search:
        score = limited_score(table.study, {**row.scores, table.view.primary: score})
    return work_time(table.study, score) if counts else None
