"""`scalograph export`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scalograph.cli.console import tell
from scalograph.cli.options import Source
from scalograph.protocol.results import write_text
from scalograph.study.scalars import unknown_name_error

if TYPE_CHECKING:
    from scalograph.exchange.export import Columns
    from scalograph.protocol.figure import Figure, Overlay
    from scalograph.protocol.findings import Findings

# What is written where --as is left out, by the ending of the file.
FORMS = {
    ".csv": "observations", ".parquet": "observations", ".md": "tables", ".adoc": "tables", ".svg": "figure",
    ".jsonl": "extra-p", ".json": "speedscope",
}  # fmt: skip
OF_RUNS = ("observations", "runs", "extra-p")
CHOICES = (*OF_RUNS, "points", "tables", "figure", "speedscope", "notes")
# Forms that are tables of columns, as observations are.
COLUMNS = ("runs", "points")


def command(
    source: Source,
    to: Annotated[
        Path,
        typer.Option(
            "--to", help="File to write: .csv, .parquet, .md, .adoc, .svg, .jsonl, .json; a repository for notes"
        ),
    ],
    form: Annotated[
        str | None,
        typer.Option("--as", help="Content: observations, runs, points, extra-p, tables, figure, speedscope, or notes"),
    ] = None,
    figure: Annotated[str, typer.Option("--figure", help="Name of the chart to write (default: the first)")] = "",
    commit: Annotated[
        str | None, typer.Option("--commit", help="Commit of notes (default: that of the folder, else HEAD)")
    ] = None,
    link: Annotated[str, typer.Option("--link", metavar="URL", help="Web page that notes lead to")] = "",
) -> None:
    """Write results for other tools: observations, runs, points, tables, a chart, or notes on commits.

    \b
    scalograph export scalograph-results/thread-scaling/latest --to thread-scaling.csv
    scalograph export scalograph-results/thread-scaling/latest --to thread-scaling.md     claim, verdict, tables
    scalograph export scalograph-results/thread-scaling/latest --to thread-scaling.svg    the first figure
    scalograph export scalograph-results/thread-scaling/latest --as points --to points.csv
    scalograph export scalograph-results/thread-scaling/latest --to lost.speedscope.json  stacks of explain
    scalograph export scalograph-results --as notes --to .                                for watch and site
    """
    from scalograph.errors import StudyError

    form = form or FORMS.get(to.suffix, "")
    if form not in CHOICES:
        given = f'no format ends with "{to.suffix}"' if not form else f'"{form}"'
        raise unknown_name_error("--as" if form else str(to), given, form or to.suffix, CHOICES if form else FORMS)
    if form == "notes":
        _export_notes(source, to, commit, link)
        return
    endings = [ending for ending, own in FORMS.items() if own == ("observations" if form in COLUMNS else form)]
    if to.suffix in FORMS and to.suffix not in endings:
        raise StudyError.one(str(to), f'--as {form} cannot be written as "{to.suffix}"', f"one of {', '.join(endings)}")
    if figure and form != "figure":
        raise StudyError.one(
            "--figure", f"no chart is written by --as {form}", "", "use --as figure, or a file that ends with .svg"
        )
    tell(f"{to}: {_export_runs(source, form, to) if form in OF_RUNS else _export_findings(source, form, to, figure)}")


def _export_notes(source: Path, home: Path, commit: str | None, link: str) -> None:
    from scalograph.cli.many_results.result_summaries import keep_notes
    from scalograph.errors import StudyError
    from scalograph.protocol.result_summary import LINK
    from scalograph.run.commit_notes import REF
    from scalograph.text.quantities import count_noun

    if link and not LINK.fullmatch(link):
        raise StudyError.one("--link", f'"{link[:80]}"', "an address", "such as https://example.org/run/1")
    n, commits = keep_notes(source, home, commit, link)
    tell(f"{REF}: {count_noun(n, 'result')} of {commits}; push it with: git push origin {REF}")


def _export_runs(source: Path, form: str, to: Path) -> str:
    from scalograph.cli.analyze_steps import load_table
    from scalograph.exchange import export

    table = load_table(source)
    if form == "extra-p":
        text = export.extra_p(table)
        write_text(to, text)
        return f"{len(text.splitlines())} lines"
    columns = export.observations(table) if form == "observations" else export.runs(table)
    export.write(columns, to)
    return _size(columns)


def _export_findings(source: Path, form: str, to: Path, figure: str) -> str:
    from scalograph.cli.analyze_steps import draw_charts, load_findings
    from scalograph.exchange import export
    from scalograph.exchange.markdown import asciidoc, markdown

    if form == "speedscope":
        return _export_stacks(source, to)
    findings = load_findings(source)
    if form == "points":
        columns = export.law_points(findings)
        export.write(columns, to)
        return _size(columns)
    if form == "tables":
        write_text(to, (asciidoc if to.suffix == ".adoc" else markdown)(findings))
        return f"{len(findings.tables)} tables"
    return _export_chart(findings, draw_charts(findings), figure, to)


def _export_stacks(source: Path, to: Path) -> str:
    from scalograph.errors import StudyError
    from scalograph.exchange.export import speedscope
    from scalograph.protocol import journal, results
    from scalograph.protocol.explanation import read_explanation

    folder = results.locate_results(source)
    explanation = read_explanation(folder.folder, str(journal.first_event(folder.journal)["study_hash"]))
    if explanation is None or not explanation.stacks:
        raise StudyError.one(str(source), "no stacks of an explanation", "", f"run: scalograph explain {source}")
    write_text(to, speedscope(explanation))
    return f"{len(explanation.stacks)} stacks; open it at https://www.speedscope.app"


def _export_chart(findings: "Findings", drawn: "list[Figure | Overlay]", name: str, to: Path) -> str:
    from scalograph.errors import StudyError
    from scalograph.report.first_chart import has_ranges
    from scalograph.report.standalone_picture import standalone, still_pictures

    every = still_pictures(findings, drawn)
    if name and name not in every:
        raise unknown_name_error("--figure", f'"{name}"', name, every, empty="no figures")
    name = name or next(iter(every), "")
    plot = every[name]() if every else None
    if plot is None or not has_ranges(plot):
        raise StudyError.one("--as figure", "a study without a figure that stands still", "one with a curve")
    write_text(to, standalone(plot) + "\n")
    others = ", ".join(other for other in every if other != name)
    return f"figure {name}" + (f"; --figure NAME writes one of {others}" if others else "")


def _size(columns: "Columns") -> str:
    return f"{len(next(iter(columns.values()), []))} rows, {len(columns)} columns"
