"""Formats of other instruments by name. A further one is a module beside this and a row here."""

from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from scalograph.errors import StudyError
from scalograph.exchange.benchmark import Benchmark, across


class Reader(NamedTuple):
    """A format: the instrument as people call it, and the module whose `read(file)` returns its benchmarks.

    `read` executes nothing, limits its input, and raises StudyError with place, found and expected. `how` writes such
    a file.
    """

    instrument: str
    module: str
    how: str = ""


# Of all files together.
MOST_BENCHMARKS = 100_000
_HOME = "scalograph.exchange.readers"
READERS = {
    "jmh": Reader("JMH", f"{_HOME}.jmh", "java -jar benchmarks.jar -rf json -rff FILE"),
    "hyperfine": Reader("hyperfine", f"{_HOME}.hyperfine", "hyperfine --export-json FILE COMMAND"),
    "pyperf": Reader("pyperf", f"{_HOME}.pyperf", "pyperf timeit -o FILE"),
    "google-benchmark": Reader(
        "Google Benchmark", f"{_HOME}.google_benchmark", "--benchmark_out=FILE --benchmark_out_format=json"
    ),
    "criterion": Reader("Criterion", f"{_HOME}.criterion", "cargo bench, then the folder target/criterion"),
    "gobench": Reader("go test -bench", f"{_HOME}.gobench", "go test -bench . > FILE"),
    "sysbench": Reader("sysbench", f"{_HOME}.sysbench", "sysbench ... run > FILE"),
    "pgbench": Reader("pgbench", f"{_HOME}.pgbench", "pgbench ... > FILE"),
    "wrk": Reader("wrk", f"{_HOME}.wrk", "wrk ... URL > FILE"),
    "oha": Reader("oha", f"{_HOME}.oha", "oha --no-tui --output-format json URL > FILE"),
    "k6": Reader("k6", f"{_HOME}.k6", "k6 run --summary-export FILE script.js"),
    "csv": Reader("the table", f"{_HOME}.plain_csv", "columns value, unit, run; all others are params"),
}


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
        raise StudyError.one("import", f'no format "{name}"', f"one of {', '.join(READERS)}")
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
        left -= len(found)
        if left < 0:
            more = f"with the files before it more than {MOST_BENCHMARKS} benchmarks"
            raise StudyError.one(str(file), more, "fewer", "read fewer files at once")
        yield found
