"""What has no size, or grows while it is read, fills no memory."""

import hashlib
import os
from pathlib import Path

import pytest

from scalograph.protocol.bounded import MAX_COLUMNS, digest_files, read_below, read_csv, read_whole
from tests.kit.refusals import refuses

MIB = 1 << 20


def test_a_file_is_read_up_to_its_limit_as_is_what_has_no_size(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"x" * 100)
    assert read_whole(file, 100) == b"x" * 100
    with Path("/dev/zero").open("rb") as zero:
        for endless, limit, said in ((file, 99, "99 bytes"), (Path(f"/dev/fd/{zero.fileno()}"), MIB, "1 MiB")):
            refuses(OSError, f"larger than {said}", read_whole, endless, limit)
    refuses(OSError, "it is a device; write it to a file first", read_whole, Path("/dev/zero"), MIB)
    reader, writer = os.pipe()
    os.write(writer, b"n,throughput\n1,2\n")
    os.close(writer)
    try:
        assert [*read_csv(Path(f"/dev/fd/{reader}"), MIB)] == [{"n": "1", "throughput": "2"}]
    finally:
        os.close(reader)
    file.write_text("," * MAX_COLUMNS + "\n" + "1\n" * 10_000)
    refuses(Exception, f"more than {MAX_COLUMNS} columns", read_csv, file, MIB)


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
    refuses(OSError, "larger than 11 bytes", digest_files, hashlib.sha256(), tmp_path, files, 11)


def test_what_another_left_in_a_folder_leads_nowhere_and_keeps_nobody(tmp_path: Path) -> None:
    folder, outside = tmp_path / "folder", tmp_path / "outside"
    for place in (folder / "below", outside):
        place.mkdir(parents=True)
        (place / "file").write_bytes(b"\xffx")
    assert read_below(folder, "below/file", 2) == "\N{REPLACEMENT CHARACTER}x"
    refuses(OSError, "larger than 1 bytes", read_below, folder, "below/file", 1)
    os.mkfifo(folder / "pipe")
    links = {folder / "file": outside / "file", folder / "way": outside, folder / "device": "/dev/zero"}
    for link, target in {**links, tmp_path / "link": outside}.items():
        link.symlink_to(target)
    names = ("pipe", "file", "way/file", "way", "device", "below", "none")
    for place, name in ((tmp_path / "link", "file"), *((folder, name) for name in names)):
        with pytest.raises(OSError):
            read_below(place, name, 9)
    assert read_below(Path("/"), "proc/self/comm", 99), "the kernel's own folders may be links"
