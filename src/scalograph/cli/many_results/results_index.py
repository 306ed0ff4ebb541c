"""Make the page of many results below a folder, and print a line for each."""

import os
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from scalograph.errors import HostError, ProtocolError, StudyError
from scalograph.protocol import results
from scalograph.protocol.bounded import open_file

if TYPE_CHECKING:
    from scalograph.protocol.findings import Findings
    from scalograph.report.index_page import IndexedResult

NAME = "index.html"
# A folder of scalograph-results holds those of a study, and each of these its results.
DEPTH = 3
MOST_RESULTS, MOST_ENTRIES = 10_000, 200_000
# Of a terminal: what it prints at its end fits one screen.
LINES, COLUMNS = 25, 100
# What benchmark tools write.
_FOREIGN = (".json", ".csv", ".xml")


def find_results(
    root: Path, names: Collection[str] = ("findings.json",), foreign: list[str] | None = None
) -> tuple[list[Path], list[str]]:
    """Return folders with a file of these names below a folder, and what exceeds the bounds; follow no link.

    Files between them that other tools may have written are added to `foreign`.
    """
    folders, level, n_entries, unread = list[Path](), [root], 0, list[str]()
    for _ in range(DEPTH + 1):
        below = list[Path]()
        for folder in level:
            try:
                with os.scandir(folder) as listed:
                    entries = [entry for entry, _ in zip(listed, range(MOST_ENTRIES - n_entries), strict=False)]
            except OSError as error:
                unread.append(f"{folder.relative_to(root)}: cannot be read: {error.strerror}")
                continue
            n_entries += len(entries)
            files = [entry.name for entry in entries if entry.is_file(follow_symlinks=False)]
            if not {*names}.isdisjoint(files):
                folders.append(folder)
                continue
            below += sorted(Path(entry.path) for entry in entries if entry.is_dir(follow_symlinks=False))
            if foreign is not None:
                foreign += [str((folder / name).relative_to(root)) for name in files if name.endswith(_FOREIGN)]
        level = below
    is_cut = n_entries >= MOST_ENTRIES or len(folders) > MOST_RESULTS
    bounds = f"more than {MOST_RESULTS:,} results or {MOST_ENTRIES:,} files: the rest is not read"
    return folders[:MOST_RESULTS], [*unread, *[bounds] * is_cut]


def has_several(source: Path) -> bool:
    """Return whether a folder is no result itself, and has some below."""
    if not source.is_dir() or results.Results(source).journal.exists() or results.Results(source).findings.exists():
        return False
    return bool(find_results(source)[0])


def write_index(source: Path, to: Path | None, keep: bool) -> tuple[list["IndexedResult"], list[str], int]:
    """Write the index and each report that is missing or old.

    Returns the results, newest first, those that cannot be read, and the worst exit code.
    """
    from scalograph.cli.analyze_steps import exit_code
    from scalograph.report.index_page import indexed_result, page, start_time

    folders, left_out = find_results(source)
    file, rows, codes = to or source / NAME, list["IndexedResult"](), [0]
    if to is None and keep:
        refuse_foreign(file)
    for folder in folders:
        name = str(folder.relative_to(source))
        try:
            findings = _refresh_report(folder)
        except (ProtocolError, HostError) as error:
            left_out.append(f"{name}: {error.problems[0].found}")
            continue
        report = results.Results(folder).report
        rows.append(indexed_result(findings, name, report if report.is_file() else None, file))
        codes.append(exit_code(findings))
    rows.sort(key=start_time, reverse=True)
    if keep:
        results.write_text(file, page(f"Results in {source.resolve().name}", rows, left_out))
    return rows, left_out, max(codes)


def refuse_foreign(file: Path) -> None:
    """Refuse to replace a page of somebody else's: many folders have one of this name."""
    if results.is_owned(file):
        with open_file(file) as stream:
            if b'content="scalograph ' not in stream.read(1000):
                raise StudyError.one(str(file), "is not an index of ours", "", "write it elsewhere with --to FILE.html")


def _refresh_report(folder: Path) -> "Findings":
    from scalograph.cli import analyze_steps

    paths = results.Results(folder)
    is_fresh = paths.report.is_file() and paths.report.stat().st_mtime_ns >= paths.findings.stat().st_mtime_ns
    if (is_fresh and analyze_steps.is_current(folder)) or not results.is_writable(folder):
        return analyze_steps.load_findings(folder)
    return analyze_steps.report(folder)[0]


def report_index(source: Path, to: Path | None, keep: bool, json: bool) -> int:
    """Write the index, and print its path and a line for each result, or one JSON document."""
    from dataclasses import asdict

    from scalograph.cli.answer_output import short_path
    from scalograph.cli.console import emit_json, tell
    from scalograph.report.index_page import headline
    from scalograph.text.escape import escape_controls

    rows, left_out, code = write_index(source, to, keep)
    file = to or source / NAME
    if json:
        emit_json(
            {"index": str(file) if keep else None, "results": [asdict(row) for row in rows], "left_out": left_out}
        )
        return code
    texts = [f"{row.day or 'no date':>11}  {row.word:<8}  {row.folder}  {row.sentence}" for row in rows]
    texts += [f"excluded: {text}" for text in left_out]
    if len(texts) > LINES - 2:
        texts = [*texts[: LINES - 3], f"and {len(texts) - LINES + 3:,} more"]
    for text in [f"{headline(rows)}.", *texts]:
        shown = escape_controls(text)
        tell(shown if len(shown) <= COLUMNS else f"{shown[: COLUMNS - 1]}\N{HORIZONTAL ELLIPSIS}")
    if keep:
        tell(f"index  {short_path(file)}")
    return code
