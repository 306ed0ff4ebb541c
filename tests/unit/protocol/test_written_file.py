"""A file of ours is never written through a link that stands in its place."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from scalograph.errors import HostError
from scalograph.protocol.journal import Journal
from scalograph.protocol.written_file import is_at, open_to_append, replace_file

pytestmark = pytest.mark.guarantee


@pytest.mark.parametrize("victim", ["", "kept"])
@pytest.mark.parametrize(("spoil", "message"), [
    (lambda file: file.symlink_to("victim"), "it is a link, expected a plain file; remove it, or choose another"),
    (os.mkfifo, "it is no plain file"), (Path.mkdir, "Is a directory"),
])  # fmt: skip
def test_a_journal_is_a_plain_file(tmp_path: Path, spoil: Callable[[Path], None], message: str, victim: str) -> None:
    file, other = tmp_path / "journal.jsonl", tmp_path / "victim"
    if victim:
        other.write_text(victim)
    spoil(file)
    with pytest.raises(HostError, match=rf"journal\.jsonl: cannot be written: {message}"):
        Journal(file)
    assert other.read_text() == victim if victim else not other.exists()


def test_a_new_file_takes_the_name_of_a_link_and_a_writer_who_fails_leaves_what_was_there(tmp_path: Path) -> None:
    file, victim = tmp_path / "findings.json", tmp_path / "victim"
    victim.write_text("kept")
    file.symlink_to("victim")
    with replace_file(file) as stream:
        stream.write(b"new")
    with pytest.raises(KeyboardInterrupt), replace_file(file) as stream:
        stream.write(b"half")
        raise KeyboardInterrupt
    assert not file.is_symlink() and file.read_text() == "new" and victim.read_text() == "kept"
    assert {*tmp_path.iterdir()} == {file, victim}


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
