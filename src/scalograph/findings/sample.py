"""The runs of each treatment: all that succeeded, and those that the estimates rest on."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from scalograph.analysis.flag import Flag
from scalograph.findings.table import Row, Table
from scalograph.protocol.plain import Level
from scalograph.questions.registry import is_search
from scalograph.study.model import Study
from scalograph.study.responses import CPU_TIMES

# Runs with these verdicts carry the estimates; the others are kept, drawn and counted.
COUNTED = ("clean", "undecided")
# More was measured than the treatment. A failed run would fail again, and nothing says that an undecided one is bad.
REPEATED = ("contaminated", "impossible")

# Changes of its settings by a program that are told.
MOST_CHANGES = 3

OtherLevels = tuple[tuple[str, Level], ...]


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
    # Every estimate asks for them anew, of up to 100,000 runs: each look at one of them is a wait for the memory.
    _known: dict[str, tuple[list[Row], list[float], list[int]]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @cached_property
    def n_disturbed(self) -> int:
        """Runs that succeeded and are not counted as clean."""
        return sum(row.verdict not in COUNTED for row in self.every)

    @property
    def falls_back(self) -> bool:
        """Whether the estimates rest on disturbed runs, because too few clean ones are left."""
        return self.n_disturbed > 0 and len(self.counted) == len(self.every)

    def scores(self, response: str) -> list[float]:
        """Scores of the runs that count, in order."""
        return self._found(response)[1].copy()

    def blocks(self, response: str) -> list[int]:
        """The block of each of `scores`."""
        return self._found(response)[2].copy()

    def undivided(self) -> "Sample":
        """The sample with all runs that succeeded, as if none had been disturbed."""
        return replace(self, counted=self.every, by_cpu=frozenset())

    def rows(self, response: str) -> Sequence[Row]:
        """Runs that have a score and count for this response, in order."""
        return self._found(response)[0]

    def _found(self, response: str) -> tuple[list[Row], list[float], list[int]]:
        """Those runs, their scores and their blocks."""
        if response not in self._known:
            taken: Iterable[Row] = self.counted
            if response in self.by_cpu and not self.falls_back:
                taken = (row for row in self.every if row.verdict != "impossible")
            found = [(row, row.scores[response], row.block) for row in taken if response in row.scores]
            rows, scores, blocks = map(list, zip(*found, strict=True)) if found else ([], [], [])
            self._known[response] = rows, scores, blocks
        return self._known[response]


def is_functional(row: Row) -> bool:
    """Tell whether a run shows what happens, and not how fast: the CPUs of its guest were emulated."""
    return row.verdict == "undecided" and any(cause.cause == "functional" for cause in row.causes)


def samples(table: Table) -> dict[tuple[Level, ...], Sample]:
    """The sample of each planned treatment, also of one that has no run yet."""
    rows: dict[tuple[Level, ...], list[Row]] = {tuple(t.values()): [] for t in table.treatments}
    for row in table.rows:
        if not row.warmup:
            rows.setdefault(row.key, []).append(row)
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
    real = (row for row in table.rows if not row.warmup)
    if is_search(table.study.question):
        return sum("r" in row.run[1:] for row in real)  # e0007r1 is e0007 again
    planned = {tuple(t.values()): n for t, n in zip(table.treatments, table.n_asked, strict=True)}
    return sum(row.replicate >= planned.get(row.key, 0) for row in real)


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
    n = sum(row.verdict == "undecided" for row in sample.every)
    return 2 * n >= len(sample.every) > 0


def _undecided(sample: Sample) -> Iterable[Flag]:
    if is_open(sample):
        n = sum(row.verdict == "undecided" for row in sample.every)
        functional = all(map(is_functional, sample.every))
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
    counted = [work for work in works if work is not None]
    if counted and min(counted) != max(counted):
        yield Flag("work differs", f"the work differs between runs: {min(counted):,} to {max(counted):,} units")
    if counted and len(counted) < len(works):
        n = len(works) - len(counted)
        yield Flag("work not counted", f"{n} of {len(works)} runs did not count their work", n)
