"""Locks: one session of a user at a time, the machine's lock as advice for all users, and a limited wait for either."""

import errno
import fcntl
import os
import pwd
import stat
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from scalograph.errors import HostError
from scalograph.system.private_dir import PrivateDir, describe_irregular

NAME = "scalograph.lock"
# Folders where every user may make a file and none may remove another's: the same choice for all users.
FOLDERS = (Path("/run/lock"), Path("/tmp"))  # noqa: S108
_PROC_LOCKS = Path("/proc/locks")


class SpoiledLockError(HostError):
    """Something else lies where the machine's lock belongs, so measurements of other users are not seen."""

    def __init__(self, file: Path, obstacle: str) -> None:
        super().__init__(
            str(file), obstacle, "a plain file", "remove it: until then nobody sees who else measures here"
        )


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


def shared_lock_file(folders: Sequence[Path] = FOLDERS) -> Path | None:
    """Return the file that all users lock; None if the machine has no folder for it."""
    return next((folder / NAME for folder in folders if _is_open_to_all(folder)), None)


def try_shared_lock(file: Path) -> int | None:
    """Lock the file and return its descriptor; None if another process has it.

    Raises SpoiledLockError for a link, no plain file or one that is not readable, which is neither followed nor waited
    for; OSError if it cannot be made or locked.
    """
    fd = _open_lock(file)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)  # a lock needs only reading, not writing
    except BlockingIOError:
        os.close(fd)
        return None
    except OSError:
        os.close(fd)
        raise
    return fd


def find_holder(file: Path) -> Holder | None:
    """Find who has locked the file; None if the kernel does not report it, as in another container."""
    try:
        status, lines = file.stat(), _PROC_LOCKS.read_text(encoding="ascii").splitlines()
        inode = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}:{status.st_ino}"
        # 1: FLOCK  ADVISORY  WRITE 4711 00:1a:1234 0 EOF
        fields = next(f for f in map(str.split, lines) if f[1:2] == ["FLOCK"] and f[5:6] == [inode])
        return Holder(int(fields[4]), Path(f"/proc/{fields[4]}").stat().st_uid)
    except (OSError, StopIteration):
        return None


def _is_open_to_all(folder: Path) -> bool:
    try:
        mode = folder.stat().st_mode
    except OSError:
        return False
    return stat.S_ISDIR(mode) and mode & 0o1777 == 0o1777


def _open_lock(file: Path) -> int:
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
    try:
        fd = os.open(file, flags | os.O_CREAT | os.O_EXCL, mode=0o644)
        os.fchmod(fd, 0o644)  # whatever the umask: the next user must be able to read it
    except FileExistsError:
        return _open_existing(file, flags)
    return fd


def _open_existing(file: Path, flags: int) -> int:
    if (obstacle := describe_irregular(file.lstat())) is not None:
        raise SpoiledLockError(file, obstacle)
    try:
        fd = os.open(file, flags)
    except OSError as error:
        raise SpoiledLockError(file, f"cannot be opened: {error.strerror}") from error
    if (obstacle := describe_irregular(os.fstat(fd))) is not None:  # it was exchanged meanwhile
        os.close(fd)
        raise SpoiledLockError(file, obstacle)
    return fd


LOCK = "lock"
_POLL_S = 0.1
_NO_LOCKS = (errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOLCK)
_ELSEWHERE = "set XDG_RUNTIME_DIR or TMPDIR to a folder of your own on another disk"


class LockLease:
    """A limited wait for other sessions to end, in seconds; `tell` gets messages for people.

    `check` is called before the first wait: what it raises need not be waited for.
    """

    def __init__(
        self, wait_s: float, tell: Callable[[str], object], check: Callable[[], object] = lambda: None
    ) -> None:
        self._check: Callable[[], object] | None = check
        self._until = time.monotonic() + wait_s
        self._wait_s, self._told, self.tell = wait_s, False, tell

    def wait(self, who: str) -> bool:
        """Wait a moment for `who` to end, and return whether there is time left for it."""
        if check := self._check:
            self._check = None
            check()
        if (left := self._until - time.monotonic()) <= 0:
            return False
        # A wait below a second needs no message.
        if not self._told and left < self._wait_s - 1:
            self._told = True
            self.tell(f"waiting for {who}, which measures on this machine, at most {left:.0f} s")
        time.sleep(_POLL_S)
        return True


def take_user_lock(folder: PrivateDir, lease: LockLease) -> int:
    """Take the lock of this user. Raises HostError if another process keeps it beyond the time limit."""
    while (lock := try_lock(folder)) is None:
        number = (folder.read(LOCK) or b"").decode(errors="replace").strip()
        who = f"process {number}" if number.isdecimal() else "another process"
        if not lease.wait(who):
            raise _busy_error(folder.path, who)
    return lock


def take_shared_lock(file: Path | None, lease: LockLease) -> int | None:
    """Take the lock of the machine; None, with a message, if there is none or another user keeps it.

    Raises HostError if this user's own process keeps it beyond the time limit, from another folder of changes.
    """
    try:
        while file and (lock := try_shared_lock(file)) is None:
            other = find_holder(file)
            who = str(other) if other else "another process"
            if lease.wait(who):
                continue
            if other and other.uid == os.geteuid():
                raise _busy_error(file, who)
            lease.tell(f"{who} still measures on this machine: both measurements are disturbed")
            return None
    except SpoiledLockError as error:
        lease.tell(str(error))
        return None
    except OSError:
        return None
    return lock if file else None


def try_lock(folder: PrivateDir) -> int | None:
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
            state = f"cannot be locked: {error.strerror}"
            raise HostError(str(folder.path / LOCK), state, "a file system with locks", _ELSEWHERE) from error
    with suppress(OSError):  # for those who wait; a full disk prevents no measurement
        os.ftruncate(fd, 0)
        os.pwrite(fd, f"{os.getpid()}\n".encode(), 0)
    return fd


def _busy_error(path: Path, who: str) -> HostError:
    fix = "wait for its end, or give --wait-lock 10m"
    return HostError(str(path), f"{who} measures on this machine", "one at a time", fix)
