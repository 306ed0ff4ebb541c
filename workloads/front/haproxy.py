"""HAProxy: one process of one thread that keeps its connections to clients and servers open."""

from pathlib import Path

VERSION = "-v"


def configuration(port: int, targets: list[str], state: Path) -> str:
    """Return what it listens on and whom it asks."""
    servers = "\n".join(f"    server s{number} {target}" for number, target in enumerate(targets))
    return f"""\
global
    nbthread 1
    maxconn 4000
    no strict-limits
defaults
    mode http
    timeout connect 5s
    timeout client 1h
    timeout server 1h
    http-reuse always
frontend front
    bind 127.0.0.1:{port}
    default_backend servers
backend servers
    balance roundrobin
{servers}
"""


def arguments(file: Path) -> list[str]:
    """Return the arguments of a process that stays in the foreground."""
    return ["-db", "-f", str(file)]
