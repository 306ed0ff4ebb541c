"""`scalograph fit`."""

from collections.abc import Sequence
from math import inf
from pathlib import Path
from typing import Annotated

import typer

from scalograph.cli.answer_output import answer, tables_place
from scalograph.cli.options import Json, TableName, Tables
from scalograph.errors import StudyError
from scalograph.exchange.law_registry import LAWS, LawRow
from scalograph.protocol.plain import load_object
from scalograph.study.scalars import unknown_name_error

LawName = Annotated[
    str, typer.Option("--law", help="Law to fit: usl (throughput over workers) or complexity (time over input size)")
]
Predicted = Annotated[list[float] | None, typer.Option("--predict", help="Predict this size; repeatable")]

# Names of columns of times, beside those that end with a unit of time.
_TIMES = ("time", "wall time", "elapsed", "duration")


def command(
    file: Annotated[Path, typer.Argument(help="A CSV file with a header; - for standard input")] = Path("-"),
    law: LawName = "usl",
    x: Annotated[str, typer.Option("--x", help="Column of sizes: CPUs, threads, users")] = "n",
    y: Annotated[
        str, typer.Option("--y", help="Column of throughputs, in any unit (default throughput, or seconds)")
    ] = "",
    times: Annotated[bool, typer.Option("--times", help="Treat the column as times of the same work")] = False,
    weights: Annotated[
        str, typer.Option("--weights", help="Error model: relative (to each point), or none (equal errors)")
    ] = "relative",
    predict: Predicted = None,
    tables: Tables = False,
    table: TableName = None,
    json: Json = False,
) -> None:
    """Fit a scaling law to a CSV file, or find how time grows with the input.

    \b
    scalograph fit data.csv
    scalograph fit data.csv --x users --y requests_per_s --predict 64 --json
    scalograph fit --x threads --y seconds --times < times.csv
    scalograph fit --law complexity --x size --y seconds times.csv
    """
    from scalograph.exchange.csv_points import read_points
    from scalograph.report.screen import Screen
    from scalograph.text.units import column_unit

    row = law_row(law, weights, predict or ())
    column = _column(y, times, row)
    if column == x:
        raise StudyError.one("--y", f'"{x}" is the column of sizes', "", "name another one")
    points = read_points(file, x, column, times and not row.of_times)
    fitted = load_object(row.document)(points, weights, 0.95, predict or ())
    if row.of_times:
        fitted["unit"] = column_unit(column)
    shown = Screen(
        title=row.asks.format(x=x, y="throughput" if times and not row.of_times else column),
        claim=load_object(row.claim)(fitted, x),
        tables=load_object(row.tables)(fitted),
        remarks={"Flags": fitted.get("flags", [])},
    )
    answer(shown, tables_place() if str(file) != "-" else [], tables, table, fitted if json else None)


def law_row(law: str, weights: str = "relative", predict: Sequence[float] = ()) -> LawRow:
    """Return the row of a law. Raises StudyError: there is none of this name, or a value is out of range."""
    if law not in LAWS:
        raise unknown_name_error("--law", f'"{law}"', law, LAWS)
    if weights not in ("relative", "none"):
        raise StudyError.one("--weights", f'"{weights}"', "relative or none")
    if odd := [size for size in predict if not 0 < size < inf]:
        raise StudyError.one("--predict", f"{odd[0]}", "a finite number above 0")
    return LAWS[law]


def _column(y: str, times: bool, row: LawRow) -> str:
    from scalograph.text.units import column_unit

    column = y or ("seconds" if times else row.column)
    if not (times or row.of_times) and (column_unit(column) or column.lower() in _TIMES):
        fix = "add --times for the same work, or --law complexity for input sizes"
        raise StudyError.one("--y", f'"{column}" holds times, not throughputs', "", fix)
    return column
