"""`scalograph gate`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scalograph.cli.compare_command import AllowMissing, ComparedResponse, Margin, exit_code
from scalograph.cli.options import Where
from scalograph.errors import Exit, HostError
from scalograph.study.scalars import unknown_name_error

if TYPE_CHECKING:
    from scalograph.protocol.compared_results import ResultComparisons

SummaryFile = Annotated[
    Path | None, typer.Option("--summary", metavar="FILE", help="Append the answer there, as Markdown.")
]
FORMATS = ("text", "md", "json")
# What became of the build, by the exit code of what is not let pass.
_PASSED, _FAILED = "passed", "failed (exit code {})"


def command(
    results: Annotated[str, typer.Argument(help="What was measured now: a source as of `compare`.")],
    against: Annotated[str, typer.Option("--against", metavar="KEPT", help="What it is compared with.")],
    margin: Margin = None,
    response: ComparedResponse = None,
    where: Where = None,
    allow_missing: AllowMissing = None,
    form: Annotated[str, typer.Option("--format", metavar="NAME", help="text, md (Markdown) or json.")] = "text",
    summary: SummaryFile = None,
    allow_inconclusive: Annotated[
        bool, typer.Option("--allow-inconclusive", "--allow-unmeasurable", help="Exit with 0, not 8, if inconclusive.")
    ] = False,
) -> int:
    """Compare results with kept ones, for a build that is to fail if they are slower. Executes nothing.

    A configuration of the kept results that failed, or is missing, in the new ones fails the build with exit code 4.

    \b
    scalograph gate scalograph-results/first/latest --against kept/first --margin 5%
    scalograph gate results --against kept --format md
    scalograph gate results --against kept --summary "$GITHUB_STEP_SUMMARY"
    """
    from scalograph.cli.comparing import compare_sources, comparison_screen
    from scalograph.exchange.markdown import summary as markdown

    if form not in FORMATS:
        raise unknown_name_error("--format", f'"{form}"', form, FORMATS)
    sources = [against, results]
    comparisons = compare_sources(sources, margin, response, where=where or (), allow_missing=allow_missing or ())
    is_lost = any(not lost.allowed for result in comparisons.results for lost in result.lost)
    code = Exit.CONFIGURATION_FAILED if is_lost else exit_code(comparisons)
    sign = "failed or missing" if code == Exit.CONFIGURATION_FAILED else comparisons.answer
    markdown_text = markdown(comparison_screen(comparisons, sources), sign)
    if summary is not None:
        append_summary(summary, markdown_text)
    if allow_inconclusive and code == Exit.INCONCLUSIVE:
        code = Exit.DONE
    _print(comparisons, sources, form, markdown_text, f"{sign}: {_FAILED.format(int(code)) if code else _PASSED}")
    return code


def _print(comparisons: "ResultComparisons", sources: list[str], form: str, markdown_text: str, ending: str) -> None:
    from scalograph.cli.answer_output import answer
    from scalograph.cli.comparing import comparison_screen
    from scalograph.cli.console import tell

    if form == "md":
        tell(markdown_text.rstrip("\n"))
    else:
        answer(
            comparison_screen(comparisons, sources),
            [("gate", ending)],
            document=comparisons.model_dump(mode="json") if form == "json" else None,
        )


def append_summary(file: Path, markdown_text: str) -> None:
    """Append Markdown to a file; raises HostError where the disk refuses."""
    try:
        with file.open("a", encoding="utf-8") as stream:
            stream.write(markdown_text)
    except OSError as error:
        raise HostError(str(file), f"cannot be written: {error.strerror}", "a writable file") from error
