"""Results of `vitest bench --outputJson`: the mean of each benchmark, or its samples where they are there."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated, Any

from pydantic import FailFast, Field, TypeAdapter

from scalograph.exchange.benchmark import Benchmark, fail, fork
from scalograph.exchange.readers.foreign_file import MEAN_ONLY, ForeignFile, ForeignPart, ReadValue, Text, check_part

_SECONDS = 1e-3


class _Sampled(ForeignPart):
    name: Text
    samples: Annotated[list[ReadValue], FailFast()] = Field(default=[])
    mean: ReadValue | None = None


class _Suite(ForeignPart):
    name: Text = Field(alias="fullName")
    tasks: list[Any] = Field(alias="benchmarks")


class _Source(ForeignPart):
    groups: Annotated[list[_Suite], FailFast()]


_ENTRY, _TASK = TypeAdapter(_Source), TypeAdapter(_Sampled)


def read(file: ForeignFile) -> Iterator[Benchmark]:
    """Read the benchmarks of a result file in order, each named by its file and suites; one without a mean failed."""
    suites = ((f"{where}.groups[{i}]", suite) for where, source in file.entries(_ENTRY, "files")
              for i, suite in enumerate(source.groups))  # fmt: skip
    tasks = ((f"{where}.benchmarks[{i}]", (suite.name, task)) for where, suite in suites
             for i, task in enumerate(suite.tasks))  # fmt: skip
    return file.each(file.limit(tasks, "benchmarks"), lambda _, part: _benchmark(part[0], check_part(part[1], _TASK)))


def _benchmark(suite: str, task: _Sampled) -> Benchmark:
    benchmark = Benchmark(f"{suite} > {task.name}", "iteration", {}, "s", ())
    if task.mean is None:
        return fail(benchmark, "no iteration ended")
    warnings = () if task.samples else (MEAN_ONLY,)
    return replace(benchmark, forks=(fork(task.samples or [task.mean], _SECONDS),), warnings=warnings)
