"""Append-only events of a study on disk; reading them back is how a study resumes (protocol/journal.md)."""

import errno
import gzip
import json
import os
import zlib
from collections.abc import Container, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Literal, TypedDict

import msgspec

from scalograph.errors import HostError, ProtocolError
from scalograph.protocol.bounded import open_file
from scalograph.protocol.events import UNREADABLE, convert_document
from scalograph.protocol.old_names import rename_in_event, rename_in_line
from scalograph.protocol.record import Record
from scalograph.protocol.record_processes import LAST, RecordPart
from scalograph.protocol.written_file import is_at, lock, open_to_append

# What this release writes; it reads protocol 1 too, which called a configuration a treatment.
LATEST = 2
MAX_LINE_BYTES = 4 << 20
MAX_UNPACKED_BYTES = 4 << 30
_BUFFER = 1 << 20  # a line of a run has kilobytes
# Lists and tables in each other: ours are less than ten deep, and no writer of JSON goes down for ever.
MAX_NESTED = 32
# Journals of runs pack 3 to 8 times smaller; only what was made to fill a memory packs 1,000 times.
MAX_RATIO, MOST_UNSUSPECTED_BYTES = 100, 16 << 20


class EventTooLargeError(ValueError):
    """An event that no line of the journal can hold."""


class Journal:
    """A journal that is open for appending, by one at a time. Each event is on the disk before `append` returns.

    A `jot` goes to the disk with the next event: it follows from those before, and waiting for the disk takes as long
    as starting a program.

    Nothing is written before the first `append`, which cuts a torn last line off and leaves a note of it.
    Raises HostError: it cannot be written, is a link, was removed or moved, or another process appends to it.
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        if file.suffix == ".gz":
            raise HostError(str(file), "a packed journal", "a plain one to append to", "unpack it with gunzip first")
        try:
            self._stream = open_to_append(file)
        except OSError as error:
            raise _make_host_error(file, error) from error
        self._mended = False
        # Some file systems of other machines number a file anew each time.
        self._is_known = is_at(self._stream, file)
        self._lock()

    def append(self, event: str, **fields: Any) -> None:
        """Write one event.

        Raises HostError: the disk is full or refuses; the events before are safe. EventTooLargeError: nothing was
        written.
        """
        self._write(event, fields, sync=True)

    def append_deferred(self, event: str, **fields: Any) -> None:
        """Write one event that the next one takes to the disk; raises as `append` does."""
        self._write(event, fields, sync=False)

    def _write(self, event: str, fields: Mapping[str, Any], sync: bool) -> None:
        document = msgspec.to_builtins({"event": event, "at": now(), **fields})
        data = json.dumps(document, separators=(",", ":"), allow_nan=False).encode() + b"\n"
        if len(data) > MAX_LINE_BYTES:
            raise EventTooLargeError(f"{len(data)} bytes, at most {MAX_LINE_BYTES}")
        if not self._mended:
            self._mend()
        try:
            self._stream.write(data)
            self._stream.flush()
            if sync:
                os.fsync(self._stream.fileno())
        except OSError as error:
            raise _make_host_error(self.file, error) from error
        self._refuse_elsewhere()

    def _refuse_elsewhere(self) -> None:
        """What goes to a file that lost its name is lost with us, and hours later nobody would find it."""
        if not self._is_known or is_at(self._stream, self.file) is not False:
            return
        if os.fstat(self._stream.fileno()).st_nlink == 0:
            observed, fix = "was removed while the study ran", "start over"
        else:
            observed, fix = "was moved while the study ran", "move it back, and go on with --resume"
        raise HostError(str(self.file), observed, "results that stay in their place", fix)

    def close(self) -> None:
        """Close the file; nothing is pending."""
        try:
            self._stream.close()
        except OSError as error:  # a full disk speaks again when the buffer is given up
            raise _make_host_error(self.file, error) from error

    def _lock(self) -> None:
        """The lock of the machine is a user's; two users may still share a folder of results."""
        try:
            lock(self._stream, wait=False)
        except BlockingIOError:
            self._stream.close()
            raise HostError(
                str(self.file), "another process appends to it", "one at a time", "wait for its end"
            ) from None
        except OSError:
            pass  # a file system without locks

    def _mend(self) -> None:
        """Cut off an unfinished last line, left by a crash, lest two events be glued together.

        A torn first line goes without a note: that is no place for one.
        """
        self._mended = True
        try:
            n_bytes = _cut_torn_line(self._stream)
            is_new = self._stream.seek(0, os.SEEK_END) == 0
        except OSError as error:
            raise _make_host_error(self.file, error) from error
        if n_bytes and not is_new:
            self.append("note", text=f"a torn last line of {n_bytes} bytes was cut off")


def now() -> str:
    """The time of day, UTC, RFC 3339."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


Signed = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]


class _Planned(TypedDict):
    at: str
    run: str
    block: Signed
    replicate: Signed
    warmup: bool


class AskEvent(_Planned):
    """An `ask` event."""

    event: Literal["ask"]
    configuration: dict[str, bool | int | float | str]


class _Made(_Planned):
    event: Literal["run"]
    configuration: dict[str, Any]


class RunEvent(_Made):
    """A `run` event."""

    record: Record


class _BriefVerdictEvent(TypedDict):
    event: Literal["verdict"]
    at: str
    run: str
    verdict: str


class VerdictEvent(_BriefVerdictEvent):
    """A `verdict` event."""

    causes: list[dict[str, float | str | None]]


class TimelineWidth(RecordPart, frozen=True):
    """A timeline of which nothing is read but how long its bins are."""

    bin_ns: Annotated[int, msgspec.Meta(ge=1, le=LAST)]


class _BriefRecord(Record, frozen=True, kw_only=True):
    """A record whose timeline is there or not, and is not decoded."""

    timeline: TimelineWidth | None = None  # type: ignore[assignment]


class _BriefRunEvent(_Made):
    record: _BriefRecord


class _BriefAskEvent(TypedDict):
    event: Literal["ask"]
    at: str


Decoders = Mapping[bytes, msgspec.json.Decoder[Any]]
# By the letters at `_KIND` of a line as we write it, which are a hint: `event` is decoded and held against its kind.
_KIND = slice(10, 13)
_WHOLE: Decoders = {
    b"ask": msgspec.json.Decoder(AskEvent),
    b"run": msgspec.json.Decoder(RunEvent),
    b"ver": msgspec.json.Decoder(VerdictEvent),
}
_BRIEF: Decoders = {
    b"ask": msgspec.json.Decoder(_BriefAskEvent),
    b"run": msgspec.json.Decoder(_BriefRunEvent),
    b"ver": msgspec.json.Decoder(_BriefVerdictEvent),
}


def read(file: Path, torn: list[str] | None = None, whole: bool = True) -> Iterator[dict[str, Any]]:
    """The events of a journal, one at a time.

    Args:
        file: `journal.jsonl` or `journal.jsonl.gz`.
        torn: Receives a sentence when a torn last line was dropped.
        whole: else timelines (nearly half of the work; `bin_ns` is left), what was asked and causes are not decoded.

    Raises ProtocolError: the journal is unreadable; names the line.
    """
    with _open_journal(file) as stream:
        yield from _events(stream, file.name, torn, _WHOLE if whole else _BRIEF)


def pick(file: Path, numbers: Container[int]) -> dict[int, dict[str, Any]]:
    """The events of these lines (the first is 1) of a journal that was read before; the others are not parsed."""
    with _open_journal(file) as stream:
        lines = enumerate(iter(partial(stream.readline, MAX_LINE_BYTES + 1), b""), 1)
        return {n: _event(line, file.name, n, _WHOLE, is_old=True) for n, line in lines if n in numbers}


@contextmanager
def _open_journal(file: Path) -> Iterator[BinaryIO]:
    """Open a journal; whatever ends its reading, the disk or a damaged gzip, is a broken journal."""
    try:
        with open_file(file, _BUFFER) as plain:
            if file.suffix != ".gz":
                yield plain
                return
            with gzip.open(plain) as unpacked:
                yield unpacked  # type: ignore[misc]
    except (OSError, EOFError, zlib.error) as error:
        raise ProtocolError(str(file), f"cannot be read: {error}", "a journal", "take a whole copy") from error


def _events(stream: BinaryIO, name: str, torn: list[str] | None, decoders: Decoders) -> Iterator[dict[str, Any]]:
    n_bytes, number, is_old = 0, 0, True
    packed = getattr(stream, "fileobj", None)
    while line := stream.readline(MAX_LINE_BYTES + 1):
        number += 1
        n_bytes += len(line)
        if packed or n_bytes > MAX_UNPACKED_BYTES:
            _refuse_bomb(packed, n_bytes, name)
        if not line.endswith(b"\n"):
            if len(line) > MAX_LINE_BYTES:
                raise ProtocolError(f"{name}:{number}", "a line over 4 MiB", "lines of at most 4 MiB")
            if number == 1:
                raise ProtocolError(name, "no whole line", "a journal whose first line is a `study` event")
            if torn is not None:
                torn.append(f"{name}:{number}: a torn last line of {len(line)} bytes was dropped")
            return
        event = _event(line, name, number, decoders, is_old)
        is_old = event["protocol"] != LATEST if number == 1 else is_old
        yield event
    if number == 0:
        raise ProtocolError(name, "empty", "a journal whose first line is a `study` event")


def _refuse_bomb(packed: BinaryIO | None, n_bytes: int, name: str) -> None:
    if n_bytes > MAX_UNPACKED_BYTES:
        raise ProtocolError(name, "more than 4 GiB unpacked", "a journal of at most 4 GiB")
    if packed and n_bytes > MOST_UNSUSPECTED_BYTES and n_bytes > MAX_RATIO * packed.tell():
        raise ProtocolError(name, f"packed more than {MAX_RATIO} times smaller", "a journal of runs", "unpack it first")


def _event(line: bytes, name: str, number: int, decoders: Decoders, is_old: bool) -> dict[str, Any]:
    """One event; of a `run` the record is checked. `is_old`: names may be those of an earlier protocol."""
    if number > 1 and (decoder := decoders.get(line[_KIND])):
        try:
            present = rename_in_line(line) if is_old else line
            event = decoder.decode(present)
            return rename_in_event(event) if is_old and present is line else event
        except UNREADABLE:
            pass  # said below
    where = f"{name}:{number}"
    try:
        event = msgspec.json.decode(line)
    except UNREADABLE as error:
        raise ProtocolError(where, f"not JSON: {error}", "one event", "restore the file from a copy") from error
    if _is_nested_beyond(event, line):
        raise ProtocolError(where, f"nested more than {MAX_NESTED} deep", "an event of protocol/journal.md")
    if not isinstance(event, dict) or not isinstance(event.get("event"), str):
        raise ProtocolError(where, "no event", 'an object with "event"')
    if number == 1 and (event["event"] != "study" or event.get("protocol") not in (1, LATEST)):
        observed = f'event "{event["event"]}", protocol {event.get("protocol")}'
        expected = f"a `study` event of protocol 1 or {LATEST}"
        raise ProtocolError(where, observed, expected, "analyze it with the release that wrote it")
    if is_old:
        rename_in_event(event)
    if event["event"] == "run":
        return dict(convert_document(event, RunEvent, f"{where}: a broken `run` event"))
    return event


def _is_nested_beyond(event: Any, line: bytes) -> bool:
    """Whether an event is deeper than `MAX_NESTED`."""
    if line.count(b"[") + line.count(b"{") <= MAX_NESTED:
        return False
    layer = [event]
    for _ in range(MAX_NESTED):
        layer = [inner for outer in layer for inner in _inside(outer)]
    return bool(layer)


def _inside(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def _cut_torn_line(stream: BinaryIO) -> int:
    """The bytes that were cut off."""
    size = stream.seek(0, os.SEEK_END)
    start = max(0, size - MAX_LINE_BYTES - 1)
    stream.seek(start)
    tail = stream.read(size - start)
    whole = start + tail.rfind(b"\n") + 1
    if whole < size:
        stream.truncate(whole)
    return size - whole


def _make_host_error(file: Path, error: OSError) -> HostError:
    expected, fix = "a plain file", "remove it, or choose another -o"
    if error.errno not in (errno.ELOOP, errno.EINVAL):
        expected, fix = "a writable disk with room", "free some and resume"
    return HostError(str(file), f"cannot be written: {error.strerror}", expected, fix)


@contextmanager
def wrap_event_errors(event: Mapping[str, Any], number: int) -> Iterator[None]:
    """Reading the fields of an event: one that lacks them, or holds something else, is a broken journal.

    Raises ProtocolError: names the event.
    """
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        observed = f"a broken `{event.get('event')}` event: {type(error).__name__} {error}"
        raise ProtocolError(f"journal: event {number}", observed, "protocol/journal.md", "take a whole copy") from error


def first_event(file: Path) -> Mapping[str, Any]:
    """The `study` event of a journal."""
    return next(read(file))
