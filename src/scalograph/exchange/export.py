"""Export every observation or every run with all factors: as columns, CSV or Parquet."""

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scalograph.errors import HostError, StudyError
from scalograph.findings.row import Row
from scalograph.findings.table import Table
from scalograph.protocol.written_file import replaced
from scalograph.study.scalars import format_value

if TYPE_CHECKING:
    import polars


# Column -> its values; all of one length, None where there is none. A column holds values of one kind.
Columns = dict[str, list[Any]]
Line = dict[str, Any]

# Text that begins so is run as a formula by a spreadsheet.
DANGEROUS = ("=", "+", "-", "@", "\t", "\r")
_HEAD = ("run", "block", "replicate", "warmup", "status", "verdict", "boot")
_TAIL = ("response", "iteration", "value", "unit")


def observations(table: Table) -> Columns:
    """Return a row for each observation; failed runs have no value.

    Returns:
        Columns `run block replicate warmup status verdict boot`, one for each factor (prefixed `factor.` if its name
        is taken), then `response iteration value unit`.
    """
    units = {name: response.unit for name, response in table.study.responses.items()}
    names = _factors(table, (*_HEAD, *_TAIL))
    return _columns(
        (*_HEAD, *names.values(), *_TAIL), _each(table.rows, lambda row: _observation_lines(row, names, units))
    )


def runs(table: Table) -> Columns:
    """Return a row for each run: its configuration, its score of each response, and the gravest cause.

    Returns:
        Columns `run block replicate warmup status verdict boot cause`, one for each factor, then one for each response
        in its unit (prefixed `factor.` or `response.` if a name is taken).
    """
    head = (*_HEAD, "cause")
    names = _factors(table, head)
    taken = {*head, *names.values()}
    scores = {name: f"response.{name}" if name in taken else name for name in table.study.responses}
    return _columns(
        (*head, *names.values(), *scores.values()), _each(table.rows, lambda row: _run_lines(row, names, scores))
    )


def write(columns: Columns, file: Path) -> None:
    """Write columns in the format of the file's ending: .csv or .parquet.

    Raises:
        StudyError: the file has another ending.
        HostError: the disk refuses, or polars, which writes Parquet, is not there.
    """
    if file.suffix not in (".csv", ".parquet"):
        raise StudyError.one(str(file), f'ending "{file.suffix}"', "one of .csv, .parquet")
    if file.suffix == ".csv":
        return write_text(csv_text(columns), file)
    pass

    buffer = io.BytesIO()
    polars_frame(columns).write_parquet(buffer)
    _write(buffer.getvalue(), file)


def write_text(text: str, file: Path) -> None:
    """Write a text atomically.

    Raises:
        HostError: the disk refuses.
    """
    _write(text.encode(), file)


def csv_text(columns: Columns) -> str:
    """Return columns as CSV; text that a spreadsheet would run as a formula gets a leading quote."""
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(map(_field, columns))
    writer.writerows(map(_field, row) for row in zip(*columns.values(), strict=True))
    return stream.getvalue()


def _field(value: Any) -> Any:
    if isinstance(value, bool):
        return format_value(value)
    return f"'{value}" if isinstance(value, str) and value.startswith(DANGEROUS) else value


def _write(content: bytes, file: Path) -> None:
    try:
        with replaced(file) as stream:
            stream.write(content)
    except OSError as error:
        expected = "a writable disk with room" if file.parent.is_dir() else "a folder that exists"
        raise HostError(str(file), f"cannot be written: {error.strerror or error}", expected) from error


def _factors(table: Table, taken: Iterable[str]) -> dict[str, str]:
    return {name: f"factor.{name}" if name in (*taken,) else name for name in table.study.factors}


def _each(rows: Iterable[Row], lines: Callable[[Row], Iterator[Line]]) -> Iterator[Line]:
    return (line for row in rows for line in lines(row))


def _head(row: Row, names: Mapping[str, str]) -> Line:
    return {
        "run": row.run, "block": row.block, "replicate": row.replicate, "warmup": row.warmup, "status": row.status,
        "verdict": row.verdict, "boot": row.boot, **{names[name]: level for name, level in row.configuration.items()},
    }  # fmt: skip


def _observation_lines(row: Row, names: Mapping[str, str], units: Mapping[str, str]) -> Iterator[Line]:
    head = _head(row, names)
    if not row.observations:
        yield head
    for response, values in row.observations.items():
        for iteration, value in enumerate(values):
            yield {**head, "response": response, "iteration": iteration, "value": value, "unit": units[response]}


def _run_lines(row: Row, names: Mapping[str, str], scores: Mapping[str, str]) -> Iterator[Line]:
    cause = row.causes[0].text if row.causes else ""
    yield {**_head(row, names), "cause": cause, **{scores[name]: value for name, value in row.scores.items()}}


def _columns(names: Iterable[str], lines: Iterable[Line]) -> Columns:
    columns: Columns = {name: [] for name in names}
    for line in lines:
        for name, values in columns.items():
            values.append(line.get(name))
    return {name: _one_kind(values) for name, values in columns.items()}


def _one_kind(values: list[Any]) -> list[Any]:
    """Convert mixed values to one kind: numbers to floats, anything else to texts."""
    kinds = {type(value) for value in values if value is not None}
    if len(kinds) < 2:
        return values
    kind: Callable[[Any], Any] = float if kinds == {int, float} else format_value
    return [None if value is None else kind(value) for value in values]


LIBRARIES = ("polars", "pandas")
# Columns that hold texts or numbers in every study, also where all of their rows are empty.
_TEXTS = ("run", "status", "verdict", "response", "unit", "cause")
_WHOLE, _NUMBERS = ("block", "replicate", "iteration"), ("value",)


def frame(columns: Columns) -> Any:
    """Return columns as a data frame of polars, else of pandas.

    Raises:
        HostError: neither is installed.
    """
    library = next((name for name in LIBRARIES if find_spec(name)), None)
    if library is None:
        raise HostError("frame", "neither polars nor pandas", "one of them", 'pip install "scalograph[frames]"')
    return polars_frame(columns) if library == "polars" else import_module(library).DataFrame(columns)


def polars_frame(columns: Columns) -> "polars.DataFrame":
    """Return columns as a data frame of polars.

    Raises:
        HostError: it is not installed.
    """
    if not find_spec("polars"):
        raise HostError("Parquet", "no polars", "polars, which writes it", 'pip install "scalograph[frames]", or .csv')
    import polars

    kinds = [(_TEXTS, polars.String), (_WHOLE, polars.Int64), (_NUMBERS, polars.Float64)]
    schema = {name: kind for names, kind in kinds for name in names if name in columns}
    return polars.DataFrame(columns, schema_overrides=schema, infer_schema_length=None)
