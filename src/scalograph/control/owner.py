"""Which process, and which boot, a record of changes belongs to."""

import os
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from scalograph.control.cgroups import read


class Owner(BaseModel):
    """A process, told apart from a later one with its number."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    pid: int = Field(ge=1)
    start_ticks: int = Field(ge=0)

    @classmethod
    def ourselves(cls, root: Path) -> "Owner":
        """This process."""
        return cls(pid=os.getpid(), start_ticks=_start_ticks(os.getpid(), root) or 0)

    def is_alive(self, root: Path) -> bool:
        """Whether it is still there, and no later process with its number."""
        return _start_ticks(self.pid, root) == self.start_ticks


def boot_id(root: Path) -> str:
    """The kernel's name for the time since the last boot."""
    return read(root / "proc/sys/kernel/random/boot_id") or "unknown"


def _start_ticks(pid: int, root: Path) -> int | None:
    """When a process began, in ticks since boot; None when it is gone or only waits to be reaped."""
    # The name before it may hold spaces and brackets.
    fields = (read(root / f"proc/{pid}/stat") or "").rpartition(")")[2].split()
    return int(fields[19]) if len(fields) > 19 and fields[0] not in "ZX" else None
