"""Results of pyperf (`-o`): each of its worker processes is a fork. Executes nothing."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

from pydantic import FailFast, Field, TypeAdapter

from scalograph.errors import StudyError
from scalograph.exchange.benchmark import Benchmark, fork
from scalograph.exchange.readers.foreign_file import MAX_BENCHMARKS, ForeignPart, ReadValue, Text, document

_KIND = "a result of pyperf (-o FILE)"
_FIX = "write it anew with: pyperf timeit -o FILE, or with another command of pyperf"


class _Metadata(ForeignPart):
    name: Text | None = None
    unit: Literal["second", "byte", "integer"] | None = None


class _Worker(ForeignPart):
    """A process; one that only calibrated loops has no values."""

    values: Annotated[list[ReadValue], FailFast()] = Field(default=[])


class _Timing(ForeignPart):
    metadata: _Metadata = _Metadata()
    runs: Annotated[list[_Worker], Field(min_length=1), FailFast()]


class _Suite(ForeignPart):
    version: Literal["1.0"]
    metadata: _Metadata = _Metadata()
    benchmarks: Annotated[list[_Timing], Field(min_length=1, max_length=MAX_BENCHMARKS), FailFast()]


_DOCUMENT = TypeAdapter(_Suite)


def read(file: Path) -> list[Benchmark]:
    """Read the benchmarks of a result file in order, without warm-up values and calibration."""
    return list(_benchmarks(file, document(file, _DOCUMENT, _KIND, _FIX)))


def _benchmarks(file: Path, suite: _Suite) -> Iterator[Benchmark]:
    common = suite.metadata
    for index, timing in enumerate(suite.benchmarks):
        where = f"{file.name}: benchmarks[{index}]"
        name = timing.metadata.name or common.name or "benchmark"
        unit = timing.metadata.unit or common.unit or "second"
        if unit != "second":
            raise StudyError.one(where, f'{name[:80]} in unit "{unit}"', "times, in seconds", "import it without")
        forks = tuple(fork(worker.values) for worker in timing.runs if worker.values)
        if not forks:
            raise StudyError.one(where, f"{name[:80]} without a value", "the values of at least one process", _FIX)
        yield Benchmark(name, "value", {}, "s", forks)
