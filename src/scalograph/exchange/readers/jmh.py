"""Results of JMH (`-rf json`): the iterations of each fork, in seconds or per second."""

from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import FailFast, Field, TypeAdapter

from scalograph.exchange.benchmark import Benchmark, Fork, Kind
from scalograph.exchange.readers.foreign_file import (
    Amount,
    ForeignFile,
    ForeignPart,
    Params,
    PartError,
    ReadValue,
    Text,
)
from scalograph.text.units import unit_of

_MODES: dict[str, Kind] = {"thrpt": "1/s", "avgt": "s", "sample": "s", "ss": "s"}
_MEANS = "means of the iterations, without a histogram: tails are unknown, and a mean says little"

# JSON has lists alone.
Bin = Annotated[tuple[ReadValue, Amount], Field(strict=False)]


class _Metric(ForeignPart):
    unit: Text = Field(alias="scoreUnit")
    forks: Annotated[list[Annotated[list[ReadValue], Field(min_length=1), FailFast()]], FailFast()] = Field(
        default=[], alias="rawData"
    )
    histograms: Annotated[
        list[Annotated[list[Annotated[list[Bin], FailFast()]], Field(min_length=1), FailFast()]], FailFast()
    ] = Field(default=[], alias="rawDataHistogram")
    percentiles: dict[Text, Any] = Field(default={}, alias="scorePercentiles")


class _Result(ForeignPart):
    benchmark: Text
    mode: Text
    params: Params = Field(default={})
    threads: Amount = 1
    batch: Amount = Field(default=1, alias="measurementBatchSize")
    metric: _Metric = Field(alias="primaryMetric")
    jdk: Text = Field(default="", alias="jdkVersion")
    jvm: Text = Field(default="", alias="vmName")
    flags: list[Text] = Field(default=[], alias="jvmArgs")


_ENTRY = TypeAdapter(_Result)


def read(file: ForeignFile) -> Iterator[Benchmark]:
    """Read the benchmarks of a result file in order."""
    return file.each(file.entries(_ENTRY), lambda _, part: _benchmark(part))


def _benchmark(result: _Result) -> Benchmark:
    unit, factor = unit_of(result.metric.unit) or ("", 0.0)
    if result.mode not in _MODES:
        raise PartError(f'mode: "{result.mode[:40]}" is none of {", ".join(_MODES)}')
    expected = _MODES[result.mode]
    if unit != expected:
        want = "ops/s or ops/ms" if result.mode == "thrpt" else "s/op, ms/op, us/op or ns/op"
        raise PartError(f'scoreUnit: "{result.metric.unit[:40]}" in mode {result.mode}, expected {want}')
    bins = _bins(result)
    forks = tuple(Fork([value * factor for value, _ in every], [count for _, count in every]) for every in bins)
    if not forks:
        need = "rawDataHistogram" if result.mode == "sample" else "rawData"
        raise PartError(f"no {need}, the shots of at least one fork")
    facts = {"JDK": result.jdk, "JVM": result.jvm, "JVM flags": " ".join(result.flags)[:400]}
    return Benchmark(
        result.benchmark, result.mode, result.params, expected, forks, result.threads, result.batch,
        facts={name: text for name, text in facts.items() if text}, warnings=_warnings(result),
    )  # fmt: skip


def _warnings(result: _Result) -> tuple[str, ...]:
    if result.mode != "sample" or result.metric.histograms:
        return ()
    median = result.metric.percentiles.get("50.0")
    of = f"; the median of all shots is {median:g} {result.metric.unit}" if isinstance(median, int | float) else ""
    return (f"{_MEANS}{of}",)


def _bins(result: _Result) -> list[list[Bin]]:
    """Return the values and counts of each fork, pooled over its iterations."""
    if result.mode != "sample" or not result.metric.histograms:
        return [[(value, 1) for value in fork] for fork in result.metric.forks]
    pooled = ([(value, n) for iteration in fork for value, n in iteration] for fork in result.metric.histograms)
    return [fork for fork in pooled if fork]
