"""Write static pages over all results of a folder, with the reports that they link to."""

import os
import shutil
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from urllib.parse import quote

from pydantic import ValidationError

from scalograph.cli.many_results.results_index import refuse_foreign
from scalograph.errors import HostError, ProtocolError, StudyError
from scalograph.protocol.bounded import read_whole
from scalograph.protocol.result_summary import ResultSummary
from scalograph.protocol.results import Results, write_text
from scalograph.protocol.watched_series import SeriesNote, Watch
from scalograph.report.site_page import StudyHistory, site_index, study_histories, study_page

NOTES, _MAX_BYTES = "annotations.toml", 1 << 20
_EXAMPLE = '[[note]] with text = "..." and date = "2026-11-12" or commit = "3f2c1a9"'


def read_notes(root: Path) -> list[SeriesNote]:
    """Return the notes of a folder of results; none without a file.

    Raises StudyError: it cannot be read, or a note has no text, or neither a date nor a commit.
    """
    file = root / NOTES
    if not file.exists():
        return []
    try:
        document = tomllib.loads(read_whole(file, _MAX_BYTES).decode())
        rows = document.get("note", [])
        if {*document} - {"note"} or not isinstance(rows, list):
            raise ValueError("something other than notes")
        notes = [SeriesNote.model_validate(row, strict=True) for row in rows]
    except ValidationError as error:
        problem = error.errors()[0]
        raise StudyError.one(str(file), f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}", _EXAMPLE) from None
    except OSError as error:
        raise StudyError.one(str(file), f"cannot be read: {error.strerror}", _EXAMPLE) from error
    except ValueError as error:
        raise StudyError.one(str(file), str(error)[:200], _EXAMPLE) from error
    if lacking := next((note for note in notes if not (note.date or note.commit)), None):
        raise StudyError.one(str(file), f'note "{lacking.text[:40]}" without date and commit', _EXAMPLE)
    return notes


def write_site(
    root: Path, to: Path, watched: Watch, summaries: Sequence[ResultSummary], sentences: Sequence[str], n_reports: int
) -> tuple[int, list[str]]:
    """Write index, a page for each study, and the newest `n_reports` reports of each; nothing else in `to` changes.

    Returns the number of pages, and the reports that could not be made. Raises HostError: the disk refuses; StudyError:
    `to` has an index of somebody else's, or a note is broken.
    """
    notes = read_notes(root)
    refuse_foreign(to / "index.html")
    try:
        to.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise HostError(
            str(to), f"cannot be made: {error.strerror}", "a writable folder", "choose another --to"
        ) from error
    histories, lost = study_histories(watched, summaries, notes), list[str]()
    for history in histories:
        links = dict(_write_reports(root, to, history, n_reports, lost))
        write_text(to / history.page, study_page(history, links, watched.since))
    write_text(to / "index.html", site_index(f"Results in {root.resolve().name}", watched, histories, sentences))
    return len(histories) + 1, lost


def _write_reports(
    root: Path, to: Path, history: StudyHistory, n_reports: int, lost: list[str]
) -> Iterator[tuple[str, str]]:
    """Copy reports that are missing or old, make those that results lack, and yield folder and address of each.

    Of a result that left a note the address is the one in it.
    """
    from scalograph.cli.analyze_steps import report

    for summary in history.results[:n_reports]:
        if summary.link is not None:
            yield from [(summary.folder, summary.link)] * bool(summary.link)
            continue
        source, target = Results(root / summary.folder), to / "results" / summary.folder / "report.html"
        try:
            if not _is_newer(target, source):
                target.parent.mkdir(parents=True, exist_ok=True)
                if _is_newer(source.report, source):
                    shutil.copyfile(source.report, target)
                else:
                    report(source.folder, to=target)
        except (ProtocolError, HostError, StudyError) as error:
            lost.append(f"{summary.folder}: {error.problems[0].found}")
        except OSError as error:
            lost.append(f"{summary.folder}: {error.strerror}")
        else:
            yield summary.folder, quote(os.fsencode(target.relative_to(to)))


def _is_newer(page: Path, source: Results) -> bool:
    files = [file for file in (source.findings, source.journal) if file.exists()]
    return page.is_file() and all(page.stat().st_mtime_ns >= file.stat().st_mtime_ns for file in files)


def site_document(to: Path, watched: Watch, n_pages: int, lost: Sequence[str]) -> Mapping[str, object]:
    """Return what --json prints: the pages, and all series."""
    return {"index": str(to / "index.html"), "pages": n_pages, "lost": [*lost], **watched.model_dump(mode="json")}
