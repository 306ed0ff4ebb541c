"""The program that a study starts: the argv template of its workload and what fills it."""

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scalograph.errors import StudyError
from scalograph.study.cross_checks import meant
from scalograph.study.identity import hash_folder
from scalograph.study.model import WorkloadUse
from scalograph.study.paths import inside
from scalograph.study.workload import (
    BY_PROTOCOL,
    Workload,
    load,
    shipped,
    shipped_workloads,
)

# Steps that a study may take once before all runs, and before and after each.
STEPS = ("setup", "prepare", "cleanup")


@dataclass(frozen=True)
class Process:
    """What a run starts at its gate: a template, how often, and a role where a run has several."""

    argv: tuple[str, ...]
    copies: int | str = 1
    role: str = ""


@dataclass(frozen=True)
class Program:
    """The workload of a study, not yet built. `here` is the folder that its relative paths start from.

    `steps`: templates of the steps around the runs, by name (`STEPS`).
    """

    processes: tuple[Process, ...]
    here: Path
    events: bool
    values: Mapping[str, Any]
    workload: Workload | None = None
    steps: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    sources: bytes = field(default=b"", repr=False)

    @property
    def argv(self) -> tuple[str, ...]:
        """The words of all its processes, in order."""
        return tuple(word for process in self.processes for word in process.argv)


def program(use: WorkloadUse, folder: Path) -> Program:
    """Return the program of a study in `folder`.

    Raises:
        StudyError: the workload or a parameter is unknown, or a path leads outside the study's folder.
    """
    caller = use.cwd == "caller"
    folder = Path.cwd() if caller else folder
    steps = {step: located(argv, folder, caller, step) for step in STEPS if (argv := getattr(use, step))}
    if use.command is not None:
        argv = located(use.command, folder, caller)
        given = {"python": sys.executable, "here": str(folder)}
        return Program((Process(argv, use.copies),), folder, use.events, given, steps=steps)
    home = find_workload(str(use.use), folder)
    workload = load(home)
    unknown = sorted(set(use.parameters) - set(workload.parameters))
    if unknown:
        known = ", ".join(workload.parameters)
        raise StudyError.one(f"workload.parameters.{unknown[0]}", f"unknown to {workload.name}", f"one of {known}")
    # Iterations of the study's protocol override the workload's own default of that name.
    defaults = {name: parameter.default for name, parameter in workload.parameters.items() if name not in BY_PROTOCOL}
    values = defaults | dict(use.parameters)
    values |= {"python": sys.executable, "here": str(home)}
    return Program(
        (Process(tuple(workload.argv), use.copies),), home, workload.events, values, workload, steps, hash_folder(home)
    )


def find_workload(name: str, folder: Path) -> Path:
    """Find a workload by name; a folder beside the study overrides a shipped one, so that a study can carry its own.

    Raises:
        StudyError: there is no workload of that name.
    """
    with suppress(StudyError):
        beside = inside(folder, name, "workload.use")
        if (beside / "workload.toml").is_file():
            return beside
    known = shipped_workloads()
    if name in known:
        return shipped(name)
    fix = meant(name, known) or "or a folder beside the study"
    raise StudyError.one("workload.use", f'no workload "{name}"', "one of " + ", ".join(known), fix)


def located(argv: Sequence[str], folder: Path, caller: bool, step: str = "command") -> tuple[str, ...]:
    """Return an argv template whose program is found from any folder. A caller's own programs may be anywhere.

    Raises:
        StudyError: the program of a study leads outside its folder.
    """
    return (find_command(argv[0], folder, caller, step), *argv[1:])


def find_command(name: str, folder: Path, caller: bool = False, step: str = "command") -> str:
    """Return a program's name: absolute, found on PATH, or a path that stays in the study's folder.

    Raises:
        StudyError: the path leads outside.
    """
    if "/" not in name or name.startswith(("/", "{")):
        return name
    if caller:  # links are not followed: a program may depend on its name, like those of a virtual environment
        return os.path.abspath(folder / name)  # noqa: PTH100
    what = "a program inside it, an absolute path, or a name on PATH"
    return str(inside(folder, name, f"workload.{step}", what))
