"""A zip file to a folder, within bounds: nothing outside it, no links, no more than it may hold."""

import shutil
import stat
import zlib
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from zipfile import BadZipFile, ZipFile, ZipInfo

from scalograph.errors import HostError

MAX_ENTRIES = 200_000
MAX_BYTES = 4 << 30
_BLOCK = 1 << 20
# What zipfile raises of damaged, encrypted or unknown content.
_DAMAGE = (BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError)


def unpack(file: Path, into: Path) -> None:
    """Unpack a zip file that holds one folder. Files keep whether they may be executed, and nothing else of their mode.

    Args:
        file: the zip file.
        into: folder that gets its one top folder.

    Raises:
        HostError: it is damaged, holds paths that lead outside, links, several top folders or too much; or there is
            no room. What was unpacked by then is left to the caller.
    """
    try:
        with ZipFile(file) as archive:
            entries = archive.infolist()
            _refuse(file, entries)
            for entry in entries:
                _write(archive, entry, into / entry.filename)
    except _DAMAGE as error:
        raise _bad(file, f"cannot be unpacked ({error})") from error
    except OSError as error:
        raise HostError(str(into), f"cannot be written: {error.strerror}", "room to unpack", "free some") from error


def _refuse(file: Path, entries: Sequence[ZipInfo]) -> None:
    """Look at all entries before the first is written. `zipfile` reads no more of one than it declares."""
    if len(entries) > MAX_ENTRIES or sum(entry.file_size for entry in entries) > MAX_BYTES:
        raise _bad(file, f"more than {MAX_ENTRIES} files or {MAX_BYTES >> 30} GiB")
    for entry in entries:
        path = PurePosixPath(entry.filename)
        if path.is_absolute() or not path.parts or ".." in path.parts or "\\" in entry.filename:
            raise _bad(file, f"the path {entry.filename[:100]!a}, which leads outside")
        if stat.S_IFMT(entry.external_attr >> 16) not in (0, stat.S_IFREG, stat.S_IFDIR):
            raise _bad(file, f"{entry.filename[:100]!a}, which is neither a file nor a folder")
    if len({entry.filename for entry in entries}) < len(entries):
        raise _bad(file, "a path twice")
    tops = {PurePosixPath(entry.filename).parts[0] for entry in entries}
    if len(tops) != 1 or any(len(PurePosixPath(e.filename).parts) == 1 and not e.is_dir() for e in entries):
        raise _bad(file, f"{len(tops)} entries at its top")


def _write(archive: ZipFile, entry: ZipInfo, path: Path) -> None:
    if entry.is_dir():
        path.mkdir(parents=True, exist_ok=True)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with archive.open(entry) as packed, path.open("xb") as stream:
        shutil.copyfileobj(packed, stream, _BLOCK)
    path.chmod(0o755 if entry.external_attr >> 16 & stat.S_IXUSR else 0o644)


def _bad(file: Path, found: str) -> HostError:
    return HostError(file.name, found, "a zip file of one folder", "use another version of it")
