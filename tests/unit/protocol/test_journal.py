import gzip
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from scalograph.errors import HostError, ProtocolError
from scalograph.protocol.journal import Journal, pick, read

pytestmark = pytest.mark.guarantee


def begun(file: Path, *events: str) -> Path:
    book = Journal(file)
    book.append("study", protocol=1)
    for event in events:
        book.append("note", text=event)
    book.close()
    return file


def test_events_come_back_in_order(tmp_path: Path) -> None:
    file = begun(tmp_path / "journal.jsonl", "a", "b")
    assert [event.get("text") for event in read(file)] == [None, "a", "b"]
    assert all(event["at"].endswith("Z") for event in read(file))


def test_each_event_is_on_the_disk_before_append_returns(tmp_path: Path) -> None:
    file = tmp_path / "journal.jsonl"
    book = Journal(file)
    for n in range(3):
        book.append("study", protocol=1, n=n)
        assert len(file.read_bytes().splitlines()) == n + 1
    book.close()


@pytest.mark.parametrize("keep", [1, 10, -1])
def test_a_torn_last_line_is_dropped_and_reported(tmp_path: Path, keep: int) -> None:
    file = begun(tmp_path / "journal.jsonl", "whole", "torn")
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(lines[:-1]) + lines[-1][:keep])
    torn: list[str] = []
    assert [event.get("text") for event in read(file, torn)] == [None, "whole"]
    assert len(torn) == 1 and torn[0].startswith("journal.jsonl:3: a torn last line")


def test_appending_after_a_tear_glues_nothing_together(tmp_path: Path) -> None:
    file = begun(tmp_path / "journal.jsonl", "whole")
    with file.open("ab") as stream:
        stream.write(b'{"event":"note","text":"to')
    book = Journal(file)
    book.append("note", text="after")
    book.close()
    note = "a torn last line of 26 bytes was cut off"
    assert [event.get("text") for event in read(file)] == [None, "whole", note, "after"]


def test_a_torn_first_line_leaves_room_for_the_first_event(tmp_path: Path) -> None:
    file = tmp_path / "journal.jsonl"
    file.write_bytes(b'{"event":"study","at":"20')
    book = Journal(file)
    book.append("study", protocol=1)
    book.close()
    assert [event["event"] for event in read(file)] == ["study"]


def test_a_journal_that_is_only_opened_stays_as_it_is(tmp_path: Path) -> None:
    file = begun(tmp_path / "journal.jsonl")
    with file.open("ab") as stream:
        stream.write(b"no line of ours")
    before = file.read_bytes()
    Journal(file).close()
    assert file.read_bytes() == before


def test_two_processes_never_append_to_one_journal(tmp_path: Path) -> None:
    first = Journal(tmp_path / "journal.jsonl")
    with pytest.raises(HostError, match=r"journal\.jsonl: another process appends to it"):
        Journal(tmp_path / "journal.jsonl")
    first.close()
    Journal(tmp_path / "journal.jsonl").close()


def test_a_compressed_journal_reads_the_same(tmp_path: Path) -> None:
    plain = begun(tmp_path / "journal.jsonl", "a")
    packed = tmp_path / "journal.jsonl.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert list(read(packed)) == list(read(plain))


@pytest.mark.parametrize(("content", "message"), [
    (b"", "empty"),
    (b"[]\n", "no event"),
    (b"hello\n", "journal.jsonl:1: not JSON"),
    (b'{"event":"note"}\n', "a `study` event of protocol 1"),
    (b'{"event":"study","protocol":3}\n', "protocol 3"),
    (b'{"event":"study","protocol":1}\n{"x":1}\n', "journal.jsonl:2"),
    (b'{"event":"study","protocol":1}\n' + b"[" * 100_000 + b"\n", "journal.jsonl:2"),
    (b'{"event":"study","protocol":1,"machine":' + b"[" * 32 + b"]" * 32 + b"}\n", "journal.jsonl:1: nested"),
    (b'{"event":"study","protocol":1}\n' + b"x" * (5 << 20) + b"\n", "a line over 4 MiB"),
    (b'{"event":"study","protocol":1}\n\xff\n', "journal.jsonl:2"),
])  # fmt: skip
def test_what_is_no_journal(tmp_path: Path, content: bytes, message: str) -> None:
    file = tmp_path / "journal.jsonl"
    file.write_bytes(content)
    with pytest.raises(ProtocolError, match=message.replace(".", r"\.").replace("`", ".")):
        list(read(file))


def test_facts_may_be_nested_and_many(tmp_path: Path) -> None:
    deep = json.loads("[" * 30 + "]" * 30)
    file = tmp_path / "journal.jsonl"
    file.write_text(json.dumps({"event": "study", "protocol": 1, "machine": [deep, [[]] * 100]}) + "\n")
    assert next(read(file))["machine"][0] == deep


def test_a_missing_and_a_broken_archive(tmp_path: Path) -> None:
    with pytest.raises(ProtocolError, match="cannot be read"):
        list(read(tmp_path / "none.jsonl"))
    packed = tmp_path / "journal.jsonl.gz"
    packed.write_bytes(gzip.compress(json.dumps({"event": "study", "protocol": 1}).encode() + b"\n")[:-6])
    with pytest.raises(ProtocolError, match="cannot be read"):
        list(read(packed))


def test_a_number_that_is_none_is_refused(tmp_path: Path) -> None:
    book = Journal(tmp_path / "journal.jsonl")
    with pytest.raises(ValueError, match="JSON"):
        book.append("note", text=float("nan"))
    book.close()


def test_a_full_disk_is_a_host_error_and_the_events_before_are_safe(tmp_path: Path) -> None:
    book = Journal(tmp_path / "journal.jsonl")
    with Path("/dev/full").open("wb") as full:
        os.dup2(full.fileno(), book._stream.fileno())
    with pytest.raises(HostError, match="No space left"):
        book.append("study", protocol=1)
    with pytest.raises(HostError, match="No space left"):
        book.close()


def test_no_permission_names_the_file(tmp_path: Path) -> None:
    with pytest.raises(HostError, match=r"cannot be written: Not a directory|No such file"):
        Journal(tmp_path / "missing" / "journal.jsonl")


def test_a_packed_journal_is_never_appended_to(tmp_path: Path) -> None:
    packed = tmp_path / "journal.jsonl.gz"
    packed.write_bytes(gzip.compress(b"x\n" * 100))
    before = packed.read_bytes()
    with pytest.raises(HostError, match="a packed journal"):
        Journal(packed)
    assert packed.read_bytes() == before


def test_a_damaged_gzip_is_a_broken_journal_wherever_it_is_damaged(tmp_path: Path) -> None:
    whole = begun(tmp_path / "journal.jsonl", *(f"{n:x}" * 9 for n in range(400)))
    packed = gzip.compress(whole.read_bytes(), mtime=0)
    file = tmp_path / "journal.jsonl.gz"
    refused = 0
    for place in range(10, len(packed), max(1, len(packed) // 40)):
        file.write_bytes(packed[:place] + bytes([packed[place] ^ 0xFF]) + packed[place + 1 :])
        try:
            for _ in read(file):
                pass
        except ProtocolError as error:
            refused += 1
            assert str(file.name) in str(error)
    assert refused > 30
    with pytest.raises(ProtocolError, match="cannot be read"):
        pick(file.with_name("none.gz"), [1])


def moved(folder: Path) -> None:
    folder.rename(folder.with_name("elsewhere"))


def exchanged(folder: Path) -> None:
    (folder / "journal.jsonl").rename(folder / "other.jsonl")
    (folder / "journal.jsonl").touch()


@pytest.mark.parametrize(("lose", "message"), [
    (shutil.rmtree, "was removed while the study ran, expected results that stay in their place; start it anew"),
    (moved, "was moved while the study ran, .*; move it back, and go on with --resume"),
    (exchanged, "was moved while the study ran"),
])  # fmt: skip
def test_a_journal_that_lost_its_place_is_told_with_the_next_event(
    tmp_path: Path, lose: Callable[[Path], None], message: str
) -> None:
    (tmp_path / "results").mkdir()
    book = Journal(tmp_path / "results" / "journal.jsonl")
    book.append("study", protocol=1)
    lose(tmp_path / "results")
    with pytest.raises(HostError, match=rf"results/journal\.jsonl: {message}"):
        book.append("note", text="nobody would find this")
    book.close()


def test_an_archive_that_was_made_to_fill_a_memory_ends_early(tmp_path: Path) -> None:
    head, event = b'{"event":"study","protocol":1}\n', b'{"event":"note","text":"' + b" " * (1 << 20) + b'"}\n'
    packed = tmp_path / "journal.jsonl.gz"
    packed.write_bytes(gzip.compress(head + event * 32, compresslevel=1))
    assert packed.stat().st_size < 1 << 20
    with pytest.raises(ProtocolError, match=r"journal\.jsonl\.gz: packed more than 100 times smaller"):
        for n, _ in enumerate(read(packed)):
            assert n < 20
