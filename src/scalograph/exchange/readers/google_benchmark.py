"""Results of Google Benchmark (`--benchmark_format=json`): one process, so one fork."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from pydantic import Field, TypeAdapter

from scalograph.exchange.benchmark import Benchmark, fail, fork, join_process
from scalograph.exchange.readers.foreign_file import (
    Amount,
    ForeignFile,
    ForeignPart,
    PartError,
    ReadValue,
    Text,
    pick_facts,
)

_SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
# Parts of a name that say how it was measured, not what.
_HOW = re.compile(r"(real_time|process_time|manual_time|(repeats|iterations|min_time|min_warmup_time):.*)")
_NAMED = re.compile(r"([A-Za-z_]\w*):(.+)")
_AGGREGATE = re.compile(r"(.+)_(mean|median|stddev|cv|min|max|BigO|RMS)")
_FACTS = {
    "host_name": "host", "num_cpus": "CPUs", "library_build_type": "library build",
    "cpu_scaling_enabled": "CPU scaling", "executable": "program",
}  # fmt: skip
_DEBUG = "the library of the harness is a debug build"
_ONLY = "aggregates only, no repetitions: no interval"


class _Entry(ForeignPart):
    name: Text
    run_type: Text = ""
    run_name: Text = ""
    aggregate_name: Text = ""
    threads: Amount = 1
    repetition: Any = Field(default=None, alias="repetition_index")
    real_time: ReadValue | None = None
    time_unit: Literal["ns", "us", "ms", "s"] = "ns"
    error_occurred: bool = False
    error_message: Text = ""
    skipped: bool = False
    is_fitted: Any = Field(default=None, alias="big_o")
    rms: Any = None


_ENTRY = TypeAdapter(_Entry)


def read(file: ForeignFile) -> Iterator[Benchmark]:
    """Read the benchmarks of a result file in order: real time per iteration; repetitions share a fork."""
    facts = pick_facts(file.pick("context"), _FACTS)
    entries = [*file.entries(_ENTRY, "benchmarks")]
    names = {entry.name for _, entry in entries}
    parts = [(where, entry) for where, entry in entries if not _is_aggregate(entry, names)]
    if not parts:
        parts = _medians(entries)
    registrations = _registrations(entry for _, entry in parts)
    numbers = {where: number for number, (where, _) in zip(registrations, parts, strict=True)}
    every = file.each(parts, lambda where, entry: _benchmark(entry, facts, numbers[where]))
    yield from join_process(every)


def _registrations(entries: Iterable[_Entry]) -> list[int]:
    """Return for each entry how often its name had this repetition: one that comes again is another benchmark.

    >>> every = [{"name": "a", "repetition_index": i} for i in (0, 1, 0, 1)]
    >>> _registrations(_Entry.model_validate(one) for one in every)
    [1, 1, 2, 2]
    """
    counts = Counter[tuple[str, int | None]]()
    numbers = []
    for entry in entries:
        repetition = entry.repetition if isinstance(entry.repetition, int) else None
        counts[entry.name, repetition] += repetition is not None
        numbers.append(max(1, counts[entry.name, repetition]))
    return numbers


def _is_aggregate(entry: _Entry, names: set[str]) -> bool:
    """Return whether an entry is no repetition: before release 1.5 only its name says so."""
    if entry.run_type:
        return entry.run_type == "aggregate"
    match = _AGGREGATE.fullmatch(entry.name)
    return entry.is_fitted is not None or entry.rms is not None or bool(match and match[1] in names)


def _medians(entries: Sequence[tuple[str, _Entry]]) -> list[tuple[str, _Entry]]:
    """Return the median of each benchmark under its own name, where only aggregates were written."""
    medians = [(where, entry) for where, entry in entries if entry.aggregate_name == "median"]
    return [(where, entry.model_copy(update={"name": entry.run_name or entry.name})) for where, entry in medians]


def _benchmark(entry: _Entry, facts: Mapping[str, str], registration: int) -> Benchmark | None:
    first, *rest = entry.name.split("/")
    what = [part for part in rest if not _HOW.fullmatch(part)]
    params = {match[1]: match[2] for part in what if (match := _NAMED.fullmatch(part))}
    params |= {"registration": str(registration)} if registration > 1 else {}
    name = "/".join([first, *(part for part in what if not _NAMED.fullmatch(part))])
    benchmark = Benchmark(name, "iteration", params, "s", (), entry.threads, facts=facts)
    if entry.error_occurred:
        return fail(benchmark, entry.error_message)
    if entry.skipped:
        return None
    if entry.real_time is None:
        raise PartError(f"{entry.name[:80]} has no real_time")
    is_doubted = {_ONLY: entry.run_type == "aggregate", _DEBUG: facts.get("library build") == "debug"}
    warnings = tuple(text for text, is_so in is_doubted.items() if is_so)
    shot = fork([entry.real_time], _SECONDS[entry.time_unit])
    return replace(benchmark, forks=(shot,), warnings=warnings)
