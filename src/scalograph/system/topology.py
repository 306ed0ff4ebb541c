"""The CPUs that this process may use, and what they share, read from /sys."""

import os
import re
from collections.abc import Iterable
from pathlib import Path

from scalograph.protocol.facts import CpuFact
from scalograph.protocol.record_processes import MAX_CPUS
from scalograph.system.cgroups import read

# A file that came from another machine may hold anything.
_NO_CPU, _NUMBER = 1 << 20, re.compile("-?[0-9]{1,15}")


def read_topology(root: Path = Path("/"), allowed: Iterable[int] | None = None) -> tuple[CpuFact, ...]:
    """Return the logical CPUs that may be used, in order of their numbers.

    `root` may be a recorded tree; `allowed` None takes the CPUs that this process may use.
    """
    home = root / "sys/devices/system/cpu"
    numbers = sorted(_usable(root) if allowed is None else allowed)
    return tuple(_cpu(home / f"cpu{number}", number) for number in numbers)


def _usable(root: Path) -> set[int]:
    """Return the CPUs that the kernel allows us; in a recorded tree, those that were online and allowed."""
    if root == Path("/"):
        return os.sched_getaffinity(0)
    home = root / "sys/devices/system/cpu"
    online = set(_parse_or_empty(read(home / "online") or ""))
    if not online:
        names = (re.fullmatch(r"cpu(\d+)", path.name) for path in _entries(home))
        online = {int(match[1]) for match in names if match}
    status = read(root / "proc/self/status") or ""
    allowed = re.search(r"^Cpus_allowed_list:\s*(\S+)", status, re.MULTILINE)
    return online & set(_parse_or_empty(allowed[1])) if allowed else online


def _cpu(folder: Path, number: int) -> CpuFact:
    package = max(0, _number(folder / "topology/physical_package_id") or 0)
    nodes = [int(match[1]) for path in _entries(folder) if (match := re.fullmatch(r"node(\d+)", path.name))]
    return CpuFact(
        cpu=number, core=_core(folder / "topology", number, package), package=package, node=min(nodes, default=0),
        l2=_cache(folder, 2), l3=_cache(folder, 3), max_khz=_number(folder / "cpufreq/cpuinfo_max_freq"),
    )  # fmt: skip


def _core(folder: Path, number: int, package: int) -> int:
    """Name a core by its lowest CPU: the kernel's core_id repeats in each package, on some machines in each die."""
    for name in ("core_cpus_list", "thread_siblings_list"):
        if (least := _least_cpu(folder / name)) is not None:
            return least
    core = _number(folder / "core_id")
    # Without topology a CPU is a core of its own.
    return number if core is None else package * 65536 + core


def _cache(folder: Path, level: int) -> int | None:
    """Name a cache by its lowest CPU: cache ids are absent from older kernels."""
    for index in sorted(_entries(folder / "cache")):
        if _number(index / "level") == level:
            return _least_cpu(index / "shared_cpu_list")
    return None


def parse_cpu_list(text: str) -> list[int]:
    """Parse a kernel CPU list. Raises ValueError for other text, or more CPUs than a record has room for.

    >>> parse_cpu_list("0-2,8")
    [0, 1, 2, 8]
    """
    numbers: list[int] = []
    for part in filter(None, text.strip().split(",")):
        first, dash, last = part.partition("-")
        low, high = int(first), int(last if dash else first)
        if len(numbers) + high - low >= MAX_CPUS:  # before a range is made: its length has limits of its own
            raise ValueError(f"more than {MAX_CPUS} CPUs")
        if high >= _NO_CPU:
            raise ValueError("a number that no CPU has")
        numbers += range(low, high + 1)
    return numbers


def _parse_or_empty(text: str) -> list[int]:
    try:
        return parse_cpu_list(text)
    except ValueError:
        return []


def _least_cpu(file: Path) -> int | None:
    """Return the lowest CPU of a list that may hold all CPUs of a large machine, and is read for each of them."""
    try:
        parts = filter(None, (read(file) or "").split(","))
        least = min((int(part.partition("-")[0]) for part in parts), default=None)
        return None if least is None or least >= _NO_CPU else least
    except ValueError:
        return None


def _entries(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def _number(file: Path) -> int | None:
    text = read(file)
    return int(text) if text is not None and _NUMBER.fullmatch(text) else None
