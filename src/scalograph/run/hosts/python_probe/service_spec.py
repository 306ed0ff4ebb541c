"""What the specification says of services: checked, since a line must be right for every probe, and never started."""

import re
from collections.abc import Sequence
from typing import Any, Protocol

_NAME = re.compile(r"(?:[a-z][a-z0-9-]{0,63})?")
_PATH = re.compile(r"/[!-~]{0,511}")
_SIGNALS = ("TERM", "INT", "QUIT", "HUP", "USR1", "USR2", "WINCH", "KILL")
_OF_A_SERVICE = ("ready", "ready_timeout_ns", "ports", "stop_signal", "stop_grace_ns")
_READY = '{"line": TEXT}, {"port": N} or {"http": {"port": N, "path": "/..."}}'
_INT64 = 2**63 - 1


class _Named(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def ports(self) -> Sequence[int] | None: ...


def role_of(of: Any, copies: int) -> tuple[str, Sequence[int] | None]:
    """Name of a command, and the ports of a service; None for a driver. `of`: its fields, refused where wrong."""
    name = "" if of.get("name") is None else of.get("name")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        of.refuse("name", "a-z, then a-z, 0-9 and -, at most 64 bytes")
    if of.choice("role", "driver", "service") != "service":
        for field in (f for f in _OF_A_SERVICE if of.get(f) not in (None, [])):
            of.refuse(field, "nothing: only a service has it")
        return name, None
    if copies != 1:
        of.refuse("copies", "1: each copy of a service is a command of its own")
    own = _ready_port(of)
    of.choice("stop_signal", *_SIGNALS)
    ports = of.get("ports") or []
    if not isinstance(ports, list) or len(ports) > 64 or not all(map(_is_port, ports)) or len(set(ports)) < len(ports):
        of.refuse("ports", "a list of at most 64 different ports, 1 to 65535")
    of.integer("ready_timeout_ns", 60_000_000_000, 1, _INT64)
    of.integer("stop_grace_ns", 5_000_000_000, 0, _INT64)
    return name, sorted({*ports, *own})


def running_of(top: Any) -> Sequence[str]:
    """Names of services that run already. `top`: fields of the specification, refused where wrong."""
    listed = [] if top.get("running") is None else top.get("running")
    if not isinstance(listed, list) or len(listed) > 64 or not all(map(_is_running, listed)):
        top.refuse("running", "a list of at most 64 objects with `name` and `pid`")
    return [one["name"] for one in listed]


def _is_running(value: object) -> bool:
    match value:
        case {"name": str(name), "pid": pid}:
            return bool(name and _NAME.fullmatch(name)) and type(pid) is int and 1 <= pid < 2**31
    return False


def check_services(commands: Sequence[_Named], beside_running: bool) -> tuple[int | None, str, str] | None:
    """What only all commands together can have wrong: command (None: the list), field, expected."""
    services = [command.ports for command in commands if command.ports is not None]
    if not services and not beside_running:
        return None
    if (nameless := next((i for i, c in enumerate(commands) if not c.name), None)) is not None:
        return nameless, "name", "a name: one of the commands is a service"
    if not services:
        return None
    if len(services) == len(commands):
        return None, "", "a driver after the services"
    if (
        late := next((i for i in range(len(services), len(commands)) if commands[i].ports is not None), None)
    ) is not None:
        return late, "role", "driver: services come before drivers"
    taken: set[int] = set()
    for index, ports in enumerate(services):
        if taken & set(ports):
            return index, "ports", "ports that no other service has"
        taken |= set(ports)
    return None


def _ready_port(of: Any) -> Sequence[int]:
    """The port of `ready`, if it has one."""
    ready = of.get("ready")
    match ready:
        case None:
            return ()
        case {"line": str(text)} if len(ready) == 1 and _is_text(text):
            return ()
        case {"port": port} if len(ready) == 1 and _is_port(port):
            return (port,)
        case {"http": {"port": port, "path": str(path)}} if (
            len(ready) == 1 and _is_port(port) and _PATH.fullmatch(path)
        ):
            return (port,)
    return of.refuse("ready", _READY)  # type: ignore[no-any-return]


def _is_text(text: str) -> bool:
    return 1 <= len(text.encode(errors="replace")) <= 512 and "\n" not in text and "\0" not in text


def _is_port(value: object) -> bool:
    return type(value) is int and 1 <= value <= 65535
