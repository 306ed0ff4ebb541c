"""What is copied to another machine, file by file: no name with a dot of a folder that people keep, and not too much.

What goes is listed before anything is sent, so that a study in a home folder sends nothing of it, or says why.
"""

import os
import stat
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePath
from typing import NamedTuple

from scalograph.errors import HostError
from scalograph.run.hosts.remote.ssh_client import WritesBytes
from scalograph.run.hosts.remote.ssh_program import NeededPath
from scalograph.text.quantities import count_noun, mebibytes

MOST_BYTES, MOST_FILES = 256 << 20, 100_000
# Of a folder that people keep: results, which others may have sent, are read here.
_RESULTS = "scalograph-results"
_LESS = "name in the command only what a run reads there: {here}/FILE"
_SHOWN = 8


class FileList(NamedTuple):
    """What is sent: each file, link and folder by its name there; a folder without what is in it."""

    files: dict[str, Path]
    n_bytes: int

    def describe(self, needed: Sequence[NeededPath]) -> str:
        """Say what that is, and how large.

        Args:
            needed: what was listed.
        """
        names = [path.name for item in needed for path in item.named]
        more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
        size = mebibytes(self.n_bytes) if self.n_bytes >= 1 << 20 else count_noun(self.n_bytes, "byte")
        n_files = sum(path.is_symlink() or not path.is_dir() for path in self.files.values())
        return f"{', '.join(names[:_SHOWN])}{more} ({count_noun(n_files, 'file')}, {size})"


def list_files(needed: Sequence[NeededPath], names: Mapping[Path, str]) -> FileList:
    """List what is sent of folders and files; a link that a study names is what it leads to.

    Args:
        needed: what a program's words lead to.
        names: there, of the root of each.

    Raises:
        HostError: it is more than `MOST_BYTES` or `MOST_FILES`, or cannot be read.
    """
    files, n_bytes = dict[str, Path](), 0
    for item in needed:
        if item.root.is_dir():
            files[names[item.root]] = item.root.resolve()
        for path in item.named:
            for below, entry, size in _walk(path.resolve(), item.is_made):
                files[str(PurePath(names[item.root], path.relative_to(item.root), below))] = entry
                n_bytes += size
                _refuse_excess(path, len(files), n_bytes)
    return FileList(files, n_bytes)


def write_archive(files: Mapping[str, Path], stream: WritesBytes) -> None:
    """Write files, links and folders as a tar archive, owned by whoever unpacks it.

    Raises:
        HostError: one cannot be read.
        BrokenPipeError: nobody reads the stream.
    """
    with tarfile.open(fileobj=stream, mode="w|", format=tarfile.PAX_FORMAT) as archive:  # type: ignore[call-overload]
        for name, path in files.items():
            try:
                archive.add(path, name, recursive=False, filter=_disown)
            except BrokenPipeError:
                raise
            except OSError as error:
                raise _unreadable(error, path) from None


def _walk(top: Path, is_made: bool) -> Iterator[tuple[PurePath, Path, int]]:
    """Yield a path and all below it, links not followed: its place in the top, itself, and its size in bytes."""
    try:
        yield PurePath(), top, _size(top)
        for folder, folders, files in os.walk(top, onerror=_raise) if top.is_dir() else ():
            folders[:] = [name for name in folders if is_made or _is_shown(name)]
            for path in (Path(folder, name) for name in (*folders, *files) if is_made or _is_shown(name)):
                if _is_plain(path):
                    yield path.relative_to(top), path, _size(path)
    except OSError as error:
        raise _unreadable(error, top) from None


def _is_shown(name: str) -> bool:
    return not name.startswith(".") and name != _RESULTS


def _is_plain(path: Path) -> bool:
    mode = path.lstat().st_mode
    return stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode)


def _size(path: Path) -> int:
    status = path.lstat()
    return status.st_size if stat.S_ISREG(status.st_mode) else 0


def _raise(error: OSError) -> None:
    raise error


def _unreadable(error: OSError, path: Path) -> HostError:
    where, reason = str(error.filename or path), error.strerror or str(error)
    return HostError(where, f"cannot be copied: {reason}", "a file that can be read and stays as it is", _LESS)


def _refuse_excess(path: Path, n_files: int, n_bytes: int) -> None:
    if n_bytes > MOST_BYTES or n_files > MOST_FILES:
        size = mebibytes(MOST_BYTES)
        problem = f"more than {size} to copy" if n_bytes > MOST_BYTES else f"more than {MOST_FILES} files to copy"
        raise HostError(str(path), problem, f"at most {size} and {count_noun(MOST_FILES, 'file')} in all", _LESS)


def _disown(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member
