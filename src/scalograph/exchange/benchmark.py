"""Benchmarks measured by other tools: each has forks, each fork has iterations."""

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Literal, NamedTuple

from scalograph.text.quantities import exact_percent

# Per benchmark and per comparison: a table has a column for each.
MAX_PARAMS = 64
Kind = Literal["s", "1/s"]


@dataclass(frozen=True, slots=True)
class Fork:
    """The iterations of one process: values, and how often each occurred (some tools count in bins)."""

    values: Sequence[float]
    counts: Sequence[int]


class SingleForks(Sequence[Fork]):
    """Forks of one iteration each, held as one array: a table may have a million."""

    def __init__(self, values: Iterable[float]) -> None:
        self.values = array("d", values)

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, index: int) -> Fork:  # type: ignore[override]
        return Fork((self.values[index],), (1,))


@dataclass(frozen=True, slots=True)
class Benchmark:
    """One benchmark with one level of each of its params.

    Attributes:
        unit: of the iterations: "s", or "1/s" for rates.
        forks: the units of replication; iterations of one fork are no replicates. Failed runs have none.
        notes: how it was measured, where that matters.
        facts: settings, machine, build and runtime, as the tool reports them; those that differ become params.
        warnings: what the first lines must report: errors in its runs, or what its values are not.
        disturbed: disturbed runs, and of how many; None where nobody looked.
        failed: failed runs, and of how many; (0, 0) where the tool reports none.
        spread: given standard deviation of single runs, as a share, of a benchmark with one fork; 0 where unknown.
    """

    name: str
    mode: str
    params: Mapping[str, str]
    unit: Kind
    forks: Sequence[Fork]
    threads: int = 1
    batch: int = 1
    notes: tuple[str, ...] = ()
    facts: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    disturbed: tuple[int, int] | None = None
    failed: tuple[int, int] = (0, 0)
    spread: float = 0.0


class LeftOut(NamedTuple):
    """A part that was left out: its file and place, and the reason."""

    where: str
    reason: str


def fail(benchmark: Benchmark, reason: str = "") -> Benchmark:
    """Return the benchmark of a run that failed: it has no forks."""
    return replace(benchmark, forks=(), failed=(1, 1), warnings=(reason,) if reason else benchmark.warnings)


def assume_spread(every: Iterable[Benchmark], spread: float) -> list[Benchmark]:
    """Return benchmarks of which those with one fork have a spread of single runs, a share, and say so; 0 for none."""
    warning = f"spread as given: {exact_percent(spread)}"
    return [
        replace(each, spread=spread, warnings=(*each.warnings, warning)) if spread and len(each.forks) == 1 else each
        for each in every
    ]


def fork(values: Sequence[float], factor: float = 1.0) -> Fork:
    """Return a fork of values that occurred once each, scaled to seconds or to rates per second.

    >>> fork([2.0, 3.0], 0.5)
    Fork(values=[1.0, 1.5], counts=[1, 1])
    """
    return Fork([value * factor for value in values], [1] * len(values))


def values_of(forks: Sequence[Fork]) -> Sequence[float]:
    """Return the values of all iterations, in order."""
    return forks.values if isinstance(forks, SingleForks) else [value for fork in forks for value in fork.values]


def differ_by_params(every: Sequence[Benchmark]) -> bool:
    """Return whether params alone identify command lines: the names only repeat them."""
    params = {tuple(sorted(benchmark.params.items())) for benchmark in every}
    return every[0].mode == "run" and len(every) > 1 and len(params) == len(every)


def join_same(every: Iterable[Benchmark]) -> list[Benchmark]:
    """Merge equal benchmarks into one with the forks of all, in order of appearance."""
    return _join_by_key((_identity(benchmark), benchmark) for benchmark in every)


def join_files(files: Iterable[Iterable[Benchmark]]) -> list[Benchmark]:
    """Merge equal benchmarks of several files; those of one file stay apart, as do those whose facts differ."""
    return _name_settings(_join_by_key(pair for file in files for pair in _number_repeats(file)))


def join_process(every: Iterable[Benchmark]) -> list[Benchmark]:
    """Merge equal benchmarks of one process into one whose only fork has all iterations."""
    joined = []
    for benchmark in join_same(every):
        values = [value for part in benchmark.forks for value in part.values]
        counts = [count for part in benchmark.forks for count in part.counts]
        joined.append(replace(benchmark, forks=(Fork(values, counts),) if benchmark.forks else ()))
    return joined


def _name_settings(every: Sequence[Benchmark]) -> list[Benchmark]:
    """Make params of the facts, threads among them, in which benchmarks that are otherwise the same differ."""
    alike: dict[object, list[Mapping[str, str]]] = {}
    numbered = [replace(each, facts={**each.facts, "threads": str(each.threads)}) for each in every]
    for benchmark in numbered:
        alike.setdefault(_identity(replace(benchmark, facts={}, threads=1)), []).append(benchmark.facts)
    several = [group for group in alike.values() if len(group) > 1]
    names = dict.fromkeys(name for group in several for facts in group for name in facts)
    apart = [name for name in names if any(len({facts.get(name) for facts in group}) > 1 for group in several)]
    return (
        [
            replace(
                each,
                params={**{name: each.facts[name] for name in apart if name in each.facts}, **each.params},
                facts={name: text for name, text in each.facts.items() if name not in (*apart, "threads")},
            )
            for each in numbered
        ]
        if apart
        else [*every]
    )


def _identity(benchmark: Benchmark) -> tuple[object, ...]:
    params, facts = tuple(sorted(benchmark.params.items())), tuple(sorted(benchmark.facts.items()))
    return benchmark.name, benchmark.mode, params, facts, benchmark.unit, benchmark.threads, benchmark.batch


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
    forks = _join_forks([each.forks for each in same])
    warnings = tuple(dict.fromkeys(warning for each in same for warning in each.warnings))
    failed = (n_failed, n_runs)
    return replace(same[0], forks=forks, notes=notes, warnings=warnings, disturbed=disturbed, failed=failed)


def _join_forks(parts: Sequence[Sequence[Fork]]) -> Sequence[Fork]:
    if all(isinstance(part, SingleForks) for part in parts):
        return parts[0] if len(parts) == 1 else SingleForks(chain.from_iterable(map(values_of, parts)))
    return tuple(chain.from_iterable(parts))
