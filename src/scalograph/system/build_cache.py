"""A cache of what can be made again, in folders that are named by their sources and are complete or absent."""

import hashlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from scalograph.errors import HostError
from scalograph.protocol.bounded import MAX_SOURCE_BYTES, digest_files
from scalograph.system.private_dir import held_folder, sweep

_FIX = "set XDG_CACHE_HOME to a folder that can be written"
_HALF_FILLED = re.compile(r"\.[^/]+")


def cache(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the folder that keeps what can be made again. Raises HostError for a user who has no home folder."""
    base = environ.get("XDG_CACHE_HOME", "")
    # The specification of XDG_CACHE_HOME says to ignore a path that is not absolute.
    return (Path(base) if base.startswith("/") else _home() / ".cache") / "scalograph"


def _home() -> Path:
    try:
        return Path.home()
    except RuntimeError:
        found = "not set, and this user is in no list of users"
        raise HostError("HOME", found, "a home folder", "set HOME or XDG_CACHE_HOME") from None


def content_key(folder: Path, files: Sequence[Path], parts: Sequence[str]) -> str:
    """Return a name for a cached folder: equal for equal files, by path and content, and equal further parts."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part.encode() + b"\0")
    try:
        digest_files(digest, folder, files, MAX_SOURCE_BYTES)
    except OSError as error:
        raise HostError(
            str(error.filename or folder), f"cannot be read: {error.strerror}", "sources of a workload"
        ) from error
    return digest.hexdigest()[:32]


@contextmanager
def made_whole(target: Path, room: str) -> Iterator[Path]:
    """Yield a folder to be filled that becomes the target at the end, so that it is never seen half filled.

    If two are filled at once, the later is dropped; one whose filling raises leaves nothing behind, and what a killed
    start left half filled beside it is removed.

    Args:
        target: the folder to make; its parents are made too.
        room: what needs space there, in words.

    Raises:
        HostError: the folder cannot be made there.
    """
    with ExitStack() as held:
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            sweep(target.parent, _HALF_FILLED)
            made = held.enter_context(held_folder(target.parent, f".{target.name}"))
        except OSError as error:
            found = f"cannot be written: {error.strerror}"
            raise HostError(str(target.parent), found, f"room for {room}", _FIX) from error
        yield made
        _settle(made, target)


def _settle(made: Path, target: Path) -> None:
    try:
        made.chmod(0o755)
        made.rename(target)
    except OSError as error:
        if not target.is_dir():
            found = f"cannot be made: {error.strerror}"
            raise HostError(str(target), found, "a folder", "remove what is there") from error
