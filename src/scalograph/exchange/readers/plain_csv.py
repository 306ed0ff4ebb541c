"""A table of measured values as CSV: one value per row, with what it belongs to.

Columns: `value` with its `unit`, `run` for the process that it comes from, `benchmark` or `response` for what it is;
every other column is a param. What `scalograph export` writes is such a table: of it the runs count that count there.
"""

import csv
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import NamedTuple

from scalograph.exchange.benchmark import MAX_PARAMS, Benchmark, Kind, fork
from scalograph.exchange.export import DANGEROUS
from scalograph.exchange.readers.foreign_file import MAX_BENCHMARKS, ForeignFile, PartError
from scalograph.exchange.readers.hyperfine import refuse_summary
from scalograph.protocol.bounded import parse_csv
from scalograph.protocol.old_names import VERDICTS
from scalograph.text.units import unit_of
from scalograph.verdict.cause import REPEATED

MAX_ROWS = 1_000_000
_MOST_NAMED = 8
_KIND = "a CSV file with the columns value and unit"
_FIX = (
    "name the column of the figures `value`, and give each a unit such as s, ms or 1/s in a column `unit`; "
    "scalograph fit reads any two columns: --x NAME --y NAME"
)
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,4})?", re.ASCII)
# Columns of `scalograph export` that say how a run was made, and not what it is of.
_OF_RUNS = ("block", "replicate", "iteration", "verdict", "status", "warmup", "boot")
_OWN = ("value", "unit", "run", "benchmark", "response", *_OF_RUNS)
# The prefix that `scalograph export` gives to factors named like one of these columns.
_FACTOR = "factor."

Row = Mapping[str, str | None]


class _Key(NamedTuple):
    name: str
    mode: str
    params: tuple[tuple[str, str], ...]
    unit: Kind


class _Failed(NamedTuple):
    name: str
    params: tuple[tuple[str, str], ...]


@dataclass
class _Table:
    """Values by benchmark and run, disturbed runs, and units that are neither time nor rate."""

    values: dict[_Key, dict[str, list[float]]] = field(default_factory=dict)
    # Run numbers may start over for each benchmark.
    disturbed: set[tuple[_Key, str]] = field(default_factory=set)
    # Runs that failed, each by its params and, where the row names one, its benchmark: it has no response.
    failed: dict[_Failed, set[str]] = field(default_factory=dict)
    is_judged: bool = False
    left_out: dict[str, str] = field(default_factory=dict)


def read(file: ForeignFile) -> Iterator[Benchmark]:
    """Read the values of a table; values of one run share a fork; without a column `run` each row is one.

    Excluded are rows without a value or of warm-up, responses that are neither times nor rates, and runs whose
    `verdict` is disturbed, unless fewer than two others are left. A run whose `status` is not `ok` failed: it counts,
    without a value.
    """
    refuse_summary(file)
    try:
        table = _read(file, parse_csv(file.text, ",;\t"))
    except csv.Error as error:
        raise file.refusal("", f"cannot be read: {error}", _KIND, _FIX) from error
    _add_failed(file, table)
    if not table.values and not file.left_out:
        raise file.refusal("", "no row with a value that is a time or a rate", _KIND, _FIX)
    lost = ", ".join(f"{name} ({unit or 'no unit'})" for name, unit in islice(table.left_out.items(), _MOST_NAMED))
    for n, (key, runs) in enumerate(table.values.items()):
        benchmark = _benchmark(key, runs, table)
        notes = (*benchmark.notes, f"neither times nor rates, excluded: {lost}") if lost and not n else benchmark.notes
        yield replace(benchmark, notes=notes)


def _read(file: ForeignFile, reader: "csv.DictReader[str]") -> _Table:
    names = [name.strip() for name in reader.fieldnames or ()]
    reader.fieldnames = names
    for name in ("value", "unit"):
        if names.count(name) != 1:
            have = ", ".join(names)[:200] or "none"
            raise file.refusal("", f'{names.count(name)} columns "{name}" (columns: {have})', _KIND, _FIX)
    if (n_params := len(set(names) - {*_OWN})) > MAX_PARAMS:
        raise file.refusal("", f"{n_params} columns of params", f"at most {MAX_PARAMS}", "leave some out")
    table = _Table(is_judged="verdict" in names)
    for n, row in enumerate(reader):
        where = f"line {reader.line_num}"
        if n == MAX_ROWS:
            raise file.refusal(where, f"more than {MAX_ROWS} rows", f"at most {MAX_ROWS}")
        try:
            _take(table, row, row.get("run") or f"row {n}")
        except PartError as error:
            file.leave_out(where, str(error))
        if len(table.values) + len(table.failed) > MAX_BENCHMARKS:
            many = f"more than {MAX_BENCHMARKS} benchmarks"
            raise file.refusal(where, many, "fewer", "import it in several files")
    return table


def _take(table: _Table, row: Row, run: str) -> None:
    """Add a row to its benchmark. Raises PartError: it cannot be read."""
    if row.get(None):  # type: ignore[call-overload]
        raise PartError("more fields than the header has: quote texts with commas")
    if (row.get("warmup") or "false").lower() in ("true", "1"):
        return
    if (row.get("status") or "ok") != "ok":
        named = _unquote(row.get("benchmark") or "") or _unquote(row.get("response") or "")
        table.failed.setdefault(_Failed(named, _params(row)), set()).add(run)
        return
    response, unit = row.get("response") or "", row["unit"] or ""
    if not (row.get("value") or "").strip():
        return
    if response and unit_of(unit) is None:
        table.left_out[_unquote(response)[:80]] = unit[:40]
        return
    key = _key(row)
    value = _value(row)
    table.values.setdefault(key, {}).setdefault(run, []).append(value)
    verdict = row.get("verdict") or ""
    if VERDICTS.get(verdict, verdict) in REPEATED:
        table.disturbed.add((key, run))


def _add_failed(file: ForeignFile, table: _Table) -> None:
    """Add the configurations of which every run failed to each response that is a time or a rate."""
    kinds = list(dict.fromkeys((key.name, key.mode, key.unit) for key in table.values)) or [("value", "value", "s")]
    seen, by_name = {(key.name, key.params) for key in table.values}, {kind[0]: kind for kind in kinds}
    n_unnamed = sum(not key.name for key in table.failed)
    if n_unnamed * len(kinds) > MAX_BENCHMARKS:
        problem = f"{n_unnamed} configurations with failed runs, of {len(kinds)} benchmarks"
        raise file.refusal("", problem, f"at most {MAX_BENCHMARKS} in all", "import it in several files")
    for name, params in table.failed:
        # A failed run has no response: its configuration is missing in each.
        for called, mode, unit in [by_name.get(name, (name, *kinds[0][1:]))] if name else kinds:
            if (called, params) not in seen:
                table.values[_Key(called, mode, params, unit)] = {}


def _key(row: Row) -> _Key:
    kind = unit_of(row["unit"] or "")
    if kind is None:
        raise PartError(f"unit {(row['unit'] or '')[:40]!r} is neither a time nor a rate, such as ms or 1/s")
    response = _unquote(row.get("response") or "")
    return _Key(_unquote(row.get("benchmark") or "") or response or "value", response or "value", _params(row), kind[0])


def _params(row: Row) -> tuple[tuple[str, str], ...]:
    """Return the level of each factor: the column `factor.run` is of one called `run`."""
    named = [(name, _unquote(text or "")) for name, text in row.items() if name and name not in _OWN]
    plain = ((name.removeprefix(_FACTOR), name, text) for name, text in named)
    return tuple((short if short in _OWN else name, text) for short, name, text in plain)


def _unquote(text: str) -> str:
    """Remove the quote that keeps a spreadsheet from running a text."""
    return text[1:] if text.startswith("'") and text[1:].startswith(DANGEROUS) else text


def _value(row: Row) -> float:
    """Return the value in seconds, or per second."""
    text, kind = (row["value"] or "").strip(), unit_of(row["unit"] or "")
    value = float(text) * (kind[1] if kind else 1.0) if _NUMBER.fullmatch(text) else math.nan
    if not 0 <= value < math.inf:
        raise PartError(f"value = {text[:40]!r} is no number, 0 or more")
    return value


def _benchmark(key: _Key, runs: Mapping[str, list[float]], table: _Table) -> Benchmark:
    """Use disturbed runs only where fewer than two others are left, as a study does."""
    clean = {run: values for run, values in runs.items() if (key, run) not in table.disturbed}
    kept = clean if len(clean) >= 2 else runs
    forks = tuple(fork(values) for values in kept.values())
    share = f"{len(runs) - len(clean)} of {len(runs)}"
    note = f"{share} runs disturbed, excluded" if kept is clean else f"includes disturbed runs: {share}"
    notes = (note,) if len(clean) < len(runs) else ()
    failed = {run for name in ("", key.name) for run in table.failed.get(_Failed(name, key.params), ())} - runs.keys()
    return Benchmark(
        key.name, key.mode, dict(key.params), key.unit, forks, notes=notes,
        disturbed=(len(runs) - len(clean), len(runs)) if table.is_judged else None,
        failed=(len(failed), len(failed) + len(runs)),
    )  # fmt: skip
