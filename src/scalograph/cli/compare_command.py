"""`scalograph compare`."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scalograph.cli.answer_output import answer, export_document, short_path, tables_place
from scalograph.cli.options import ExportJson, ForeignOptions, Json, TableName, Tables, Where, group_options
from scalograph.errors import Exit, StudyError

if TYPE_CHECKING:
    from scalograph.protocol.compared_results import ResultComparisons

SourcesToCompare = Annotated[
    list[str],
    typer.Argument(
        metavar="A B...",
        help="Results, journals, findings, published tables (published:15), or files of hyperfine, JMH, and others",
    ),
]
Margin = Annotated[str | None, typer.Option("--margin", help="Ignore differences smaller than this (default 2%)")]
ComparedResponse = Annotated[
    str | None, typer.Option("--response", metavar="NAME", help="Response to compare (default: the primary one)")
]

AllowMissing = Annotated[
    list[str] | None,
    typer.Option("--allow-missing", metavar="NAME", help="Permit this configuration to fail or be missing; repeatable"),
]


@dataclass(frozen=True, kw_only=True)
class CompareOptions:
    """Options of `compare`."""

    sources: SourcesToCompare
    margin: Margin = None
    response: ComparedResponse = None
    per: Annotated[
        str | None, typer.Option("--per", help="Compare clock cycles (clock) or CPU seconds (cpu) instead of time")
    ] = None
    mhz: Annotated[
        str | None, typer.Option("--mhz", help="With --per clock, the clock of each source, such as 2000,2330")
    ] = None
    where: Where = None
    allow_missing: AllowMissing = None
    page: Annotated[
        Path | None, typer.Option("--page", metavar="FILE", help="Write an HTML page with both curves and their ratio")
    ] = None
    tables: Tables = False
    table: TableName = None
    json: Json = False
    export_json: ExportJson = None


def _compare(options: CompareOptions, foreign: ForeignOptions) -> int:
    """Compare results, configuration by configuration: slower, faster, equivalent, or inconclusive.

    \b
    scalograph compare results-before results-after
    scalograph compare results-before results-after --margin 5%
    scalograph compare published:8 published:15
    scalograph compare old.json new.json                     # hyperfine, pyperf, JMH, ...
    scalograph compare gobench:a1.txt,a2.txt,a3.txt gobench:b1.txt,b2.txt,b3.txt
    scalograph compare json:old.json json:new.json --at '/results/*' --name /cmd --value /times --unit ms
    """
    from scalograph.cli.comparing import compare_sources, comparison_screen

    o, sources = options, options.sources
    if len(sources) < 2:
        raise StudyError.one("compare", f"{len(sources)} source", "two or more", "name what it is compared with")
    comparisons = compare_sources(
        sources, o.margin, o.response, o.per, o.mhz, o.where or (), o.allow_missing or (), foreign
    )
    shown = comparison_screen(comparisons, sources)
    places = tables_place()
    if o.page is not None:
        from scalograph.report.compared_page import write

        write(comparisons.results[0], shown, _html(o.page, len(sources)))
        places = [("page", short_path(o.page)), *places]
    answer(shown, places, o.tables, o.table, comparisons.model_dump(mode="json") if o.json else None)
    export_document(o.export_json, shown, comparisons)
    return exit_code(comparisons)


command = group_options(_compare, CompareOptions, ForeignOptions)


def _html(page: Path, n_sources: int) -> Path:
    if page.suffix != ".html":
        raise StudyError.one("--page", f'"{page}"', "an .html file", "correct its ending")
    if n_sources > 2:
        raise StudyError.one("--page", f"{n_sources} sources", "two", "make a page of each pair")
    return page


def exit_code(comparisons: "ResultComparisons") -> Exit:
    """Return 4 for a configuration that failed only in the new results, 7 for slower, 8 for inconclusive, else 0."""
    if any(lost.why == "failed" and not lost.allowed for result in comparisons.results for lost in result.lost):
        return Exit.CONFIGURATION_FAILED
    return {"slower": Exit.SLOWER, "inconclusive": Exit.INCONCLUSIVE}.get(comparisons.answer, Exit.DONE)
