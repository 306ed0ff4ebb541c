"""The runs of each treatment: all that succeeded, and those that the estimates rest on."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from scalograph.findings import Level
from scalograph.table import Row, Table

# Runs with these verdicts carry the estimates; the others are kept, drawn and counted.
COUNTED = ("clean", "undecided")


@dataclass(frozen=True)
class Sample:
    """The runs of one treatment: all that succeeded, and those that the estimates rest on."""

    treatment: Mapping[str, Level]
    every: tuple[Row, ...]
    counted: tuple[Row, ...]
    n_failed: int

    @property
    def n_disturbed(self) -> int:
        """Runs that succeeded and are not counted as clean."""
        return sum(row.verdict not in COUNTED for row in self.every)

    @property
    def falls_back(self) -> bool:
        """Whether the estimates rest on disturbed runs, because too few clean ones are left."""
        return self.n_disturbed > 0 and len(self.counted) == len(self.every)

    def scores(self, response: str) -> list[float]:
        """Scores of the runs that count, in order."""
        return [row.scores[response] for row in self.counted if response in row.scores]

    def blocks(self, response: str) -> list[int]:
        """The block of each of `scores`."""
        return [row.block for row in self.counted if response in row.scores]


def samples(table: Table) -> dict[tuple[Level, ...], Sample]:
    """The sample of each planned treatment, also of one that has no run yet."""
    rows: dict[tuple[Level, ...], list[Row]] = {tuple(t.values()): [] for t in table.treatments}
    for row in table.rows:
        if not row.warmup:
            rows.setdefault(row.key, []).append(row)
    names = list(table.study.factors)
    return {key: _sample(dict(zip(names, key, strict=True)), found) for key, found in rows.items()}


def _sample(treatment: Mapping[str, Level], rows: Sequence[Row]) -> Sample:
    every = tuple(row for row in rows if row.status == "ok")
    clean = tuple(row for row in every if row.verdict in COUNTED)
    # Fewer than two clean runs carry no interval; the disturbed ones do, under a flag.
    return Sample(treatment, every, clean if len(clean) >= 2 else every, len(rows) - len(every))


def flags(sample: Sample) -> list[str]:
    """What a reader must know about the runs of one treatment."""
    return [*_disturbed(sample), *_failed(sample), *_survivors(sample), *_work(sample)]


def _disturbed(sample: Sample) -> Iterable[str]:
    n, of = sample.n_disturbed, len(sample.every)
    if sample.falls_back:
        yield f"rests on disturbed runs: {n} of {of} were contaminated"
    elif n:
        yield f"{n} of {of} runs contaminated, left out"


def _failed(sample: Sample) -> Iterable[str]:
    if sample.n_failed:
        yield f"{sample.n_failed} of {sample.n_failed + len(sample.every)} runs failed"


def _survivors(sample: Sample) -> Iterable[str]:
    if left := sum(row.n_survivors > 0 for row in sample.every):
        yield f"{left} of {len(sample.every)} runs left processes behind, which were killed"


def _work(sample: Sample) -> Iterable[str]:
    works = [row.work for row in sample.every]
    counted = [work for work in works if work is not None]
    if counted and min(counted) != max(counted):
        yield f"the work differs between runs: {min(counted)} .. {max(counted)}"
    if counted and len(counted) < len(works):
        yield f"{len(works) - len(counted)} of {len(works)} runs did not count their work"
