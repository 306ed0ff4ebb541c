"""Results that hyperfine wrote with `--export-json`: each run of a command is a fork of one shot. Executes nothing."""

from pathlib import Path
from typing import Annotated

from pydantic import FailFast, Field, TypeAdapter

from scalograph.exchange.benchmark import Benchmark, fork
from scalograph.exchange.readers.foreign_file import MAX_BENCHMARKS, ForeignPart, Params, ReadFigure, Text, document
from scalograph.text.quantities import counted

_KIND = "a result of hyperfine (--export-json)"
_FIX = "write it anew with: hyperfine --export-json FILE COMMAND"


class _Timed(ForeignPart):
    command: Text
    times: Annotated[list[ReadFigure], Field(min_length=1), FailFast()]
    exit_codes: Annotated[list[int | None], FailFast()] = Field(default=[])
    parameters: Params = Field(default={})


class _Exported(ForeignPart):
    results: Annotated[list[_Timed], Field(min_length=1, max_length=MAX_BENCHMARKS), FailFast()]


_DOCUMENT = TypeAdapter(_Exported)


def read(file: Path) -> list[Benchmark]:
    """Read the commands of a result file, in its order.

    Raises:
        StudyError: the file is missing, too large, or no such result; says where and what was expected.
    """
    return [_benchmark(timed) for timed in document(file, _DOCUMENT, _KIND, _FIX).results]


def _benchmark(timed: _Timed) -> Benchmark:
    n_failed = sum(code != 0 for code in timed.exit_codes)
    notes = (f"{counted(n_failed, 'run')} ended with another exit code than 0",) if n_failed else ()
    forks = tuple(fork([seconds]) for seconds in timed.times)
    return Benchmark(timed.command, "run", timed.parameters, "s", forks, notes=notes)
