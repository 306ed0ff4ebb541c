"""Results of JMH (`-rf json`): the iterations of each fork, in seconds or per second. Executes nothing."""

from math import isfinite
from pathlib import Path
from typing import Annotated, Literal

from pydantic import FailFast, Field, TypeAdapter

from scalograph.errors import StudyError
from scalograph.exchange.benchmark import Benchmark, Fork
from scalograph.exchange.readers.foreign_file import (
    MAX_BENCHMARKS,
    Amount,
    ForeignPart,
    Params,
    ReadValue,
    Text,
    document,
)
from scalograph.text.units import unit_of

_KIND = "a result of JMH (-rf json)"
_FIX = "write it anew with: java -jar benchmarks.jar -rf json"

Bin = tuple[ReadValue, Amount]


class _Metric(ForeignPart):
    unit: Text = Field(alias="scoreUnit")
    forks: Annotated[list[Annotated[list[ReadValue], Field(min_length=1), FailFast()]], FailFast()] = Field(
        default=[], alias="rawData"
    )
    histograms: Annotated[
        list[Annotated[list[Annotated[list[Bin], FailFast()]], Field(min_length=1), FailFast()]], FailFast()
    ] = Field(default=[], alias="rawDataHistogram")


class _Result(ForeignPart):
    benchmark: Text
    mode: Literal["thrpt", "avgt", "sample", "ss"]
    params: Params = Field(default={})
    threads: Amount = 1
    batch: Amount = Field(default=1, alias="measurementBatchSize")
    metric: _Metric = Field(alias="primaryMetric")


_DOCUMENT = TypeAdapter(Annotated[list[_Result], Field(min_length=1, max_length=MAX_BENCHMARKS), FailFast()])


def read(file: Path) -> list[Benchmark]:
    """Read the benchmarks of a result file in order."""
    results = document(file, _DOCUMENT, _KIND, _FIX)
    return [_benchmark(file, index, result) for index, result in enumerate(results)]


def _benchmark(file: Path, index: int, result: _Result) -> Benchmark:
    where = f"{file.name}: [{index}].primaryMetric"
    unit, factor = unit_of(result.metric.unit) or ("", 0.0)
    expected: Literal["s", "1/s"] = "1/s" if result.mode == "thrpt" else "s"
    if unit != expected:
        want = "ops/s or ops/ms" if result.mode == "thrpt" else "s/op, ms/op, us/op or ns/op"
        raise StudyError.one(f"{where}.scoreUnit", f'"{result.metric.unit[:40]}" in mode {result.mode}', want)
    forks = tuple(Fork([value * factor for value, _ in fork], [count for _, count in fork]) for fork in _forks(result))
    if not all(isfinite(value) for fork in forks for value in fork.values):
        raise StudyError.one(where, f'a shot in "{result.metric.unit[:40]}" that is no number of seconds', _KIND)
    if not forks:
        need = "rawDataHistogram" if result.mode == "sample" else "rawData"
        raise StudyError.one(where, f"no {need}", "the shots of at least one fork")
    return Benchmark(result.benchmark, result.mode, result.params, expected, forks, result.threads, result.batch)


def _forks(result: _Result) -> list[list[Bin]]:
    """Return the bins of each fork, pooled over its iterations."""
    if result.mode != "sample":
        return [[(value, 1) for value in fork] for fork in result.metric.forks]
    pooled = ([part for iteration in fork for part in iteration] for fork in result.metric.histograms)
    return [fork for fork in pooled if fork]
