"""A source of a comparison as it is named: published:TABLE, FORMAT:FILE,FILE, or a path."""

from pathlib import Path
from typing import TYPE_CHECKING

from scalograph.errors import ProtocolError

if TYPE_CHECKING:
    from scalograph.exchange.benchmark import Benchmark
    from scalograph.exchange.compare.measured_source import MeasuredSource

# What nobody but us writes.
_OURS, _OUR_NAME = (".jsonl", ".gz"), "findings.json"


def compared_source(text: str, label: str, response: str | None) -> "MeasuredSource":
    """Read a source; the format of a path that holds no results is found by reading it.

    Args:
        text: as it was named.
        label: what it is called.
        response: that is compared; None for the one that it is about.

    Raises:
        StudyError: it has no such response, or is none of the format that was named.
        ProtocolError: the path cannot be read, or has no known format.
    """
    from scalograph.exchange.compare.from_benchmarks import from_benchmarks
    from scalograph.exchange.compare.from_published import from_published, is_published
    from scalograph.exchange.readers.registry import read
    from scalograph.study.reader_names import READERS

    if is_published(text):
        return from_published(text, response).called(label)
    name, colon, files = text.partition(":")
    if colon and name in READERS:
        every = read(name, *map(Path, files.split(",")))
        return from_benchmarks(every, READERS[name].instrument, label, response)
    found = _of_path(Path(text), label, response)
    if not isinstance(found, tuple):
        return found
    name, every = found
    return from_benchmarks(every, READERS[name].instrument, label, response)


def _of_path(path: Path, label: str, response: str | None) -> "MeasuredSource | tuple[str, list[Benchmark]]":
    from scalograph.cli.last_stops import learned
    from scalograph.exchange.compare.from_findings import from_findings
    from scalograph.exchange.readers.registry import recognized
    from scalograph.study.reader_names import READERS

    try:
        found = learned(path)
    except ProtocolError:
        is_ours = path.suffix in _OURS or path.name == _OUR_NAME or not path.exists()
        known = None if is_ours else recognized(path)
        if known:
            return known
        if is_ours or path.is_dir():
            raise
    else:
        return from_findings(found, label, response)
    what = f"results, or a file of {', '.join(READERS)}"
    raise ProtocolError(str(path), "none of the known formats", what, f"name one to see why it is none: FORMAT:{path}")
