"""`scalograph history`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scalograph.cli.answer_output import answer, export_document, tables_place
from scalograph.cli.compare_command import ComparedResponse, Margin
from scalograph.cli.options import ExportJson, Json, TableName, Tables, Where
from scalograph.errors import ProtocolError, StudyError
from scalograph.study.scalars import unknown_name_error

if TYPE_CHECKING:
    from scalograph.exchange.compare.measured_source import MeasuredSource
    from scalograph.exchange.compare.series import DatedSource

# By when they began; a result of a hundred configurations takes a second to read.
MOST_RESULTS = 200


def command(
    name: Annotated[str, typer.Argument(help="Name of a study with results here, or a folder of results")],
    margin: Margin = None,
    response: ComparedResponse = None,
    where: Where = None,
    tables: Tables = False,
    table: TableName = None,
    json: Json = False,
    export_json: ExportJson = None,
) -> None:
    """Find when a series of results became slower or faster.

    \b
    scalograph history first
    scalograph history baseline/first --where threads=8 --tables
    """
    from scalograph.cli.comparing import share_of
    from scalograph.exchange.compare.series import series, series_claim, series_tables, series_trust
    from scalograph.report.screen import Screen
    from scalograph.text.quantities import count_noun

    every, left_out = _read(_folder(name), response, where or ())
    history = series(every, left_out, share_of("--margin", margin))
    n, used = len(history.results), f"margin {100 * history.margin:g}%"
    lost = f"{len(history.left_out)} excluded" if history.left_out else ""
    shown = Screen(
        title=history.title or name, machine=", ".join(filter(None, [count_noun(n, "result"), lost, used])),
        claim=series_claim(history), trust=series_trust(history), tables=series_tables(history),
    )  # fmt: skip
    answer(shown, tables_place(), tables, table, history.model_dump(mode="json") if json else None)
    export_document(export_json, shown, history)


def _folder(name: str) -> Path:
    from scalograph.protocol.results import ROOT

    here, kept = Path(name), ROOT / name
    folder = kept if kept.is_dir() else here
    if not folder.is_dir():
        names = sorted(path.name for path in ROOT.glob("*/")) if ROOT.is_dir() else []
        raise unknown_name_error("history", f'no results of "{name}"', name, names, empty="none here")
    return folder


def _read(
    folder: Path, response: str | None, where: "list[str] | tuple[str, ...]"
) -> tuple[list["DatedSource"], list[str]]:
    from scalograph.cli.analyze_steps import load_findings
    from scalograph.cli.comparing import read_alike
    from scalograph.exchange.compare.measured_source import findings_source, select_levels
    from scalograph.exchange.compare.series import DatedSource
    from scalograph.text.quantities import count_noun

    folders = sorted((path for path in folder.iterdir() if path.is_dir() and not path.is_symlink()), key=_start_time)
    n_older = len(folders[:-MOST_RESULTS])
    older = [f"{count_noun(n_older, 'older result')}: the newest {MOST_RESULTS} are read"] if n_older else []
    started: dict[str, str] = {}
    unread: dict[str, str] = {}

    def read(correct: bool | None) -> "list[MeasuredSource]":
        sources = []
        for path in folders[-MOST_RESULTS:]:
            try:
                findings = load_findings(path, correct)
                (source,) = select_levels([findings_source(findings, path.name, response, correct)], where)
            except (ProtocolError, StudyError) as error:
                unread[path.name] = error.problems[0].found
            else:
                started[path.name] = findings.runs.started or ""
                sources.append(source)
        return sources

    sources = [DatedSource(started[source.label], source) for source in read_alike(read, response)]
    return sources, older + [f"{name}: {reason}" for name, reason in unread.items() if name not in started]


def _start_time(folder: Path) -> tuple[str, str]:
    """Return start time and name of results; without a readable journal the name alone, which sorts first."""
    from scalograph.protocol import journal, results, saved_documents

    try:
        here = results.locate_results(folder)
        if here.journal.exists():
            return str(journal.first_event(here.journal).get("at", "")), folder.name
        return saved_documents.read_findings(here.findings).runs.started or "", folder.name
    except ProtocolError:
        return "", folder.name
