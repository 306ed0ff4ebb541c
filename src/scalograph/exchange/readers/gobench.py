"""Output of `go test -bench`: a line for each benchmark and count, all by one process. Executes nothing."""

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from scalograph.errors import StudyError
from scalograph.exchange.benchmark import Benchmark, Kind, failed_run, fork, join_process
from scalograph.exchange.readers.foreign_file import MAX_BENCHMARKS, text

_KIND = "the output of go test -bench"
_FIX = "write it anew with: go test -bench . -count 5 > FILE"
_LINE = re.compile(r"Benchmark(\S*)\s+([0-9]+)\s+(.*)")
# After the name of a benchmark, or on a line of its own.
_FAILED = re.compile(r".*--- FAIL: Benchmark(\S+)")
_TIME = re.compile(r"([0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]{1,3})?) ns/op")
# After the last -: GOMAXPROCS, unless it is 1.
_PROCS = re.compile(r"(.+?)(?:-([0-9]{1,5}))?")
# Lines are matched one by one: a list of all could be many times as large as the file.
_LINES = re.compile(r".*\n?")
_MAX_LINE = 1000


def read(file: Path) -> list[Benchmark]:
    """Read the benchmarks of an output in order: ns/op; the counts of one process are one fork."""
    lines = list(islice(_lines(file), MAX_BENCHMARKS + 1))
    if not lines:
        raise StudyError.one(str(file), "no line of a benchmark", _KIND, _FIX)
    if len(lines) > MAX_BENCHMARKS:
        raise StudyError.one(str(file), f"more than {MAX_BENCHMARKS} lines", _KIND, "import its packages one by one")
    return join_process(lines)


def _lines(file: Path) -> Iterator[Benchmark]:
    package = ""
    for number, matched in enumerate(_LINES.finditer(text(file, _KIND)), 1):
        line = matched[0].rstrip()
        if line.startswith("pkg: "):
            package = line[5:].strip()[:_MAX_LINE]
        elif len(line) <= _MAX_LINE and (failed := _FAILED.match(line)):
            yield failed_run(*_benchmark_fields(package, failed[1]))
        elif len(line) <= _MAX_LINE and (match := _LINE.match(line)):
            if not (took := _TIME.search(match[3])):
                raise StudyError.one(f"{file.name}:{number}", f'"{line[:80]}"', "a time in ns/op", _FIX)
            yield Benchmark(*_benchmark_fields(package, match[1]), (fork([float(took[1])], 1e-9),))


def _benchmark_fields(package: str, full: str) -> tuple[str, str, dict[str, str], Kind]:
    name, params = _parts(full)
    return f"{package}.{name}" if package else name, "op", params, "s"


def _parts(full: str) -> tuple[str, dict[str, str]]:
    """Return name and named parts of a benchmark, with GOMAXPROCS, which is 1 if omitted.

    >>> _parts("Sort/size=8/radix-4")
    ('Sort/radix', {'size': '8', 'gomaxprocs': '4'})
    """
    match = _PROCS.fullmatch(full)
    name, procs = (match[1], match[2] or "1") if match else (full, "1")
    first, *rest = name.split("/")
    named = dict(part.split("=", 1) for part in rest if "=" in part)
    return "/".join([first, *(part for part in rest if "=" not in part)]), {**named, "gomaxprocs": procs}
