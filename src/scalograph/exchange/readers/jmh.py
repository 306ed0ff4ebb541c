"""Results that JMH wrote with `-rf json`: the shots of each fork, in seconds or per second. Executes nothing."""

from collections.abc import Sequence
from math import isfinite
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, FailFast, Field, StringConstraints, TypeAdapter, ValidationError

from scalograph.errors import StudyError
from scalograph.exchange.benchmark import Benchmark, Fork
from scalograph.protocol.bounded import read_whole
from scalograph.text.units import unit_of

MAX_BYTES = 64 << 20
MAX_BENCHMARKS = 10_000
# A shot takes one of these bytes; without a limit, 64 MiB of "[],[]," would become gigabytes.
MAX_PARTS = 4_000_000
_KIND = "a result of JMH (-rf json)"

Figure = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Bin = tuple[Figure, Annotated[int, Field(ge=1, le=1 << 53)]]
Text = Annotated[str, StringConstraints(max_length=1000)]


class _JmhPart(BaseModel):
    """A part of the document; keys that are not read here may hold anything."""

    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)


class _Metric(_JmhPart):
    unit: Text = Field(alias="scoreUnit")
    forks: Annotated[list[Annotated[list[Figure], Field(min_length=1), FailFast()]], FailFast()] = Field(
        default=[], alias="rawData"
    )
    histograms: Annotated[
        list[Annotated[list[Annotated[list[Bin], FailFast()]], Field(min_length=1), FailFast()]], FailFast()
    ] = Field(default=[], alias="rawDataHistogram")


class _Result(_JmhPart):
    benchmark: Text
    mode: Literal["thrpt", "avgt", "sample", "ss"]
    params: Annotated[dict[Text, Text], Field(max_length=64)] = {}
    threads: Annotated[int, Field(ge=1)] = 1
    batch: Annotated[int, Field(ge=1, alias="measurementBatchSize")] = 1
    metric: _Metric = Field(alias="primaryMetric")


def read(file: Path) -> list[Benchmark]:
    """Read the benchmarks of a result file, in its order.

    Raises:
        StudyError: the file is missing, too large, or not a JMH result; says where and what was expected.
    """
    data = _bytes(file)
    try:
        found = _DOCUMENT.validate_json(data)
    except ValidationError as error:
        raise _refused(file, error) from error
    return [_benchmark(file, index, result) for index, result in enumerate(found)]


_DOCUMENT = TypeAdapter(Annotated[list[_Result], Field(min_length=1, max_length=MAX_BENCHMARKS), FailFast()])


def _bytes(file: Path) -> bytes:
    try:
        data = read_whole(file, MAX_BYTES)
    except OSError as error:
        raise StudyError.one(str(file), f"cannot be read: {error.strerror}", _KIND) from error
    if sum(map(data.count, (b",", b"[", b"{"))) > MAX_PARTS:
        raise StudyError.one(
            str(file), f"more than {MAX_PARTS} values", _KIND, "import its benchmarks in several files"
        )
    return data


def _refused(file: Path, error: ValidationError) -> StudyError:
    first: Any = error.errors(include_url=False, include_context=False, include_input=False)[0]
    steps = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in first["loc"])
    where = f"{file.name}: {steps[:200].lstrip('.')}" if steps else file.name
    return StudyError.one(where, first["msg"][:200], _KIND, "write it anew with: java -jar benchmarks.jar -rf json")


def _benchmark(file: Path, index: int, result: _Result) -> Benchmark:
    where = f"{file.name}: [{index}].primaryMetric"
    unit, factor = unit_of(result.metric.unit) or ("", 0.0)
    expected = "1/s" if result.mode == "thrpt" else "s"
    if unit != expected:
        want = "ops/s or ops/ms" if result.mode == "thrpt" else "s/op, ms/op, us/op or ns/op"
        raise StudyError.one(f"{where}.scoreUnit", f'"{result.metric.unit[:40]}" in mode {result.mode}', want)
    forks = tuple(_scaled(fork, factor) for fork in _forks(result))
    if not all(isfinite(value) for fork in forks for value in fork.values):
        raise StudyError.one(where, f'a shot in "{result.metric.unit[:40]}" that is no number of seconds', _KIND)
    if not forks:
        need = "rawDataHistogram" if result.mode == "sample" else "rawData"
        raise StudyError.one(where, f"no {need}", "the shots of at least one fork")
    return Benchmark(result.benchmark, result.mode, result.params, expected, forks, result.threads, result.batch)  # type: ignore[arg-type]


def _forks(result: _Result) -> list[list[Bin]]:
    """Return the bins of each fork; those of its iterations are one sample."""
    if result.mode != "sample":
        return [[(value, 1) for value in fork] for fork in result.metric.forks]
    pooled = ([part for iteration in fork for part in iteration] for fork in result.metric.histograms)
    return [fork for fork in pooled if fork]


def _scaled(fork: Sequence[Bin], factor: float) -> Fork:
    return Fork([value * factor for value, _ in fork], [count for _, count in fork])
