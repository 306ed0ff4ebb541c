"""Output of will-it-scale (`runtest.py`): iterations per second of processes and of threads, by their number."""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

from scalograph.exchange.benchmark import Benchmark, fail, fork, join_same
from scalograph.exchange.readers.foreign_file import ForeignFile, PartError

_HEADER = ("tasks", "processes", "processes_idle", "threads", "threads_idle", "linear")
_COUNT = re.compile(r"-?[0-9]{1,18}")
_KINDS = ("processes", "threads")


def read(file: ForeignFile) -> Iterator[Benchmark]:
    """Read the rows of one table or several of a test, which the name of the file tells; each row is a run."""
    if not file.head.startswith(",".join(_HEADER)):
        raise file.refusal("", f"no line {','.join(_HEADER)}")
    runs = file.each(file.table_rows(), lambda _, row: _runs(file.path.name.partition(".")[0], row))
    yield from join_same(chain.from_iterable(runs))


def _runs(name: str, row: dict[str, str]) -> list[Benchmark]:
    # The first row, of no tasks, is for the chart; tables may follow each other.
    if row["tasks"] in ("0", "tasks"):
        return []
    if not all(_COUNT.fullmatch(row[column]) for column in ("tasks", *_KINDS)):
        raise PartError("a row without its numbers")
    return [_run(Benchmark(name, "iterations", {"tasks": row["tasks"], "mode": kind}, "1/s", ()), int(row[kind]))
            for kind in _KINDS]  # fmt: skip


def _run(run: Benchmark, rate: int) -> Benchmark:
    # runtest.py writes -1 where the program printed no average.
    if rate > 0:
        return replace(run, forks=(fork([rate]),))
    return fail(run, "no average printed" if rate else "no iteration")
