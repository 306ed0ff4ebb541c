"""Make a program ready to start here: fetched, prepared, compiled, with the launcher that no factor names."""

import hashlib
import os
import shutil
import stat
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any
from zipfile import BadZipFile, ZipFile, ZipInfo

from scalograph.control.jvm import default_values
from scalograph.design.resolve import exclude_missing
from scalograph.errors import HostError, MissingError, Problem
from scalograph.protocol.facts import HostFacts
from scalograph.run.build import build
from scalograph.run.interrupts import run_or_refuse
from scalograph.run.plan import Plan
from scalograph.run.prepare import needed_folders, prepare
from scalograph.study.program import Program, Used
from scalograph.study.workload import ClassPath, Fetch, fetched_names, select_builds
from scalograph.system.private_dir import cache_folder, fill_atomically
from scalograph.text.quantities import count_noun, megabytes

MAX_ENTRIES = 200_000
MAX_BYTES = 4 << 30
# What zipfile raises of damaged, encrypted or unknown content.
_DAMAGE = (BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError)


def unpack(file: Path, into: Path) -> None:
    """Unpack a zip file of one top folder into `into`; only the executable bit of modes is kept.

    Raises HostError: it is damaged, too large, leads outside, holds links or several top folders; or there is no room.
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

    Raises MissingError: there is no Maven, or it cannot fetch a file; HostError: it fetched something else, or the
    cache cannot be written.
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


def build_planned(planned: Plan, tell: Callable[[str], None]) -> Plan:
    """Return a plan with its program ready to start, without configurations that need what is not installed here.

    `tell` receives announcements of downloads and slow preparations.

    Raises MissingError: nothing is left, or nothing to compare the baseline with; HostError: as `build_program`.
    """
    earlier: list[str] = []
    while True:
        configurations = planned.design.configurations
        try:
            return replace(planned, program=build_program(planned.program, planned.facts, configurations, tell))
        except MissingError as error:
            left = exclude_missing(planned.design, partial(_lacks, planned.program, error), error.sentence)
            if left is None:
                raise _add_earlier(error, earlier) from error
            earlier.append(error.sentence)
            planned = replace(planned, design=left)
            planned.runs.runs_per_configuration()  # refuses what cannot be searched


def _add_earlier(error: MissingError, earlier: Sequence[str]) -> MissingError:
    """Return the error on what is missing at last, with what was missing before."""
    (problem,) = error.problems
    text = "\n".join([problem.found, *(f"also missing: {reason}" for reason in earlier)])
    return MissingError(sorted(error.what), error.sentence, replace(problem, found=text) if earlier else problem)


def build_program(
    program: Program, facts: HostFacts, configurations: Sequence[Mapping[str, Any]] = (),
    tell: Callable[[str], None] = lambda text: None,
) -> Program:  # fmt: skip
    """Return the program with `{build}`, `{classpath}`, `{prepared}` and the like filled, and for Java its launcher.

    Levels of `configurations` may say what is fetched, built and prepared.

    Raises MissingError: something that can be installed or fetched is not here; HostError: no compiler, no JVM, sources
    that do not compile, or a preparation that failed.
    """
    if any("{java}" in item for item in program.argv):
        program = replace(program, values={**program.values, **default_values(facts)})
    values = {}
    for used in program.used:
        if started := program.configurations_of(used, configurations or [{}]):
            values[used.process] = _make_ready(used, program.values_of(used), facts, started, tell)
    processes = tuple(
        replace(process, values={**process.values, **values.get(process.name, {})}) if process.name else process
        for process in program.processes
    )
    return replace(program, processes=processes, values={**program.values, **values.get("", {})})


def _make_ready(
    used: Used, values: Mapping[str, Any], facts: HostFacts, configurations: Sequence[Mapping[str, Any]],
    tell: Callable[[str], None],
) -> dict[str, Any]:  # fmt: skip
    """Fetch, prepare and build what configurations need of one workload; return the folders and files."""
    plans = select_builds(used.workload.build, values, configurations)
    artifacts = [artifact for plan in plans for artifact in plan.fetch]
    files = dict(
        zip((artifact.artifact for artifact in artifacts), fetch(used.workload.name, artifacts, tell), strict=True)
    )
    fetched = dict.fromkeys(fetched_names(used.workload.build), "")
    fetched |= {f"fetched.{artifact.name}": str(files[artifact.artifact]) for artifact in artifacts}
    prepared = prepare(used.home, used.workload, {**values, **fetched}, configurations, tell)
    built = build(used.home, used.workload.model_copy(update={"build": plans}), facts.jvms, None, files, tell)
    folders = {name: str(folder) for name, folder in (("prepared", prepared), ("build", built)) if folder is not None}
    jars = [(plan.when, str(files[artifact.artifact])) for plan in plans for artifact in plan.jars]
    return {**fetched, **folders, "classpath": ClassPath((*([({}, str(built))] if built else []), *jars))}


def _lacks(program: Program, error: MissingError, configuration: Mapping[str, Any]) -> bool:
    names: set[str] = set()
    for used in program.used:
        if program.starts(used, configuration):
            values, workload = program.values_of(used), used.workload
            names |= {
                artifact.artifact
                for plan in select_builds(workload.build, values, [configuration])
                for artifact in plan.fetch
            }
            folders = needed_folders(workload.prepare, values, [configuration]) if workload.prepare else ()
            names |= {f"{workload.name}/{name}" for name in folders}
    return not error.what.isdisjoint(names)
