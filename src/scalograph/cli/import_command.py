"""`scalograph import`: results of other tools, alone or beside a study."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from scalograph.cli.answer_output import answer, tables_place
from scalograph.cli.fit_command import LawName, law_row
from scalograph.cli.options import ForeignOptions, Json, TableName, Tables, group_options
from scalograph.errors import Exit, StudyError
from scalograph.exchange.benchmark import assume_spread
from scalograph.exchange.law_registry import LawRow
from scalograph.exchange.readers.registry import left_out_text, read
from scalograph.protocol.plain import load_object
from scalograph.study.reader_names import READERS
from scalograph.study.scalars import suggest

if TYPE_CHECKING:
    from scalograph.exchange.benchmark import Benchmark
    from scalograph.exchange.readers.registry import ImportedFiles
    from scalograph.report.screen import Screen

# Of the answer, what it cannot be read without among them.
MOST_SENTENCES = 4


@dataclass(frozen=True, kw_only=True)
class ImportOptions:
    """Options of `import`: the files, and what they are compared with."""

    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FORMAT] FILE...",
            help=f"Files of a tool, of one process or more. Formats, if not recognized: {', '.join(READERS)}",
            autocompletion=lambda incomplete: [name for name in READERS if name.startswith(incomplete)],
        ),
    ] = None
    beside: Annotated[Path | None, typer.Option("--beside", help="Results to compare with")] = None
    over: Annotated[
        str | None, typer.Option("--over", metavar="PARAM", help="Fit a scaling law over a param, such as threads")
    ] = None
    law: LawName = "usl"
    where: Annotated[
        list[str] | None,
        typer.Option("--where", metavar="NAME=LEVEL", help="A factor (with --beside) or a param (with --over)"),
    ] = None
    strict: Annotated[bool, typer.Option("--strict", help="Refuse files with a part that cannot be read")] = False
    tables: Tables = False
    table: TableName = None
    json: Json = False


def _import(options: ImportOptions, foreign: ForeignOptions) -> int:
    """Read results of another tool, with intervals; compare them with a study.

    \b
    scalograph import jmh.json                                   which is the fastest? the format is recognized
    scalograph import jmh jmh.json --beside scalograph-results/fork-join/latest
    scalograph import sysbench all.txt --over threads            up to how many threads does it grow?
    scalograph import gobench first.txt second.txt third.txt     files of the same: each adds its processes
    scalograph import json runs.json --at '/results/*' --name /cmd --value /mean --unit s --param threads=/t
    """
    o = options
    instrument, files = _format_and_files(o, foreign)
    reading, where = read(instrument, *files, options=foreign.layout(), strict=o.strict), o.where or []
    every = assume_spread(reading.benchmarks, foreign.share())
    reading = replace(reading, benchmarks=every)
    has_value = any(benchmark.forks for benchmark in every)
    if not has_value and not o.json:
        raise _no_value(reading)
    if o.over is not None:
        shown, document = _fit_over(every, o.over, where, law_row(o.law))
    else:
        shown, document = (
            _summarize(reading) if o.beside is None else _compare_with_study(every, o.beside, where, reading.tool)
        )
    first, *more = shown.claim.sentences
    sentences = [first, *_caveats(reading, o.beside is not None), *more][:MOST_SENTENCES]
    shown = replace(shown, claim=shown.claim.model_copy(update={"sentences": sentences}))
    named = {"file": ", ".join(file.name for file in files), "tool": reading.tool}
    left_out = {"left_out": [part._asdict() for part in reading.left_out]}
    answer(shown, tables_place(), o.tables, o.table, {**named, **left_out, **document} if o.json else None)
    if not has_value:
        raise _no_value(reading)
    return Exit.DONE


def _caveats(reading: "ImportedFiles", names_failed: bool) -> list[str]:
    """Return what the first lines must report besides the answer: failures, errors, excluded parts.

    `names_failed`: whether the answer names those that failed itself.
    """
    from scalograph.exchange.benchmark_values import failed_sentence, warning_sentence

    failed = "" if names_failed else failed_sentence(reading.benchmarks)
    texts = (failed, warning_sentence(reading.benchmarks), left_out_text(reading.left_out))
    return [text for text in texts if text]


def _no_value(reading: "ImportedFiles") -> StudyError:
    """Return the error of files in which no run succeeded."""
    from scalograph.exchange.benchmark_values import params_text

    lost = reading.benchmarks[0]
    reason = "; ".join(lost.warnings) or "every run failed"
    more = f" (and {len(reading.benchmarks) - 1} more)" * (len(reading.benchmarks) > 1)
    name = f"{lost.name} {params_text(dict(lost.params))}".strip()
    return StudyError.one(name, f"{reason}{more}", "a run that succeeded")


command = group_options(_import, ImportOptions, ForeignOptions)


def _format_and_files(o: ImportOptions, foreign: ForeignOptions) -> tuple[str | None, list[Path]]:
    """Return the format, None to recognize it, and the files. Raises StudyError: options exclude each other."""
    first, *rest = o.files or [""]
    is_format = first in READERS and (bool(rest) or not Path(first).exists())
    files = [Path(text) for text in (rest if is_format else o.files or [])]
    if not files:
        fix = f"write it with: {READERS[first].how}" if is_format else "name the file that another tool wrote"
        raise StudyError.one("import", "no file", "what the instrument wrote", fix)
    if not is_format and rest and not Path(first).exists():
        fix = suggest(first, READERS) or "name no format: it is recognized; scalograph import --help lists them"
        raise StudyError.one("import", f'no format "{first}"', "", fix)
    if o.over and o.beside:
        raise StudyError.one("", "--over and --beside exclude each other", "", "leave one out")
    if o.over and foreign.spread:
        raise StudyError.one("", "--over and --spread exclude each other", "", "a law takes the spread from its points")
    has_layout = foreign.layout() is not None
    if has_layout and is_format and first != "json":
        raise StudyError.one("", "--value is for the format json", "", f"use: scalograph import json {files[0]}")
    if o.where and o.beside is None and o.over is None:
        raise StudyError.one("", "--where is for --beside or --over", "", "add one of them")
    return first if is_format else "json" if has_layout else None, files


def _summarize(reading: "ImportedFiles") -> "tuple[Screen, dict[str, Any]]":
    from scalograph.exchange.benchmark_claim import benchmark_claim
    from scalograph.exchange.benchmark_values import left_out_tables, summarize_benchmarks, tables
    from scalograph.report.screen import Screen

    summaries = summarize_benchmarks(reading.benchmarks, 0.95)
    shown = Screen(
        title=f"Which is the fastest, by {reading.tool}?", claim=benchmark_claim(reading.benchmarks),
        tables=[*tables(summaries, reading.tool), *left_out_tables(reading.left_out)],
    )  # fmt: skip
    return shown, {"benchmarks": [row.model_dump(mode="json") for row in summaries]}


def _fit_over(every: "list[Benchmark]", param: str, where: list[str], row: LawRow) -> "tuple[Screen, dict[str, Any]]":
    from scalograph.exchange.csv_points import parse_params, points_over
    from scalograph.report.screen import Screen

    points = points_over(every, param, parse_params(where), row.of_times)
    fitted = load_object(row.document)(points, "relative", 0.95, ())
    if row.of_times:
        fitted["unit"] = "s"
    title = row.asks.format(x=param) if row.of_times else f"Up to how many {param} does throughput grow?"
    shown = Screen(
        title=title, claim=load_object(row.claim)(fitted, param), tables=load_object(row.tables)(fitted),
        remarks={"Flags": fitted.get("flags", [])},
    )  # fmt: skip
    return shown, fitted


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
