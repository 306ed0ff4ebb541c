"""One lock for all users of a machine, beside the one in each user's own folder."""

import fcntl
import os
import stat
from collections.abc import Sequence
from pathlib import Path

NAME = "scalograph.lock"
# Folders where every user may make a file and none may remove another's: the same choice for all users.
FOLDERS = (Path("/run/lock"), Path("/tmp"))  # noqa: S108


def shared_lock(folders: Sequence[Path] = FOLDERS) -> Path | None:
    """Return the file that all users lock; None if the machine has no place for it."""
    return next((folder / NAME for folder in folders if _is_open_to_all(folder)), None)


def try_shared(file: Path) -> int | None:
    """Lock the file and return its descriptor; None if another process has it.

    Raises:
        OSError: the file is a link, no plain file, or not readable. Only each user's own lock remains then.
    """
    fd = _opened(file)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)  # a lock needs only reading, not writing
    except BlockingIOError:
        os.close(fd)
        return None
    except OSError:
        os.close(fd)
        raise
    return fd


def _is_open_to_all(folder: Path) -> bool:
    try:
        mode = folder.stat().st_mode
    except OSError:
        return False
    return stat.S_ISDIR(mode) and mode & 0o1777 == 0o1777


def _opened(file: Path) -> int:
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
    try:
        fd = os.open(file, flags | os.O_CREAT | os.O_EXCL, mode=0o644)
        os.fchmod(fd, 0o644)  # whatever the umask: the next user must be able to read it
    except FileExistsError:
        fd = os.open(file, flags)
    status = os.fstat(fd)
    if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
        os.close(fd)
        raise OSError(f"{file}: not a plain file with one name")
    return fd
