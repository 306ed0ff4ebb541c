"""`scalograph compare`."""

import shlex
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from scalograph.cli.answer_output import answer
from scalograph.cli.options import Json, TableName, Tables
from scalograph.errors import Exit, StudyError

if TYPE_CHECKING:
    from scalograph.protocol.compared_results import ResultComparisons

SourcesToCompare = Annotated[
    list[str],
    typer.Argument(metavar="A B...", help="Results folders, journals, findings, or published tables: published:15."),
]
Margin = Annotated[
    str | None, typer.Option("--margin", help='Differences within it are none, such as "5%"; default the noise floor.')
]
ComparedResponse = Annotated[
    str | None, typer.Option("--response", metavar="NAME", help="The figure that is compared; default the study's own.")
]


def command(
    sources: SourcesToCompare,
    margin: Margin = None,
    response: ComparedResponse = None,
    per: Annotated[
        str | None, typer.Option("--per", help="clock or cpu: cycles in place of times, or CPU seconds given.")
    ] = None,
    mhz: Annotated[
        str | None, typer.Option("--mhz", help="With --per clock: the clock of each source, such as 2000,2330.")
    ] = None,
    where: Annotated[
        list[str] | None, typer.Option("--where", metavar="FACTOR=LEVEL", help="Only these; may be repeated.")
    ] = None,
    tables: Tables = False,
    table: TableName = None,
    json: Json = False,
) -> int:
    """Is B faster than A, slower, or the same? Whole curves, treatment by treatment. Executes nothing.

    \b
    scalograph compare results-before results-after
    scalograph compare results-before results-after --margin 5%
    scalograph compare published:8 published:15
    """
    from scalograph.cli.comparing import compare_sources, compared_screen

    if len(sources) < 2:
        raise StudyError.one("compare", f"{len(sources)} source", "two or more", "name what it is compared with")
    found = compare_sources(sources, margin, response, per, mhz, where or ())
    places = [("tables", shlex.join(["scalograph", *sys.argv[1:], "--tables"]))]
    answer(compared_screen(found, sources), places, tables, table, found.model_dump(mode="json") if json else None)
    return exit_code(found)


def exit_code(found: "ResultComparisons") -> int:
    """7 where one is slower, 8 where one is not measurable, else 0."""
    return {"slower": Exit.SLOWER, "not measurable": Exit.NOT_MEASURABLE}.get(found.answer, Exit.DONE)
