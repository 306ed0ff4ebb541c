"""Results of `vitest bench --outputJson`: the mean of each benchmark, or its samples where they are there."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from typing import Annotated

from pydantic import FailFast, Field, TypeAdapter

from scalograph.exchange.benchmark import Benchmark, fail, fork
from scalograph.exchange.readers.foreign_file import MEAN_ONLY, ForeignFile, ForeignPart, ReadValue, Text

_SECONDS = 1e-3


class _Sampled(ForeignPart):
    name: Text
    samples: Annotated[list[ReadValue], FailFast()] = Field(default=[])
    mean: ReadValue | None = None


class _Suite(ForeignPart):
    name: Text = Field(alias="fullName")
    tasks: Annotated[list[_Sampled], FailFast()] = Field(alias="benchmarks")


class _Source(ForeignPart):
    groups: Annotated[list[_Suite], FailFast()]


_ENTRY = TypeAdapter(_Source)


def read(file: ForeignFile) -> Iterator[Benchmark]:
    """Read the benchmarks of a result file in order, each named by its file and suites; one without a mean failed."""
    suites = chain.from_iterable(source.groups for _, source in file.entries(_ENTRY, "files"))
    pairs = ((suite.name, task) for suite in suites for task in suite.tasks)
    yield from (_benchmark(task, f"{name} > {task.name}") for name, task in file.limit(pairs, "benchmarks"))


def _benchmark(task: _Sampled, name: str) -> Benchmark:
    benchmark = Benchmark(name, "iteration", {}, "s", ())
    if task.mean is None:
        return fail(benchmark, "no iteration ended")
    warnings = () if task.samples else (MEAN_ONLY,)
    return replace(benchmark, forks=(fork(task.samples or [task.mean], _SECONDS),), warnings=warnings)
