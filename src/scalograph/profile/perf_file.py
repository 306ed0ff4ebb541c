"""Mend a perf recording where perf 6.1 misreads it.

After `exec` it keeps the addresses of libraries of the program before, and those that a child has of its parent. It
then looks for the tables by which stacks are unwound at the lowest address of a library, and half of all stacks end at
their first function. And it stops at a record of an event that another perf opened meanwhile. Of a recording of the
machine it unwinds stacks of all programs, which takes minutes.
"""

import mmap
import struct
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from struct import unpack_from

from scalograph.errors import HostError

# linux/perf_event.h; the file is described in tools/perf/Documentation/perf.data-file-format.txt.
_MAGIC = b"PERFILE2"
_COMM, _FORK, _SAMPLE, _MMAP2, _EXEC_BIT = 3, 7, 9, 10, 1 << 13
_NOTHING, _FIRST_OF_TOOL = 65, 64  # a record that perf passes over, and the first type that no kernel writes
_IP, _TID, _TIME, _IDENTIFIER = 1 << 0, 1 << 1, 1 << 2, 1 << 16
_AFTER_TIME = (1 << 6, 1 << 9, 1 << 7, _IDENTIFIER)  # id, stream, CPU, identifier: eight bytes each
_ATTR_SIZE_AT, _ATTRS_AT, _DATA_AT, _SAMPLE_TYPE_AT = 16, 24, 40, 24
_NOBODY = 1 << 30  # above all process ids
_LARGE = 4096  # bytes of a sample: it has a stack that is to be unwound


def mend_recording(file: Path, pids: Collection[int] = ()) -> None:
    """Give maps from before the last `exec` of a process to nobody, and processes that call it none of their parent.

    Records of other perfs become nothing. So do stacks of other processes than `pids` and those that these started, if
    any are given.

    Raises HostError: it is no recording of perf.
    """
    with file.open("r+b") as stream:
        try:
            with mmap.mmap(stream.fileno(), 0) as data:
                _Recording(data).mend(pids)
        except (struct.error, ValueError, IndexError) as error:
            raise HostError("perf record", "no recording", "one that perf wrote whole", "try it by hand") from error


class _Recording:
    def __init__(self, data: mmap.mmap) -> None:
        if data[: len(_MAGIC)] != _MAGIC:
            raise ValueError(data[: len(_MAGIC)])
        attr_size, attrs, attrs_size, self._start, size = unpack_from("<5Q", data, _ATTR_SIZE_AT)
        self._data, self._end = data, min(self._start + size, len(data))
        (self._type,) = unpack_from("<Q", data, attrs + _SAMPLE_TYPE_AT)
        self._behind = 8 + 8 * sum(bool(self._type & bit) for bit in _AFTER_TIME)
        self._own = _identifiers(data, range(attrs, attrs + attrs_size, attr_size))

    def mend(self, pids: Collection[int]) -> None:
        data, last_exec, parents = self._data, dict[int, int](), dict[int, int]()
        forks: dict[int, list[int]] = defaultdict(list)
        maps: dict[int, list[tuple[int, int]]] = defaultdict(list)
        stacks: dict[int, list[int]] = defaultdict(list)
        for at, kind, misc, length in self._records():
            pid, parent = unpack_from("<II", data, at + 8) if kind in (_COMM, _FORK, _MMAP2) else (0, 0)
            if self._is_foreign(at, kind, length):
                self._drop(at)
            elif kind == _SAMPLE and pids and length > _LARGE:
                stacks[self._sampled_pid(at)].append(at)
            elif kind == _COMM and misc & _EXEC_BIT:
                last_exec[pid] = max(self._time(at, length), last_exec.get(pid, 0))
            elif kind == _FORK and pid != parent:
                forks[pid].append(at)
                parents[pid] = parent
            elif kind == _MMAP2:
                maps[pid].append((self._time(at, length), at))
        for pid, when in last_exec.items():
            for at in forks[pid]:
                data[at + 5] |= _EXEC_BIT >> 8  # of the second byte of `misc`: nothing is inherited
            for at in (at for time, at in maps[pid] if time < when):
                data[at + 8 : at + 16] = 2 * (pid | _NOBODY).to_bytes(4, "little")  # process and thread
        for pid in stacks.keys() - _add_children(pids, parents):
            for at in stacks[pid]:
                self._drop(at)

    def _records(self) -> Iterator[tuple[int, int, int, int]]:
        """Yield place, type, flags, and length of each record."""
        at = self._start
        while at < self._end:
            kind, misc, length = unpack_from("<IHH", self._data, at)
            if length < 8:
                raise ValueError(length)
            yield at, kind, misc, length
            at += length

    def _is_foreign(self, at: int, kind: int, length: int) -> bool:
        if not self._type & _IDENTIFIER or kind >= _FIRST_OF_TOOL:
            return False
        (identifier,) = unpack_from("<Q", self._data, at + (8 if kind == _SAMPLE else length - 8))
        return bool(identifier) and identifier not in self._own

    def _time(self, at: int, length: int) -> int:
        return int(unpack_from("<Q", self._data, at + length - self._behind)[0]) if self._type & _TIME else 0

    def _sampled_pid(self, at: int) -> int:
        before = 8 + 8 * sum(bool(self._type & bit) for bit in (_IDENTIFIER, _IP))
        return int(unpack_from("<I", self._data, at + before)[0])

    def _drop(self, at: int) -> None:
        self._data[at : at + 4] = _NOTHING.to_bytes(4, "little")


def _add_children(pids: Collection[int], parents: Mapping[int, int]) -> set[int]:
    ours = set(pids)
    while more := {pid for pid, parent in parents.items() if parent in ours} - ours:
        ours |= more
    return ours


def _identifiers(data: mmap.mmap, attrs: range) -> set[int]:
    """Return the numbers of the recorded events, which lie where the last two words of each attribute say."""
    places = (unpack_from("<QQ", data, at + attrs.step - 16) for at in attrs)
    return {identifier for at, size in places for identifier in unpack_from(f"<{size // 8}Q", data, at)}
