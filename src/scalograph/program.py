"""What a study starts: the argv template of its workload, what fills it, and why a treatment cannot run here."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scalograph.errors import StudyError
from scalograph.identity import hash_folder
from scalograph.study import WorkloadUse
from scalograph.workload import BY_PROTOCOL, Workload, load, shipped, shipped_workloads


@dataclass(frozen=True)
class Program:
    """The workload of a study, not yet built. `here` is the folder that its relative paths start from."""

    argv: tuple[str, ...]
    here: Path
    events: bool
    values: Mapping[str, Any]
    workload: Workload | None = None
    sources: bytes = field(default=b"", repr=False)


def program(use: WorkloadUse, folder: Path) -> Program:
    """The program of a study that stands in `folder`.

    Raises:
        StudyError: no such workload, a parameter it does not know, or a path outside the study's folder.
    """
    if use.command is not None:
        argv = (_inside(use.command[0], folder), *use.command[1:])
        return Program(argv, folder, use.events, {"python": sys.executable, "here": str(folder)})
    home = _workload_folder(str(use.use), folder)
    workload = load(home)
    unknown = sorted(set(use.parameters) - set(workload.parameters))
    if unknown:
        known = ", ".join(workload.parameters)
        raise StudyError.one(f"workload.parameters.{unknown[0]}", f"unknown to {workload.name}", f"one of {known}")
    # What the study's protocol says of iterations goes before the workload's own default of that name.
    defaults = {name: parameter.default for name, parameter in workload.parameters.items() if name not in BY_PROTOCOL}
    values = defaults | dict(use.parameters)
    values |= {"python": sys.executable, "here": str(home)}
    return Program(tuple(workload.argv), home, workload.events, values, workload, hash_folder(home))


def _workload_folder(name: str, folder: Path) -> Path:
    """A folder beside the study goes before a workload that ships, so that a study can carry its own."""
    beside = (folder / name).resolve()
    if beside.is_relative_to(folder.resolve()) and (beside / "workload.toml").is_file():
        return beside
    if name in shipped_workloads():
        return shipped(name)
    raise StudyError.one(
        "workload.use",
        f'no workload "{name}"',
        "one of " + ", ".join(shipped_workloads()),
        "or a folder beside the study",
    )


def _inside(name: str, folder: Path) -> str:
    """A program's name: absolute, found on PATH, or a path that stays in the study's folder."""
    if "/" not in name or name.startswith(("/", "{")):
        return name
    path = (folder / name).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise StudyError.one(
            "workload.command",
            f'"{name}" leads outside the study\'s folder',
            "a program inside it, an absolute path, or a name on PATH",
        )
    return str(path)
