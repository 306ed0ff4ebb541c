"""A table of measured values as CSV: one value in each row, with what it belongs to. Executes nothing.

Columns: `value` with its `unit` (or --unit), `run` for the process that it comes from, `benchmark` or `response` for
what it is; every other column is a param. What `scalograph export` writes is such a table.
"""

import csv
import math
from collections.abc import Mapping
from pathlib import Path

from scalograph.errors import StudyError
from scalograph.exchange.benchmark import Benchmark, Kind, fork
from scalograph.exchange.readers.foreign_file import content
from scalograph.protocol.bounded import parse_csv
from scalograph.text.units import unit_of

MAX_ROWS = 1_000_000
_KIND = "a CSV file with the columns value and unit"
_FIX = "name the column of the figures `value`, and give each a unit such as s, ms or 1/s in a column `unit`"
# Columns of `scalograph export` that say how a run was made, and not what it is of.
_OF_RUNS = ("block", "replicate", "iteration", "verdict", "status", "warmup")
_OWN = ("value", "unit", "run", "benchmark", "response", *_OF_RUNS)

Key = tuple[str, tuple[tuple[str, str], ...], Kind]


def read(file: Path) -> list[Benchmark]:
    """Read the values of a table; those of one run are shots of a fork, and without a column `run` each row is one.

    Rows without a value, of warm-up, and of runs that failed are left out.

    Raises:
        StudyError: the file is missing or too large, lacks a column, or has a value that is no number; with the line.
    """
    try:
        found = _read(file, parse_csv(content(file, _KIND, (b"\n",))))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise StudyError.one(str(file), f"cannot be read: {why}", _KIND, _FIX) from error
    if not found:
        raise StudyError.one(str(file), "no row with a value", _KIND, _FIX)
    return [_benchmark(key, runs) for key, runs in found.items()]


def _read(file: Path, reader: "csv.DictReader[str]") -> dict[Key, dict[str, list[float]]]:
    """Return the values by benchmark and run."""
    names = [name.strip() for name in reader.fieldnames or ()]
    reader.fieldnames = names
    for name in ("value", "unit"):
        if names.count(name) != 1:
            have = ", ".join(names)[:200] or "none"
            found = f'{names.count(name)} columns "{name}" (columns: {have})'
            raise StudyError.one(str(file), found, _KIND, _FIX)
    every: dict[Key, dict[str, list[float]]] = {}
    for n, row in enumerate(reader):
        where = f"{file.name}:{reader.line_num}"
        if n == MAX_ROWS:
            raise StudyError.one(where, f"more than {MAX_ROWS} rows", f"at most {MAX_ROWS}")
        if row.get(None):
            raise StudyError.one(where, "more fields than the header has", f"{len(names)}", "quote texts with commas")
        if _counts(row):
            key, value = _key(where, row), _value(where, row)
            every.setdefault(key, {}).setdefault(row.get("run") or f"row {n}", []).append(value)
    return every


def _counts(row: Mapping[str, str | None]) -> bool:
    is_warmup = (row.get("warmup") or "false").lower() in ("true", "1")
    return bool((row.get("value") or "").strip()) and not is_warmup and (row.get("status") or "ok") == "ok"


def _key(where: str, row: Mapping[str, str | None]) -> Key:
    kind = unit_of(row["unit"] or "")
    if kind is None:
        raise StudyError.one(where, f"unit {(row['unit'] or '')[:40]!r}", "a time or a rate, such as ms or 1/s", _FIX)
    name = row.get("benchmark") or row.get("response") or "value"
    params = {column: text or "" for column, text in row.items() if column and column not in _OWN}
    return name, tuple(params.items()), kind[0]


def _value(where: str, row: Mapping[str, str | None]) -> float:
    """Return the value in seconds, or per second."""
    text, kind = (row["value"] or "").strip(), unit_of(row["unit"] or "")
    try:
        value = float(text) * (kind[1] if kind else 1.0)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf or "_" in text:
        raise StudyError.one(where, f"value = {text[:40]!r}", "a number, 0 or more")
    return value


def _benchmark(key: Key, runs: Mapping[str, list[float]]) -> Benchmark:
    name, params, unit = key
    return Benchmark(name, "value", dict(params), unit, tuple(fork(values) for values in runs.values()))
