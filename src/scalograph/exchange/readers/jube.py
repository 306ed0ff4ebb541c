"""Result tables of JUBE, drawn or CSV: columns with a unit of time or rate are results, all others are params."""

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from scalograph.exchange.benchmark import Benchmark, fail, fork, join_same
from scalograph.exchange.readers.foreign_file import MEAN_ONLY, ForeignFile, PartError
from scalograph.text.units import rate_or_time

_UNIT = re.compile(r"([^\[\]]+)\[([^\[\]]{1,40})\]")
# Numbers that JUBE gives to its work.
_WORK = re.compile(r"jube_(wp|benchmark|step|res)_\w+")
_STATISTIC = re.compile(r"(.+)_(first|last|min|max|sum|cnt|std|avg)")
_NUMBER = re.compile(r"\+?[0-9]{1,300}(\.[0-9]{0,300})?([eE][+-]?[0-9]{1,4})?")


class _Column(NamedTuple):
    """A column: its name, unit, and of which pattern it is a statistic; empty where it has none."""

    name: str
    unit: str = ""
    pattern: str = ""
    statistic: str = ""


def read(file: ForeignFile) -> Iterator[Benchmark]:
    """Read the rows of one table or several: each is a run; a result without a value failed."""
    if file.head.lstrip()[:1] in ("{", "["):
        raise file.refusal("", "JSON, and no table")
    yield from join_same(chain.from_iterable(file.each(file.table_rows(), lambda _, row: _runs(row))))


@lru_cache(maxsize=1000)
def _column(header: str) -> _Column:
    unit = _UNIT.fullmatch(header)
    name = unit[1].strip() if unit else header
    statistic = _STATISTIC.fullmatch(name)
    return _Column(name, unit[2] if unit else "", *(statistic.groups() if statistic else ()))


def _runs(row: dict[str, str]) -> list[Benchmark]:
    columns = {header: _column(header) for header in row}
    names = {column.name for column in columns.values()}
    results = {header: column for header, column in columns.items() if rate_or_time(column.unit)}
    if not results:
        raise PartError("no column with a unit of time or rate, such as time[s]: give the pattern a unit")
    patterns = {column.pattern or column.name for column in results.values()}
    params = {header: row[header][:1000] for header, column in columns.items()
              if row[header] and header not in results and column.pattern not in patterns
              and not _WORK.fullmatch(header)}  # fmt: skip
    # The mean stands for the statistics of a pattern; without one it is the value itself, which is of the last match.
    return [
        _run(Benchmark(column.name, column.name, params, "s", ()), row[header], column)
        for header, column in results.items()
        if column.statistic == "avg"
        or not names & {f"{column.name}_avg", f"{column.pattern}_avg", column.pattern or "[]"}
    ]


def _run(run: Benchmark, text: str, column: _Column) -> Benchmark:
    kind, factor = rate_or_time(column.unit) or ("s", 1.0)
    run = replace(run, unit=kind)
    if text.lower() in ("", "nan", "none"):
        return fail(run, "no value in its output")
    if not _NUMBER.fullmatch(text):
        raise PartError(f'{column.name[:80]} = "{text[:40]}" is no number, 0 or more')
    warnings = (MEAN_ONLY,) if column.statistic == "avg" else ()
    return replace(run, forks=(fork([float(text)], factor),), warnings=warnings)
