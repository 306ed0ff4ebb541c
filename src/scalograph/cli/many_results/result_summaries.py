"""Read the summaries of all results below a folder, those that did not change from the index of last time."""

import os
import sys
from contextlib import suppress
from pathlib import Path

from scalograph.cli.many_results.results_index import find_results
from scalograph.errors import HostError, ProtocolError, StudyError
from scalograph.exchange.compare.summarize import summarize
from scalograph.protocol import journal
from scalograph.protocol.result_summary import NAME, ResultSummary, Stamp, is_foreign, read_index, write_index
from scalograph.protocol.results import Results, is_writable
from scalograph.text.escape import escape_controls, is_text
from scalograph.text.quantities import count_noun

# A folder with one of these is a result, and is read again where one of them changed.
_FILES = ("findings.json", "journal.jsonl", "journal.jsonl.gz")
_MOST_NAMED = 20  # files of other tools


def read_summaries(root: Path) -> tuple[list[ResultSummary], list[str]]:
    """Return a summary of each result below a folder, and what is no result; keep them in its index.

    Raises StudyError: there is no such folder, or no result in it.
    """
    if not root.is_dir():
        state = "is not a folder" if root.exists() else "no such folder"
        raise StudyError.one(str(root), state, "", "give a folder of results, such as scalograph-results")
    foreign = list[str]()
    folders, left_out = find_results(root, _FILES, foreign)
    if not folders:
        fix = "measure first, or give the folder that holds the results"
        raise StudyError.one(str(root), "no results in it", "", fix)
    file = root / NAME
    before = read_index(file)
    every: dict[str, tuple[Stamp, ResultSummary]] = {}
    for n_done, folder in enumerate(folders):
        name, stamp = str(folder.relative_to(root)), _stamp(folder)
        _show_progress(n_done, len(folders))
        if not is_text(name):
            left_out.append(f"{name}: its name is not UTF-8")
            continue
        last = before.get(name)
        every[name] = last if last and last[0] == stamp else (stamp, _summarize(folder, name))
    _show_progress(0, 0)
    left_out += [f"{name}: a file of another format; see scalograph compare" for name in foreign[:_MOST_NAMED]]
    left_out += [f"{count_noun(len(foreign) - _MOST_NAMED, 'more file')}"] * (len(foreign) > _MOST_NAMED)
    # Beside a journal a newer file means that findings are to be made again.
    if every != before and folders != [root] and is_writable(root):
        left_out += _keep(file, every)
    return [summary for _, summary in every.values()], [*map(escape_controls, left_out)]


def _keep(file: Path, every: dict[str, tuple[Stamp, ResultSummary]]) -> list[str]:
    """Write the index; without it all results are read again next time, which is no failure."""
    if is_foreign(file):
        return [f"{file.name}: another program wrote it; the index is not saved"]
    with suppress(HostError):
        write_index(file, every)
    return []


def _stamp(folder: Path) -> Stamp:
    newest = size = 0
    for name in _FILES:
        with suppress(OSError):
            status = os.stat(folder / name)  # noqa: PTH116  10,000 of them
            newest, size = max(newest, status.st_mtime_ns), size + status.st_size
    return newest, size


def _summarize(folder: Path, name: str) -> ResultSummary:
    from scalograph.cli.analyze_steps import load_findings

    try:
        return summarize(load_findings(folder), name, _program(folder))
    except (ProtocolError, StudyError) as error:
        return ResultSummary(folder=name, unread=error.problems[0].found)


def _program(folder: Path) -> str:
    """Return the checksum of the program of a result, which its journal holds; empty where unknown."""
    try:
        used = journal.first_event(Results(folder).journal).get("uses")
    except (ProtocolError, OSError):
        return ""
    program = used.get("program") if isinstance(used, dict) else None
    return str(program.get("sha256", "")) if isinstance(program, dict) else ""


def _show_progress(n_done: int, n: int) -> None:
    """Show how many results are read, where somebody looks and it takes a while."""
    if sys.stderr.isatty() and n_done % 100 == 0:
        text = f"{n_done:,} of {n:,} results read" if n_done else ""
        print(f"\r{text:40}\r", end=text and "", file=sys.stderr, flush=True)
