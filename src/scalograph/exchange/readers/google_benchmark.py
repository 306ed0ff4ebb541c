"""Results that Google Benchmark wrote with `--benchmark_format=json`: one process, so one fork. Executes nothing."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, FailFast, Field, TypeAdapter

from scalograph.exchange.benchmark import Benchmark, failed_run, fork, one_process
from scalograph.exchange.readers.foreign_file import MAX_BENCHMARKS, Amount, ForeignPart, ReadFigure, Text, document

_KIND = "a result of Google Benchmark (--benchmark_format=json)"
_FIX = "write it anew with: --benchmark_out=FILE --benchmark_out_format=json"
_SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
# Parts of a name that say how it was measured, and not what.
_HOW = re.compile(r"(real_time|process_time|manual_time|(repeats|iterations|min_time|min_warmup_time):.*)")
_NAMED = re.compile(r"([A-Za-z_]\w*):(.+)")


class _Repetition(ForeignPart):
    """One repetition of a benchmark."""

    name: Text
    threads: Amount = 1
    real_time: ReadFigure = 0.0
    time_unit: Literal["ns", "us", "ms", "s"] = "ns"
    error_occurred: bool = False
    skipped: bool = False


def _without_aggregates(listed: Any) -> Any:
    """Leave out aggregates before they are checked: those of complexity have other keys, and figures of any sign."""
    if not isinstance(listed, list):
        return listed
    return [one for one in listed if not (isinstance(one, dict) and one.get("run_type") == "aggregate")]


_Repetitions = Annotated[list[_Repetition], Field(min_length=1, max_length=MAX_BENCHMARKS), FailFast()]


class _Report(ForeignPart):
    benchmarks: Annotated[_Repetitions, BeforeValidator(_without_aggregates)]


_DOCUMENT = TypeAdapter(_Report)


def read(file: Path) -> list[Benchmark]:
    """Read the benchmarks of a result file, in its order: real time of an iteration; repetitions are shots of a fork.

    Raises:
        StudyError: the file is missing, too large, or no such result.
    """
    return one_process(_repetitions(file))


def _repetitions(file: Path) -> Iterator[Benchmark]:
    for one in document(file, _DOCUMENT, _KIND, _FIX).benchmarks:
        name, params = _parts(one.name)
        if one.error_occurred:
            yield failed_run(name, "iteration", params, "s", one.threads)
        elif not one.skipped:
            shot = fork([one.real_time], _SECONDS[one.time_unit])
            yield Benchmark(name, "iteration", params, "s", (shot,), one.threads)


def _parts(text: str) -> tuple[str, dict[str, str]]:
    """Return a name without its named arguments, and these.

    >>> _parts("BM_Sort/64/n:8/threads:2/real_time")
    ('BM_Sort/64', {'n': '8', 'threads': '2'})
    """
    first, *rest = text.split("/")
    what = [part for part in rest if not _HOW.fullmatch(part)]
    named = {found[1]: found[2] for part in what if (found := _NAMED.fullmatch(part))}
    return "/".join([first, *(part for part in what if not _NAMED.fullmatch(part))]), named
