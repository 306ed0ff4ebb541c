"""Made-up recordings: maps of a program before `exec`, records of other perfs, stacks of other processes."""

import struct
from pathlib import Path

import pytest

from scalograph.errors import HostError
from scalograph.profile.perf_file import mend_recording
from tests.kit.refusals import refuses

COMM, FORK, SAMPLE, MMAP2, EXEC = 3, 7, 9, 10, 1 << 13
# Address, task, time, CPU, identifier: the last two are behind the time.
TYPES = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 7 | 1 << 16
OWN, FOREIGN, NOTHING = 6, 8, 65


def entry(kind: int, time: int, *ids: int, misc: int = 0, event: int = OWN) -> bytes:
    first = struct.pack("<Q", event) if kind in (SAMPLE, NOTHING) else b""
    body = first + struct.pack(f"<{len(ids)}I", *ids) + struct.pack("<IIQQQ", 0, 0, time, 5, event)
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def recording(*entries: bytes) -> bytes:
    attr = struct.pack("<IIQQQQQ", 1, 128, 0, 0, TYPES, 56 + 48, 8)
    data = b"".join(entries)
    head = struct.pack("<8sQQQQQQ", b"PERFILE2", 104, len(attr), 56, len(attr), 64 + len(attr), len(data))
    return head + attr + struct.pack("<Q", OWN) + data


def test_a_program_has_no_maps_of_the_one_before_and_its_process_none_of_its_parent(tmp_path: Path) -> None:
    before = [
        entry(FORK, 10, 7, 1, 7, 1), entry(FORK, 11, 8, 1, 8, 1), entry(FORK, 31, 7, 7, 9, 7),
        entry(COMM, 20, 7, 7, misc=EXEC), entry(COMM, 40, 8, 8), entry(MMAP2, 15, 7, 7), entry(MMAP2, 25, 7, 7),
        entry(MMAP2, 25, 8, 8), entry(SAMPLE, 26, 7, 7), entry(COMM, 30, 7, 7, misc=EXEC), entry(MMAP2, 35, 7, 7),
    ]  # fmt: skip
    after = [*before]
    after[0] = entry(FORK, 10, 7, 1, 7, 1, misc=EXEC)  # the bit says so of a child, too
    after[5], after[6] = (entry(MMAP2, time, 1 << 30 | 7, 1 << 30 | 7) for time in (15, 25))
    file = tmp_path / "perf"
    file.write_bytes(recording(*before))
    mend_recording(file)
    assert file.read_bytes() == recording(*after)


def test_a_record_of_another_perf_is_nothing(tmp_path: Path) -> None:
    file = tmp_path / "perf"
    file.write_bytes(
        recording(entry(SAMPLE, 1, 7, 7, event=FOREIGN), entry(SAMPLE, 2, 7, 7), entry(SAMPLE, 0, 7, 7, event=0))
    )
    mend_recording(file)
    kept = [entry(NOTHING, 1, 7, 7, event=FOREIGN), entry(SAMPLE, 2, 7, 7), entry(SAMPLE, 0, 7, 7, event=0)]
    assert file.read_bytes() == recording(*kept)


def sample(pid: int, n_bytes: int) -> bytes:
    body = struct.pack("<QQIIQQ", OWN, 0, pid, pid, 1, n_bytes) + bytes(n_bytes)
    return struct.pack("<IHH", SAMPLE, 0, 8 + len(body)) + body


def test_stacks_of_processes_that_the_run_did_not_start_are_nothing(tmp_path: Path) -> None:
    file, forks = tmp_path / "perf", [entry(FORK, 1, 20, 10, 20, 10), entry(FORK, 2, 30, 20, 30, 20)]
    file.write_bytes(recording(*forks, *(sample(pid, 5000) for pid in (10, 30, 40)), sample(40, 100)))
    mend_recording(file, [10])
    nothing = struct.pack("<I", NOTHING) + sample(40, 5000)[4:]
    assert file.read_bytes() == recording(*forks, sample(10, 5000), sample(30, 5000), nothing, sample(40, 100))
    mend_recording(file)
    assert sample(30, 5000) in file.read_bytes()


TORN = recording(entry(MMAP2, 1, 7, 7))


@pytest.mark.parametrize(
    "content", [b"", b"x", b"PERFILE2", TORN[:100], TORN[:-60] + bytes(4), TORN.replace(b"2", b"1", 1)]
)
def test_what_is_no_recording_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "perf").write_bytes(content)
    refuses(HostError, "perf record: no recording", mend_recording, tmp_path / "perf")
