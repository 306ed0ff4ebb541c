"""What has no size, or grows while it is read, fills no memory."""

import hashlib
import os
from pathlib import Path

import pytest

from scalograph.protocol.bounded import MAX_COLUMNS, digest_files, read_csv, read_whole

MIB = 1 << 20


def test_a_file_is_read_up_to_its_limit(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"x" * 100)
    assert read_whole(file, 100) == b"x" * 100
    with pytest.raises(OSError, match="larger than 99 bytes"):
        read_whole(file, 99)


def test_what_has_no_size_ends_at_the_limit() -> None:
    with pytest.raises(OSError, match="larger than 1 MiB"):
        read_whole(Path("/dev/zero"), MIB)
    reader, writer = os.pipe()
    os.write(writer, b"n,throughput\n1,2\n")
    os.close(writer)
    try:
        assert [*read_csv(Path(f"/dev/fd/{reader}"), MIB)] == [{"n": "1", "throughput": "2"}]
    finally:
        os.close(reader)


def test_a_wide_header_makes_no_wide_rows(tmp_path: Path) -> None:
    file = tmp_path / "wide.csv"
    file.write_text("," * MAX_COLUMNS + "\n" + "1\n" * 10_000)
    with pytest.raises(Exception, match=f"more than {MAX_COLUMNS} columns"):
        read_csv(file, MIB)


def test_files_are_digested_together_up_to_their_limit(tmp_path: Path) -> None:
    names = [b"a", "\u00e9".encode(), b"\xff"]  # the last one is no text
    files = [tmp_path / os.fsdecode(name) for name in names]
    for file in files:
        file.write_bytes(b"1234")
    found, expected = hashlib.sha256(), hashlib.sha256()
    digest_files(found, tmp_path, files, 12)
    for name in names:
        expected.update(name + b"\0" + hashlib.sha256(b"1234").digest())
    assert found.digest() == expected.digest()
    with pytest.raises(OSError, match="larger than 11 bytes"):
        digest_files(hashlib.sha256(), tmp_path, files, 11)
