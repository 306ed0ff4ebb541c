"""A table of measured values as CSV: one value per row, with what it belongs to.

Columns: `value` with its `unit`, `run` for the process that it comes from, `benchmark` or `response` for what it is;
every other column is a param. What `scalograph export` writes is such a table: of it the runs count that count there.
"""

import csv
import math
import re
from array import array
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from operator import itemgetter
from typing import NamedTuple

from scalograph.exchange.benchmark import MAX_PARAMS, Benchmark, Fork, Kind, SingleForks, fork
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


class _Key(NamedTuple):
    name: str
    mode: str
    params: tuple[tuple[str, str], ...]
    unit: Kind


class _Failed(NamedTuple):
    name: str
    params: tuple[tuple[str, str], ...]


@dataclass(slots=True)
class _RunValues:
    """Values of one benchmark by run: a row that names none is a run of its own, by its place."""

    named: dict[str, list[float]] = field(default_factory=dict)
    rows: "array[float]" = field(default_factory=lambda: array("d"))
    disturbed: set[str | int] = field(default_factory=set)

    def __len__(self) -> int:
        return len(self.named) + len(self.rows)

    def add(self, run: str, value: float, is_disturbed: bool) -> None:
        if is_disturbed:
            self.disturbed.add(run or len(self.rows))
        if run:
            self.named.setdefault(run, []).append(value)
        else:
            self.rows.append(value)

    def forks(self, excluded: Container[str | int]) -> Sequence[Fork]:
        named = [values for run, values in self.named.items() if run not in excluded]
        rows = SingleForks(value for i, value in enumerate(self.rows) if i not in excluded)
        if all(len(values) == 1 for values in named):
            return SingleForks(chain(chain.from_iterable(named), rows.values))
        return (*map(fork, named), *rows)


class _Columns(NamedTuple):
    """Where the columns are; one that is missing is empty at the end of each row.

    `identity`: of what tells benchmarks apart: unit, benchmark, response, and each param.
    """

    params: tuple[str, ...]
    identity: Callable[[Sequence[str]], tuple[str, ...]]
    value: int
    run: int
    verdict: int
    status: int
    warmup: int


@dataclass
class _Table:
    """Values by benchmark and run, and units that are neither time nor rate."""

    columns: _Columns
    values: dict[_Key, _RunValues] = field(default_factory=dict)
    # Texts of a row that tell benchmarks apart, parsed once: key, seconds in a unit of its values, and runs.
    parsed: dict[tuple[str, ...], tuple[_Key, float, _RunValues]] = field(default_factory=dict)
    # Runs that failed, each by its params and, where the row names one, its benchmark: it has no response.
    failed: dict[_Failed, set[str | int]] = field(default_factory=dict)
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
    table = _Table(_columns(names), is_judged="verdict" in names)
    lines = reader.reader
    for n, row in enumerate(filter(None, lines)):
        if n == MAX_ROWS:
            raise file.refusal(f"line {lines.line_num}", f"more than {MAX_ROWS} rows", f"at most {MAX_ROWS}")
        try:
            if len(row) > len(names):
                raise PartError("more fields than the header has: quote texts with commas")
            _take(table, row + [""] * (len(names) + 1 - len(row)), n)
        except PartError as error:
            file.leave_out(f"line {lines.line_num}", str(error))
        if len(table.values) + len(table.failed) > MAX_BENCHMARKS:
            many = f"more than {MAX_BENCHMARKS} benchmarks"
            raise file.refusal(f"line {lines.line_num}", many, "fewer", "import it in several files")
    table.values = {key: runs for key, runs in table.values.items() if runs}
    return table


def _columns(names: Sequence[str]) -> _Columns:
    """Return the columns of a table; `factor.run` is the param of a study's factor called `run`."""
    places = {name: i for i, name in enumerate(names)}
    params = [name for name in places if name and name not in _OWN]
    shortened = (name.removeprefix(_FACTOR) for name in params)
    called = tuple(short if short in _OWN else name for short, name in zip(shortened, params, strict=True))
    value, run, verdict, status, warmup = (
        places.get(name, len(names)) for name in ("value", "run", "verdict", "status", "warmup")
    )
    identity = itemgetter(*(places.get(name, len(names)) for name in ("unit", "benchmark", "response", *params)))
    return _Columns(called, identity, value, run, verdict, status, warmup)


def _take(table: _Table, row: Sequence[str], n: int) -> None:
    """Add row `n` to its benchmark. Raises PartError: it cannot be read."""
    columns = table.columns
    if row[columns.warmup].lower() in ("true", "1"):
        return
    texts = columns.identity(row)
    if row[columns.status] not in ("", "ok"):
        named = _unquote(texts[1]) or _unquote(texts[2])
        table.failed.setdefault(_Failed(named, _params(table, texts)), set()).add(row[columns.run] or n)
        return
    text = row[columns.value].strip()
    if not text:
        return
    unit, _, response = texts[:3]
    if texts not in table.parsed and response and unit_of(unit) is None:
        if len(table.left_out) < _MOST_NAMED:
            table.left_out[_unquote(response)[:80]] = unit[:40]
        return
    _, factor, runs = table.parsed.get(texts) or _add_benchmark(table, texts)
    value = float(text) * factor if _NUMBER.fullmatch(text) else math.nan
    if not 0 <= value < math.inf:
        raise PartError(f"value = {text[:40]!r} is no number, 0 or more")
    verdict = row[columns.verdict]
    runs.add(row[columns.run], value, VERDICTS.get(verdict, verdict) in REPEATED)


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
                table.values[_Key(called, mode, params, unit)] = _RunValues()


def _add_benchmark(table: _Table, texts: tuple[str, ...]) -> tuple[_Key, float, _RunValues]:
    unit, name, response = texts[0], _unquote(texts[1]), _unquote(texts[2])
    kind = unit_of(unit)
    if kind is None:
        raise PartError(f"unit {unit[:40]!r} is neither a time nor a rate, such as ms or 1/s")
    key = _Key(name or response or "value", response or "value", _params(table, texts), kind[0])
    return table.parsed.setdefault(texts, (key, kind[1], table.values.setdefault(key, _RunValues())))


def _params(table: _Table, texts: Sequence[str]) -> tuple[tuple[str, str], ...]:
    return tuple(zip(table.columns.params, map(_unquote, texts[3:]), strict=True))


def _unquote(text: str) -> str:
    """Remove the quote that keeps a spreadsheet from running a text."""
    return text[1:] if text.startswith("'") and text[1:].startswith(DANGEROUS) else text


def _benchmark(key: _Key, runs: _RunValues, table: _Table) -> Benchmark:
    """Use disturbed runs only where fewer than two others are left, as a study does."""
    n_disturbed = len(runs.disturbed)
    is_kept = len(runs) - n_disturbed < 2
    share = f"{n_disturbed} of {len(runs)}"
    note = f"includes disturbed runs: {share}" if is_kept else f"{share} runs disturbed, excluded"
    failed = {run for name in ("", key.name) for run in table.failed.get(_Failed(name, key.params), ())}
    failed -= runs.named.keys()
    return Benchmark(
        key.name, key.mode, dict(key.params), key.unit, runs.forks(() if is_kept else runs.disturbed),
        notes=(note,) if n_disturbed else (), disturbed=(n_disturbed, len(runs)) if table.is_judged else None,
        failed=(len(failed), len(failed) + len(runs)),
    )  # fmt: skip
