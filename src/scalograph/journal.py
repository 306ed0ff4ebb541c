"""Append-only events of a study on disk; reading them back is how a study resumes (protocol/journal.md)."""

import gzip
import json
import os
from collections.abc import Container, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

from pydantic_core import from_json

from scalograph.errors import HostError, ProtocolError

MAX_LINE_BYTES = 4 << 20
MAX_UNPACKED_BYTES = 4 << 30


class EventTooLargeError(ValueError):
    """An event that no line of the journal can hold."""


class Journal:
    """A journal that is open for appending. Each event is on the disk before `append` returns."""

    def __init__(self, file: Path) -> None:
        self.file = file
        if file.suffix == ".gz":
            raise HostError(str(file), "a packed journal", "a plain one to append to", "unpack it with gunzip first")
        try:
            _drop_torn_line(file)
            self._stream = file.open("ab")
        except OSError as error:
            raise _refused(file, error) from error

    def append(self, event: str, **fields: Any) -> None:
        """Write one event.

        Raises:
            HostError: the disk is full or refuses; the events before are safe.
            EventTooLargeError: nothing was written.
        """
        line = json.dumps({"event": event, "at": now(), **fields}, separators=(",", ":"), allow_nan=False) + "\n"
        data = line.encode()
        if len(data) > MAX_LINE_BYTES:
            raise EventTooLargeError(f"{len(data)} bytes, at most {MAX_LINE_BYTES}")
        try:
            self._stream.write(data)
            self._stream.flush()
            os.fsync(self._stream.fileno())
        except OSError as error:
            raise _refused(self.file, error) from error

    def close(self) -> None:
        """Close the file; nothing is pending."""
        try:
            self._stream.close()
        except OSError as error:  # a full disk speaks again when the buffer is given up
            raise _refused(self.file, error) from error


def now() -> str:
    """The time of day, UTC, RFC 3339."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def read(file: Path, torn: list[str] | None = None) -> Iterator[dict[str, Any]]:
    """The events of a journal, one at a time.

    Args:
        file: `journal.jsonl` or `journal.jsonl.gz`.
        torn: Receives a sentence when a torn last line was dropped.

    Raises:
        ProtocolError: the journal is unreadable; names the line.
    """
    try:
        with _open(file) as stream:
            yield from _events(stream, file.name, torn)
    except (OSError, EOFError) as error:
        raise ProtocolError(str(file), f"cannot be read: {error}", "a journal") from error


def pick(file: Path, numbers: Container[int]) -> dict[int, dict[str, Any]]:
    """The events of these lines (the first is 1) of a journal that was read before; the others are not parsed."""
    with _open(file) as stream:
        lines = enumerate(iter(lambda: stream.readline(MAX_LINE_BYTES + 1), b""), 1)
        return {n: _event(line, f"{file.name}:{n}", first=n == 1) for n, line in lines if n in numbers}


def _open(file: Path) -> BinaryIO:
    return gzip.open(file, "rb") if file.suffix == ".gz" else file.open("rb")  # type: ignore[return-value]


def _events(stream: BinaryIO, name: str, torn: list[str] | None) -> Iterator[dict[str, Any]]:
    n_bytes = number = 0
    while line := stream.readline(MAX_LINE_BYTES + 1):
        number += 1
        n_bytes += len(line)
        if n_bytes > MAX_UNPACKED_BYTES:
            raise ProtocolError(name, "more than 4 GiB unpacked", "a journal of at most 4 GiB")
        if not line.endswith(b"\n"):
            if len(line) > MAX_LINE_BYTES:
                raise ProtocolError(f"{name}:{number}", "a line over 4 MiB", "lines of at most 4 MiB")
            if number == 1:
                raise ProtocolError(name, "no whole line", "a journal whose first line is a `study` event")
            if torn is not None:
                torn.append(f"{name}:{number}: a torn last line of {len(line)} bytes was dropped")
            return
        yield _event(line, f"{name}:{number}", first=number == 1)
    if number == 0:
        raise ProtocolError(name, "empty", "a journal whose first line is a `study` event")


def _event(line: bytes, where: str, first: bool) -> dict[str, Any]:
    try:
        event = from_json(line, allow_inf_nan=False)  # twice as fast as json, and shares equal texts
    except ValueError as error:
        raise ProtocolError(where, f"not JSON: {error}", "one event", "restore the file from a copy") from error
    if not isinstance(event, dict) or not isinstance(event.get("event"), str):
        raise ProtocolError(where, "no event", 'an object with "event"')
    if first and (event["event"] != "study" or event.get("protocol") != 1):
        found = f'event "{event["event"]}", protocol {event.get("protocol")}'
        raise ProtocolError(where, found, "a `study` event of protocol 1", "analyze it with the release that wrote it")
    return event


def _drop_torn_line(file: Path) -> None:
    """Cut an unfinished last line, left by a crash, so that appending does not glue two events together."""
    if not file.is_file():
        return
    with file.open("r+b") as stream:
        size = stream.seek(0, os.SEEK_END)
        start = max(0, size - MAX_LINE_BYTES - 1)
        stream.seek(start)
        tail = stream.read()
        if tail and not tail.endswith(b"\n"):
            stream.truncate(start + tail.rfind(b"\n") + 1)


def _refused(file: Path, error: OSError) -> HostError:
    return HostError(
        str(file), f"cannot be written: {error.strerror}", "a writable disk with room", "free some and resume"
    )


def first_event(file: Path) -> Mapping[str, Any]:
    """The `study` event of a journal."""
    return next(read(file))
