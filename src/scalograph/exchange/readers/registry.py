"""Formats of other instruments by name. A further one is a module beside this and a row here."""

from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from scalograph.errors import StudyError
from scalograph.exchange.benchmark import Benchmark


class Reader(NamedTuple):
    """A format: the instrument as people call it, and the module whose `read(file)` returns its benchmarks.

    `read` executes nothing, limits its input, and raises StudyError with place, found and expected.
    """

    instrument: str
    module: str


READERS = {"jmh": Reader("JMH", "scalograph.exchange.readers.jmh")}


def read(name: str, file: Path) -> list[Benchmark]:
    """Read the benchmarks of a file, in its order.

    Args:
        name: of the format.
        file: what the instrument wrote.

    Raises:
        StudyError: no reader has that name (lists the existing ones), or the file has another format.
    """
    if name not in READERS:
        raise StudyError.one("import", f'no format "{name}"', f"one of {', '.join(READERS)}")
    found: list[Benchmark] = import_module(READERS[name].module).read(file)
    return found
