"""The machine's lock, beside the one in each user's own folder: who else measures here, as far as the kernel tells."""

import fcntl
import os
import pwd
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from scalograph.control.folder import irregular
from scalograph.errors import HostError

NAME = "scalograph.lock"
# Folders where every user may make a file and none may remove another's: the same choice for all users.
FOLDERS = (Path("/run/lock"), Path("/tmp"))  # noqa: S108
_PROC_LOCKS = Path("/proc/locks")


class SpoiledLockError(HostError):
    """Something else lies where the machine's lock belongs, so other users' measurements are not seen."""

    def __init__(self, file: Path, found: str) -> None:
        super().__init__(str(file), found, "a plain file", "remove it: until then nobody sees who else measures here")


class Holder(NamedTuple):
    """A process that has locked a file, and its user."""

    pid: int
    uid: int

    def __str__(self) -> str:
        if self.uid == os.geteuid():
            return f"process {self.pid}"
        try:
            name = pwd.getpwuid(self.uid).pw_name
        except KeyError:
            name = str(self.uid)
        return f"process {self.pid} of user {name}"


def shared_lock(folders: Sequence[Path] = FOLDERS) -> Path | None:
    """Return the file that all users lock; None if the machine has no place for it."""
    return next((folder / NAME for folder in folders if _is_open_to_all(folder)), None)


def try_shared(file: Path) -> int | None:
    """Lock the file and return its descriptor; None if another process has it.

    Raises:
        SpoiledLockError: it is a link, no plain file, or not readable. It is not followed, and not waited upon.
        OSError: it cannot be made or locked.
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


def holder(file: Path) -> Holder | None:
    """Return who has locked the file; None if the kernel does not tell us, as in another container."""
    try:
        status, lines = file.stat(), _PROC_LOCKS.read_text(encoding="ascii").splitlines()
        place = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}:{status.st_ino}"
        # 1: FLOCK  ADVISORY  WRITE 4711 00:1a:1234 0 EOF
        fields = next(f for f in map(str.split, lines) if f[1:2] == ["FLOCK"] and f[5:6] == [place])
        return Holder(int(fields[4]), Path(f"/proc/{fields[4]}").stat().st_uid)
    except (OSError, StopIteration):
        return None


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
        return _existing(file, flags)
    return fd


def _existing(file: Path, flags: int) -> int:
    if (found := irregular(file.lstat())) is not None:
        raise SpoiledLockError(file, found)
    try:
        fd = os.open(file, flags)
    except OSError as error:
        raise SpoiledLockError(file, f"cannot be opened: {error.strerror}") from error
    if (found := irregular(os.fstat(fd))) is not None:  # it was exchanged meanwhile
        os.close(fd)
        raise SpoiledLockError(file, found)
    return fd
