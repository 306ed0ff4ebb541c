"""Locks: one session of a user at a time, the machine's lock as advice for all users, and a limited wait for either.

A waiting session locks a byte of the machine's lock file, at the offset of its time of arrival. /proc/locks is the
queue, and the kernel removes a session that dies. No session takes a lock before an earlier one until its time is up.
"""

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
from scalograph.text.short_names import join_first

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


def find_holder(file: Path) -> Holder | None:
    """Find who has locked the file; None if the kernel does not report it, as in another container."""
    held = (fields[4] for fields in _read_locks(file) if fields[1] == "FLOCK")
    return next(filter(None, map(_find_process, held)), None)


def find_waiters(file: Path, before: int) -> list[Holder]:
    """List who waits for the file, in order: arrivals before a time, and processes that block in the kernel."""
    locks = _read_locks(file)
    tickets = [(int(f[6]), f[4]) for f in locks if f[1] == "POSIX" and f[6].isdecimal()]
    blocked = [(0, f[5]) for f in locks if f[1:3] == ["->", "FLOCK"]]
    waiting = sorted((*blocked, *((at, pid) for at, pid in tickets if at < before)))
    return [each for pid in dict.fromkeys(pid for _, pid in waiting) if (each := _find_process(pid))]


def _read_locks(file: Path) -> list[list[str]]:
    """Return the lines of /proc/locks on a file, as fields.

    1: FLOCK  ADVISORY  WRITE 4711 00:1a:1234 0 EOF
    1: -> FLOCK  ADVISORY  WRITE 4712 00:1a:1234 0 EOF
    2: POSIX  ADVISORY  READ 4713 00:1a:1234 170551093 170551093
    """
    try:
        status, lines = file.stat(), _PROC_LOCKS.read_text(encoding="ascii").splitlines()
    except OSError:
        return []
    inode = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}:{status.st_ino}"
    return [fields for fields in map(str.split, lines) if inode in fields[5:7] and len(fields) >= 8]


def _find_process(pid: str) -> Holder | None:
    try:
        return Holder(int(pid), Path(f"/proc/{pid}").stat().st_uid)
    except (OSError, ValueError):
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
_POLL_S, MOST_NAMED = 0.1, 3
_NO_LOCKS = (errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOLCK)
_ELSEWHERE = "set XDG_RUNTIME_DIR or TMPDIR to a folder of your own on another disk"


class LockLease:
    """A limited wait for other sessions to end, in seconds, and a place in their queue; `tell` gets messages.

    `check` is called before the first wait: what it raises need not be waited for.
    """

    def __init__(
        self, wait_s: float, tell: Callable[[str], object], check: Callable[[], object] = lambda: None
    ) -> None:
        self._check: Callable[[], object] | None = check
        self._arrived, self._until = time.monotonic_ns(), time.monotonic() + wait_s
        self._wait_s, self._last_text, self.tell = wait_s, "", tell
        self._file: Path | None = None
        self._fd: int | None = None

    def join(self, file: Path | None) -> int | None:
        """Join the queue at the machine's lock file, and return it open; None, perhaps with a message, without one.

        Closing it, or any other descriptor of that file, leaves the queue.
        """
        if file is None or self._file is not None:
            return self._fd
        self._file = file
        try:
            self._fd = _open_lock(file)
            fcntl.lockf(self._fd, fcntl.LOCK_SH | fcntl.LOCK_NB, 1, self._arrived)
        except SpoiledLockError as error:
            self.tell(str(error))
        except OSError:
            pass  # no such file can be made, or its file system has no queue
        return self._fd

    def leave(self) -> None:
        """Leave the queue and keep the lock of the machine, if it was taken."""
        if self._fd is not None:
            with suppress(OSError):
                fcntl.lockf(self._fd, fcntl.LOCK_UN, 1, self._arrived)

    def close(self) -> None:
        """Leave the queue and release the lock of the machine."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def take(
        self, attempt: Callable[[], int | None], holder: Callable[[], Holder | str], passes: int | None = None
    ) -> tuple[int | None, str]:
        """Attempt to lock when no session is before this one, until time is up; then once more in any case.

        Sessions of the user `passes` do not count. Returns the lock, or None and who has it.
        """
        while True:
            waiting = find_waiters(self._file, self._arrived) if self._file else []
            before = [each for each in waiting if each.uid != passes]
            if not before and (lock := attempt()) is not None:
                return lock, ""
            who = str(holder())
            if not self.wait(who, before):
                return attempt(), who

    def wait(self, who: str, before: Sequence[Holder] = ()) -> bool:
        """Wait a moment for `who` to end, and return whether there is time left for it."""
        if check := self._check:
            self._check = None
            check()
        if (left := self._until - time.monotonic()) <= 0:
            return False
        others = [str(each) for each in before if str(each) != who]
        text = f"waiting for {who}, which measures on this machine"
        text += f", then for {join_first(others, MOST_NAMED)}" if others else ""
        # A wait below a second needs no message.
        if text != self._last_text and left < self._wait_s - 1:
            self._last_text = text
            self.tell(f"{text}, at most {left:.0f} s")
        time.sleep(_POLL_S)
        return True


def take_user_lock(folder: PrivateDir, lease: LockLease) -> int:
    """Take the lock of this user. Raises HostError if another process keeps it beyond the time limit."""

    def holder() -> Holder | str:
        number = (folder.read(LOCK) or b"").decode(errors="replace").strip()
        return find_holder(folder.path / LOCK) or (f"process {number}" if number.isdecimal() else "another process")

    lock, who = lease.take(lambda: try_lock(folder), holder)
    if lock is None:
        raise _busy_error(folder.path, who)
    return lock


def take_shared_lock(file: Path | None, lease: LockLease) -> bool:
    """Take the lock of the machine for the lease; False, with a message, if there is none or another user keeps it.

    Raises HostError if this user's own process keeps it beyond the time limit, from another folder of changes.
    """
    fd = lease.join(file)
    if file is None or fd is None:
        return False
    try:
        # Earlier sessions of this user wait for the lock of the user, which we have.
        lock, who = lease.take(lambda: _try_flock(fd), lambda: find_holder(file) or "another process", os.geteuid())
    except OSError:
        return False
    finally:
        lease.leave()
    if lock is None:
        other = find_holder(file)
        if other and other.uid == os.geteuid():
            raise _busy_error(file, who)
        lease.tell(f"{who} still measures on this machine: both measurements are disturbed")
    return lock is not None


def _try_flock(fd: int) -> int | None:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)  # a lock needs only reading, not writing
    except BlockingIOError:
        return None
    return fd


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
