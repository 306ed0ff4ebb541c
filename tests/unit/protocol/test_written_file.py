"""A file of ours is never written through a link that stands in its place."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from scalograph.errors import HostError
from scalograph.protocol.journal import Journal
from scalograph.protocol.written_file import is_at, open_to_append, replace_file

pytestmark = pytest.mark.guarantee


@pytest.mark.parametrize(("spoil", "message"), [
    (lambda file: file.symlink_to("victim"), "it is a link, expected a plain file; remove it, or choose another"),
    (lambda file: os.mkfifo(file), "it is no plain file"),
    (lambda file: file.mkdir(), "Is a directory"),
])  # fmt: skip
@pytest.mark.parametrize("victim", ["", "kept"])
def test_a_journal_is_a_plain_file(tmp_path: Path, spoil: Callable[[Path], None], message: str, victim: str) -> None:
    if victim:
        (tmp_path / "victim").write_text(victim)
    file = tmp_path / "journal.jsonl"
    spoil(file)
    with pytest.raises(HostError, match=rf"journal\.jsonl: cannot be written: {message}"):
        Journal(file)
    assert not victim or (tmp_path / "victim").read_text() == victim
    assert victim or not (tmp_path / "victim").exists()


def test_a_new_file_takes_the_name_of_a_link(tmp_path: Path) -> None:
    (tmp_path / "victim").write_text("kept")
    file = tmp_path / "findings.json"
    file.symlink_to("victim")
    with replace_file(file) as stream:
        stream.write(b"new")
    assert not file.is_symlink() and file.read_text() == "new"
    assert (tmp_path / "victim").read_text() == "kept"


def test_a_writer_who_fails_leaves_what_was_there(tmp_path: Path) -> None:
    file = tmp_path / "findings.json"
    file.write_text("old")
    with pytest.raises(KeyboardInterrupt), replace_file(file) as stream:
        stream.write(b"half")
        raise KeyboardInterrupt
    assert file.read_text() == "old" and [*tmp_path.iterdir()] == [file]


def test_what_a_killed_writer_left_is_removed_and_what_a_living_one_writes_is_not(tmp_path: Path) -> None:
    file = tmp_path / "findings.json"
    dead, other = tmp_path / f".findings.json.{'0' * 16}", tmp_path / f".report.html.{'0' * 16}"
    dead.touch()
    other.touch()
    with replace_file(file) as first:
        first.write(b"first")
        with replace_file(file) as second:
            second.write(b"second")
        assert file.read_text() == "second" and not dead.exists()
    assert file.read_text() == "first" and {*tmp_path.iterdir()} == {file, other}


def test_an_open_file_knows_its_place(tmp_path: Path) -> None:
    file = tmp_path / "folder" / "file"
    file.parent.mkdir()
    with open_to_append(file) as stream:
        assert is_at(stream, file)
        file.parent.rename(tmp_path / "moved")
        assert is_at(stream, file) is False and is_at(stream, tmp_path / "moved" / "file")
        assert is_at(stream, tmp_path / "moved" / "file" / "below") is False
