"""Turn a configuration of a plan into the processes that it starts: arguments, environment, CPUs. Starts nothing."""

import shutil
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from scalograph.control.apply import apply
from scalograph.control.control import Launch
from scalograph.control.process_cpus import cpu_demands, divide_cpus, process_memory, process_quota
from scalograph.errors import HostError, StudyError
from scalograph.protocol.record import Record
from scalograph.run.caller_environment import environment
from scalograph.run.plan import Plan
from scalograph.study.levels import Configuration
from scalograph.study.processes import (
    LOOPBACK,
    MAX_COMMANDS,
    MAX_PORTS,
    Template,
    fill,
    number_of,
    service_names,
    split_address,
)  # fmt: skip
from scalograph.study.program import Process, Service
from scalograph.study.shipped import inside
from scalograph.study.workload import ClassPath
from scalograph.system.private_dir import disk_usage, is_full
from scalograph.text.quantities import count_noun, mebibytes


def has_services(launches: Sequence[Launch]) -> bool:
    return any(launch.service for launch in launches)


@dataclass(frozen=True)
class Site:
    """Where processes of a run are: the parent of their state folders, and the address at which others reach them.

    State folders are made here if it `is_here`, else by whoever starts the processes.
    """

    state: Path
    address: str = LOOPBACK
    is_here: bool = True

    def folder(self, launch: Launch) -> Path:
        """Return the state folder of a launch."""
        return self.state / (f"{launch.name}-{launch.copy}" if launch.service else launch.name)

    def reaches(self, form: str, text: str) -> tuple[str, str]:
        """Return `ready` at the address that the process listens on, unless it names another one."""
        host, port = split_address(form, text)
        if form == "line" or host != LOOPBACK or self.address == LOOPBACK:
            return form, text
        at = f"{bracket(self.address)}:{port}"
        path = text.removeprefix("http://").partition("/")[2]
        return form, f"http://{at}/{path}" if form == "http" else at


def bracket(address: str) -> str:
    """Return an address as it stands before a port.

    >>> bracket("10.0.0.2"), bracket("fd00::2")
    ('10.0.0.2', '[fd00::2]')
    """
    return f"[{address}]" if ":" in address else address


def fill_launches(
    launches: Sequence[Launch], state: Path, ports: Sequence[tuple[int, ...]] | None = None,
    sites: Mapping[str, Site] = MappingProxyType({}),
) -> tuple[Launch, ...]:  # fmt: skip
    """Return the launches of a run with services, with free ports and a state folder for each copy.

    `ports` are those of each launch, if they were chosen before (`free_ports`); `sites` are those of other hosts than
    this machine.

    Raises:
        HostError: the kernel gives no port, or the folder has no room.
        StudyError: a template has a name that nothing fills.
    """
    ports = free_ports(launches) if ports is None else ports
    by_launch = [sites.get(launch.host) or Site(state) for launch in launches]
    shared = dict(_service_values(launches, ports, by_launch))
    shared["elsewhere"] = "yes" if any(site.address != LOOPBACK for site in by_launch) else "no"
    return tuple(
        _fill_launch(launch, {**launch.values, **shared, **dict(_own_values(launch, own, site))}, site)
        for launch, own, site in zip(launches, ports, by_launch, strict=True)
    )


def share_cpus(launches: Sequence[Launch]) -> bool:
    """Tell whether the driver may use CPUs of its services: none was left for it, or none was set."""
    *services, driver = launches
    own = set(driver.cpus or ())
    return bool(services) and (not own or any(service.cpus is None or own & set(service.cpus) for service in services))


def fail_if_disk_full(record: Record, state: Path) -> Record:
    """Return the record, failed if the disk is full: a service that found it so did not do its work."""
    if record.run.status != "ok" or not is_full(state):
        return record
    written = mebibytes(disk_usage(state))
    return record.mark_failed(f"the disk of TMPDIR was full when the run ended; {written} were in state folders")


def is_named(launches: Sequence[Launch]) -> bool:
    """Tell whether the processes of a run were declared by name: their templates are filled when it starts."""
    return bool(launches[0].name)


def is_on_path(name: str, path: str | None) -> bool:
    """Tell whether this machine has a program, in the folders of a PATH or by its own path."""
    return shutil.which(name, path=path) is not None


def find_programs(planned: Plan, is_there: Callable[[str, str | None], bool] = is_on_path) -> Launch:
    """Look for the program of each configuration, and return the first launch; `prepare` may make those of levels.

    Raises HostError: one is missing.
    """
    programs = dict[tuple[str, str | None], Launch]()
    for processes in (launches(planned, configuration) for configuration in planned.design.configurations):
        for launch in processes:
            programs.setdefault((program_of(launch), launch.env.get("PATH")), launch)
    is_made = "prepare" in planned.program.steps and len({name for name, _ in programs}) > 1
    for name, path in programs:
        if not is_there(name, path) and not is_made:
            raise _missing_program("workload", name, "workload.command")
    return next(iter(programs.values()))


def check_programs(planned: Plan) -> None:
    """Look for the programs that are named, before any is built. Raises HostError: one is missing."""
    if not planned.program.used:
        find_step_programs(planned.program.steps, find_programs(planned))
        return
    path = _environment(planned).get("PATH")
    for process in planned.program.processes:
        if "{" not in process.argv[0] and not is_on_path(process.argv[0], path):
            raise _missing_program("workload", process.argv[0], "workload.command")


def find_step_programs(
    steps: Mapping[str, Sequence[str]], launch: Launch, is_there: Callable[[str, str | None], bool] = is_on_path
) -> None:
    """Look for the program of each step. Raises HostError: one is missing."""
    for step, template in steps.items():
        name = fill(template, launch.values)[0]
        if not is_there(name, launch.env.get("PATH")):
            raise _missing_program(f"workload.{step}", name, f"workload.{step}")


def _missing_program(where: str, name: str, key: str) -> HostError:
    with suppress(ValueError):
        name = f"./{Path(name).relative_to(Path.cwd())}"
    if "/" in name:
        return HostError(where, f"{name} is not an executable file", "", f"correct the path, or chmod +x {name}")
    return HostError(where, f'no program "{name}" on PATH', "", f"install it, or correct {key}")


def program_of(launch: Launch) -> str:
    """Return the program of a launch; no port or folder is part of it."""
    return fill(launch.argv[:1], launch.values)[0] if launch.name else launch.argv[0]


def _fill_launch(launch: Launch, values: Mapping[str, Any], site: Site) -> Launch:
    templates = {name: value for name, value in values.items() if isinstance(value, Template)}
    values = {**values, **{name: fill([value], values)[0] for name, value in templates.items()}}
    service = launch.service
    if service is not None:
        ports = values["ports"].split(",") if values.get("ports") else []
        ready = None
        if service.ready:
            ready = site.reaches(*_check_ready(service.ready[0], fill([service.ready[1]], values)[0]))
        service = replace(service, ready=ready, ports=tuple(map(int, ports)))
    return replace(launch, argv=tuple(fill(launch.argv, values)), service=service)


def _check_ready(form: str, text: str) -> tuple[str, str]:
    """Check a filled `ready` template: its port may be any name that is filled."""
    number = split_address(form, text)[1]
    if form != "line" and not (number.isascii() and number.isdecimal() and 1 <= int(number[:6]) <= 65_535):
        problem = f"port {number[:40]!r}"
        raise StudyError.one(f"process: ready.{form}", problem, "a number from 1 to 65535", "use {port}")
    return form, text


def _own_values(launch: Launch, ports: Sequence[int], site: Site) -> Iterator[tuple[str, str]]:
    folder = site.folder(launch)
    try:
        if site.is_here:
            folder.mkdir(exist_ok=True)
    except OSError as error:
        raise HostError("state folder", f"cannot be made: {error.strerror}", "room in TMPDIR", "free some") from error
    yield "state", str(folder)
    yield "address", site.address
    if ports:
        yield from (("port", str(ports[0])), ("ports", ",".join(map(str, ports))))


def _service_values(
    launches: Sequence[Launch], ports: Sequence[Sequence[int]], sites: Sequence[Site]
) -> Iterator[tuple[str, str]]:
    """Yield what later processes know of a service: its first port, and all copies as a list."""
    for name in dict.fromkeys(launch.name for launch in launches if launch.service):
        firsts = [own[0] for launch, own in zip(launches, ports, strict=True) if launch.name == name and own]
        if firsts:
            yield f"{name}_port", str(firsts[0])
            yield f"{name}_ports", ",".join(map(str, firsts))
            service, site = next(
                (launch.service, site) for launch, site in zip(launches, sites, strict=True) if launch.name == name
            )
            host = split_address(*service.ready)[0] if service and service.ready and service.ready[0] != "line" else ""
            host = bracket(site.address) if host in ("", LOOPBACK) else host
            yield f"{name}_targets", ",".join(f"{host}:{port}" for port in firsts)
            yield f"{name}_address", site.address


def free_ports(launches: Sequence[Launch]) -> list[tuple[int, ...]]:
    """Return free ports of each launch; none is given twice, for all are held until the last is.

    Raises HostError: the kernel gives none.
    """
    assert len(launches) <= MAX_COMMANDS
    with ExitStack() as held:
        return [tuple(_hold_ports(launch.service, held)) for launch in launches]


def _hold_ports(service: Service | None, held: ExitStack) -> Iterator[int]:
    if service is None:
        return
    if not isinstance(service.ports, int):
        yield from service.ports
        return
    for _ in range(min(service.ports, MAX_PORTS)):
        try:
            listening = held.enter_context(socket.socket(socket.AF_INET, socket.SOCK_STREAM))
            listening.bind((LOOPBACK, 0))
        except OSError as error:
            raise HostError("port", f"none is given: {error.strerror}", "a free port", "free some") from error
        yield int(listening.getsockname()[1])


# Of a driver beside services: on a CPU that others use, too, what is due is sent then, and not at the next tick.
DRIVER_NICE = -10


def launches(planned: Plan, configuration: Configuration) -> tuple[Launch, ...]:
    """Return how each process of a configuration is started, services first, each copy of a service by itself.

    Services obey the levels, and so does a process that is alone. A driver beside services gets the CPUs that are left,
    the names of its template, and defaults for all else.

    Raises:
        HostError: a variable of the environment that is passed on is not UTF-8.
        LevelError: the levels cannot be combined on this host.
        StudyError: a template has a name that nothing fills.
    """
    processes = planned.program.processes_for(configuration)
    if not processes:
        return ()  # of those on one machine of several
    if not processes[0].name:
        launch = _apply_levels(planned, configuration, processes[0])
        return (replace(launch, argv=tuple(fill(processes[0].argv, launch.values))),)
    obeying = [_apply_levels(planned, configuration, process) for process in processes]
    # Levels are of the study's own machine: whoever is started elsewhere has what that machine gives.
    local = [process for process in processes if process.name not in planned.facts.elsewhere]
    wanted = cpu_demands(local, _study_values(planned), configuration)
    cpus = divide_cpus(wanted, obeying[0], planned.facts)
    started = [
        launch
        for process, base in zip(processes, obeying, strict=True)
        for launch in _launch_copies(planned, process, replace(base, cpus=cpus.get(process.name)), len(processes) > 1)
    ]
    if len(started) > MAX_COMMANDS:
        expected = f"at most {MAX_COMMANDS}"
        raise StudyError.one("copies", f"{len(started)} processes in a run", expected, "start fewer copies")
    return tuple(started)


def input_file(planned: Plan) -> str | None:
    """Return the standard input file of a study's own command; None if it reads nothing.

    Raises StudyError: it lies outside the study's folder, or is a pipe.
    """
    use, here = planned.design.study.workload, planned.program.here
    if use.input is None:
        return None
    file = here / use.input if use.cwd != "scratch" else inside(here, use.input, "workload.input")
    if Path(file).is_fifo():
        raise StudyError.one(
            "workload.input", f"{use.input} is a pipe", "a file", "write it to a file: each run reads it"
        )
    return str(file)


def sharing_note(planned: Plan) -> str | None:
    """Return a note on configurations whose driver shares CPUs with services; None if there are none."""
    configurations = planned.design.configurations
    n = _count_sharing(planned)
    what = "the driver has no CPU of its own, and takes from the services what it uses"
    return f"in {n} of {count_noun(len(configurations), 'configuration')} {what}" if n else None


def refuse_sharing(planned: Plan) -> None:
    """Raise HostError if the driver has no CPU of its own: its CPU time would be missing from a quota of the server."""
    if _count_sharing(planned):
        n_cpus = count_noun(planned.facts.n_cpus, "CPU")
        problem = f"the load generator would share the CPUs of the server: this machine has {n_cpus}"
        raise HostError("--quota", problem, "a CPU that the server leaves", "use fewer --cpus, and a quota within them")


def _count_sharing(planned: Plan) -> int:
    """Count the configurations whose driver shares CPUs with services."""
    running = bool(planned.program.running)
    if not running and not any(process.service for process in planned.program.processes):
        return 0
    started = [launches(planned, configuration) for configuration in planned.design.configurations]
    return sum(share_cpus(each) or (running and each[-1].cpus is None) for each in started)


def _launch_copies(planned: Plan, process: Process, base: Launch, has_services: bool) -> list[Launch]:
    quota = process_quota(process, base.values)
    launch = replace(base, name=process.name, role=process.role, argv=process.argv, own_quota_cpus=quota)
    launch = replace(launch, max_memory=process_memory(process, base.values))
    if process.name in planned.facts.elsewhere:
        launch = _plain_launch(launch, planned)
    if process.service is None:
        started = _driver_launch(launch, planned) if has_services else launch
        return [replace(started, host=host) for host in process.hosts or ("",)]
    return [
        replace(
            launch,
            service=process.service,
            copies=1,
            copy=copy,
            values={**launch.values, "copy": copy},
            host="".join(process.hosts),
        )
        for copy in range(launch.copies)
    ]


def _environment(planned: Plan, name: str = "") -> dict[str, str]:
    """Return the environment of a process; it is that of the machine it is started on."""
    facts = planned.facts.elsewhere.get(name, planned.facts)
    return environment(planned.design.study.workload, facts.environment if facts.reached else None)


def _driver_launch(launch: Launch, planned: Plan) -> Launch:
    """Return the launch of a driver beside services: of the levels, only its own CPUs, quota and templates apply."""
    granted = planned.facts.elsewhere.get(launch.name, planned.facts).granted_nice
    return replace(_plain_launch(launch, planned), nice=DRIVER_NICE if granted <= DRIVER_NICE else None)


def _plain_launch(launch: Launch, planned: Plan) -> Launch:
    """Return a launch without the levels, which are of other processes."""
    return Launch(
        name=launch.name, role=launch.role, argv=launch.argv, values=launch.values, copies=launch.copies,
        env=_environment(planned, launch.name), cpus=launch.cpus, own_quota_cpus=launch.own_quota_cpus,
        max_memory=launch.max_memory,
    )  # fmt: skip


def _study_values(planned: Plan) -> dict[str, Any]:
    """Return the study's protocol numbers and the program's values; levels and a process's own values override them."""
    protocol = planned.design.study.protocol
    own = {"iterations": protocol.iterations, "warmup": protocol.warmup, "think_ns": round(protocol.think_s * 1e9)}
    return {**own, **planned.program.values}


def _apply_levels(planned: Plan, configuration: Configuration, process: Process) -> Launch:
    study, program = planned.design.study, planned.program
    there = {each.name for each in program.processes_for(configuration)}
    # Names of services that this configuration does not start are filled with nothing.
    absent = service_names([each.name for each in program.processes if each.name not in there])
    values = {**dict.fromkeys(absent, ""), **_study_values(planned), **process.values, **configuration}
    if isinstance(path := values.get("classpath"), ClassPath):
        values["classpath"] = path.text_for(values)
    base = Launch(
        env=_environment(planned), values=values, copies=number_of(process.copies, values),
        stdin=input_file(planned), ok_exits=tuple(study.workload.ok_exits),
    )  # fmt: skip
    return apply(study, configuration, base, planned.facts)
