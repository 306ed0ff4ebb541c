"""`scalograph export`."""

from pathlib import Path
from typing import Annotated

import typer

from scalograph.cli.console import say, tell
from scalograph.cli.options import Source


def command(
    source: Source,
    to: Annotated[Path, typer.Option("--to", help="A .csv or .parquet file.")],
) -> None:
    """A journal as CSV or Parquet: one row for each observation, with all factors. Executes nothing.

    \b
    scalograph export scalograph-results/thread-scaling/latest --to thread-scaling.csv
    """
    from scalograph.exchange.export import observations, write
    from scalograph.findings import table
    from scalograph.protocol import results

    read = table.load(results.journal_of(source))
    for text in read.warnings:
        say(f"warning: {text}", "yellow")
    frame = observations(read)
    write(frame, to)
    tell(f"{to}: {frame.height} rows, {frame.width} columns")
