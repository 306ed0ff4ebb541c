"""`scalograph export`."""

from pathlib import Path
from typing import Annotated

import typer

from scalograph.cli.console import tell
from scalograph.cli.options import Source


def command(
    source: Source,
    to: Annotated[Path, typer.Option("--to", help="A .csv or .parquet file.")],
) -> None:
    """A journal as CSV or Parquet: one row for each observation, with all factors. Executes nothing.

    \b
    scalograph export scalograph-results/thread-scaling/latest --to thread-scaling.csv
    """
    from scalograph import results, table
    from scalograph.export import observations, write

    frame = observations(table.load(results.journal_of(source)))
    write(frame, to)
    tell(f"{to}: {frame.height} rows, {frame.width} columns")
