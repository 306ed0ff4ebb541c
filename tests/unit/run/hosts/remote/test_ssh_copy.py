"""What is sent to another machine: no hidden file of a folder that people keep, whole trees that were made, limits."""

import io
import os
import tarfile
from pathlib import Path

import pytest

from scalograph.errors import HostError
from scalograph.run.hosts.remote import ssh_copy
from scalograph.run.hosts.remote.ssh_copy import FileList, NeededPath, list_files, write_archive


def tree(folder: Path) -> Path:
    home = folder / "home"
    for name in (".ssh/id", ".netrc", "data/.hidden", "data/x", "data/deep/y", "scalograph-results/journal"):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(name)
    (home / "data" / "link").symlink_to("/etc")
    (home / "big").symlink_to("data/x")
    os.mkfifo(home / "data" / "fifo")
    return home


def sent(found: FileList) -> dict[str, tarfile.TarInfo]:
    stream = io.BytesIO()
    write_archive(found.files, stream)
    stream.seek(0)
    with tarfile.open(fileobj=stream) as archive:
        return {one.name: one for one in archive.getmembers()}


def test_names_with_a_dot_stay_here_unless_they_were_made_or_named(tmp_path: Path) -> None:
    home = tree(tmp_path)
    whole = {"n", "n/data", "n/data/x", "n/data/deep", "n/data/deep/y", "n/data/link", "n/big"}
    assert sent(list_files([NeededPath(home, (home,))], {home: "n"})).keys() == whole
    own = sent(list_files([NeededPath(home, (home,), True)], {home: "n"})).keys() - whole
    assert own >= {"n/.ssh/id", "n/data/.hidden", "n/scalograph-results"} and "n/data/fifo" not in own
    assert {*list_files([NeededPath(home, (home / ".netrc",))], {home: "n"}).files} == {"n", "n/.netrc"}
    assert {*list_files([NeededPath(home, ())], {home: "n"}).files} == {"n"}


def test_what_is_sent_links_that_are_named_and_how_large_it_is(tmp_path: Path) -> None:
    home = tree(tmp_path)
    found = sent(list_files([NeededPath(home, (home / "big", home / "data"))], {home: "n"}))
    assert found["n/big"].isfile() and found["n/big"].size == len("data/x")
    assert found["n/data/link"].issym() and "n/data/link/passwd" not in found
    assert {one.uid for one in found.values()} == {0} and not {one.uname for one in found.values()} - {""}
    needed = [NeededPath(home, (home / "data", home / "big"))]
    assert list_files(needed, {home: "n"}).describe(needed) == "data, big (4 files, 23 bytes)"
    with (home / "data" / "sparse").open("wb") as file:
        file.truncate(3 << 19)
    assert list_files(needed, {home: "n"}).describe(needed) == "data, big (5 files, 1.5 MiB)"


def test_what_is_too_large_or_cannot_be_read_is_one_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tree(tmp_path)
    with (home / "data" / "sparse").open("wb") as file:
        file.truncate(ssh_copy.MOST_BYTES)
    needed, names = [NeededPath(home, (home / "data",))], {home: "n"}
    with pytest.raises(
        HostError, match=r"data: more than 256 MiB to copy, expected at most 256 MiB and .*; name in th"
    ):
        list_files(needed, names)
    (home / "data" / "sparse").unlink()
    monkeypatch.setattr(ssh_copy, "MOST_FILES", 3)
    with pytest.raises(HostError, match="data: more than 3 files to copy"):
        list_files(needed, names)
    monkeypatch.undo()
    found = list_files(needed, names)
    (home / "data" / "x").unlink()
    with pytest.raises(HostError, match="data/x: cannot be copied: No such file"):
        write_archive(found.files, io.BytesIO())
