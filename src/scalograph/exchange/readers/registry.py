"""What a file of another instrument holds, by the name of its format; the rows stand in `study/reader_names.py`."""

from collections.abc import Iterator, Sequence
from importlib import import_module
from math import isfinite
from pathlib import Path

from scalograph.errors import StudyError
from scalograph.exchange.benchmark import MAX_PARAMS, Benchmark, across
from scalograph.study.reader_names import READERS
from scalograph.study.scalars import no_such

# Of all files together.
MOST_BENCHMARKS = 100_000


def read(name: str, *files: Path) -> list[Benchmark]:
    """Read the benchmarks of files, in their order; one that several files have gets the forks of all.

    Args:
        name: of the format.
        files: what the instrument wrote.

    Raises:
        StudyError: no reader has that name (lists the existing ones), a file has another format, or all files together
            are too large.
    """
    if name not in READERS:
        raise no_such("import", f'no format "{name}"', name, READERS)
    from scalograph.exchange.readers.foreign_file import together  # it takes a tenth of a second

    with together():
        return across(_each(name, files))


def recognized(file: Path) -> tuple[str, list[Benchmark]] | None:
    """Return the first format whose reader takes a file, or a folder, with its benchmarks; None where none does."""
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
        found: list[Benchmark] = module.read(file)
        _refuse_unfit(file, found)
        left -= len(found)
        if left < 0:
            more = f"with the files before it more than {MOST_BENCHMARKS} benchmarks"
            raise StudyError.one(str(file), more, "fewer", "read fewer files at once")
        yield found


def _refuse_unfit(file: Path, every: Sequence[Benchmark]) -> None:
    """Many digits, or a number over one that is nearly 0, are more than a float can hold; a name may be all params."""
    for one in every:
        where = f"{file.name}: {one.name[:80]}"
        if not all(isfinite(value) for fork in one.forks for value in fork.values):
            raise StudyError.one(where, "a figure above 1e308", "one below")
        if (n := len(one.params)) > MAX_PARAMS:
            raise StudyError.one(where, f"{n} params", f"at most {MAX_PARAMS}", "leave some out of its name")
