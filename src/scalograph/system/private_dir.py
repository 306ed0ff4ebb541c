"""Folders of our own: no other user writes to one, its files survive a crash; caches, and locked temporary ones."""

import fcntl
import hashlib
import os
import re
import shutil
import signal
import stat
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from scalograph.errors import SIGNALS, HostError
from scalograph.protocol.bounded import MAX_SOURCE_BYTES, digest_files

MAX_BYTES = 64 << 10
_KINDS = {stat.S_IFLNK: "a link", stat.S_IFDIR: "a folder", stat.S_IFIFO: "a FIFO", stat.S_IFSOCK: "a socket"}


def state_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the folder of changed settings: lost at a reboot, as the settings are, or tied to the boot's id."""
    if os.geteuid() == 0:
        return Path("/run/scalograph")
    runtime, scratch = environ.get("XDG_RUNTIME_DIR", ""), environ.get("TMPDIR", "")
    if runtime.startswith("/") and _is_ours(Path(runtime)):
        return Path(runtime) / "scalograph"
    # Without a session, as under cron or in a container. The name is predictable: hence the checks below.
    return Path(scratch if scratch.startswith("/") else "/tmp") / f"scalograph-{os.geteuid()}"  # noqa: S108


def _is_ours(folder: Path) -> bool:
    """Return whether the folder is ours: a plain `su` leaves XDG_RUNTIME_DIR as the other user had it."""
    try:
        status = folder.stat()
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid()


def describe_irregular(status: os.stat_result) -> str | None:
    """Describe a file that is no plain one with one name; None if it is one."""
    if stat.S_ISREG(status.st_mode):
        return "a file with several names" if status.st_nlink > 1 else None
    return _KINDS.get(stat.S_IFMT(status.st_mode), "a device")


class PrivateDir:
    """A folder opened once and checked; files are reached through its descriptor, so that no link leads elsewhere.

    Raises HostError if it cannot be made, is a link, belongs to another user, or is open to others.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            if not path.is_symlink():
                path.mkdir(mode=0o700, exist_ok=True)
            self.fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError as error:
            state = f"cannot be used: {error.strerror}"
            fix = _remedy() if os.path.lexists(path) else f"make {path.parent} a folder that we may write to"
            raise HostError(str(path), state, "a folder, not a link, in a place we may write to", fix) from error
        try:
            self._check(os.fstat(self.fd), str(path), 0o077)
        except HostError:
            self.close()
            raise

    def close(self) -> None:
        os.close(self.fd)

    def __enter__(self) -> "PrivateDir":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def open(self, name: str, flags: int) -> int:
        """Open a regular file of ours.

        Raises HostError for a link, no plain file, another user's file or one that others may write; FileNotFoundError
        if there is none, and the flags do not create it.
        """
        where = str(self.path / name)
        flags |= os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
        try:
            fd = os.open(name, flags, mode=0o600, dir_fd=self.fd)
        except FileNotFoundError:
            raise
        except OSError as error:
            raise HostError(where, self._describe_obstacle(name, error), "a plain file of ours", _LOOK) from error
        try:
            status = os.fstat(fd)
            if (obstacle := describe_irregular(status)) is not None:
                raise HostError(where, obstacle, "a plain file of ours", _LOOK)
            self._check(status, where, 0o022)
        except HostError:
            os.close(fd)
            raise
        return fd

    def _describe_obstacle(self, name: str, error: OSError) -> str:
        """Describe what stands there instead of a file, which explains more than the kernel's answer."""
        try:
            obstacle = describe_irregular(os.stat(name, dir_fd=self.fd, follow_symlinks=False))
        except OSError:
            obstacle = None
        return obstacle or f"cannot be opened: {error.strerror}"

    def read(self, name: str) -> bytes | None:
        """Return the content of a file; None if absent. Raises HostError as `open` does, or if too long."""
        try:
            fd = self.open(name, os.O_RDONLY)
        except FileNotFoundError:
            return None
        with os.fdopen(fd, "rb") as file:
            content = file.read(MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            raise HostError(str(self.path / name), "a longer file", f"at most {MAX_BYTES} bytes", _LOOK)
        return content

    def write(self, name: str, content: bytes) -> None:
        """Replace a file; when this returns, the new content is on the disk, name and all. Raises HostError."""
        with self._write_errors(name):
            self.remove(f".{name}")
            fd = os.open(f".{name}", os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode=0o600, dir_fd=self.fd)
            with os.fdopen(fd, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(fd)
            os.rename(f".{name}", name, src_dir_fd=self.fd, dst_dir_fd=self.fd)
            os.fsync(self.fd)

    def remove(self, name: str) -> None:
        """Remove a file if it exists. Raises HostError."""
        with self._write_errors(name):
            try:
                os.unlink(name, dir_fd=self.fd)
            except FileNotFoundError:
                return
            os.fsync(self.fd)

    @contextmanager
    def _write_errors(self, name: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            state = f"cannot be written: {error.strerror}"
            raise HostError(str(self.path / name), state, "room and permission", "make room") from error

    @staticmethod
    def _check(status: os.stat_result, where: str, forbidden: int) -> None:
        if status.st_uid != os.geteuid():
            raise HostError(where, f"owned by user {status.st_uid}", f"user {os.geteuid()}", _remedy())
        if status.st_mode & forbidden:
            mode = stat.S_IMODE(status.st_mode)
            raise HostError(where, f"mode {mode:04o}", f"mode {mode & ~forbidden:04o}", _LOOK)


_LOOK = "look at it, then remove it"


def _remedy() -> str:
    """Return how to avoid what another user has put in the way and only that user can remove."""
    return _LOOK if os.geteuid() == 0 else f"{_LOOK}, or set XDG_RUNTIME_DIR to a folder of your own"


# What `mkdtemp` adds to a name.
_RANDOM = re.compile(r"-[a-z0-9_]{8}")


@contextmanager
def locked_tempdir(parent: Path, name: str) -> Iterator[Path]:
    """Make a fresh folder `parent`/`name`-RANDOM, and remove it with its content unless it was renamed.

    Its lock ends with us however we end, and shows `sweep_tempdirs` whether we live, from another container too.
    Raises OSError if it cannot be made.
    """
    # A signal between its making and the `try` would leave it.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        folder, lock = _make_locked(parent, name)
    except BaseException:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        raise
    try:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        yield folder
    finally:
        remove_tree(folder)
        os.close(lock)


def sweep_tempdirs(parent: Path, name: re.Pattern[str]) -> None:
    """Remove the folders that a `locked_tempdir` of a dead owner left in `parent`, a folder of our own.

    `name` matches what such a folder is named before its RANDOM.
    """
    try:
        entries = [*parent.iterdir()]
    except OSError:
        return
    for folder in entries:
        if _RANDOM.fullmatch(folder.name[-9:]) and name.fullmatch(folder.name[:-9]):
            _remove_unowned(folder)


def remove_tree(folder: Path) -> None:
    """Remove a folder with all that is in it, read-only and very deep folders too; what another user owns may stay."""
    with suppress(RecursionError):
        shutil.rmtree(folder, ignore_errors=True)
    if not os.path.lexists(folder):
        return
    # A cache of modules makes its folders read-only, and Python goes only so deep.
    for argv in (["chmod", "-R", "u+rwx"], ["rm", "-rf"]):
        with suppress(OSError):
            subprocess.run(
                [*argv, "--", folder], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                check=False,
            )  # fmt: skip


def _make_locked(parent: Path, name: str) -> tuple[Path, int]:
    while True:
        folder = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=parent))
        with suppress(FileNotFoundError):  # swept before it was locked
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            with suppress(OSError):  # a file system without locks: nobody sweeps there
                fcntl.flock(lock, fcntl.LOCK_EX)
            if os.fstat(lock).st_nlink:
                return folder, lock
            os.close(lock)


def _remove_unowned(folder: Path) -> None:
    try:
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        remove_tree(folder)
    except OSError:
        pass  # its owner lives, or nobody can tell
    finally:
        os.close(lock)


_FIX = "set XDG_CACHE_HOME to a folder that can be written"
_HALF_FILLED = re.compile(r"\.[^/]+")


def cache_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the folder of what can be built again. Raises HostError for a user without a home folder."""
    base = environ.get("XDG_CACHE_HOME", "")
    # The specification of XDG_CACHE_HOME says to ignore a path that is not absolute.
    if base.startswith("/"):
        return Path(base) / "scalograph"
    try:
        return Path.home() / ".cache/scalograph"
    except RuntimeError:
        state = "not set, and this user is in no list of users"
        raise HostError("HOME", state, "a home folder", "set HOME or XDG_CACHE_HOME") from None


def cache_key(folder: Path, files: Sequence[Path], parts: Sequence[str]) -> str:
    """Hash files, by path and content, and further parts into the name of a cached folder."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part.encode() + b"\0")
    try:
        digest_files(digest, folder, files, MAX_SOURCE_BYTES)
    except OSError as error:
        file, state = str(error.filename or folder), f"cannot be read: {error.strerror}"
        raise HostError(file, state, "sources of a workload") from error
    return digest.hexdigest()[:32]


@contextmanager
def fill_atomically(target: Path, room: str) -> Iterator[Path]:
    """Yield a staging folder that becomes the target at the end, so that it is never seen half filled.

    If two are filled at once, the later is dropped; one whose filling raises leaves nothing behind, and what a killed
    session left half filled beside it is removed. `room` names what needs space, for the message of the HostError.
    """
    with ExitStack() as held:
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            sweep_tempdirs(target.parent, _HALF_FILLED)
            staging = held.enter_context(locked_tempdir(target.parent, f".{target.name}"))
        except OSError as error:
            state = f"cannot be written: {error.strerror}"
            raise HostError(str(target.parent), state, f"room for {room}", _FIX) from error
        yield staging
        try:
            staging.chmod(0o755)
            staging.rename(target)
        except OSError as error:
            if not target.is_dir():
                state = f"cannot be made: {error.strerror}"
                raise HostError(str(target), state, "a folder", "remove what is there") from error


_PURPOSE = re.compile(r"[a-z]+")
# A disk with less is full: nothing that is worth measuring writes less than this.
LEAST_ROOM_BYTES = 1 << 20


@contextmanager
def scratch(purpose: str) -> Iterator[Path]:
    """Make a temporary folder, named by a word, and remove it at the end. Raises HostError: there is no room."""
    with ExitStack() as held:
        try:
            folder = _enter_folder(held, purpose)
        except OSError as error:
            problem = f"cannot be made: {error.strerror}"
            raise HostError("scratch folder", problem, "room in TMPDIR", "free some") from error
        yield folder


def sweep_scratch() -> None:
    """Remove what killed sessions left in TMPDIR."""
    with suppress(OSError):
        root = _root()
        if root.is_dir() and _is_our_scratch(root):
            sweep_tempdirs(root, _PURPOSE)
            _remove_root(root)


def _enter_folder(held: ExitStack, purpose: str) -> Path:
    root = _root()
    held.callback(_remove_root, root)
    while _is_our_scratch(root):
        with suppress(FileNotFoundError):  # whoever ended meanwhile took the root along
            return held.enter_context(locked_tempdir(root, purpose))
    # Another user has taken its name: a folder beside it will do, though nobody sweeps there.
    return held.enter_context(locked_tempdir(root.parent, f"scalograph-{purpose}"))


def _root() -> Path:
    return Path(tempfile.gettempdir()) / f"scalograph-scratch-{os.geteuid()}"


def _is_our_scratch(root: Path) -> bool:
    """Tell whether only we can write to the root; create it if it is missing."""
    try:
        PrivateDir(root).close()
    except HostError:
        return False
    return True


def _remove_root(root: Path) -> None:
    """Remove the root, unless another session works there."""
    with suppress(OSError):
        root.rmdir()


def is_full(folder: Path) -> bool:
    """Tell whether the disk of a folder has less than `LEAST_ROOM_BYTES` left."""
    disk = os.statvfs(folder)
    return disk.f_bavail * disk.f_frsize < LEAST_ROOM_BYTES


def disk_usage(folder: Path) -> int:
    """Return the bytes that a folder takes on its disk; links are not followed."""
    files = (Path(parent) / name for parent, _, names in os.walk(folder) for name in names)
    return sum(512 * file.lstat().st_blocks for file in files)
