"""Results of Google Benchmark (`--benchmark_format=json`): one process, so one fork. Executes nothing."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, FailFast, Field, TypeAdapter

from scalograph.exchange.benchmark import Benchmark, failed_run, fork, join_process
from scalograph.exchange.readers.foreign_file import MAX_BENCHMARKS, Amount, ForeignPart, ReadValue, Text, document

_KIND = "a result of Google Benchmark (--benchmark_format=json)"
_FIX = "write it anew with: --benchmark_out=FILE --benchmark_out_format=json"
_SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
# Parts of a name that say how it was measured, not what.
_HOW = re.compile(r"(real_time|process_time|manual_time|(repeats|iterations|min_time|min_warmup_time):.*)")
_NAMED = re.compile(r"([A-Za-z_]\w*):(.+)")


class _Repetition(ForeignPart):
    name: Text
    threads: Amount = 1
    real_time: ReadValue = 0.0
    time_unit: Literal["ns", "us", "ms", "s"] = "ns"
    error_occurred: bool = False
    skipped: bool = False


def _drop_aggregates(listed: Any) -> Any:
    """Drop aggregates before the check: those of complexity have other keys and signs."""
    if not isinstance(listed, list):
        return listed
    return [entry for entry in listed if not (isinstance(entry, dict) and entry.get("run_type") == "aggregate")]


_Repetitions = Annotated[list[_Repetition], Field(min_length=1, max_length=MAX_BENCHMARKS), FailFast()]


class _Report(ForeignPart):
    benchmarks: Annotated[_Repetitions, BeforeValidator(_drop_aggregates)]


_DOCUMENT = TypeAdapter(_Report)


def read(file: Path) -> list[Benchmark]:
    """Read the benchmarks of a result file in order: real time per iteration; repetitions share a fork."""
    return join_process(_repetitions(file))


def _repetitions(file: Path) -> Iterator[Benchmark]:
    for repetition in document(file, _DOCUMENT, _KIND, _FIX).benchmarks:
        first, *rest = repetition.name.split("/")
        what = [part for part in rest if not _HOW.fullmatch(part)]
        named = {match[1]: match[2] for part in what if (match := _NAMED.fullmatch(part))}
        name, params = "/".join([first, *(part for part in what if not _NAMED.fullmatch(part))]), named
        if repetition.error_occurred:
            yield failed_run(name, "iteration", params, "s", repetition.threads)
        elif not repetition.skipped:
            shot = fork([repetition.real_time], _SECONDS[repetition.time_unit])
            yield Benchmark(name, "iteration", params, "s", (shot,), repetition.threads)
