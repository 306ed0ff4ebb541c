"""What can be made again is kept in folders that are named by what they are made of, and are whole or not there."""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from scalograph.errors import HostError

_FIX = "set XDG_CACHE_HOME to a folder that can be written"


def cache(environ: Mapping[str, str] = os.environ) -> Path:
    """Where what can be made again is kept."""
    base = environ.get("XDG_CACHE_HOME", "")
    # The specification of XDG_CACHE_HOME tells to ignore a path that is not absolute.
    return (Path(base) if base.startswith("/") else Path.home() / ".cache") / "scalograph"


def content_key(folder: Path, files: Sequence[Path], parts: Sequence[str]) -> str:
    """Names what is kept: the same for the same files, by path and content, and the same further parts."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part.encode() + b"\0")
    for file in files:
        digest.update(file.relative_to(folder).as_posix().encode() + b"\0")
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()[:32]


@contextmanager
def made_whole(target: Path, room: str) -> Iterator[Path]:
    """A folder to be filled, beside the target, which it becomes at the end: nobody ever sees half of it.

    Of two that are filled at once the later gives way; one whose filling raises leaves nothing.

    Args:
        target: the folder that is wanted; its parents are made.
        room: what there must be room for, in words.

    Raises:
        HostError: it cannot be made there.
    """
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    except OSError as error:
        found = f"cannot be written: {error.strerror}"
        raise HostError(str(target.parent), found, f"room for {room}", _FIX) from error
    try:
        yield made
        _settle(made, target)
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _settle(made: Path, target: Path) -> None:
    try:
        made.chmod(0o755)
        made.rename(target)
    except OSError as error:
        if not target.is_dir():
            found = f"cannot be made: {error.strerror}"
            raise HostError(str(target), found, "a folder", "remove what is there") from error
