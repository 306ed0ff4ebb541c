"""`scalograph fit`."""

from collections.abc import Sequence
from math import inf
from pathlib import Path
from typing import Annotated

import typer

from scalograph.cli.answer_output import answer, tables_place
from scalograph.cli.options import Json, TableName, Tables


def command(
    file: Annotated[
        Path, typer.Argument(help="A CSV file with a header; a size may stand in several rows. - is standard input.")
    ] = Path("-"),
    x: Annotated[str, typer.Option("--x", help="Column of the sizes: CPUs, threads, users.")] = "n",
    y: Annotated[
        str, typer.Option("--y", help="Column of the throughputs, in any unit; default throughput, or seconds.")
    ] = "",
    times: Annotated[
        bool, typer.Option("--times", help="The column holds times of the same work; throughput is one over them.")
    ] = False,
    weights: Annotated[
        str, typer.Option("--weights", help="relative: errors are a share of a point; none.")
    ] = "relative",
    predict: Annotated[
        list[float] | None, typer.Option("--predict", help="A size to predict; may be repeated.")
    ] = None,
    tables: Tables = False,
    table: TableName = None,
    json: Json = False,
) -> None:
    """The universal scalability law for numbers measured elsewhere: what limits it, and up to which size more helps.

    \b
    scalograph fit data.csv
    scalograph fit data.csv --x users --y requests_per_s --predict 64 --json
    scalograph fit --x threads --y seconds --times < times.csv
    """
    from scalograph.exchange.csv_points import read_points
    from scalograph.exchange.fit import laws
    from scalograph.exchange.fit_claim import fit_claim, fit_tables
    from scalograph.report.screen import Screen

    _refuse(weights, predict or ())
    column = y or ("seconds" if times else "throughput")
    found = laws(read_points(file, x, column, times), weights, 0.95, predict or ())  # type: ignore[arg-type]
    shown = Screen(
        title=f"Up to which size does {'throughput' if times else column} grow?",
        claim=fit_claim(found, x),
        tables=fit_tables(found),
        remarks={"Flags": found["flags"]},
    )
    answer(shown, tables_place() if str(file) != "-" else [], tables, table, found if json else None)


def _refuse(weights: str, predict: Sequence[float]) -> None:
    from scalograph.errors import StudyError

    if weights not in ("relative", "none"):
        raise StudyError.one("--weights", f'"{weights}"', "relative or none")
    if odd := [size for size in predict if not 0 < size < inf]:
        raise StudyError.one("--predict", f"{odd[0]}", "a finite number above 0")
