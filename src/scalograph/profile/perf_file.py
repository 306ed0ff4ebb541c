"""Mend a perf recording where perf 6.1 misreads it.

After `exec` it keeps the addresses of libraries of the program before, and those that a child has of its parent. It
then looks for the tables by which stacks are unwound at the lowest address of a library, and half of all stacks end at
their first function. And it stops at a record of an event that another perf opened meanwhile.
"""

import mmap
import struct
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from struct import unpack_from

from scalograph.errors import HostError

# linux/perf_event.h; the file is described in tools/perf/Documentation/perf.data-file-format.txt.
_MAGIC = b"PERFILE2"
_COMM, _FORK, _SAMPLE, _MMAP2, _EXEC_BIT = 3, 7, 9, 10, 1 << 13
_NOTHING, _FIRST_OF_TOOL = 65, 64  # a record that perf passes over, and the first type that no kernel writes
_TIME, _IDENTIFIER = 1 << 2, 1 << 16
_AFTER_TIME = (1 << 6, 1 << 9, 1 << 7, _IDENTIFIER)  # id, stream, CPU, identifier: eight bytes each
_ATTR_SIZE_AT, _ATTRS_AT, _DATA_AT, _SAMPLE_TYPE_AT = 16, 24, 40, 24
_NOBODY = 1 << 30  # above all process ids


def mend_recording(file: Path) -> None:
    """Give maps from before the last `exec` of a process to nobody, and processes that call it none of their parent.

    Records of other perfs become nothing.

    Raises HostError: it is no recording of perf.
    """
    with file.open("r+b") as stream:
        try:
            with mmap.mmap(stream.fileno(), 0) as data:
                _mend(data)
        except (struct.error, ValueError, IndexError) as error:
            raise HostError("perf record", "no recording", "one that perf wrote whole", "try it by hand") from error


def _mend(data: mmap.mmap) -> None:
    if data[: len(_MAGIC)] != _MAGIC:
        raise ValueError(data[: len(_MAGIC)])
    last_exec: dict[int, int] = {}
    forks: dict[int, list[int]] = defaultdict(list)
    maps: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for at, kind, misc, time in _records(data):
        pid, parent = unpack_from("<II", data, at + 8)
        if kind == _COMM and misc & _EXEC_BIT:
            last_exec[pid] = max(time, last_exec.get(pid, 0))
        elif kind == _FORK and pid != parent:
            forks[pid].append(at)
        elif kind == _MMAP2:
            maps[pid].append((time, at))
    for pid, when in last_exec.items():
        for at in forks[pid]:
            data[at + 5] |= _EXEC_BIT >> 8  # of the second byte of `misc`: nothing is inherited
        for at in (at for time, at in maps[pid] if time < when):
            data[at + 8 : at + 16] = 2 * (pid | _NOBODY).to_bytes(4, "little")  # process and thread


def _records(data: mmap.mmap) -> Iterator[tuple[int, int, int, int]]:
    """Yield place, type, flags, and time of the records that say what a process runs."""
    attr_size, attrs, attrs_size, at, size = unpack_from("<5Q", data, _ATTR_SIZE_AT)
    (sample_type,) = unpack_from("<Q", data, attrs + _SAMPLE_TYPE_AT)
    behind = 8 + 8 * sum(bool(sample_type & bit) for bit in _AFTER_TIME)
    has_time, own = sample_type & _TIME, _identifiers(data, range(attrs, attrs + attrs_size, attr_size))
    end = min(at + size, len(data))
    while at < end:
        kind, misc, length = unpack_from("<IHH", data, at)
        if length < 8:
            raise ValueError(length)
        if sample_type & _IDENTIFIER and kind < _FIRST_OF_TOOL:
            (identifier,) = unpack_from("<Q", data, at + (8 if kind == _SAMPLE else length - 8))
            if identifier and identifier not in own:
                data[at : at + 4] = _NOTHING.to_bytes(4, "little")
        if kind in (_COMM, _FORK, _MMAP2) and has_time:
            yield at, kind, misc, unpack_from("<Q", data, at + length - behind)[0]
        at += length


def _identifiers(data: mmap.mmap, attrs: range) -> set[int]:
    """Return the numbers of the recorded events, which lie where the last two words of each attribute say."""
    places = (unpack_from("<QQ", data, at + attrs.step - 16) for at in attrs)
    return {identifier for at, size in places for identifier in unpack_from(f"<{size // 8}Q", data, at)}
