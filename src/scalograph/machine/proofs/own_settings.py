"""The settings of ourselves and of the machine that a study can touch, as they are now."""

import os
from collections.abc import Iterator
from pathlib import Path

from scalograph.control.cgroups import (
    LEAF,
    CgroupTree,
    cgroup2_mount,
    read,
)
from scalograph.control.folder import state_folder
from scalograph.control.store import CHANGES
from scalograph.text.cpu_list import format_cpu_list

_GOVERNORS = "sys/devices/system/cpu/cpu*/cpufreq/scaling_governor"
_OF_A_CGROUP = ("cgroup.subtree_control", "cpuset.cpus", "cpuset.cpus.partition", "cpuset.cpus.effective")


def settings(root: Path = Path("/")) -> dict[str, str]:
    """Name -> value, in words; what this machine does not have is absent."""
    found = dict(_own())
    found |= {f"governor of {file.parts[-3]}": read(file) or "" for file in sorted(root.glob(_GOVERNORS))}
    for home in homes(root):
        found |= {f"{home / name}": value for name in _OF_A_CGROUP if (value := read(home / name)) is not None}
    folder = state_folder()
    found["changes that were not undone"] = "yes" if folder and (folder / CHANGES).exists() else "none"
    return found


def homes(root: Path = Path("/")) -> list[Path]:
    """The cgroups in which leaves are made: our own, and the root of the hierarchy. None without cgroup v2."""
    mount = cgroup2_mount(root)
    if mount is None:
        return []
    return list(dict.fromkeys((CgroupTree(mount, root).own_folder() or mount, mount)))


def empty_leaves(root: Path = Path("/")) -> set[Path]:
    """Leaves of ours that hold no process; those of another probe at work do."""
    return {
        leaf for home in homes(root) for leaf in _leaves(home) if "populated 0" in (read(leaf / "cgroup.events") or "")
    }


def _leaves(home: Path) -> list[Path]:
    try:
        return [path for path in home.iterdir() if LEAF.fullmatch(path.name)]
    except OSError:
        return []


def _own() -> Iterator[tuple[str, str]]:
    yield "our policy", str(os.sched_getscheduler(0))
    yield "our nice value", str(os.getpriority(os.PRIO_PROCESS, 0))
    yield "our CPUs", format_cpu_list(sorted(os.sched_getaffinity(0)))
    yield "our cgroup", read(Path("/proc/self/cgroup")) or "unknown"
