"""Bounded reading of untrusted files: bytes are counted as they come, as sizes on disk cannot be trusted.

A file over its bound raises an `OSError`, as an unreadable file does.
"""

import csv
import errno
import hashlib
import io
import os
import stat
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO

_BLOCK = 1 << 20
# Each may be without an end, or without a beginning.
_ENDLESS = (
    (stat.S_ISFIFO, "pipe"), (stat.S_ISSOCK, "socket"), (stat.S_ISCHR, "device"), (stat.S_ISBLK, "device"),
)  # fmt: skip
_DESCRIPTORS = (Path("/dev/fd"), Path("/proc/self/fd"))
# A short row is filled up to the header: a wide one would make each of many rows as large as the file.
MAX_COLUMNS = 1000
# All sources of one workload together; anything larger is data.
MAX_SOURCE_BYTES = 1 << 30


def open_file(file: Path, buffer: int = -1) -> BinaryIO:
    """Open a file for reading, without waiting for anybody: a pipe may never have a writer.

    Standard input and other descriptors of ours may be pipes: whoever started us has opened them. Raises OSError: it is
    a pipe, a socket or a device, or cannot be read.
    """
    mode, wait = file.stat().st_mode, file == Path("/dev/stdin") or file.parent in _DESCRIPTORS
    kind = next((name for is_kind, name in _ENDLESS if is_kind(mode)), None)
    if kind and not wait:
        raise OSError(errno.ENXIO, f"it is a {kind}; write it to a file first", str(file))
    flags = 0 if wait else getattr(os, "O_NONBLOCK", 0)  # it may have been replaced since
    return open(file, "rb", buffer, opener=lambda name, more: os.open(name, more | flags))


def read_whole(file: Path, most: int) -> bytes:
    """Read a file of at most `most` bytes. Raises OSError: as `open_file`, or it is larger."""
    with open_file(file) as stream:
        data = stream.read(most + 1) or b""  # a file of /proc that waits has nothing yet
    if len(data) > most:
        raise _too_large(file, most)
    return data


def read_below(root: Path, name: str | Path, most: int) -> str:
    """Read the text of a plain file in an untrusted folder, at most `most` bytes; invalid UTF-8 is replaced.

    No link is followed, not even `root` itself; pipes and devices are not opened. Below "/" folders may be links, as
    the kernel makes some. Raises OSError: it is no plain file below the folder, cannot be read, or is larger.
    """
    *folders, last = Path(name).parts
    plain = 0 if root == Path("/") else os.O_NOFOLLOW
    with ExitStack() as opened:

        def open_below(part: str | Path, flags: int, parent: int | None) -> int:
            fd = os.open(part, flags | os.O_PATH | os.O_CLOEXEC, dir_fd=parent)
            opened.callback(os.close, fd)
            return fd

        fd = open_below(root, os.O_DIRECTORY | plain, None)
        for folder in folders:
            fd = open_below(folder, os.O_DIRECTORY | plain, fd)
        fd = open_below(last, os.O_NOFOLLOW, fd)
        mode = os.fstat(fd).st_mode
        if not stat.S_ISREG(mode):
            code = errno.ELOOP if stat.S_ISLNK(mode) else errno.EISDIR if stat.S_ISDIR(mode) else errno.ENXIO
            raise OSError(code, "it is no plain file", str(root / name))
        return read_whole(Path(f"/proc/self/fd/{fd}"), most).decode("utf-8", "replace")


def read_csv(file: Path, most: int, delimiters: str = ",") -> "csv.DictReader[str]":
    """Read a CSV file in UTF-8, or UTF-16 with a mark, of at most `most` bytes with a header; else as `parse_csv`.

    Raises OSError: it cannot be read, or is larger; UnicodeDecodeError: it is neither; csv.Error: it is no table.
    """
    data = read_whole(file, most)
    return parse_csv(data.decode("utf-16" if data[:2] in (BOM_UTF16_LE, BOM_UTF16_BE) else "utf-8-sig"), delimiters)


def parse_csv(text: str, delimiters: str = ",") -> "csv.DictReader[str]":
    """Parse CSV with a header of at most MAX_COLUMNS columns; the first of the delimiters in the header is used.

    Raises csv.Error: it is no table, which reading its rows may raise too.
    """
    head, _, _ = text.partition("\n")
    delimiter = next((mark for mark in delimiters if mark in head), delimiters[0])
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter)
    if len(reader.fieldnames or ()) > MAX_COLUMNS:
        raise csv.Error(f"more than {MAX_COLUMNS} columns")
    return reader


def digest_files(digest: Any, folder: Path, files: Iterable[Path], most: int) -> None:
    """Add to a hashlib digest the path below `folder` and the SHA-256 of each file, in order.

    Raises OSError: a file cannot be read, or all together are larger than `most` bytes.
    """
    left = most
    for file in files:
        content = hashlib.sha256()
        with open_file(file) as stream:
            while block := stream.read(_BLOCK):
                left -= len(block)
                if left < 0:
                    raise _too_large(folder, most)
                content.update(block)
        digest.update(os.fsencode(file.relative_to(folder)) + b"\0" + content.digest())


def _too_large(file: Path, most: int) -> OSError:
    unit, name = next(pair for pair in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1, "bytes")) if most >= pair[0])
    return OSError(errno.EFBIG, f"larger than {most // unit} {name}", str(file))
