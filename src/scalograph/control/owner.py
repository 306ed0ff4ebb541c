"""The process and the boot that a record of changes belongs to."""

import os
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from scalograph.control.cgroups import read


class Owner(BaseModel):
    """A process, distinguished from a later one with its number."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    pid: int = Field(ge=1)
    start_ticks: int = Field(ge=0)

    @classmethod
    def ourselves(cls, root: Path) -> "Owner":
        """Return this process."""
        return cls(pid=os.getpid(), start_ticks=_start_ticks(os.getpid(), root) or 0)

    def is_alive(self, root: Path) -> bool:
        """Tell whether the process still exists, and is no later process with its number."""
        return _start_ticks(self.pid, root) == self.start_ticks


def boot_id(root: Path) -> str:
    """Return the kernel's name for the time since the last boot."""
    return read(root / "proc/sys/kernel/random/boot_id") or "unknown"


def _start_ticks(pid: int, root: Path) -> int | None:
    """Return when a process began, in ticks since boot; None if it is gone or a zombie."""
    # The name before it may hold spaces and brackets.
    fields = (read(root / f"proc/{pid}/stat") or "").rpartition(")")[2].split()
    return int(fields[19]) if len(fields) > 19 and fields[0] not in "ZX" else None
