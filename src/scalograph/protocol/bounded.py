"""Reading that ends: a size on the disk is no promise, and a pipe or a device has none. Bytes are counted as they come.

What is larger raises an `OSError` like any other reason for which a file cannot be read.
"""

import csv
import errno
import hashlib
import io
import os
import stat
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

_BLOCK = 1 << 20
# A short row is filled up to the header: a wide one would make each of many rows as large as the file.
MAX_COLUMNS = 1000
# Of the sources of one workload together: what is larger is data.
MAX_SOURCE_BYTES = 1 << 30


def read_whole(file: Path, most: int) -> bytes:
    """Read a file of at most `most` bytes.

    Raises:
        OSError: it cannot be read, or is larger.
    """
    with file.open("rb") as stream:
        data = stream.read(most + 1)
    if len(data) > most:
        raise _too_large(file, most)
    return data


def read_below(root: Path, name: str | Path, most: int) -> str:
    """Return the text of a plain file in a folder that somebody else may have filled; what is no UTF-8 is replaced.

    No link is followed, the folder itself included, and neither pipe nor device is opened. Below "/" the folders on the
    way may be links, as the kernel has made some of them.

    Args:
        root: a folder.
        name: of the file, relative to it.
        most: bytes that it may have.

    Raises:
        OSError: it is no plain file below the folder, cannot be read, or is larger.
    """
    *folders, last = Path(name).parts
    plain = 0 if root == Path("/") else os.O_NOFOLLOW
    with ExitStack() as opened:

        def found(part: str | Path, flags: int, beside: int | None) -> int:
            fd = os.open(part, flags | os.O_PATH | os.O_CLOEXEC, dir_fd=beside)
            opened.callback(os.close, fd)
            return fd

        at = found(root, os.O_DIRECTORY | plain, None)
        for folder in folders:
            at = found(folder, os.O_DIRECTORY | plain, at)
        at = found(last, os.O_NOFOLLOW, at)
        mode = os.fstat(at).st_mode
        if not stat.S_ISREG(mode):
            code = errno.ELOOP if stat.S_ISLNK(mode) else errno.EISDIR if stat.S_ISDIR(mode) else errno.ENXIO
            raise OSError(code, "it is no plain file", str(root / name))
        return read_whole(Path(f"/proc/self/fd/{at}"), most).decode("utf-8", "replace")


def read_csv(file: Path, most: int, delimiters: str = ",") -> "csv.DictReader[str]":
    """Read a table in UTF-8 with a header, of at most `most` bytes and MAX_COLUMNS columns.

    Args:
        file: the table.
        most: bytes that it may have.
        delimiters: of which the first that the header has divides its fields.

    Raises:
        OSError: it cannot be read, or is larger.
        UnicodeDecodeError: it is not UTF-8.
        csv.Error: it is no table; so may raise whoever reads its rows.
    """
    return parse_csv(read_whole(file, most), delimiters)


def parse_csv(data: bytes, delimiters: str = ",") -> "csv.DictReader[str]":
    """Return the rows of a table in UTF-8 with a header of at most MAX_COLUMNS columns.

    Args:
        data: the table.
        delimiters: of which the first that the header has divides its fields.

    Raises:
        UnicodeDecodeError: it is not UTF-8.
        csv.Error: it is no table; so may raise whoever reads its rows.
    """
    text = data.decode("utf-8-sig")
    head, _, _ = text.partition("\n")
    delimiter = next((one for one in delimiters if one in head), delimiters[0])
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter)
    if len(reader.fieldnames or ()) > MAX_COLUMNS:
        raise csv.Error(f"more than {MAX_COLUMNS} columns")
    return reader


def digest_files(digest: Any, folder: Path, files: Iterable[Path], most: int) -> None:
    """Add files to a digest: of each its path below `folder`, and the SHA-256 of its content.

    Args:
        digest: of hashlib.
        folder: that they lie in.
        files: in order.
        most: bytes of all together.

    Raises:
        OSError: one cannot be read, or they are larger together.
    """
    left = most
    for file in files:
        content = hashlib.sha256()
        with file.open("rb") as stream:
            while block := stream.read(_BLOCK):
                left -= len(block)
                if left < 0:
                    raise _too_large(folder, most)
                content.update(block)
        digest.update(os.fsencode(file.relative_to(folder)) + b"\0" + content.digest())


def _too_large(file: Path, most: int) -> OSError:
    unit, name = next(pair for pair in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1, "bytes")) if most >= pair[0])
    return OSError(errno.EFBIG, f"larger than {most // unit} {name}", str(file))
