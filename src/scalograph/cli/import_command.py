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

if TYPE_CHECKING:
    from scalograph.exchange.readers.jmh import Benchmark
    from scalograph.findings.table import Table
    from scalograph.protocol.findings import TableDoc

group = typer.Typer(add_completion=False, rich_markup_mode=None, no_args_is_help=True)


@group.callback()
def _import() -> None:
    """What another instrument measured, with intervals, and whether a study agrees with it. Executes nothing.

    \b
    scalograph import jmh jmh.json
    scalograph import jmh jmh.json --beside scalograph-results/fork-join/latest
    """


@group.command("jmh")
def jmh(
    file: Annotated[Path, typer.Argument(help="What JMH wrote with: -rf json -rff FILE.")],
    beside: Annotated[
        Path | None, typer.Option("--beside", help="A results folder or a journal that measured the same.")
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option("--where", metavar="FACTOR=LEVEL", help="A factor that is no param of JMH; may be repeated."),
    ] = None,
    json: Json = False,
) -> None:
    """Benchmarks of JMH: a fork is a run. Beside a study: do both instruments agree, or by how much not?

    \b
    scalograph import jmh jmh.json --beside scalograph-results/fork-join/latest
    """
    from scalograph.errors import StudyError
    from scalograph.exchange.readers.jmh import read

    if where and beside is None:
        raise StudyError.one("--where", "no study", "--beside with its results", "it names levels of a study")
    every = read(file)
    if beside is None:
        _alone(file, every, json)
    else:
        _beside(file, every, _loaded(beside), where or [], json)


def _alone(file: Path, every: "list[Benchmark]", json: bool) -> None:
    from scalograph.exchange.benchmark_figures import figures, tables

    found = [figures(benchmark, 0.95) for benchmark in every]
    if json:
        emit_json({"file": file.name, "benchmarks": [one.model_dump(mode="json") for one in found]})
    else:
        _draw(tables(found))


def _beside(file: Path, every: "list[Benchmark]", table: "Table", where: list[str], json: bool) -> None:
    from scalograph.exchange.agreement import sentences
    from scalograph.exchange.comparison import beside, tables
    from scalograph.exchange.match import parse_where
    from scalograph.findings.names import title
    from scalograph.study.responses import primary

    response = primary(table.study)
    found = beside(every, table, parse_where(where, table))
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
