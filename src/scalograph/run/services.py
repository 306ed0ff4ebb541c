"""What is known of several processes only when their run starts: ports that are free, folders, and words with them."""

import re
import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from scalograph.control.control import Launch
from scalograph.errors import HostError, StudyError
from scalograph.protocol.record import Record
from scalograph.run.scratch import disk_usage, is_full
from scalograph.study.processes import MAX_COMMANDS, MAX_PORTS, Template, fill
from scalograph.study.program import Service
from scalograph.text.quantities import mebibytes

LOOPBACK = "127.0.0.1"


def has_services(launches: Sequence[Launch]) -> bool:
    """Tell whether a run has services."""
    return any(launch.service for launch in launches)


def fill_launches(
    launches: Sequence[Launch], state: Path, ports: Sequence[tuple[int, ...]] | None = None
) -> tuple[Launch, ...]:
    """Return the launches of a run, with ports that were free a moment ago and a folder for each copy.

    Args:
        launches: of a run that has services, in the order in which they start.
        state: a folder of this run, in which each copy gets one of its own.
        ports: of each, where they were chosen before (`free_ports`).

    Raises:
        HostError: the kernel gives no port, or the folder has no room.
        StudyError: a template has a name that nothing fills.
    """
    ports = free_ports(launches) if ports is None else ports
    shared = dict(_service_values(launches, ports))
    return tuple(
        _fill_launch(launch, {**launch.values, **shared, **dict(_own_values(launch, own, state))})
        for launch, own in zip(launches, ports, strict=True)
    )


def share_cpus(launches: Sequence[Launch]) -> bool:
    """Tell whether the driver of a run may use CPUs of its services: none was left for it, or none was set."""
    *services, driver = launches
    own = set(driver.cpus or ())
    return bool(services) and (not own or any(service.cpus is None or own & set(service.cpus) for service in services))


def fail_if_disk_full(record: Record, state: Path) -> Record:
    """Return the record of a run, as failed where the disk is full: a service that found it so did not do its work."""
    if record.run.status != "ok" or not is_full(state):
        return record
    written = mebibytes(disk_usage(state))
    return record.failed(f"the disk of TMPDIR was full when the run ended; {written} were in state folders")


def is_named(launches: Sequence[Launch]) -> bool:
    """Tell whether the processes of a run were declared by name: their templates are filled when it starts."""
    return bool(launches[0].name)


def program_of(launch: Launch) -> str:
    """Return the program of a launch, which no port or folder has a part in."""
    return fill(launch.argv[:1], launch.values)[0] if launch.name else launch.argv[0]


def _fill_launch(launch: Launch, values: Mapping[str, Any]) -> Launch:
    templates = {name: value for name, value in values.items() if isinstance(value, Template)}
    values = {**values, **{name: fill([value], values)[0] for name, value in templates.items()}}
    service = launch.service
    if service is not None:
        ports = values["ports"].split(",") if values.get("ports") else []
        ready = _check_ready(service.ready[0], fill([service.ready[1]], values)[0]) if service.ready else None
        service = replace(service, ready=ready, ports=tuple(map(int, ports)))
    return replace(launch, argv=tuple(fill(launch.argv, values)), service=service)


def _check_ready(form: str, text: str) -> tuple[str, str]:
    """Check what a template came to: a port may be any name that is filled."""
    port = re.fullmatch(r"http://[^/:]*:([^/]*)(?:/.*)?", text) if form == "http" else re.fullmatch("(.*)", text)
    number = port[1] if port else ""
    if form != "line" and not (number.isascii() and number.isdecimal() and 1 <= int(number[:6]) <= 65_535):
        raise StudyError.one(
            f"process: ready.{form}", f"port {number[:40]!r}", "a number from 1 to 65535", "use {port}"
        )
    return form, text


def _own_values(launch: Launch, ports: Sequence[int], state: Path) -> Iterator[tuple[str, str]]:
    folder = state / (f"{launch.name}-{launch.copy}" if launch.service else launch.name)
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise HostError("state folder", f"cannot be made: {error.strerror}", "room in TMPDIR", "free some") from error
    yield "state", str(folder)
    if ports:
        yield from (("port", str(ports[0])), ("ports", ",".join(map(str, ports))))


def _service_values(launches: Sequence[Launch], ports: Sequence[Sequence[int]]) -> Iterator[tuple[str, str]]:
    """Yield what those that come after a service know of it: its first port, and all copies as a list."""
    for name in dict.fromkeys(launch.name for launch in launches if launch.service):
        firsts = [own[0] for launch, own in zip(launches, ports, strict=True) if launch.name == name and own]
        if firsts:
            yield f"{name}_port", str(firsts[0])
            yield f"{name}_ports", ",".join(map(str, firsts))
            yield f"{name}_targets", ",".join(f"{LOOPBACK}:{port}" for port in firsts)


def free_ports(launches: Sequence[Launch]) -> list[tuple[int, ...]]:
    """Return ports of each launch that were free a moment ago; none is given twice, for all are held until the last is.

    Raises:
        HostError: the kernel gives none.
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
