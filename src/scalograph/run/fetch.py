"""What a workload needs and must not carry, jars and distributions: fetched once, known by their checksums."""

import hashlib
import os
import shutil
import stat
import subprocess
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from zipfile import BadZipFile, ZipFile, ZipInfo

from scalograph.errors import HostError, MissingError, Problem
from scalograph.run.interrupts import contained
from scalograph.study.build_plan import Fetch
from scalograph.system.build_cache import cache, made_whole
from scalograph.text.quantities import counted, megabytes

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


TIMEOUT_S = 3600
SHOWN_LINES = 6
INSTALL = "apt-get install maven"
# One version, so that every start does the same; what it brings is held against the checksum in any case.
GOAL = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy"


def fetch(workload: str, wanted: Sequence[Fetch], tell: Callable[[str], None], where: Path | None = None) -> list[Path]:
    """Return the file of each artifact, or its unpacked folder; what is not there yet is fetched by the user's Maven.

    Maven's settings say from where. Nothing that an artifact depends on comes with it.

    Args:
        workload: its name.
        wanted: artifacts with their checksums.
        tell: told once, before anything is fetched, what and how much.
        where: cache of what was fetched, else the user's.

    Raises:
        MissingError: there is no Maven, or it cannot bring a file.
        HostError: it brought something else, or the cache cannot be written.
    """
    home = where or cache() / "fetched"
    missing = list({_target(home, one): one for one in wanted if not _target(home, one).is_dir()}.values())
    if missing:
        maven = _maven(workload, missing)
        tell(f"{workload}: fetches {_told(missing)} by Maven, once; kept in {home}")
        for one in missing:
            _bring(maven, one, _target(home, one))
    return [_only(_target(home, one)) for one in wanted]


def _target(home: Path, one: Fetch) -> Path:
    """A folder of the cache that holds one entry: the file, or its top folder."""
    return home / f"{one.sha256}{'-unpacked' if one.unpack else ''}"


def _only(folder: Path) -> Path:
    entries = list(folder.iterdir())
    if len(entries) != 1:
        raise HostError(str(folder), f"{len(entries)} entries", "one file or folder", "remove this folder")
    return entries[0]


def _told(missing: Sequence[Fetch]) -> str:
    named = ", ".join(one.title for one in missing)
    return f"{counted(len(missing), 'file')}, {megabytes(sum(one.bytes for one in missing))} ({named})"


def _maven(workload: str, missing: Sequence[Fetch]) -> str:
    program = shutil.which("mvn")
    if program is None:
        expected, fix = f"Maven, which fetches {_told(missing)}", f"install it with: {INSTALL}"
        problem = Problem(f"workload {workload}", "no mvn on PATH", expected, fix)
        raise MissingError([one.artifact for one in missing], f"no {expected}; {fix}", problem)
    return str(Path(program).absolute())


def _bring(maven: str, one: Fetch, target: Path) -> None:
    with made_whole(target, one.title) as made, TemporaryDirectory(dir=made, prefix=".") as aside:
        _carry_out(maven, one, Path(aside))
        file = _only(Path(aside))
        _refuse_another(one, file)
        if one.unpack:
            unpack(file, made)
        else:
            file.rename(made / file.name)


def _carry_out(maven: str, one: Fetch, into: Path) -> None:
    argv = [maven, "-q", "-B", GOAL, f"-Dartifact={one.artifact}", f"-DoutputDirectory={into}"]
    where = f"mvn: {one.artifact}"
    try:
        # The caller's environment, where proxies and certificates are said: the checksum holds whatever it is. In an
        # empty folder: a project where the caller stands is none of ours.
        done = contained(argv, os.environ, TIMEOUT_S, into)
    except subprocess.TimeoutExpired as error:
        raise HostError(where, f"not fetched within {TIMEOUT_S} s", "an end", "try it by hand") from error
    except OSError as error:
        raise HostError(
            where, f"cannot be started: {error.strerror}", "Maven", f"install it with: {INSTALL}"
        ) from error
    if done.returncode:
        said = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()][:SHOWN_LINES]
        fix = "\n".join(["look at the network and at Maven's settings; it says:", *said])
        problem = Problem(where, f"exit code {done.returncode}", "the file", fix)
        why = ": ".join([f"Maven cannot bring {one.title} ({megabytes(one.bytes)})", *said[:1]])
        raise MissingError([one.artifact], why[:300], problem)


def _refuse_another(one: Fetch, file: Path) -> None:
    """Raises HostError where a file is not the one that was declared."""
    with file.open("rb") as stream:
        found = hashlib.file_digest(stream, "sha256").hexdigest()
    size = file.stat().st_size
    if (found, size) != (one.sha256, one.bytes):
        expected = f"{one.bytes} bytes with SHA-256 {one.sha256}"
        fix = "it is not used; remove it from Maven's local repository, or correct workload.toml if you wrote it"
        raise HostError(one.artifact, f"{size} bytes with SHA-256 {found}", expected, fix)
