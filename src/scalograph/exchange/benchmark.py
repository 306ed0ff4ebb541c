"""What another instrument measured: benchmarks, their forks, and the shots of each."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

# Of one benchmark, and of all that are compared: a table has a column for each.
MAX_PARAMS = 64
Kind = Literal["s", "1/s"]


@dataclass(frozen=True, slots=True)
class Fork:
    """The shots of one process: values, and how often each occurred (some instruments count in bins)."""

    values: Sequence[float]
    counts: Sequence[int]


@dataclass(frozen=True, slots=True)
class Benchmark:
    """One benchmark with one level of each of its params.

    Attributes:
        unit: of the shots: "s", or "1/s" if they are rates.
        forks: the experimental units; shots of one fork are no replicates. None of a run that failed, so that there is
            none at all where every run did.
        notes: what a reader must know of how it was measured.
        disturbed: runs that were disturbed, and of how many; None where nobody looked.
        failed: runs that failed, and of how many; (0, 0) where the instrument tells of none.
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
    """Return a benchmark whose only run failed: it has no figure."""
    return Benchmark(name, mode, params, unit, (), threads, failed=(1, 1))


def fork(values: Sequence[float], factor: float = 1.0) -> Fork:
    """Return a fork of shots that occurred once each, scaled to seconds or to rates per second.

    >>> fork([2.0, 3.0], 0.5)
    Fork(values=[1.0, 1.5], counts=[1, 1])
    """
    return Fork([value * factor for value in values], [1] * len(values))


def joined(every: Iterable[Benchmark]) -> list[Benchmark]:
    """Join benchmarks that are the same into one with the forks of all, in order of appearance."""
    return _joined((_identity(one), one) for one in every)


def across(files: Iterable[Iterable[Benchmark]]) -> list[Benchmark]:
    """Join benchmarks that are the same in several files; those of one file stay apart."""
    return _joined(pair for file in files for pair in _numbered(file))


def one_process(every: Iterable[Benchmark]) -> list[Benchmark]:
    """Join benchmarks of one process that are the same into one whose only fork has the shots of all."""
    return [replace(one, forks=(_pooled(one.forks),) if one.forks else ()) for one in joined(every)]


def _identity(one: Benchmark) -> tuple[object, ...]:
    return one.name, one.mode, tuple(sorted(one.params.items())), one.unit, one.threads, one.batch


def _numbered(file: Iterable[Benchmark]) -> Iterator[tuple[object, Benchmark]]:
    seen = Counter[object]()
    for one in file:
        seen[same := _identity(one)] += 1
        yield (same, seen[same]), one


def _joined(every: Iterable[tuple[object, Benchmark]]) -> list[Benchmark]:
    found: dict[object, list[Benchmark]] = {}
    for key, one in every:
        found.setdefault(key, []).append(one)
    return [
        replace(
            same[0],
            forks=tuple(fork for one in same for fork in one.forks),
            notes=tuple(dict.fromkeys(note for one in same for note in one.notes)),
            disturbed=_disturbed(same),
            failed=(sum(one.failed[0] for one in same), sum(max(one.failed[1], len(one.forks)) for one in same)),
        )
        for same in found.values()
    ]


def _disturbed(same: Sequence[Benchmark]) -> tuple[int, int] | None:
    """Of all together, where somebody looked at each."""
    known = [one.disturbed for one in same if one.disturbed]
    return (sum(n for n, _ in known), sum(of for _, of in known)) if len(known) == len(same) else None


def _pooled(forks: Iterable[Fork]) -> Fork:
    every = list(forks)
    return Fork([x for one in every for x in one.values], [n for one in every for n in one.counts])
