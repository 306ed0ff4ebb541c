"""`scalograph import`: results of other tools, alone or beside a study."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from scalograph.cli.answer_output import answer, tables_place
from scalograph.cli.options import Json, TableName, Tables, group_options
from scalograph.errors import Exit
from scalograph.exchange.readers.registry import read
from scalograph.study.reader_names import READERS

if TYPE_CHECKING:
    from scalograph.exchange.benchmark import Benchmark
    from scalograph.report.screen import Screen


@dataclass(frozen=True, kw_only=True)
class ImportOptions:
    """Options of `import`: the files, and what they are compared with."""

    instrument: Annotated[
        str,
        typer.Argument(
            metavar="FORMAT",
            help=f"Tool that wrote the file: {', '.join(READERS)}",
            autocompletion=lambda incomplete: [name for name in READERS if name.startswith(incomplete)],
        ),
    ]
    files: Annotated[
        list[Path] | None, typer.Argument(metavar="FILE...", help="Files of the tool, one or more processes each")
    ] = None
    beside: Annotated[Path | None, typer.Option("--beside", help="Results to compare with")] = None
    over: Annotated[
        str | None, typer.Option("--over", metavar="PARAM", help="Fit a scaling law over a param, such as threads")
    ] = None
    where: Annotated[
        list[str] | None,
        typer.Option("--where", metavar="NAME=LEVEL", help="A factor (with --beside) or a param (with --over)"),
    ] = None
    tables: Tables = False
    table: TableName = None
    json: Json = False


def _import(options: ImportOptions) -> int:
    """Read results of another tool, with intervals; compare them with a study.

    \b
    scalograph import jmh jmh.json
    scalograph import jmh jmh.json --beside scalograph-results/fork-join/latest
    scalograph import sysbench all.txt --over threads            up to how many threads does it grow?
    scalograph import gobench first.txt second.txt third.txt     files of the same: each adds its processes
    """
    from scalograph.exchange.benchmark_values import failed_sentence

    o = options
    _refuse(o)
    files, where = o.files or [], o.where or []
    every, name = read(o.instrument, *files), READERS[o.instrument].instrument
    if o.over is not None:
        shown, document = _fit_over(every, o.over, where)
    else:
        shown, document = (
            _summarize(every, name) if o.beside is None else _compare_with_study(every, o.beside, where, name)
        )
    if failed := failed_sentence(every):
        first, *more = shown.claim.sentences
        shown = replace(shown, claim=shown.claim.model_copy(update={"sentences": [first, failed, *more][:3]}))
    named = {"file": ", ".join(file.name for file in files)}
    answer(shown, tables_place(), o.tables, o.table, {**named, **document} if o.json else None)
    return Exit.DONE if any(benchmark.forks for benchmark in every) else Exit.CONFIGURATION_FAILED


command = group_options(_import, ImportOptions)


def _refuse(o: ImportOptions) -> None:
    from scalograph.errors import StudyError

    if not o.files:
        reader = READERS.get(o.instrument)
        fix = f"write it with: {reader.how}" if reader else f"name one of {', '.join(READERS)}, and its file"
        raise StudyError.one("import", "no file", "what the instrument wrote", fix)
    if o.over and o.beside:
        raise StudyError.one("", "--over and --beside exclude each other", "", "leave one out")
    if o.where and o.beside is None and o.over is None:
        raise StudyError.one("", "--where is for --beside or --over", "", "add one of them")


def _summarize(every: "list[Benchmark]", name: str) -> "tuple[Screen, dict[str, Any]]":
    from scalograph.exchange.benchmark_claim import benchmark_claim
    from scalograph.exchange.benchmark_values import summarize_benchmarks, tables
    from scalograph.report.screen import Screen

    summaries = summarize_benchmarks(every, 0.95)
    shown = Screen(
        title=f"Which is the fastest, by {name}?", claim=benchmark_claim(every), tables=tables(summaries, name)
    )
    return shown, {"benchmarks": [row.model_dump(mode="json") for row in summaries]}


def _fit_over(every: "list[Benchmark]", param: str, where: list[str]) -> "tuple[Screen, dict[str, Any]]":
    from scalograph.exchange.csv_points import parse_params, points_over
    from scalograph.exchange.fit import fit_claim, fit_tables, laws
    from scalograph.report.screen import Screen

    fitted = laws(points_over(every, param, parse_params(where)), "relative", 0.95)
    title = f"Up to how many {param} does throughput grow?"
    remarks = {"Flags": fitted["flags"]}
    return Screen(title=title, claim=fit_claim(fitted, param), tables=fit_tables(fitted), remarks=remarks), fitted


def _compare_with_study(
    every: "list[Benchmark]", source: Path, where: list[str], name: str
) -> "tuple[Screen, dict[str, Any]]":
    from scalograph.cli.analyze_steps import load_table
    from scalograph.exchange.benchmark_claim import agreement_claim, compare_with_study, sentences, tables
    from scalograph.exchange.match import parse_where
    from scalograph.report.screen import Screen

    table = load_table(source, keep_observations=False)
    response = table.view.primary
    comparisons = compare_with_study(every, table, parse_where(where, table), name)
    answers = sentences(comparisons)
    documents = [
        {**comparison.model_dump(mode="json"), "sentence": text}
        for comparison, text in zip(comparisons, answers, strict=True)
    ]
    shown = Screen(
        title=f"Does {name} agree with the study?",
        claim=agreement_claim(comparisons),
        tables=tables(comparisons, table.view.title(response)),
        remarks={"Answer": answers},
    )
    return shown, {"study": table.study.name, "response": response, "benchmarks": documents}
