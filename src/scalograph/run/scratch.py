"""Make temporary folders for runs and recordings, and remove them afterwards, also those of killed sessions."""

import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from scalograph.errors import HostError
from scalograph.system.private_dir import PrivateDir, locked_tempdir, sweep_tempdirs

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
        if root.is_dir() and _is_ours(root):
            sweep_tempdirs(root, _PURPOSE)
            _remove_root(root)


def _enter_folder(held: ExitStack, purpose: str) -> Path:
    root = _root()
    held.callback(_remove_root, root)
    while _is_ours(root):
        with suppress(FileNotFoundError):  # whoever ended meanwhile took the root along
            return held.enter_context(locked_tempdir(root, purpose))
    # Another user has taken its name: a folder beside it will do, though nobody sweeps there.
    return held.enter_context(locked_tempdir(root.parent, f"scalograph-{purpose}"))


def _root() -> Path:
    return Path(tempfile.gettempdir()) / f"scalograph-scratch-{os.geteuid()}"


def _is_ours(root: Path) -> bool:
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
