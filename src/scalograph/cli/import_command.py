"""`scalograph import`: what other instruments measured, alone or beside a study."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scalograph.cli.console import (
    emit_json,
    out,
    say,
    tell,
)
from scalograph.cli.options import Json
from scalograph.exchange.readers.registry import READERS, read

if TYPE_CHECKING:
    from scalograph.exchange.benchmark import Benchmark
    from scalograph.findings.table import Table
    from scalograph.protocol.findings import TableDoc


def command(
    instrument: Annotated[str, typer.Argument(metavar="FORMAT", help=f"What wrote the file: {', '.join(READERS)}.")],
    file: Annotated[Path, typer.Argument(help="What it wrote; of JMH with: -rf json -rff FILE.")],
    beside: Annotated[
        Path | None, typer.Option("--beside", help="A results folder or a journal that measured the same.")
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option("--where", metavar="FACTOR=LEVEL", help="A factor that is no param there; may be repeated."),
    ] = None,
    json: Json = False,
) -> None:
    """What another instrument measured, with intervals, and whether a study agrees with it. Executes nothing.

    \b
    scalograph import jmh jmh.json
    scalograph import jmh jmh.json --beside scalograph-results/fork-join/latest
    """
    from scalograph.errors import StudyError

    if where and beside is None:
        raise StudyError.one("--where", "no study", "--beside with its results", "it names levels of a study")
    every, name = read(instrument, file), READERS[instrument].instrument
    if beside is None:
        _alone(file, every, name, json)
    else:
        _beside(file, every, _loaded(beside), where or [], name, json)


def _alone(file: Path, every: "list[Benchmark]", name: str, json: bool) -> None:
    from scalograph.exchange.benchmark_figures import figures, tables

    found = [figures(benchmark, 0.95) for benchmark in every]
    if json:
        emit_json({"file": file.name, "benchmarks": [one.model_dump(mode="json") for one in found]})
    else:
        _draw(tables(found, name))


def _beside(file: Path, every: "list[Benchmark]", table: "Table", where: list[str], name: str, json: bool) -> None:
    from scalograph.exchange.agreement import sentences
    from scalograph.exchange.comparison import beside, tables
    from scalograph.exchange.match import parse_where
    from scalograph.findings.names import title
    from scalograph.study.responses import primary

    response = primary(table.study)
    found = beside(every, table, parse_where(where, table), name)
    said = sentences(found)
    if json:
        told = [{**one.model_dump(mode="json"), "sentence": text} for one, text in zip(found, said, strict=True)]
        emit_json({"file": file.name, "study": table.study.name, "response": response, "benchmarks": told})
        return
    _draw(tables(found, title(table, response)))
    for text in said:
        tell(text)


def _loaded(source: Path) -> "Table":
    from scalograph.findings import table
    from scalograph.protocol import results

    read = table.load(results.journal_of(source), keep_observations=False)
    for text in read.warnings:
        say(f"warning: {text}", "yellow")
    return read


def _draw(tables: "list[TableDoc]") -> None:
    from scalograph.report.cells import sheet
    from scalograph.report.terminal_table import draw

    for table in tables:
        draw(sheet(table), out())
        tell()
