"""Folders that are made for a while: locked while their owner lives, removed at its end, or by who comes after it."""

import fcntl
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

# What `mkdtemp` adds to a name.
_RANDOM = re.compile(r"-[a-z0-9_]{8}")


@contextmanager
def held_folder(parent: Path, name: str) -> Iterator[Path]:
    """Make a fresh folder `parent`/`name`-RANDOM, and remove it with all that is in it unless it was renamed.

    Its lock ends with us however we end, and tells `sweep` whether we live, from another container too.

    Raises:
        OSError: it cannot be made.
    """
    folder, lock = _made(parent, name)
    try:
        yield folder
    finally:
        remove(folder)
        os.close(lock)


def sweep(parent: Path, name: re.Pattern[str]) -> None:
    """Remove the folders in `parent` that a `held_folder` left whose owner is dead.

    Args:
        parent: a folder of our own; there may be none.
        name: what such a folder is called before its RANDOM.
    """
    try:
        entries = [*parent.iterdir()]
    except OSError:
        return
    for folder in entries:
        if _RANDOM.fullmatch(folder.name[-9:]) and name.fullmatch(folder.name[:-9]):
            _remove_unowned(folder)


def remove(folder: Path) -> None:
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


def _made(parent: Path, name: str) -> tuple[Path, int]:
    """A folder, and the descriptor that holds its lock."""
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
        remove(folder)
    except OSError:
        pass  # its owner lives, or nobody can tell
    finally:
        os.close(lock)
