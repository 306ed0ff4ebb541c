"""Results of pytest-benchmark (`--benchmark-json`, or saved ones): one process, so one fork for each test."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from pydantic import FailFast, Field, TypeAdapter

from scalograph.exchange.benchmark import Benchmark, fork
from scalograph.exchange.readers.foreign_file import MEAN_ONLY, ForeignFile, ForeignPart, ReadValue, Text, pick_facts

_MACHINE = {"node": "host", "system": "OS", "release": "kernel", "python_version": "Python",
            "python_implementation": "Python implementation"}  # fmt: skip
_CPU = {"brand_raw": "CPU", "brand": "CPU", "count": "CPUs"}
_COMMIT = {"id": "commit", "dirty": "uncommitted changes", "branch": "branch"}
_CPU_TIMERS = ("process_time", "thread_time")
_OPTIONS = {"timer": "timer", "disable_gc": "GC disabled"}


class _Stats(ForeignPart):
    mean: ReadValue
    data: Annotated[list[ReadValue], FailFast()] = Field(default=[])


class _Test(ForeignPart):
    fullname: Text
    params: dict[Text, Any] | None = None
    extra: dict[Text, Any] = Field(default={}, alias="extra_info")
    options: dict[Text, Any] = Field(default={})
    stats: _Stats


_ENTRY = TypeAdapter(_Test)


def read(file: ForeignFile) -> Iterator[Benchmark]:
    """Read the tests of a result file in order: seconds per iteration of each round, or only their mean."""
    facts = pick_facts(file.pick("machine_info"), _MACHINE) | pick_facts(file.pick("commit_info"), _COMMIT)
    facts |= pick_facts(file.pick("machine_info", "cpu"), _CPU)
    return file.each(file.entries(_ENTRY, "benchmarks"), lambda _, test: _benchmark(test, facts))


def _benchmark(test: _Test, facts: Mapping[str, str]) -> Benchmark:
    params = {name: str(value)[:1000] for name, value in (test.params or {}).items()}
    # The brackets of pytest hold the params again, where they are listed.
    name = test.fullname.partition("[")[0] if params else test.fullname
    # A fraction is most often a measured value, and no setting.
    extra = {name: str(value)[:200] for name, value in test.extra.items() if isinstance(value, str | int)}
    timer = str(test.options.get("timer", ""))
    is_doubted = {MEAN_ONLY: not test.stats.data, f"CPU time, by {timer[:40]}": timer.endswith(_CPU_TIMERS)}
    return Benchmark(
        name, "round", params, "s", (fork(test.stats.data or [test.stats.mean]),),
        facts={**facts, **pick_facts(test.options, _OPTIONS), **extra},
        warnings=tuple(text for text, is_so in is_doubted.items() if is_so),
    )  # fmt: skip
