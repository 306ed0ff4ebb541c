"""What a series needs of each result, and the index that keeps it: a file that may be deleted and is built again.

Lines of JSON: a head, then one line for each result with the modification time and the size of its files.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path

import msgspec

from scalograph import __version__
from scalograph.protocol.bounded import read_whole
from scalograph.protocol.plain import MAX_TEXT
from scalograph.protocol.results import write_bytes

NAME = "index.jsonl"
MAX_BYTES = 256 << 20
# Newest modification time in ns, and the number of bytes, of the files that a summary rests on.
Stamp = tuple[int, int]


class ResultSummary(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One result.

    Attributes:
        folder: its path below the folder of all.
        unread: why it cannot be read; all else is empty then.
        sentence: what it says first.
        verdict, reason: whether to believe it, and why.
        lane: CPUs and CPU model; results of one lane are comparable.
        commit: the name of a folder on its path that is one; empty where none is.
        facts: facts of machine and program, by what they are called.
        better: direction of the response.
        excluded: why it has no level; its values are shown and decide nothing.
        names: configurations, sorted.
        logs: mean log score of each of these.
        open_log: how far the level stays open by the resolution of the scores, as a log.
        coefficients: other values by name, such as `sigma`.
        link: address of its page, of a result that lies elsewhere and has left a note; None of one that lies here.
    """

    folder: str
    unread: str = ""
    study: str = ""
    title: str = ""
    sentence: str = ""
    verdict: str = "reliable"
    reason: str = ""
    started: str = ""
    machine: str = ""
    lane: str = ""
    commit: str = ""
    facts: dict[str, str] = {}
    response: str = ""
    response_title: str = ""
    unit: str = ""
    better: str = "lower"
    excluded: str = ""
    names: tuple[str, ...] = ()
    logs: tuple[float, ...] = ()
    open_log: float = 0.0
    coefficients: dict[str, float] = {}
    link: str | None = None


class _Head(msgspec.Struct, frozen=True):
    """First line: what wrote the file, and the names of configurations, which many results share."""

    index: str
    names: list[tuple[str, ...]]


class _IndexLine(msgspec.Struct, frozen=True):
    stamp: Stamp
    names: int
    summary: ResultSummary


_NOTE = 1
_VERDICTS, _DIRECTIONS = ("reliable", "caution", "unusable"), ("lower", "higher", "none")
_MOST_LOG = 300.0
# The address of a page; of others a browser might run a script.
LINK = re.compile(r"(https?://[!-~]{1,2000})?")
_OURS = f"scalograph {__version__} 1"


def read_index(file: Path) -> dict[str, tuple[Stamp, ResultSummary]]:
    """Return summaries by folder; empty where there is no index, it is broken, or another version wrote it."""
    try:
        head, *lines = read_whole(file, MAX_BYTES).splitlines()
        names = msgspec.json.decode(head, type=_Head)
        if names.index != _OURS:
            return {}
        every = msgspec.json.Decoder(_IndexLine)
        read = (every.decode(line) for line in lines)
        return {
            line.summary.folder: (line.stamp, msgspec.structs.replace(line.summary, names=names.names[line.names]))
            for line in read
        }
    except (OSError, ValueError, IndexError):
        return {}


def is_foreign(file: Path) -> bool:
    """Return whether a file of this name holds something else, which is not replaced."""
    try:
        with file.open("rb") as stream:
            return not stream.read(100).startswith(b'{"index":"scalograph ')
    except OSError:
        return file.exists()


def write_index(file: Path, every: Mapping[str, tuple[Stamp, ResultSummary]]) -> None:
    """Replace the index. Raises HostError: the disk refuses."""
    places: dict[tuple[str, ...], int] = {}
    lines = [
        _IndexLine(stamp, places.setdefault(summary.names, len(places)), msgspec.structs.replace(summary, names=()))
        for stamp, summary in every.values()
    ]
    parts: Sequence[_Head | _IndexLine] = [_Head(_OURS, [*places]), *lines]
    write_bytes(file, b"".join(msgspec.json.encode(part) + b"\n" for part in parts))


class _NoteLine(msgspec.Struct, frozen=True):
    """What a repository keeps of a result: protocol/notes.md."""

    protocol: int
    result: ResultSummary


def encode_note(summary: ResultSummary, link: str) -> str:
    """Return a summary as a line for a note on its commit; `link` is the address of its page, or empty."""
    kept = msgspec.structs.replace(summary, folder="", commit="", link=link)
    return msgspec.json.encode(_NoteLine(_NOTE, kept)).decode()


def decode_note(line: str) -> ResultSummary:
    """Return the summary of a line that anybody may have written. Raises ValueError: it is none of ours."""
    note = msgspec.json.decode(line, type=_NoteLine)
    summary = note.result
    if note.protocol != _NOTE:
        raise ValueError(f"protocol {note.protocol}, expected {_NOTE}")
    texts = (summary.study, summary.title, summary.sentence, summary.lane, *summary.facts.values(), *summary.names)
    if not summary.study or any(len(text) > MAX_TEXT for text in texts):
        raise ValueError("a text is missing or too long")
    if summary.verdict not in _VERDICTS or summary.better not in _DIRECTIONS or not LINK.fullmatch(summary.link or ""):
        raise ValueError("an unknown verdict, direction, or link")
    if len(summary.names) != len(summary.logs) or any(abs(log) > _MOST_LOG for log in summary.logs):
        raise ValueError("a score is missing or out of range")
    return msgspec.structs.replace(summary, link=summary.link or "")


def start_seconds(started: str) -> float:
    """Return when runs began, in seconds; long ago where that is unknown."""
    try:
        return datetime.fromisoformat(started).timestamp()
    except (ValueError, OverflowError):
        return float("-inf")
