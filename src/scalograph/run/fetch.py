"""Fetch what a workload needs and cannot ship (jars, distributions) once, checked by checksum."""

import hashlib
import os
import shutil
import stat
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from zipfile import BadZipFile, ZipFile, ZipInfo

from scalograph.errors import HostError, MissingError, Problem
from scalograph.run.interrupts import run_or_refuse
from scalograph.study.workload import Fetch
from scalograph.system.build_cache import cache_folder, fill_atomically
from scalograph.text.quantities import count_noun, megabytes

MAX_ENTRIES = 200_000
MAX_BYTES = 4 << 30
# What zipfile raises of damaged, encrypted or unknown content.
_DAMAGE = (BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError)


def unpack(file: Path, into: Path) -> None:
    """Unpack a zip file of one top folder into `into`; only the executable bit of modes is kept.

    Raises:
        HostError: it is damaged, too large, leads outside, holds links or several top folders; or there is no room.
            What was unpacked by then is left to the caller.
    """
    try:
        with ZipFile(file) as archive:
            entries = archive.infolist()
            _refuse_unsafe(file, entries)
            for entry in entries:
                _extract_entry(archive, entry, into / entry.filename)
    except _DAMAGE as error:
        raise _archive_error(file, f"cannot be unpacked ({error})") from error
    except OSError as error:
        raise HostError(str(into), f"cannot be written: {error.strerror}", "room to unpack", "free some") from error


def _refuse_unsafe(file: Path, entries: Sequence[ZipInfo]) -> None:
    """Check all entries before the first is written. `zipfile` reads no more of one than it declares."""
    if len(entries) > MAX_ENTRIES or sum(entry.file_size for entry in entries) > MAX_BYTES:
        raise _archive_error(file, f"more than {MAX_ENTRIES} files or {MAX_BYTES >> 30} GiB")
    for entry in entries:
        path = PurePosixPath(entry.filename)
        if path.is_absolute() or not path.parts or ".." in path.parts or "\\" in entry.filename:
            raise _archive_error(file, f"the path {entry.filename[:100]!a}, which leads outside")
        if stat.S_IFMT(entry.external_attr >> 16) not in (0, stat.S_IFREG, stat.S_IFDIR):
            raise _archive_error(file, f"{entry.filename[:100]!a}, which is neither a file nor a folder")
    if len({entry.filename for entry in entries}) < len(entries):
        raise _archive_error(file, "a path twice")
    tops = {PurePosixPath(entry.filename).parts[0] for entry in entries}
    if len(tops) != 1 or any(len(PurePosixPath(e.filename).parts) == 1 and not e.is_dir() for e in entries):
        raise _archive_error(file, f"{len(tops)} entries at its top")


def _extract_entry(archive: ZipFile, entry: ZipInfo, path: Path) -> None:
    if entry.is_dir():
        path.mkdir(parents=True, exist_ok=True)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with archive.open(entry) as packed, path.open("xb") as stream:
        shutil.copyfileobj(packed, stream, 1 << 20)
    path.chmod(0o755 if entry.external_attr >> 16 & stat.S_IXUSR else 0o644)


def _archive_error(file: Path, problem: str) -> HostError:
    return HostError(file.name, problem, "a zip file of one folder", "use another version of it")


TIMEOUT_S = 3600
SHOWN_LINES = 6
INSTALL = "apt-get install maven"
# One version, so that every start does the same; what it brings is held against the checksum in any case.
GOAL = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy"


def fetch(workload: str, wanted: Sequence[Fetch], tell: Callable[[str], None], where: Path | None = None) -> list[Path]:
    """Return the file of each artifact, or its unpacked folder; missing ones are fetched by the user's Maven.

    Maven's settings say from where. Dependencies of an artifact are not fetched. `tell` receives what will be fetched
    and its size, once, before; `where` is a cache other than the user's.

    Raises:
        MissingError: there is no Maven, or it cannot fetch a file.
        HostError: it fetched something else, or the cache cannot be written.
    """
    home = where or cache_folder() / "fetched"
    targets = {_cache_folder(home, artifact): artifact for artifact in wanted}
    if missing := [artifact for target, artifact in targets.items() if not target.is_dir()]:
        maven = _find_maven(workload, missing)
        tell(f"{workload}: fetches {_describe(missing)} by Maven, once; kept in {home}")
        for artifact in missing:
            _fetch_artifact(maven, artifact, _cache_folder(home, artifact))
    return [_only_entry(_cache_folder(home, artifact)) for artifact in wanted]


def _cache_folder(home: Path, artifact: Fetch) -> Path:
    return home / f"{artifact.sha256}{'-unpacked' if artifact.unpack else ''}"


def _only_entry(folder: Path) -> Path:
    entries = list(folder.iterdir())
    if len(entries) != 1:
        raise HostError(str(folder), f"{len(entries)} entries", "one file or folder", "remove this folder")
    return entries[0]


def _describe(missing: Sequence[Fetch]) -> str:
    named = ", ".join(artifact.title for artifact in missing)
    return f"{count_noun(len(missing), 'file')}, {megabytes(sum(artifact.bytes for artifact in missing))} ({named})"


def _find_maven(workload: str, missing: Sequence[Fetch]) -> str:
    program = shutil.which("mvn")
    if program is None:
        expected, fix = f"Maven, which fetches {_describe(missing)}", f"install it with: {INSTALL}"
        problem = Problem(f"workload {workload}", "no mvn on PATH", expected, fix)
        raise MissingError([artifact.artifact for artifact in missing], f"no {expected}; {fix}", problem)
    return str(Path(program).absolute())


def _fetch_artifact(maven: str, artifact: Fetch, target: Path) -> None:
    with fill_atomically(target, artifact.title) as partial, TemporaryDirectory(dir=partial, prefix=".") as aside:
        _run_maven(maven, artifact, Path(aside))
        file = _only_entry(Path(aside))
        _refuse_mismatch(artifact, file)
        if artifact.unpack:
            unpack(file, partial)
        else:
            file.rename(partial / file.name)


def _run_maven(maven: str, artifact: Fetch, into: Path) -> None:
    argv = [maven, "-q", "-B", GOAL, f"-Dartifact={artifact.artifact}", f"-DoutputDirectory={into}"]
    where = f"mvn: {artifact.artifact}"
    late = (where, f"not fetched within {TIMEOUT_S} s", "an end", "try it by hand")
    absent = (where, "cannot be started", "Maven", f"install it with: {INSTALL}")
    # The caller's environment, where proxies and certificates are said: the checksum holds whatever it is. In an
    # empty folder: a project where the caller stands is none of ours.
    done = run_or_refuse(argv, os.environ, TIMEOUT_S, into, late, absent)
    if done.returncode:
        output = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()][:SHOWN_LINES]
        fix = "\n".join(["look at the network and at Maven's settings; it says:", *output])
        problem = Problem(where, f"exit code {done.returncode}", "the file", fix)
        reason = ": ".join([f"Maven cannot bring {artifact.title} ({megabytes(artifact.bytes)})", *output[:1]])
        raise MissingError([artifact.artifact], reason[:300], problem)


def _refuse_mismatch(artifact: Fetch, file: Path) -> None:
    with file.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    size = file.stat().st_size
    if (digest, size) != (artifact.sha256, artifact.bytes):
        expected = f"{artifact.bytes} bytes with SHA-256 {artifact.sha256}"
        fix = "it is not used; remove it from Maven's local repository, or correct workload.toml if you wrote it"
        raise HostError(artifact.artifact, f"{size} bytes with SHA-256 {digest}", expected, fix)
