"""Hosts by name: where each is defined. A module here has `connect() -> Host`, and is imported when it is asked for."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING

from scalograph.errors import StudyError

if TYPE_CHECKING:
    from scalograph.run.hosts.base import Host

LOCAL = "local"
HOSTS = {LOCAL: "scalograph.run.hosts.local", "guest": "scalograph.run.hosts.guest"}


def connect(name: str = LOCAL) -> "Host":
    """Return the host of a name; whoever asks closes it.

    Raises:
        StudyError: there is none of that name.
        HostError: it cannot be used.
    """
    if name not in HOSTS:
        raise StudyError.one("--host", f'no host "{name}"', "one of " + ", ".join(HOSTS))
    host: Host = import_module(HOSTS[name]).connect()
    return host


@contextmanager
def connected(name: str = LOCAL) -> "Iterator[Host]":
    """Use the host of a name, and close it at the end. Raises as `connect` does."""
    host = connect(name)
    try:
        yield host
    finally:
        host.close()
