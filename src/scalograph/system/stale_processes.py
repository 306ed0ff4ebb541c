"""Kill processes left by a session that died: a step or a compiler that it could not end itself."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from scalograph.system.cgroups import read


class Owner(BaseModel):
    """A process, distinguished from a later one with its number by its start, in ticks since boot."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    pid: int = Field(ge=1)
    start_ticks: int = Field(ge=0)

    @classmethod
    def current(cls, root: Path) -> "Owner":
        """Return this process."""
        return cls(pid=os.getpid(), start_ticks=_start_ticks(os.getpid(), root) or 0)

    def is_alive(self, root: Path) -> bool:
        """Return whether the process still exists, and is no later process with its number."""
        return _start_ticks(self.pid, root) == self.start_ticks


def boot_id(root: Path) -> str:
    """Return the kernel's id of the time since the last boot."""
    return read(root / "proc/sys/kernel/random/boot_id") or "unknown"


def read_stat(process: Path) -> list[str]:
    """Return the fields of a process's /proc/PID/stat from its state on; empty if it is gone."""
    try:
        # The name before them may hold spaces and brackets, in any encoding.
        return (process / "stat").read_bytes().rpartition(b")")[2].decode("ascii", "replace").split()
    except OSError:
        return []


def _start_ticks(pid: int, root: Path) -> int | None:
    """Return when a process began, in ticks since boot; None if it is gone or a zombie."""
    fields = read_stat(root / f"proc/{pid}")
    return int(fields[19]) if len(fields) > 19 and fields[0] not in "ZX" else None


MARK = "SCALOGRAPH_STEP"
_WAIT_S = 1.0


def owner_variables(root: Path = Path("/")) -> dict[str, str]:
    """Return the environment variable that marks what this session starts outside its runs."""
    owner = Owner.current(root)
    return {MARK: f"{owner.pid}.{owner.start_ticks}"}


def kill_stale_processes(root: Path = Path("/")) -> list[str]:
    """Kill the processes whose mark names a dead session, and list them. The machine must be locked."""
    messages, until = dict[int, str](), time.monotonic() + _WAIT_S
    while pids := [pid for pid in _find_stale(root) if _kill(pid)]:
        messages |= {pid: f"process {pid}, left by a step: ended" for pid in pids}
        if time.monotonic() > until:
            break
        time.sleep(0.005)
    return list(messages.values())


def _find_stale(root: Path) -> Iterator[int]:
    here = _namespace(root / "proc/self")
    for folder in (root / "proc").iterdir():
        if folder.name.isdecimal() and _is_stale(folder, root) and _namespace(folder) == here:
            yield int(folder.name)


def _is_stale(folder: Path, root: Path) -> bool:
    """Return whether it is our user's, carries a mark, and its session is dead."""
    try:
        if folder.stat().st_uid != os.geteuid():
            return False
        environ = (folder / "environ").read_bytes()
    except OSError:  # it has ended, or may not be looked at
        return False
    start, end = f"\0{MARK}=".encode(), b"\0"
    pid, _, ticks = (b"\0" + environ).partition(start)[2].partition(end)[0].partition(b".")
    if not pid.isdigit() or not ticks.isdigit() or int(pid) == 0:
        return False
    return not Owner(pid=int(pid), start_ticks=int(ticks)).is_alive(root)


def _namespace(folder: Path) -> str:
    """Return the PID namespace that it counts in: in a container the same number is another process."""
    try:
        return str((folder / "ns/pid").readlink())
    except OSError:
        return ""


def _kill(pid: int) -> bool:
    try:
        os.kill(pid, signal.SIGKILL)
    except OSError:
        return False
    return True
