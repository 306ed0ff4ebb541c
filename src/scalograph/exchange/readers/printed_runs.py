"""Split the printed outputs of a load tool, of which one file may hold several, and read each."""

import re
from collections.abc import Callable
from itertools import islice
from pathlib import Path

from scalograph.errors import StudyError
from scalograph.exchange.benchmark import Benchmark, join_same
from scalograph.exchange.readers.foreign_file import MAX_BENCHMARKS, text


def printed_runs(
    file: Path, kind: str, start: re.Pattern[str], read_one: Callable[[str], Benchmark | None], fix: str
) -> list[Benchmark]:
    """Read the outputs that a file holds one after the other: each is a run, so a fork.

    `start` is the first line of an output; `read_one` reads one, and returns None where a value is missing. `kind` says
    in words what was expected, `fix` how to write such a file.

    Raises StudyError: the file is missing, too large, or holds an incomplete output.
    """
    whole = text(file, kind)
    starts = [match.start() for match in islice(start.finditer(whole), MAX_BENCHMARKS + 1)]
    if not starts:
        raise StudyError.one(str(file), "no such output", kind, fix)
    if len(starts) > MAX_BENCHMARKS:
        raise StudyError.one(str(file), f"more than {MAX_BENCHMARKS} outputs", kind, "import them in several files")
    runs = []
    for begin, end in zip(starts, [*starts[1:], len(whole)], strict=True):
        run = read_one(whole[begin:end])
        if run is None:
            line = whole.count("\n", 0, begin) + 1
            raise StudyError.one(f"{file.name}:{line}", "an output without its rate", kind, "leave it out: it failed")
        runs.append(run)
    return join_same(runs)


def number(pattern: re.Pattern[str], output: str) -> str:
    """Return the first capture of a pattern in an output; empty where there is none."""
    match = pattern.search(output)
    return match[1] if match else ""
