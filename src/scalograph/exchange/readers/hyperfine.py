"""Results of hyperfine (`--export-json`): each run of a command is a fork of one iteration. Executes nothing."""

from pathlib import Path
from typing import Annotated

from pydantic import FailFast, Field, TypeAdapter

from scalograph.errors import StudyError
from scalograph.exchange.benchmark import Benchmark, fork
from scalograph.exchange.readers.foreign_file import MAX_BENCHMARKS, ForeignPart, Params, ReadValue, Text, document

_KIND = "a result of hyperfine (--export-json)"
_FIX = "write it anew with: hyperfine --export-json FILE COMMAND"


class _Timed(ForeignPart):
    command: Text
    times: Annotated[list[ReadValue], Field(min_length=1), FailFast()]
    exit_codes: Annotated[list[int | None], FailFast()] = Field(default=[])
    parameters: Params = Field(default={})


class _Exported(ForeignPart):
    results: Annotated[list[_Timed], Field(min_length=1, max_length=MAX_BENCHMARKS), FailFast()]


_DOCUMENT = TypeAdapter(_Exported)


def read(file: Path) -> list[Benchmark]:
    """Read the commands of a result file in order; a run with a non-zero exit code failed."""
    every = document(file, _DOCUMENT, _KIND, _FIX).results
    return [_benchmark(timed, f"{file.name}: results[{i}]") for i, timed in enumerate(every)]


def _benchmark(timed: _Timed, where: str) -> Benchmark:
    codes = timed.exit_codes or [0] * len(timed.times)
    if len(codes) != len(timed.times):
        raise StudyError.one(where, f"{len(timed.times)} times and {len(codes)} exit_codes", "as many of both", _FIX)
    forks = tuple(fork([seconds]) for seconds, code in zip(timed.times, codes, strict=True) if code == 0)
    failed = (len(codes) - len(forks), len(codes))
    return Benchmark(timed.command, "run", timed.parameters, "s", forks, failed=failed)
