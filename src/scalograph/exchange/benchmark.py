"""Benchmarks measured by other tools: each has forks, each fork has iterations."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

# Per benchmark and per comparison: a table has a column for each.
MAX_PARAMS = 64
Kind = Literal["s", "1/s"]


@dataclass(frozen=True, slots=True)
class Fork:
    """The iterations of one process: values, and how often each occurred (some tools count in bins)."""

    values: Sequence[float]
    counts: Sequence[int]


@dataclass(frozen=True, slots=True)
class Benchmark:
    """One benchmark with one level of each of its params.

    Attributes:
        unit: of the iterations: "s", or "1/s" for rates.
        forks: the units of replication; iterations of one fork are no replicates. Failed runs have none.
        notes: how it was measured, where that matters.
        disturbed: disturbed runs, and of how many; None where nobody looked.
        failed: failed runs, and of how many; (0, 0) where the tool reports none.
    """

    name: str
    mode: str
    params: Mapping[str, str]
    unit: Kind
    forks: tuple[Fork, ...]
    threads: int = 1
    batch: int = 1
    notes: tuple[str, ...] = ()
    disturbed: tuple[int, int] | None = None
    failed: tuple[int, int] = (0, 0)


def failed_run(name: str, mode: str, params: Mapping[str, str], unit: Kind, threads: int = 1) -> Benchmark:
    """Return a benchmark whose only run failed: it has no forks."""
    return Benchmark(name, mode, params, unit, (), threads, failed=(1, 1))


def fork(values: Sequence[float], factor: float = 1.0) -> Fork:
    """Return a fork of values that occurred once each, scaled to seconds or to rates per second.

    >>> fork([2.0, 3.0], 0.5)
    Fork(values=[1.0, 1.5], counts=[1, 1])
    """
    return Fork([value * factor for value in values], [1] * len(values))


def join_same(every: Iterable[Benchmark]) -> list[Benchmark]:
    """Merge equal benchmarks into one with the forks of all, in order of appearance."""
    return _join_by_key((_identity(benchmark), benchmark) for benchmark in every)


def join_files(files: Iterable[Iterable[Benchmark]]) -> list[Benchmark]:
    """Merge equal benchmarks of several files; those of one file stay apart."""
    return _join_by_key(pair for file in files for pair in _number_repeats(file))


def join_process(every: Iterable[Benchmark]) -> list[Benchmark]:
    """Merge equal benchmarks of one process into one whose only fork has all iterations."""
    joined = []
    for benchmark in join_same(every):
        values = [value for part in benchmark.forks for value in part.values]
        counts = [count for part in benchmark.forks for count in part.counts]
        joined.append(replace(benchmark, forks=(Fork(values, counts),) if benchmark.forks else ()))
    return joined


def _identity(benchmark: Benchmark) -> tuple[object, ...]:
    params = tuple(sorted(benchmark.params.items()))
    return benchmark.name, benchmark.mode, params, benchmark.unit, benchmark.threads, benchmark.batch


def _number_repeats(file: Iterable[Benchmark]) -> Iterator[tuple[object, Benchmark]]:
    seen = Counter[object]()
    for benchmark in file:
        seen[same := _identity(benchmark)] += 1
        yield (same, seen[same]), benchmark


def _join_by_key(every: Iterable[tuple[object, Benchmark]]) -> list[Benchmark]:
    groups: dict[object, list[Benchmark]] = {}
    for key, benchmark in every:
        groups.setdefault(key, []).append(benchmark)
    return [_merge(same) for same in groups.values()]


def _merge(same: Sequence[Benchmark]) -> Benchmark:
    counts = [each.disturbed for each in same if each.disturbed]
    disturbed = (sum(n for n, _ in counts), sum(of for _, of in counts)) if len(counts) == len(same) else None
    n_failed, n_runs = sum(each.failed[0] for each in same), sum(max(each.failed[1], len(each.forks)) for each in same)
    notes = tuple(dict.fromkeys(note for each in same for note in each.notes))
    forks = tuple(fork for each in same for fork in each.forks)
    return replace(same[0], forks=forks, notes=notes, disturbed=disturbed, failed=(n_failed, n_runs))
