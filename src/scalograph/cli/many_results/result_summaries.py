"""Read the summaries of all results below a folder, those that did not change from the index of last time."""

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from scalograph.cli.many_results.results_index import find_results
from scalograph.errors import HostError, ProtocolError, StudyError
from scalograph.exchange.compare.summarize import summarize
from scalograph.protocol import journal
from scalograph.protocol.result_summary import (
    NAME,
    ResultSummary,
    Stamp,
    decode_note,
    encode_note,
    is_foreign,
    read_index,
    write_index,
)
from scalograph.protocol.results import Results, is_writable
from scalograph.run.commit_notes import read_commit_notes, write_commit_note
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


def read_note_summaries(home: Path) -> tuple[list[ResultSummary], list[str]]:
    """Return the summaries that notes on the commits of a repository hold, and which lines are none.

    Raises StudyError: there are none, or git refuses; HostError: git cannot be started.
    """
    lines, left_out = read_commit_notes(home)
    every = list[ResultSummary]()
    for number, (commit, line) in enumerate(lines):
        try:
            every.append(replace(decode_note(line), folder=f"{commit[:10]}/{number}", commit=commit))
        except (ValueError, RecursionError) as error:
            left_out.append(f"note on {commit[:10]}: {str(error)[:200]}")
    return every, [*map(escape_controls, left_out)]


def keep_notes(source: Path, home: Path, revision: str | None, link: str) -> tuple[int, str]:
    """Note the summaries of a result, or of all below a folder, on a commit; replace those of the same start.

    The commit is `revision`, else the one that the folder of a result names, else HEAD. Returns the number of notes and
    the commits. Raises StudyError: no result, or git refuses; HostError: git cannot be started.
    """
    summaries, left_out = read_summaries(source)
    by_commit: dict[str, list[ResultSummary]] = {}
    for summary in (each for each in summaries if not each.unread):
        by_commit.setdefault(revision or summary.commit or "HEAD", []).append(summary)
    if not by_commit:
        raise StudyError.one(str(source), f"no result that can be read ({'; '.join(left_out)[:200]})", "")
    commits = [
        write_commit_note(home, name, [encode_note(each, link) for each in group], partial(_is_among, group))
        for name, group in by_commit.items()
    ]
    return sum(map(len, by_commit.values())), ", ".join(commit[:10] for commit in commits)


def _is_among(group: Sequence[ResultSummary], line: str) -> bool:
    with suppress(ValueError, RecursionError):
        return identity(decode_note(line)) in map(identity, group)
    return False


def identity(summary: ResultSummary) -> tuple[str, str, str]:
    """Return what tells a result from others, wherever it is kept: study, start, machine."""
    return summary.study, summary.started, summary.machine


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
