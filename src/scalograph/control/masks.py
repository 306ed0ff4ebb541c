"""Affinity masks of other processes: kernels before 6.2 lose them when a cpuset changes, and never restore them."""

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from scalograph.control.cgroups import read
from scalograph.control.topology import parse_cpu_list

KEPT_SINCE = (6, 2)
_ALLOWED = re.compile(r"^Cpus_allowed_list:\s*(\S+)$", re.MULTILINE)


def at_stake(mount: Path, root: Path = Path("/")) -> str | None:
    """Find a process of others that would lose its mask to a partition; None if there is none, or masks are kept.

    Args:
        mount: of cgroup v2.
        root: where /proc is.
    """
    everywhere = _cpus(mount)
    if _kept(root) or not everywhere:
        return None
    for task in _tasks(root):
        mask = _mask(task)
        # A process with all CPUs of the machine, as most have, needs no second look.
        if mask and everywhere - mask and _cpuset(task, mount) - mask:
            return f"process {task.parents[1].name} ({read(task / 'comm')})"
    return None


def _kept(root: Path) -> bool:
    """Tell whether the kernel keeps masks; a kernel of unknown release is assumed to."""
    found = re.match(r"(\d+)\.(\d+)", read(root / "proc/sys/kernel/osrelease") or "")
    return found is None or (int(found[1]), int(found[2])) >= KEPT_SINCE


def _tasks(root: Path) -> Iterator[Path]:
    """Yield all threads but our own, whose masks we restore ourselves."""
    for process in (root / "proc").iterdir():
        if process.name.isdecimal() and int(process.name) != os.getpid():
            with suppress(OSError):  # it has ended
                yield from (process / "task").iterdir()


def _mask(task: Path) -> set[int]:
    """Return the mask; empty for kernel threads, which have no memory of their own, and for an ended process."""
    status = read(task / "status") or ""
    found = _ALLOWED.search(status)
    return set(parse_cpu_list(found[1])) if found and "\nVmSize:" in status else set()


def _cpuset(task: Path, mount: Path) -> set[int]:
    """Return the CPUs that its cgroup allows: the nearest one above with a cpuset says so."""
    for line in (read(task / "cgroup") or "").splitlines():
        if line.startswith("0::/"):
            own = mount / line[len("0::/") :]
            above = (folder for folder in (own, *own.parents) if folder.is_relative_to(mount))
            return next((cpus for folder in above if (cpus := _cpus(folder))), set())
    return set()


def _cpus(folder: Path) -> set[int]:
    return set(parse_cpu_list(read(folder / "cpuset.cpus.effective") or ""))
