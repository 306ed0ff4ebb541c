"""Read files of other tools by the name of their format; the registry is `study/reader_names.py`."""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import file_digest
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scalograph.errors import StudyError
from scalograph.exchange.benchmark import MAX_PARAMS, Benchmark, LeftOut, join_files, values_of
from scalograph.study.reader_names import READERS, Reader
from scalograph.study.scalars import unknown_name_error

if TYPE_CHECKING:  # it takes a tenth of a second
    from scalograph.exchange.readers.foreign_file import ForeignFile

# Squares and products of values must stay finite.
WIDEST = 1e100
# Seconds: less than a cycle of any clock.
_SHORTEST = 1e-11
# Of all files together.
MOST_BENCHMARKS = 100_000


@dataclass(frozen=True)
class ImportedFiles:
    """What files hold: benchmarks of the tools that wrote them, and parts (`unread`: files) that could not be read."""

    tool: str
    benchmarks: list[Benchmark]
    left_out: tuple[LeftOut, ...] = ()
    unread: tuple[str, ...] = ()


def read(name: str | None, *files: Path, options: Any = None, strict: bool = False) -> ImportedFiles:
    """Read the benchmarks of files in order; equal ones of several files are merged.

    `name` of the format is recognized if None. `options` are those of a reader that has some. What cannot be read is
    left out, a whole file among others too, and a copy of an earlier file; `strict` refuses it.

    Raises StudyError: no reader has that name, a file is missing, all together are too large, or nothing is left; says
    where and what was expected.
    """
    if name is not None and name not in READERS:
        raise unknown_name_error("import", f'no format "{name}"', name, READERS)
    from scalograph.exchange.readers.foreign_file import ForeignFile, TooMuchError, shared_limits

    every: list[ImportedFiles] = []
    refused: list[StudyError] = []
    unread: list[str] = []
    repeats = _find_repeats(files)
    with shared_limits():
        for file in (file for i, file in enumerate(files) if i not in repeats):
            try:
                every.append(_read_format(ForeignFile(file, READERS[name]), options) if name else _recognize(file))
            except StudyError as error:
                if isinstance(error, TooMuchError) or not file.exists():
                    raise
                refused.append(error)
                unread.append(file.name)
    lost = [part for reading in every for part in reading.left_out]
    lost += [LeftOut(files[i].name, f"the same content as {first}: counted once") for i, first in repeats.items()]
    lost += [LeftOut(problem.where, problem.found) for error in refused for problem in error.problems]
    if strict and lost:
        raise StudyError.one(lost[0].where, lost[0].reason, "files without such parts", "leave out --strict")
    if refused and not every:
        raise refused[0]
    if sum(len(reading.benchmarks) for reading in every) > MOST_BENCHMARKS:
        more = f"with the files before it more than {MOST_BENCHMARKS} benchmarks"
        raise StudyError.one(str(files[-1]), more, "fewer", "read fewer files at once")
    tools = ", ".join(dict.fromkeys(reading.tool for reading in every))
    return ImportedFiles(tools, join_files(reading.benchmarks for reading in every), tuple(lost), tuple(unread))


def _find_repeats(files: Sequence[Path]) -> dict[int, Path]:
    """Return the positions of files with the content of an earlier one, and that one; copies are no processes."""
    sizes = Counter(file.stat().st_size for file in files if file.is_file())
    first: dict[object, Path] = {}
    repeats = {}
    for i, file in enumerate(files):
        content: object = os.path.realpath(file)  # as it is, where links lead in a circle
        if file.is_file() and sizes[file.stat().st_size] > 1:
            with suppress(OSError), file.open("rb") as opened:
                content = file_digest(opened, "sha256").digest()
        if first.setdefault(content, file) is not file:
            repeats[i] = first[content]
    return repeats


def recognize(file: Path) -> ImportedFiles | None:
    """Return what the best reader makes of a file or folder: most is read, least left out; None without one."""
    try:
        return read(None, file)
    except StudyError:
        return None


def _recognize(path: Path) -> ImportedFiles:
    from scalograph.exchange.readers.foreign_file import ForeignFile, trial

    if not path.is_file() and not path.is_dir():
        problem = "no plain file" if path.exists() else "No such file or directory"
        raise StudyError.one(str(path), problem, "a file of another tool")  # a pipe can be read once
    readings, file = [], ForeignFile(path, Reader("another tool", ""))
    for row in [row for row in READERS.values() if path.is_dir() or file.may_hold(row.signs)]:
        file = file.copy_for(row)
        with suppress(StudyError), trial():
            readings.append(_read_format(file))
    if not readings:
        names = ", ".join(READERS)
        fix = f"name one to see why it is none: scalograph import FORMAT {path}"
        raise StudyError.one(str(path), "none of the known formats", f"a file of {names}", fix)
    return max(readings, key=lambda reading: (-len(reading.left_out), len(reading.benchmarks)))


def _read_format(file: "ForeignFile", options: Any = None) -> ImportedFiles:
    """Read a file by its reader. Raises StudyError: nothing of it can be read."""
    module = import_module(file.reader.module)
    parts = module.read(file) if options is None else module.read(file, options)
    benchmarks = [*_leave_unfit_out(file, parts)]
    if not benchmarks:
        first = file.left_out[0] if file.left_out else None
        more = f" (and {len(file.left_out) - 1} more)" * (len(file.left_out) > 1)
        where = first.where.removeprefix(file.path.name).removeprefix(": ") if first else ""
        raise file.refusal(where, first.reason + more if first else "no benchmark")
    return ImportedFiles(file.reader.instrument, benchmarks, tuple(file.left_out))


def _leave_unfit_out(file: "ForeignFile", every: Iterable[Benchmark]) -> Iterator[Benchmark]:
    """Leave out values whose squares are infinite, as overlong digits give, and names that are all params."""
    from scalograph.exchange.readers.foreign_file import PartError

    try:
        for benchmark in every:
            if max(values_of(benchmark.forks), default=0.0) > WIDEST:
                file.leave_out(benchmark.name[:80], "a value above 1e100")
            elif benchmark.unit == "s" and 0 < max(values_of(benchmark.forks), default=0.0) < _SHORTEST:
                file.leave_out(benchmark.name[:80], "less than a clock cycle: it did not repeat its work")
            elif (n := len(benchmark.params)) > MAX_PARAMS:
                file.leave_out(benchmark.name[:80], f"{n} params are more than {MAX_PARAMS}")
            else:
                yield benchmark
    except PartError as error:  # of a file that is one part
        file.leave_out(error.at, str(error))


def left_out_text(parts: Sequence[LeftOut], most: int = 2) -> str:
    """Name the first parts that were left out, with their reasons; empty where none was."""
    named = "; ".join(f"{part.where} ({part.reason})" for part in parts[:most])
    more = f"; and {len(parts) - most} more" if len(parts) > most else ""
    return f"Excluded: {named}{more}." if parts else ""
