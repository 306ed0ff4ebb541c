"""Connections that the kernel dropped because the queue of a listening socket was full."""

from itertools import pairwise
from pathlib import Path

NETSTAT = Path("/proc/self/net/netstat")
COUNTER = "ListenDrops"


def listen_drops(file: Path = NETSTAT) -> int | None:
    """Return the kernel's count since it started, in this network namespace; None where it does not tell."""
    try:
        rows = [line.split() for line in file.read_text(encoding="ascii").splitlines()]
        return next(int(numbers[names.index(COUNTER)]) for names, numbers in pairwise(rows) if COUNTER in names)
    except (OSError, StopIteration, ValueError, IndexError):
        return None


def dropped_since(before: int | None) -> list[str]:
    """Return the line that tells how many it has dropped since `before`; none where that is not known."""
    after = listen_drops()
    return [] if before is None or after is None else [f"value listen_drops {max(0, after - before)}"]
