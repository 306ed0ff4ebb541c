"""One start at a time: the lock of a user's folder, the lock of all users, and how long to wait for either."""

import errno
import fcntl
import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from scalograph.control.folder import PrivateFolder
from scalograph.control.shared import try_shared
from scalograph.errors import HostError

LOCK = "lock"
_POLL_S = 0.1
_NO_LOCKS = (errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOLCK)
_ELSEWHERE = "set XDG_RUNTIME_DIR or TMPDIR to a folder of your own on another disk"


class Turn:
    """A limited wait for other starts to end."""

    def __init__(self, wait_s: float, tell: Callable[[str], object]) -> None:
        self._until = time.monotonic() + wait_s
        self._wait_s, self._tell, self._told = wait_s, tell, False

    def wait(self, lock: str, who: str) -> None:
        """Wait a moment for `who` to end. Raises HostError after the time limit."""
        if (left := self._until - time.monotonic()) <= 0:
            raise HostError(lock, f"{who} measures on this machine", "one at a time", "wait for its end")
        # A wait below a second needs no message.
        if not self._told and left < self._wait_s - 1:
            self._told = True
            self._tell(f"waiting for {who}, which measures on this machine, at most {left:.0f} s")
        time.sleep(_POLL_S)


def locked(folder: PrivateFolder, turn: Turn) -> int:
    """Take the lock of this user. Raises HostError if another process keeps it beyond the time limit."""
    while (lock := try_lock(folder)) is None:
        holder = (folder.read(LOCK) or b"").decode(errors="replace").strip()
        turn.wait(str(folder.path), f"process {holder}" if holder.isdecimal() else "another process")
    return lock


def shared_by_all(file: Path | None, turn: Turn) -> int | None:
    """Take the lock of all users; None if there is no place for one, or another user has spoiled it."""
    try:
        while file and (lock := try_shared(file)) is None:
            turn.wait(str(file), "another user's process")
    except OSError:
        return None
    return lock if file else None


def try_lock(folder: PrivateFolder) -> int | None:
    """Take the lock, which the kernel frees when we die; None if another process has it. Raises HostError."""
    fd = folder.open(LOCK, os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(fd)
        return None
    except OSError as error:
        # A file system without locks, such as NFS or Lustre: the lock of all users is on another one.
        if error.errno not in _NO_LOCKS:
            os.close(fd)
            found = f"cannot be locked: {error.strerror}"
            raise HostError(str(folder.path / LOCK), found, "a file system with locks", _ELSEWHERE) from error
    _sign(fd)
    return fd


def _sign(fd: int) -> None:
    """Write our process number into the lock for those who wait; a full disk prevents no measurement."""
    with suppress(OSError):
        os.ftruncate(fd, 0)
        os.pwrite(fd, f"{os.getpid()}\n".encode(), 0)
