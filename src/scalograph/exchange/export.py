"""Every observation with all factors, for other tools: CSV or Parquet."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from scalograph.errors import HostError, StudyError
from scalograph.findings.table import Row, Table
from scalograph.protocol.written_file import replaced
from scalograph.study.scalars import as_text

_DANGEROUS = ("=", "+", "-", "@", "\t", "\r")


def observations(table: Table) -> pl.DataFrame:
    """Return a row for each observation: run, block, treatment, iteration, response, value; failed runs have no value.

    Returns:
        Columns `run block replicate warmup status verdict`, one for each factor (prefixed `factor.` if its name is
        taken), then `response iteration value unit`.
    """
    names = {name: f"factor.{name}" if name in _OWN else name for name in table.study.factors}
    units = {name: response.unit for name, response in table.study.responses.items()}
    schema = {**{k: v for k, v in _OWN.items() if k not in _TAIL}, **dict.fromkeys(names.values()), **_TAIL}
    columns: dict[str, list[Any]] = {column: [] for column in schema}
    for row in table.rows:
        for line in _lines(row, names, units):
            for column, values in columns.items():
                values.append(line.get(column))
    return pl.DataFrame([_series(column, values, schema[column]) for column, values in columns.items()])


_OWN: dict[str, Any] = {
    "run": pl.String, "block": pl.Int64, "replicate": pl.Int64, "warmup": pl.Boolean, "status": pl.String,
    "verdict": pl.String, "response": pl.String, "iteration": pl.Int64, "value": pl.Float64, "unit": pl.String,
}  # fmt: skip
_TAIL: dict[str, Any] = {name: _OWN[name] for name in ("response", "iteration", "value", "unit")}


def _lines(row: Row, names: dict[str, str], units: dict[str, str]) -> Iterator[dict[str, Any]]:
    head = {
        "run": row.run, "block": row.block, "replicate": row.replicate, "warmup": row.warmup, "status": row.status,
        "verdict": row.verdict, **{names[name]: level for name, level in row.treatment.items()},
    }  # fmt: skip
    if not row.observations:
        yield head
    for response, values in row.observations.items():
        for iteration, value in enumerate(values):
            yield {**head, "response": response, "iteration": iteration, "value": value, "unit": units[response]}


def _series(name: str, values: list[Any], dtype: Any) -> pl.Series:
    kinds = {type(value) for value in values}
    if dtype is None and kinds == {int, float}:
        return pl.Series(name, list(map(float, values)), dtype=pl.Float64)
    if dtype is None and len(kinds) > 1:
        values = [as_text(value) for value in values]  # levels of mixed kinds share a text column
    return pl.Series(name, values, dtype=dtype)


def write(frame: pl.DataFrame, file: Path) -> None:
    """Write a frame in the format of the file's ending: .csv or .parquet.

    Raises:
        StudyError: the file has another ending.
        HostError: the disk refuses.
    """
    if file.suffix not in (".csv", ".parquet"):
        raise StudyError.one(str(file), f'ending "{file.suffix}"', "one of .csv, .parquet")
    try:
        with replaced(file) as stream:
            if file.suffix == ".csv":
                _guarded(frame).write_csv(stream)
            else:
                frame.write_parquet(stream)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise HostError(str(file), f"cannot be written: {error}", "a writable disk with room") from error


def _guarded(frame: pl.DataFrame) -> pl.DataFrame:
    """A frame for CSV: text that a spreadsheet would run as a formula gets a leading quote."""
    texts = [pl.col(name) for name, dtype in frame.schema.items() if dtype == pl.String]
    guarded = [
        pl.when(text.str.slice(0, 1).is_in(_DANGEROUS))
        .then(pl.concat_str(pl.lit("'"), text))
        .otherwise(text)
        .alias(text.meta.output_name())
        for text in texts
    ]
    return frame.with_columns(guarded)
