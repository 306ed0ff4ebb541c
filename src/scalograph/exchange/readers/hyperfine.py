"""Results of hyperfine (`--export-json`): each run of a command is a fork of one iteration."""

from collections.abc import Iterator
from typing import Annotated

from pydantic import FailFast, Field, TypeAdapter

from scalograph.exchange.benchmark import Benchmark, fork
from scalograph.exchange.readers.foreign_file import ForeignFile, ForeignPart, Params, PartError, ReadValue, Text
from scalograph.text.quantities import count_noun

_SUMMARY = ("command,mean,stddev,median,user,system,min,max", "| Command | Mean ")


class _Timed(ForeignPart):
    command: Text
    times: Annotated[list[ReadValue], Field(min_length=1), FailFast()]
    exit_codes: Annotated[list[int | None], FailFast()] = Field(default=[])
    parameters: Params = Field(default={})


_ENTRY = TypeAdapter(_Timed)


def read(file: ForeignFile) -> Iterator[Benchmark]:
    """Read the commands of a result file in order; a run with a non-zero exit code failed."""
    refuse_summary(file)
    return file.each(file.entries(_ENTRY, "results"), lambda _, part: _benchmark(part))


def refuse_summary(file: ForeignFile) -> None:
    """Raise StudyError where a file is a table of means that hyperfine wrote for people."""
    if file.head.startswith(_SUMMARY):
        fix = f"use --export-json FILE, or: scalograph fit {file.path.name} --x parameter_NAME --y mean --times"
        raise file.refusal("", "the summary of hyperfine, without its runs", fix=fix)


def _benchmark(timed: _Timed) -> Benchmark:
    codes = timed.exit_codes or [0] * len(timed.times)
    if len(codes) != len(timed.times):
        raise PartError(f"{len(timed.times)} times and {len(codes)} exit_codes")
    forks = tuple(fork([seconds]) for seconds, code in zip(timed.times, codes, strict=True) if code == 0)
    ends = sorted({"a signal" if code is None else str(code) for code in codes if code != 0})
    warnings = (f"exit code {', '.join(ends[:4])} in {count_noun(len(codes) - len(forks), 'run')}",) if ends else ()
    failed = (len(codes) - len(forks), len(codes))
    return Benchmark(timed.command, "run", timed.parameters, "s", forks, warnings=warnings, failed=failed)
