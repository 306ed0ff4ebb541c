import gzip
import json
import os
import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from scalograph.errors import HostError, ProtocolError
from scalograph.protocol.journal import Journal, pick, read
from tests.kit.refusals import refuses

pytestmark = pytest.mark.guarantee


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "journal.jsonl"


def append(file: Path, *events: str, **changes: Any) -> Path:
    """Append an event by a writer that comes and goes, and notes; a study if nothing is said."""
    with closing(Journal(file)) as book:
        if not file.stat().st_size or changes:
            book.append("study", **{"protocol": 1, **changes})
        for event in events:
            book.append("note", text=event)
    return file


def texts(file: Path, torn: list[str] | None = None) -> list[str | None]:
    return [event.get("text") for event in read(file, torn)]


def test_events_come_back_in_order_and_each_is_on_the_disk_before_append_returns(file: Path) -> None:
    append(file, "a", "b")
    assert texts(file) == [None, "a", "b"]
    assert all(event["at"].endswith("Z") for event in read(file))
    with closing(Journal(file)) as book:
        for n in range(3, 6):
            book.append("note", n=n)
            assert len(file.read_bytes().splitlines()) == n + 1


@pytest.mark.parametrize("keep", [1, 10, -1])
def test_a_torn_last_line_is_dropped_and_reported(file: Path, keep: int) -> None:
    lines = append(file, "whole", "torn").read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(lines[:-1]) + lines[-1][:keep])
    torn: list[str] = []
    assert texts(file, torn) == [None, "whole"]
    assert len(torn) == 1 and torn[0].startswith("journal.jsonl:3: a torn last line")


def test_appending_after_a_tear_glues_nothing_together(file: Path) -> None:
    before = append(file, "whole").read_bytes() + b'{"event":"note","text":"to'
    file.write_bytes(before)
    Journal(file).close()
    assert file.read_bytes() == before, "a journal that is only opened stays as it is"
    append(file, "after")
    assert texts(file) == [None, "whole", "a torn last line of 26 bytes was cut off", "after"]
    file.write_bytes(b'{"event":"study","at":"20')
    append(file, protocol=1)
    assert [event["event"] for event in read(file)] == ["study"], "the first event has room"


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
def test_what_is_no_journal(file: Path, content: bytes, message: str) -> None:
    file.write_bytes(content)
    refuses(ProtocolError, message.replace(".", r"\.").replace("`", "."), list, read(file))


def test_facts_may_be_nested_and_many(file: Path) -> None:
    deep = json.loads("[" * 30 + "]" * 30)
    file.write_text(json.dumps({"event": "study", "protocol": 1, "machine": [deep, [[]] * 100]}) + "\n")
    assert next(read(file))["machine"][0] == deep


def test_a_packed_journal_reads_the_same_and_is_never_appended_to(file: Path) -> None:
    packed = file.with_name("journal.jsonl.gz")
    whole = gzip.compress(append(file, "a").read_bytes())
    packed.write_bytes(whole)
    assert list(read(packed)) == list(read(file))
    refuses(HostError, "a packed journal", Journal, packed)
    assert packed.read_bytes() == whole
    packed.write_bytes(whole[:-6])
    for missing_or_broken in (file.with_name("none.jsonl"), packed):
        refuses(ProtocolError, "cannot be read", list, read(missing_or_broken))


def test_what_cannot_be_written_is_refused(file: Path) -> None:
    with closing(Journal(file)) as book:
        refuses(ValueError, "JSON", book.append, "note", text=float("nan"))
        refuses(HostError, r"journal\.jsonl: another process appends to it", Journal, file)
    with pytest.raises(HostError, match=r"cannot be written: Not a directory|No such file"):
        Journal(file.with_name("missing") / "journal.jsonl")
    book = Journal(file)
    with Path("/dev/full").open("wb") as full:
        os.dup2(full.fileno(), book._stream.fileno())
    refuses(HostError, "No space left", book.append, "study", protocol=1)
    refuses(HostError, "No space left", book.close)


def test_a_damaged_gzip_is_a_broken_journal_wherever_it_is_damaged(file: Path) -> None:
    packed = gzip.compress(append(file, *(f"{n:x}" * 9 for n in range(400))).read_bytes(), mtime=0)
    damaged, refused = file.with_name("journal.jsonl.gz"), 0
    for place in range(10, len(packed), max(1, len(packed) // 40)):
        damaged.write_bytes(packed[:place] + bytes([packed[place] ^ 0xFF]) + packed[place + 1 :])
        try:
            list(read(damaged))
        except ProtocolError as error:
            refused += 1
            assert damaged.name in str(error)
    assert refused > 30
    refuses(ProtocolError, "cannot be read", pick, file.with_name("none.gz"), [1])


def moved(folder: Path) -> None:
    folder.rename(folder.with_name("elsewhere"))


def exchanged(folder: Path) -> None:
    (folder / "journal.jsonl").rename(folder / "other.jsonl")
    (folder / "journal.jsonl").touch()


@pytest.mark.parametrize(("lose", "message"), [
    (shutil.rmtree, "was removed while the study ran, expected results that stay in their place; start over"),
    (moved, "was moved while the study ran, .*; move it back, and go on with --resume"),
    (exchanged, "was moved while the study ran"),
])  # fmt: skip
def test_a_journal_that_lost_its_place_is_told(tmp_path: Path, lose: Callable[[Path], None], message: str) -> None:
    (tmp_path / "results").mkdir()
    with closing(Journal(tmp_path / "results" / "journal.jsonl")) as book:
        book.append("study", protocol=1)
        lose(tmp_path / "results")
        refuses(HostError, rf"results/journal\.jsonl: {message}", book.append, "note", text="nobody would find this")


def test_an_archive_that_was_made_to_fill_a_memory_ends_early(file: Path) -> None:
    head, event = b'{"event":"study","protocol":1}\n', b'{"event":"note","text":"' + b" " * (1 << 20) + b'"}\n'
    packed = file.with_name("journal.jsonl.gz")
    packed.write_bytes(gzip.compress(head + event * 32, compresslevel=1))
    assert packed.stat().st_size < 1 << 20
    with pytest.raises(ProtocolError, match=r"journal\.jsonl\.gz: packed more than 100 times smaller"):
        for n, _ in enumerate(read(packed)):
            assert n < 20
