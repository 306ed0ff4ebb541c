"""Read files of other tools by the name of their format; the registry is `study/reader_names.py`."""

from collections.abc import Iterator, Sequence
from importlib import import_module
from math import isfinite
from pathlib import Path

from scalograph.errors import StudyError
from scalograph.exchange.benchmark import MAX_PARAMS, Benchmark, join_files
from scalograph.study.reader_names import READERS
from scalograph.study.scalars import unknown_name_error

# Of all files together.
MOST_BENCHMARKS = 100_000


def read(name: str, *files: Path) -> list[Benchmark]:
    """Read the benchmarks of files in order; equal ones of several files are merged.

    Raises StudyError: no reader has that name (lists the existing ones), a file is missing, too large or of another
    format, or all files together are too large; says where and what was expected.
    """
    if name not in READERS:
        raise unknown_name_error("import", f'no format "{name}"', name, READERS)
    from scalograph.exchange.readers.foreign_file import shared_limits  # it takes a tenth of a second

    with shared_limits():
        return join_files(_each(name, files))


def recognize(file: Path) -> tuple[str, list[Benchmark]] | None:
    """Return the first format whose reader accepts a file or folder, with its benchmarks; None without one."""
    if not file.is_file() and not file.is_dir():
        return None  # a pipe can be read once
    for name in READERS:
        try:
            return name, read(name, file)
        except StudyError:
            continue
    return None


def _each(name: str, files: Sequence[Path]) -> Iterator[list[Benchmark]]:
    module, left = import_module(READERS[name].module), MOST_BENCHMARKS
    for file in files:
        benchmarks: list[Benchmark] = module.read(file)
        _refuse_unfit(file, benchmarks)
        left -= len(benchmarks)
        if left < 0:
            more = f"with the files before it more than {MOST_BENCHMARKS} benchmarks"
            raise StudyError.one(str(file), more, "fewer", "read fewer files at once")
        yield benchmarks


def _refuse_unfit(file: Path, every: Sequence[Benchmark]) -> None:
    """Refuse infinite values, which overlong digits or tiny divisors give, and names that are all params."""
    for benchmark in every:
        where = f"{file.name}: {benchmark.name[:80]}"
        if not all(isfinite(value) for fork in benchmark.forks for value in fork.values):
            raise StudyError.one(where, "a value above 1e308", "one below")
        if (n := len(benchmark.params)) > MAX_PARAMS:
            raise StudyError.one(where, f"{n} params", f"at most {MAX_PARAMS}", "leave some out of its name")
