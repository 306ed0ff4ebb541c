"""Files of ours are written under their own name: never through a link that somebody put there, nor into a device."""

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


@contextmanager
def replaced(file: Path) -> Iterator[BinaryIO]:
    """Yield a new file that takes the name at the end: a reader sees the old one or the new one.

    Raises:
        OSError: the disk refuses; the old file is untouched. So it is where the caller raises.
    """
    part = file.with_name(f".{file.name}.{secrets.token_hex(8)}")
    try:
        with part.open("xb") as stream:
            yield stream
        part.replace(file)
    except BaseException:
        with suppress(OSError):  # a disk that refuses one write refuses the other
            part.unlink(missing_ok=True)
        raise


def opened_to_append(file: Path) -> BinaryIO:
    """Open a plain file for reading and appending; it is made where there is none.

    Raises:
        OSError: it is a link, a folder, a pipe or a device, or the disk refuses.
    """
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
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
