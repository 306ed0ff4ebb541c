"""Files of ours are written under their own name: never through a link that somebody put there, nor into a device."""

import errno
import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

try:
    import fcntl
except ImportError:  # not Linux, nor another Unix: results are read there, and no study runs
    fcntl = None  # type: ignore[assignment]


def lock(stream: BinaryIO, wait: bool = True) -> None:
    """Lock a file for this process alone, as long as it is open; `wait` until whoever has it gives it back.

    Raises BlockingIOError: another process has it, and `wait` is false; OSError: its file system has no locks.
    """
    if fcntl is None:
        raise OSError("no locks on this system")
    fcntl.flock(stream.fileno(), fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))


# Of these flags other systems lack some.
_PLAIN = ("O_NOFOLLOW", "O_CLOEXEC", "O_NONBLOCK", "O_BINARY")


@contextmanager
def replace_file(file: Path) -> Iterator[BinaryIO]:
    """Yield a new file that takes the name at the end: a reader sees the old one or the new one.

    What a killed writer left beside it is removed.
    Raises OSError: the disk refuses; the old file is untouched. So it is where the caller raises.
    """
    _sweep_parts(file)
    stream = _part(file)
    part = Path(stream.name)
    try:
        with stream:
            yield stream
            stream.flush()
            part.replace(file)
    except BaseException:
        with suppress(OSError):  # a disk that refuses one write refuses the other
            part.unlink(missing_ok=True)
        raise


def _part(file: Path) -> BinaryIO:
    """A new file beside another, locked while its writer lives."""
    while True:
        stream = file.with_name(f".{file.name}.{secrets.token_hex(8)}").open("xb")
        with suppress(OSError):  # a file system without locks: nobody sweeps there
            lock(stream)
        if os.fstat(stream.fileno()).st_nlink:
            return stream
        stream.close()  # swept before it was locked


def _sweep_parts(file: Path) -> None:
    name = re.compile(re.escape(f".{file.name}.") + "[0-9a-f]{16}")
    with suppress(OSError):
        for part in [entry for entry in file.parent.iterdir() if name.fullmatch(entry.name)]:
            with suppress(OSError), open_to_append(part) as stream:
                lock(stream, wait=False)
                part.unlink()


def open_to_append(file: Path) -> BinaryIO:
    """Open a plain file for reading and appending; it is made where there is none.

    Raises OSError: it is a link, a folder, a pipe or a device, or the disk refuses.
    """
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | sum(getattr(os, name, 0) for name in _PLAIN)
    try:
        fd = os.open(file, flags, mode=0o666)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(errno.ELOOP, "it is a link", str(file)) from error
        raise
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(errno.EINVAL, "it is no plain file", str(file))
    return os.fdopen(fd, "a+b")


def is_at(stream: BinaryIO, file: Path) -> bool | None:
    """Tell whether an open file still has this name; None where nobody may look."""
    try:
        return os.path.samestat(os.fstat(stream.fileno()), os.lstat(file))
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return None
