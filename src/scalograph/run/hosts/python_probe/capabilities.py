"""What this probe would be granted on this host: tried, not guessed."""

import os
from collections.abc import Callable
from typing import Any

from scalograph.run.hosts.python_probe import PROTOCOL, VERSION

_NATIVE = ("not used by the Python probe", "install scalograph-probe")


def event() -> dict[str, Any]:
    """The fields of a `capabilities` event."""
    root = "run as root, or be given CAP_SYS_NICE"
    attempts: list[tuple[str, Callable[[], object], str]] = [
        ("affinity", lambda: os.sched_setaffinity(0, os.sched_getaffinity(0)), "leave cpus out"),
        ("real-time policies", lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)), root),
        ("negative nice", lambda: os.setpriority(os.PRIO_PROCESS, 0, -1), root),
        ("other users", lambda: os.setresuid(65534, 65534, 65534), "run as root"),
    ]
    found = [_entry(name, _NATIVE) for name in ("kernel records", "cgroup leaf")]
    for name, attempt, fix in attempts:
        why = _refusal(attempt)
        found.append(_entry(name, (why, fix) if why else None))
    return {"protocol": PROTOCOL, "probe": VERSION, "capabilities": found}


def _entry(name: str, refused: tuple[str, str] | None) -> dict[str, Any]:
    why, fix = refused or (None, None)
    return {"name": name, "granted": refused is None, "why": why, "fix": fix}


def _refusal(attempt: Callable[[], object]) -> str | None:
    """Tries in a child, so that nothing of it stays."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            attempt()
            code = 0
        except OSError as error:
            code = error.errno or 1
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return os.strerror(code) if code else None
