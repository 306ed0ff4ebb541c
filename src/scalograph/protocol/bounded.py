"""Reading that ends: a size on the disk is no promise, and a pipe or a device has none. Bytes are counted as they come.

What is larger raises an `OSError` like any other reason for which a file cannot be read.
"""

import csv
import errno
import hashlib
import io
import os
from collections.abc import Iterable
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
