"""How many CPUs' worth of time may this process take, whatever its mask says?"""

import re
from collections.abc import Iterator
from pathlib import Path

from scalograph.control.cgroups import cgroup2_mount, read, v1_mount

_COUNT = re.compile("[0-9]{1,18}")  # a file of another machine may hold anything


def cpu_quota(root: Path = Path("/")) -> float | None:
    """Return the least CPU bandwidth of our cgroup and those above it, in CPUs; None if nothing limits us."""
    quotas = [quota for folder in _own_folders(root) if (quota := quota_of(folder)) is not None]
    return min(quotas, default=None)


def _own_folders(root: Path) -> Iterator[Path]:
    """Yield our cgroups with all above them: the unified one, and that of the v1 controller cpu."""
    mount = cgroup2_mount(root)
    v1 = v1_mount("cpu", root)
    homes = {"": mount, "cpu": root / v1.lstrip("/") if v1 else None}
    for line in (read(root / "proc/self/cgroup") or "").splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        for name in controllers.split(","):
            home = homes.get(name)
            if home is not None and ".." not in path.split("/"):  # one that we do not see
                own = home / path.lstrip("/")
                yield from (folder for folder in (own, *own.parents) if folder.is_relative_to(home))


def quota_of(folder: Path) -> float | None:
    """Return the quota of one cgroup, of either version, in CPUs; None if it has none."""
    text = read(folder / "cpu.max")
    if text is None:
        text = f"{read(folder / 'cpu.cfs_quota_us')} {read(folder / 'cpu.cfs_period_us')}"
    quota, _, period = text.partition(" ")
    counts = [int(text) for text in (quota, period) if _COUNT.fullmatch(text)]
    return counts[0] / counts[1] if len(counts) == 2 and counts[1] else None
