"""Prepare what a workload needs and cannot ship (a source tree, say): its program fills a cache folder, once."""

import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from scalograph.errors import HostError, MissingError, Problem, StudyError
from scalograph.protocol.written_file import replace_file
from scalograph.run.build import own_files
from scalograph.run.interrupts import run_or_refuse, tool_environment
from scalograph.study.processes import fill
from scalograph.study.workload import Prepare, Workload
from scalograph.system.private_dir import cache_folder, cache_key, fill_atomically

TIMEOUT_S = 3600
SHOWN_LINES = 6
# How a program ends that lacks something here (protocol/workload.md), and how it names what it made the folder with.
UNAVAILABLE, USES = 69, "uses /"


def prepare(
    folder: Path, workload: Workload, values: Mapping[str, Any], configurations: Sequence[Mapping[str, Any]],
    tell: Callable[[str], None], where: Path | None = None,
) -> Path | None:  # fmt: skip
    """Return the folder `{prepared}`, with one folder for each value of `prepare.folder`; None if none is declared.

    Its key is the content of `prepare.sources`; another release of what it used prepares anew. Levels of
    `configurations` override `values`; `tell` receives an announcement, `where` is a cache other than the user's.

    Raises StudyError: a level that is no name of a folder. MissingError: what one of the folders needs is not installed
    here. HostError: the program is missing or failed; or the cache cannot be written.
    """
    if workload.prepare is None:
        return None
    files = own_files(folder, workload.prepare.sources, "prepare.sources")
    key = cache_key(folder, files, workload.prepare.argv)
    home = (where or cache_folder() / "prepared") / f"{workload.name}-{key}"
    for name, filled in needed_folders(workload.prepare, values, configurations).items():
        if not _is_current(home / name):
            tell(f"{workload.name}: prepares {name}, once; it is kept in {home / name}")
            _fill_folder(workload, filled, home / name)
    return home


def read_preparations(
    workload: Workload, values: Mapping[str, Any], configurations: Sequence[Mapping[str, Any]]
) -> dict[str, str]:
    """Return what the preparing program said of each folder that configurations use: name -> line.

    `values` hold `prepared`, as `prepare` returned it; without it, nothing was prepared.
    """
    if workload.prepare is None or "prepared" not in values:
        return {}
    files = {
        name: Path(values["prepared"], f"{name}.txt")
        for name in needed_folders(workload.prepare, values, configurations)
    }
    return {name: file.read_text(encoding="utf-8").strip() for name, file in files.items() if file.is_file()}


def needed_folders(
    plan: Prepare, values: Mapping[str, Any], configurations: Sequence[Mapping[str, Any]]
) -> dict[str, Mapping[str, Any]]:
    """Return the names of the folders that configurations need, each with the values that it came from.

    Raises StudyError: a level that is no name of a folder.
    """
    folders: dict[str, Mapping[str, Any]] = {}
    for configuration in configurations or [{}]:
        filled = {**values, **configuration}
        (name,) = fill([plan.folder], {**filled, "prepared": "", "into": ""})
        if Path(name).name != name or name.startswith("."):
            expected = "the name of a folder, without /"
            raise StudyError.one("prepare.folder", f'"{name}"', expected, "choose another level")
        folders.setdefault(name, filled)
    return folders


def _is_current(target: Path) -> bool:
    """Tell whether the folder is there, and the programs that made it are still the same files."""
    used = _sidecar(target, "uses")
    lines = used.read_text(encoding="utf-8").splitlines() if target.is_dir() and used.is_file() else []
    return target.is_dir() and all(_stamp(line.split(" ", 2)[-1]) == line for line in lines)


def _stamp(path: str) -> str:
    try:
        status = Path(path).stat()
    except OSError:
        return ""
    return f"{status.st_size} {status.st_mtime_ns} {path}"


def _sidecar(target: Path, ending: str) -> Path:
    return target.with_name(f"{target.name}.{ending}")


def _fill_folder(workload: Workload, values: Mapping[str, Any], target: Path) -> None:
    shutil.rmtree(target, ignore_errors=True)
    with fill_atomically(target, "what is prepared") as partial:
        lines = _run_program(workload, values, partial, target.name)
        used = [_stamp(line.removeprefix("uses ")) for line in lines if line.startswith(USES)]
        _write_lines(_sidecar(target, "uses"), used)
        _write_lines(_sidecar(target, "txt"), lines[-1:])


def _write_lines(file: Path, lines: Sequence[str]) -> None:
    try:
        with replace_file(file) as stream:
            stream.write("".join(f"{line}\n" for line in lines).encode())
    except OSError as error:
        problem = f"cannot be written: {error.strerror}"
        raise HostError(str(file), problem, "room for a line", "make room, or set XDG_CACHE_HOME") from error


def _run_program(workload: Workload, values: Mapping[str, Any], target: Path, name: str) -> list[str]:
    assert workload.prepare is not None
    argv = fill(workload.prepare.argv, {**values, "into": str(target), "prepared": str(target.parent)})
    where = f"workload {workload.name}"
    late = (where, f"was not prepared within {TIMEOUT_S} s", "an end", "try it by hand")
    absent = (where, f"{argv[0]} cannot be started", "a program", "install it")
    done = run_or_refuse(argv, tool_environment(), TIMEOUT_S, target, late, absent)
    if done.returncode:
        lines = done.stderr.strip().splitlines()[-SHOWN_LINES:] or [f"exit code {done.returncode}"]
        problem = Problem(where, "cannot be prepared: " + "\n".join(lines))
        if done.returncode == UNAVAILABLE:
            raise MissingError([f"{workload.name}/{name}"], lines[-1], problem)
        raise HostError(problem.where, problem.found)
    return done.stdout.strip().splitlines() or [""]
