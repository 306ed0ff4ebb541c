"""`scalograph gate`."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scalograph.cli.compare_command import AllowMissing, ComparedResponse, Margin, exit_code
from scalograph.cli.options import ExportJson, ForeignOptions, Where, group_options
from scalograph.errors import Exit, HostError
from scalograph.study.scalars import unknown_name_error

if TYPE_CHECKING:
    from scalograph.protocol.compared_results import ResultComparisons
    from scalograph.report.screen import Screen

SummaryFile = Annotated[Path | None, typer.Option("--summary", metavar="FILE", help="Append the answer as Markdown")]
FORMATS = ("text", "md", "json")


@dataclass(frozen=True, kw_only=True)
class GateOptions:
    """Options of `gate`."""

    results: Annotated[str, typer.Argument(help="New results (anything `compare` accepts)")]
    against: Annotated[str, typer.Option("--against", metavar="BASELINE", help="Baseline to compare with")]
    margin: Margin = None
    response: ComparedResponse = None
    where: Where = None
    allow_missing: AllowMissing = None
    form: Annotated[str, typer.Option("--format", metavar="NAME", help="Output format: text, md, or json")] = "text"
    summary: SummaryFile = None
    junit: Annotated[
        Path | None, typer.Option("--junit", metavar="FILE", help="Write the configurations as JUnit XML")
    ] = None
    export_json: ExportJson = None
    allow_inconclusive: Annotated[
        bool, typer.Option("--allow-inconclusive", "--allow-unmeasurable", help="Exit with 0 if inconclusive")
    ] = False


def _gate(options: GateOptions, foreign: ForeignOptions) -> int:
    """Fail CI on a regression: compare new results with a baseline.

    A configuration of the baseline that failed or is missing in the new results exits with 4.

    \b
    scalograph gate scalograph-results/first/latest --against baseline --margin 5%
    scalograph gate results --against baseline --format md
    scalograph gate results --against baseline --summary "$GITHUB_STEP_SUMMARY"
    """
    from scalograph.cli.answer_output import export_document
    from scalograph.cli.comparing import compare_sources, comparison_screen
    from scalograph.exchange.junit import junit
    from scalograph.exchange.markdown import summary as markdown
    from scalograph.protocol.results import write_text

    o, form = options, options.form
    if form not in FORMATS:
        raise unknown_name_error("--format", f'"{form}"', form, FORMATS)
    sources = [o.against, o.results]
    comparisons = compare_sources(
        sources, o.margin, o.response, where=o.where or (), allow_missing=o.allow_missing or (), foreign=foreign,
        needs_files=True,
    )  # fmt: skip
    is_lost = any(not lost.allowed for result in comparisons.results for lost in result.lost)
    code = Exit.CONFIGURATION_FAILED if is_lost else exit_code(comparisons)
    sign = "failed or missing" if code == Exit.CONFIGURATION_FAILED else comparisons.answer
    shown = comparison_screen(comparisons, sources)
    markdown_text = markdown(shown, sign)
    if o.summary is not None:
        append_summary(o.summary, markdown_text)
    if o.allow_inconclusive and code == Exit.INCONCLUSIVE:
        code = Exit.DONE
    ending = f"FAIL: {sign} (exit code {int(code)})" if code else f"PASS: {sign}"
    _print(comparisons, shown, form, markdown_text, ending)
    if o.junit is not None:
        write_text(o.junit, junit(comparisons, not code, " ".join(shown.claim.sentences)))
    export_document(o.export_json, shown, comparisons)
    return code


command = group_options(_gate, GateOptions, ForeignOptions)


def _print(comparisons: "ResultComparisons", shown: "Screen", form: str, markdown_text: str, ending: str) -> None:
    from scalograph.cli.answer_output import answer
    from scalograph.cli.console import tell

    if form == "md":
        tell(markdown_text.rstrip("\n"))
    else:
        document = comparisons.model_dump(mode="json") if form == "json" else None
        answer(shown, [("gate", ending)], document=document)


def append_summary(file: Path, markdown_text: str) -> None:
    """Append Markdown to a file; raises HostError where the disk refuses."""
    try:
        with open(file, "a", encoding="utf-8", opener=_open_at_once) as stream:
            stream.write(markdown_text)
    except OSError as error:
        raise HostError(str(file), f"cannot be written: {error.strerror}", "a writable file") from error


def _open_at_once(name: str, flags: int) -> int:
    """Open a file; a pipe without a reader is an error, as to open it would wait for one."""
    fd = os.open(name, flags | getattr(os, "O_NONBLOCK", 0), 0o666)
    os.set_blocking(fd, True)
    return fd
