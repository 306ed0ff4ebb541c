"""Register hosts by name. A module here has `connect() -> Host`, and is imported when it is asked for.

A host of many machines has `connect(machine, wait_s)`, and its name is followed by a machine: `ssh:NAME`. Of a cluster
that is a partition, and it is optional.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING

from scalograph.study.scalars import unknown_name_error

if TYPE_CHECKING:
    from scalograph.run.hosts.base import Host

LOCAL, GUEST = "local", "guest"
HOSTS = {LOCAL: "scalograph.run.hosts.local.local_host", GUEST: "scalograph.run.hosts.guests.guest"}
# Of other machines: runs there do not disturb those here.
ELSEWHERE = {
    "ssh": "scalograph.run.hosts.remote.ssh", "reboot": "scalograph.run.hosts.remote.reboot",
    "slurm": "scalograph.run.hosts.slurm.slurm_host",
}  # fmt: skip
# Those that have a default machine: `slurm` is its default partition.
NAMELESS = ("slurm",)


def connect(name: str = LOCAL, wait_s: float | None = None) -> "Host":
    """Return the host of a name; the caller closes it.

    `wait_s`: seconds to wait for another session on another machine; None is the default.

    Raises StudyError: there is none of that name; HostError: it cannot be used.
    """
    check_name(name)
    kind, _, machine = name.partition(":")
    module = import_module(HOSTS.get(name) or ELSEWHERE[kind])
    host: Host = module.connect(machine, wait_s) if kind in ELSEWHERE else module.connect()
    return host


def check_name(name: str) -> None:
    """Raise StudyError if there is no host of this name."""
    kind, _, machine = name.partition(":")
    if name not in HOSTS and not (kind in ELSEWHERE and (machine or name in NAMELESS)):
        names = [*HOSTS, *NAMELESS, *(f"{prefix}:NAME" for prefix in ELSEWHERE)]
        raise unknown_name_error("--host", f'no host "{name}"', f"{kind}:NAME" if machine else name, names)


def is_elsewhere(name: str) -> bool:
    """Tell whether a host is another machine.

    >>> is_elsewhere("ssh:build"), is_elsewhere("guest")
    (True, False)
    """
    return name not in HOSTS and name.partition(":")[0] in ELSEWHERE


@contextmanager
def open_host(name: str = LOCAL, wait_s: float | None = None) -> "Iterator[Host]":
    """Open the host of a name, and close it at the end. Raises as `connect` does."""
    host = connect(name, wait_s)
    try:
        yield host
    finally:
        host.close()
