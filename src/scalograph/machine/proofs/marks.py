"""Processes that bear a mark on their command line: what is left of a run."""

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

_TRIES = 200


def marked(mark: str, root: Path = Path("/")) -> tuple[int, ...]:
    """Live processes with this text on their command line; a zombie is none."""
    return tuple(int(entry.name) for entry in (root / "proc").iterdir() if entry.name.isdigit() and _bears(entry, mark))


def end_marked(mark: str) -> None:
    """Kill them: only what a run of ours has left bears a mark of ours. One that hops may take several tries."""
    for _ in range(_TRIES):
        left = marked(mark)
        for pid in left:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        if not left:
            return
        time.sleep(0.005)


def _bears(entry: Path, mark: str) -> bool:
    try:
        # A zombie has no command line.
        return mark.encode() in (entry / "cmdline").read_bytes()
    except OSError:
        return False
