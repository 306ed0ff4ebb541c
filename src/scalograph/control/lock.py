"""One start of a user at a time, the machine's lock as advice for all users, and how long to wait for either."""

import errno
import fcntl
import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from scalograph.control.folder import PrivateFolder
from scalograph.control.shared import SpoiledLockError, holder, try_shared
from scalograph.errors import HostError

LOCK = "lock"
_POLL_S = 0.1
_NO_LOCKS = (errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOLCK)
_ELSEWHERE = "set XDG_RUNTIME_DIR or TMPDIR to a folder of your own on another disk"


class Turn:
    """A limited wait for other starts to end; `tell` gets what a person should know of them."""

    def __init__(self, wait_s: float, tell: Callable[[str], object]) -> None:
        self._until = time.monotonic() + wait_s
        self._wait_s, self._told, self.tell = wait_s, False, tell

    def wait(self, who: str) -> bool:
        """Wait a moment for `who` to end, and tell whether there is time for it."""
        if (left := self._until - time.monotonic()) <= 0:
            return False
        # A wait below a second needs no message.
        if not self._told and left < self._wait_s - 1:
            self._told = True
            self.tell(f"waiting for {who}, which measures on this machine, at most {left:.0f} s")
        time.sleep(_POLL_S)
        return True


def locked(folder: PrivateFolder, turn: Turn) -> int:
    """Take the lock of this user. Raises HostError if another process keeps it beyond the time limit."""
    while (lock := try_lock(folder)) is None:
        number = (folder.read(LOCK) or b"").decode(errors="replace").strip()
        who = f"process {number}" if number.isdecimal() else "another process"
        if not turn.wait(who):
            raise _busy(folder.path, who)
    return lock


def advised(file: Path | None, turn: Turn) -> int | None:
    """Take the lock of the machine; None if there is no place for one, or if it could not be had, which is told.

    Raises:
        HostError: this user's own process keeps it beyond the time limit, from another folder of changes.
    """
    try:
        while file and (lock := try_shared(file)) is None:
            other = holder(file)
            who = str(other) if other else "another process"
            if turn.wait(who):
                continue
            if other and other.uid == os.geteuid():
                raise _busy(file, who)
            turn.tell(f"{who} still measures on this machine: both measurements are disturbed")
            return None
    except SpoiledLockError as error:
        turn.tell(str(error))
        return None
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
        # A file system without locks, such as NFS or Lustre: the lock of the machine is on another one.
        if error.errno not in _NO_LOCKS:
            os.close(fd)
            found = f"cannot be locked: {error.strerror}"
            raise HostError(str(folder.path / LOCK), found, "a file system with locks", _ELSEWHERE) from error
    _sign(fd)
    return fd


def _busy(place: Path, who: str) -> HostError:
    return HostError(
        str(place), f"{who} measures on this machine", "one at a time", "wait for its end, or give --wait-lock 10m"
    )


def _sign(fd: int) -> None:
    """Write our process number into the lock for those who wait; a full disk prevents no measurement."""
    with suppress(OSError):
        os.ftruncate(fd, 0)
        os.pwrite(fd, f"{os.getpid()}\n".encode(), 0)
