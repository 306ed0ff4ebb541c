"""A lock on an open file, which ends with its holder: of the system, where it has such locks.

Two writers of one file would mix their lines; a reader needs no lock.
"""

from typing import BinaryIO

try:
    import fcntl
except ImportError:  # not Linux, nor another Unix: results are read there, and no study runs
    fcntl = None  # type: ignore[assignment]


def lock(stream: BinaryIO, wait: bool = True) -> None:
    """Lock an open file for this process alone, as long as the file is open.

    Args:
        stream: the file.
        wait: until whoever has it gives it back.

    Raises:
        BlockingIOError: another process has it, and `wait` is false.
        OSError: its file system has no locks.
    """
    if fcntl is None:
        raise OSError("no locks on this system")
    fcntl.flock(stream.fileno(), fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
