"""`scalograph watch` and `scalograph site`: over all results of a folder."""

import time
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scalograph.cli.compare_command import Margin
from scalograph.cli.gate_command import SummaryFile, append_summary
from scalograph.cli.options import ExportJson, Json, TableName, Tables, group_options
from scalograph.errors import Exit, StudyError

if TYPE_CHECKING:
    from scalograph.protocol.result_summary import ResultSummary
    from scalograph.protocol.watched_series import Watch
    from scalograph.report.screen import Screen

AllResults = Annotated[
    Path | None, typer.Argument(metavar="RESULTS", help="A folder of results of any number of studies")
]
Notes = Annotated[
    Path | None, typer.Option("--notes", metavar="REPOSITORY", help="Include results that CI jobs noted on commits")
]
Since = Annotated[
    str, typer.Option("--since", metavar="TIME", help="Start of the time, such as 30d, 4w, or 2026-11-01")
]
_DAYS = {"d": 1, "w": 7}


@dataclass(frozen=True, kw_only=True)
class WatchOptions:
    """Options of `watch`."""

    results: AllResults = None
    notes: Notes = None
    since: Since = "30d"
    margin: Margin = None
    tables: Tables = False
    table: TableName = None
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown")] = False
    summary: SummaryFile = None
    junit: Annotated[Path | None, typer.Option("--junit", metavar="FILE", help="Write the series as JUnit XML")] = None
    json: Json = False
    export_json: ExportJson = None


def _watch(options: WatchOptions) -> int:
    """Find what became slower lately, over all studies and machines of a folder.

    \b
    scalograph watch scalograph-results --since 30d
    scalograph watch kept --since 2026-11-01 --margin 5%
    scalograph watch kept --summary "$GITHUB_STEP_SUMMARY" --junit watch.xml
    scalograph watch --notes .
    """
    from scalograph.cli.answer_output import answer, export_document, tables_place
    from scalograph.cli.console import tell
    from scalograph.exchange.junit import watch_junit
    from scalograph.exchange.markdown import summary
    from scalograph.protocol.results import write_text

    o = options
    root = _root(o)
    watched, _ = _read_series(o)
    shown, sign = watch_screen(watched, root), "worse" if watched.alarms else ""
    if o.summary is not None:
        append_summary(o.summary, summary(shown, sign))
    if o.markdown:
        tell(summary(shown, sign).rstrip("\n"))
    else:
        answer(shown, tables_place(), o.tables, o.table, watched.model_dump(mode="json") if o.json else None)
    if o.junit is not None:
        write_text(o.junit, watch_junit(watched))
    export_document(o.export_json, shown, watched)
    return Exit.SLOWER if watched.alarms else Exit.DONE


watch = group_options(_watch, WatchOptions)


@dataclass(frozen=True, kw_only=True)
class SiteOptions:
    """Options of `site`."""

    results: AllResults = None
    notes: Notes = None
    to: Annotated[Path, typer.Option("--to", metavar="FOLDER", help="Folder to write the pages to")] = Path("public")
    since: Since = "30d"
    margin: Margin = None
    reports: Annotated[
        int, typer.Option("--reports", min=0, max=10_000, metavar="N", help="Reports to include, newest of each study")
    ] = 20
    json: Json = False


def _site(options: SiteOptions) -> int:
    """Write static pages over all results of a folder: every study, its history, and what changed where.

    \b
    scalograph site scalograph-results --to public
    scalograph site kept --to public --since 90d --reports 50
    """
    from scalograph.cli.answer_output import answer, short_path
    from scalograph.cli.many_results.site import site_document, write_site
    from scalograph.exchange.compare.series_watch import watch_claim

    o = options
    root = _root(o)
    watched, summaries = _read_series(o)
    sentences = watch_claim(watched).sentences
    n_pages, lost = write_site(root, o.to, watched, summaries, sentences, o.reports)
    shown = watch_screen(watched, root)
    if lost:
        shown = replace(shown, remarks={"Reports that could not be written": lost})
    document = dict(site_document(o.to, watched, n_pages, lost)) if o.json else None
    answer(shown, [("site", f"{short_path(o.to / 'index.html')} ({n_pages} pages)")], document=document)
    return Exit.DONE


site = group_options(_site, SiteOptions)


def _root(options: WatchOptions | SiteOptions) -> Path:
    """Return the folder of the results, else of the repository. Raises StudyError: neither is named."""
    root = options.results or options.notes
    if root is None:
        raise StudyError.one("RESULTS", "no results", "a folder of results, or --notes with a repository")
    return root


def _read_series(options: WatchOptions | SiteOptions) -> "tuple[Watch, list[ResultSummary]]":
    """Read all results, those below a folder in place of their notes.

    Raises StudyError: there is none, or no such time or margin; HostError: git cannot be started.
    """
    from scalograph.cli.comparing import share_of
    from scalograph.cli.many_results.result_summaries import identity, read_note_summaries, read_summaries
    from scalograph.cli.many_results.site import read_notes
    from scalograph.exchange.compare.series_watch import watch as watch_series

    begin, least = parse_since(options.since, time.time()), share_of("--margin", options.margin)
    summaries, left_out = read_summaries(options.results) if options.results else ([], [])
    if options.notes:
        here = {*map(identity, summaries)}
        others, lost = read_note_summaries(options.notes)
        summaries += [summary for summary in others if identity(summary) not in here]
        left_out += lost
    return watch_series(summaries, begin, least, left_out, read_notes(_root(options))), summaries


def parse_since(text: str, now: float) -> float:
    """Return when a time began, in seconds: so many days or weeks before `now`, or at a date.

    >>> parse_since("2w", 2e6), parse_since("1970-01-02", 0.0)
    (790400.0, 86400.0)

    Raises StudyError: it is neither.
    """
    number, unit = text[:-1], text[-1:]
    try:
        if unit in _DAYS and number.isascii() and number.isdecimal():
            return now - 86400.0 * min(int(number[:6]), 36500) * _DAYS[unit]
        return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()
    except (ValueError, OverflowError):
        raise StudyError.one("--since", f'"{text}"', "days, weeks, or a date, such as 30d or 2026-11-01") from None


def watch_screen(watched: "Watch", folder: Path) -> "Screen":
    """Lay out the answer."""
    from scalograph.exchange.compare.series_watch import watch_claim, watch_tables, watch_trust
    from scalograph.report.screen import Screen
    from scalograph.text.quantities import count_noun

    studies, lanes = ({getattr(series, name) for series in watched.series} for name in ("study", "lane"))
    parts = [count_noun(watched.n_results, "result"), f"{len(studies)} {'study' if len(studies) == 1 else 'studies'}"]
    parts += [count_noun(len(lanes), "machine"), f"{len(watched.series):,} series"]
    name = folder if folder.name else folder.resolve().name
    return Screen(
        title=f"What became worse in {name}?", machine=", ".join(parts), claim=watch_claim(watched),
        trust=watch_trust(watched), tables=watch_tables(watched),
    )  # fmt: skip
