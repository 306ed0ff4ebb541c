"""The program of a study: argv templates of its processes, and the values that fill them."""

import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from scalograph.errors import StudyError
from scalograph.study.identity import hash_folder
from scalograph.study.model import WorkloadUse
from scalograph.study.processes import DRIVER, SERVICE, DeclaredProcess, Template, placeholders, sort_services
from scalograph.study.scalars import unknown_name_error
from scalograph.study.shipped import inside, shipped_workload, shipped_workloads
from scalograph.study.workload import BY_PROTOCOL, Workload, applies, load_workload

# Steps that a study may take once before all runs, and before and after each.
STEPS = ("setup", "prepare", "cleanup")


@dataclass(frozen=True)
class Service:
    """How a service is awaited and stopped: `ready` is a form and its template; `ports` a count, or fixed numbers."""

    ready: tuple[str, str] | None = None
    ready_timeout_s: float = 60.0
    ports: int | tuple[int, ...] = 0
    stop_signal: str = "TERM"
    stop_grace_s: float = 5.0


@dataclass(frozen=True)
class Process:
    """A process to start: template, copies, and name and role where a run has several.

    `service` is None of a driver, which starts at the gate. `cpus` counts CPUs that no other process has, `quota`
    CPU seconds in a second that it is granted. `values` are templates and names of its own. It is started under the
    levels of `when`; without any, always. `hosts` name the machines it is started on; empty: the host of the study.
    """

    argv: tuple[str, ...]
    copies: int | str = 1
    name: str = ""
    role: str = ""
    service: Service | None = None
    cpus: int | str | None = None
    quota: float | str | None = None
    memory: float | str | None = None
    values: Mapping[str, Any] = field(default_factory=dict)
    when: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    hosts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Used:
    """A workload that a program uses; `process` is the one it starts, empty if it starts all."""

    workload: Workload
    home: Path
    process: str = ""


@dataclass(frozen=True)
class Program:
    """The program of a study, not yet built: processes in starting order.

    `here` is the folder that relative paths start from, `steps` templates of the steps around the runs, by name
    (`STEPS`). `running` are names and process ids of services that run already.
    """

    processes: tuple[Process, ...]
    here: Path
    events: bool
    values: Mapping[str, Any]
    used: tuple[Used, ...] = ()
    steps: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    running: tuple[tuple[str, int], ...] = ()
    sources: bytes = field(default=b"", repr=False)

    @property
    def argv(self) -> tuple[str, ...]:
        """The words of all processes, in order."""
        return tuple(word for process in self.processes for word in process.argv)

    @property
    def commands(self) -> list[tuple[str, ...]]:
        """The argv of each process written in the study: no workload says what it needs."""
        by_workloads = {used.process for used in self.used}
        return (
            []
            if "" in by_workloads
            else [process.argv for process in self.processes if process.name not in by_workloads]
        )

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Values known without a configuration, single processes' values included."""
        return {**self.values, **{name: value for process in self.processes for name, value in process.values.items()}}

    def processes_for(self, configuration: Mapping[str, Any]) -> tuple[Process, ...]:
        """Return the processes that a configuration starts, in order."""
        values = {**self.values, **configuration}
        return tuple(process for process in self.processes if applies(process.when, values))

    def read_by_services(self) -> set[str]:
        """Return the factors on which the start of services may depend, without controls."""
        names = set[str]()
        for process in (each for each in self.processes if each.service):
            own = [value for value in process.values.values() if isinstance(value, Template)]
            ready = process.service.ready[1:] if process.service and process.service.ready else ()
            words = [*process.argv, *ready, *own, str(process.copies), str(process.cpus)]
            names |= {*process.values, *process.when, *(name for name, _ in placeholders(words) if name)}
        return names

    def starts(self, used: Used, configuration: Mapping[str, Any]) -> bool:
        """Return whether a configuration starts the process that uses a workload."""
        conditions = [process.when for process in self.processes if process.name == used.process and process.when]
        return all(applies(when, {**self.values, **configuration}) for when in conditions)

    def configurations_of(self, used: Used, configurations: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
        """Return the configurations that start what uses a workload."""
        return [configuration for configuration in configurations if self.starts(used, configuration)]

    def values_of(self, used: Used) -> Mapping[str, Any]:
        """Return the values of one of its workloads known without a configuration."""
        own = (process.values for process in self.processes if process.name == used.process)
        return {**self.values, **next(own, {})}


def program(use: WorkloadUse, folder: Path) -> Program:
    caller = use.cwd != "scratch"
    folder = Path.cwd() if caller else folder
    start = Path(use.given_folder or folder)  # of relative programs
    steps = {step: locate_program(argv, start, caller, step) for step in STEPS if (argv := getattr(use, step))}
    if use.command is not None:
        argv = locate_program(use.command, start, caller)
        given = {"python": sys.executable, "here": str(folder)}
        return Program((Process(argv, use.copies),), folder, use.events, given, steps=steps)
    if use.process:
        return _processes_program(use, folder, start, steps)
    home = find_workload(str(use.use), folder)
    workload = load_workload(home)
    values = _parameters(workload, use.parameters) | {"python": sys.executable, "here": str(home)}
    single = Process(tuple(workload.argv), use.copies)
    processes = sort_processes(workload.process) if workload.process else (single,)
    return Program(processes, home, workload.events, values, (Used(workload, home),), steps, (), hash_folder(home))


def _processes_program(use: WorkloadUse, folder: Path, start: Path, steps: Mapping[str, tuple[str, ...]]) -> Program:
    caller = use.cwd != "scratch"
    fresh = [process for process in use.process if process.pid is None]
    running = tuple((process.name, process.pid) for process in use.process if process.pid is not None)
    processes = sort_processes(fresh, lambda argv: locate_program(argv, start, caller, "process"))
    values: dict[str, Any] = {"python": sys.executable, "here": str(folder)}
    declared = {process.name: process for process in use.process}
    used = tuple(_load_used(process, folder) for process in use.process if process.use is not None)
    own = {}
    for each in used:  # text is a template of what is known when a run starts
        given = declared[each.process].parameters.items()
        templates = {name: Template(value) if isinstance(value, str) else value for name, value in given}
        own[each.process] = _parameters(each.workload, templates) | {"here": str(each.home)}
    by_name = {each.process: each.workload for each in used}
    processes = tuple(
        replace(process, argv=tuple(by_name[process.name].argv), values=own[process.name])
        if process.name in by_name
        else process
        for process in processes
    )
    driver = by_name.get(processes[-1].name)
    events = driver.events if driver else use.events
    sources = b"".join(hash_folder(each.home) for each in used)
    return Program(processes, folder, events, values, used, steps, running, sources)


def _load_used(declared: DeclaredProcess, folder: Path) -> Used:
    home = find_workload(str(declared.use), folder)
    workload = load_workload(home)
    if workload.process:
        text, expected = f"{workload.name}, which starts several processes itself", "one that starts one"
        raise StudyError.one("workload.process", text, expected, "write its processes here")
    return Used(workload, home, declared.name)


def sort_processes(
    declared: Sequence[DeclaredProcess], locate: Callable[[Sequence[str]], Sequence[str]] = tuple
) -> tuple[Process, ...]:
    """Return processes in starting order, the driver last; `locate` makes the program of an argv absolute."""
    services = {process.name: process.after for process in declared if process.role == SERVICE}
    order = sort_services(services)
    if order is None:
        raise StudyError.one(
            "workload.process", "services that wait for each other", "an order in which they can start"
        )
    by_name = {process.name: process for process in declared}
    drivers = [process.name for process in declared if process.role == DRIVER]
    return tuple(_process(by_name[name], locate) for name in [*order, *drivers])


def _process(declared: DeclaredProcess, locate: Callable[[Sequence[str]], Sequence[str]]) -> Process:
    service = None
    if declared.role == SERVICE:
        ready = declared.ready.template_form() if declared.ready else None
        ports = tuple(declared.ports) if isinstance(declared.ports, list) else declared.ports
        service = Service(ready, declared.ready_timeout_s, ports, declared.stop.signal, declared.stop.grace_s)
    return Process(
        tuple(locate(declared.argv)) if declared.argv else (), declared.copies, declared.name, declared.role, service,
        cpus=declared.cpus, quota=declared.quota, memory=declared.memory, when=declared.when,
        hosts=tuple(declared.host or ()),
    )  # fmt: skip


def _parameters(workload: Workload, given: Mapping[str, Any]) -> dict[str, Any]:
    unknown = sorted(set(given) - set(workload.parameters))
    if unknown:
        where = f"workload.parameters.{unknown[0]}"
        raise unknown_name_error(where, f"unknown to {workload.name}", unknown[0], workload.parameters)
    # Iterations of the study's protocol override the workload's own default of that name.
    defaults = {name: parameter.default for name, parameter in workload.parameters.items() if name not in BY_PROTOCOL}
    return defaults | dict(given)


def find_workload(name: str, folder: Path) -> Path:
    """Find a workload by name; a folder beside the study overrides a built-in one."""
    with suppress(StudyError):
        beside = inside(folder, name, "workload.use")
        if (beside / "workload.toml").is_file():
            return beside
    names = shipped_workloads()
    if name in names:
        return shipped_workload(name)
    raise unknown_name_error("workload.use", f'no workload "{name}"', name, names, "or a folder beside the study")


def locate_program(argv: Sequence[str], folder: Path, caller: bool, step: str = "command") -> tuple[str, ...]:
    """Return an argv template whose program is found from any folder; a caller's programs may be anywhere."""
    return (find_command(argv[0], folder, caller, step), *argv[1:])


def find_command(name: str, folder: Path, caller: bool = False, step: str = "command") -> str:
    """Return a program as absolute path, name on PATH, or path inside the study's folder."""
    if "/" not in name or name.startswith(("/", "{")):
        return name
    if caller:  # links are not followed: a program may depend on its name, like those of a virtual environment
        return os.path.abspath(folder / name)  # noqa: PTH100
    what = "a program inside it, an absolute path, or a name on PATH"
    return str(inside(folder, name, f"workload.{step}", what))
