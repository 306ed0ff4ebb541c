"""Cache of compiled workloads and JVM facts, in folders named by their sources that are complete or absent."""

import hashlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from scalograph.errors import HostError
from scalograph.protocol.bounded import MAX_SOURCE_BYTES, digest_files
from scalograph.system.private_dir import locked_tempdir, sweep_tempdirs

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
