"""Which CPUs this process may use, and what they share: read from /sys."""

import os
import re
from collections.abc import Iterable
from pathlib import Path

from scalograph.facts import CpuFact


def read_topology(root: Path = Path("/"), allowed: Iterable[int] | None = None) -> tuple[CpuFact, ...]:
    """The logical CPUs that may be used, in order of their numbers.

    Args:
        root: where /sys is; a recorded tree in tests.
        allowed: CPU numbers; None asks the kernel for our own affinity mask.
    """
    home = root / "sys/devices/system/cpu"
    numbers = sorted(os.sched_getaffinity(0) if allowed is None else allowed)
    return tuple(_cpu(home / f"cpu{number}", number) for number in numbers)


def _cpu(folder: Path, number: int) -> CpuFact:
    package = _number(folder / "topology/physical_package_id") or 0
    core = _number(folder / "topology/core_id")
    return CpuFact(
        cpu=number,
        # A core's number is unique in its package only; without one, a CPU is a core of its own.
        core=number if core is None else package * 65536 + core,
        package=package,
        node=_node(folder),
        l2=_cache(folder, 2),
        l3=_cache(folder, 3),
        max_khz=_number(folder / "cpufreq/cpuinfo_max_freq"),
    )


def _node(folder: Path) -> int:
    nodes = [int(match[1]) for path in _listed(folder) if (match := re.fullmatch(r"node(\d+)", path.name))]
    return min(nodes, default=0)


def _cache(folder: Path, level: int) -> int | None:
    """The lowest CPU that shares the cache names it: cache ids are absent from older kernels."""
    for index in sorted(_listed(folder / "cache")):
        if _number(index / "level") == level and _text(index / "type") != "Instruction":
            return min(parse_cpu_list(_text(index / "shared_cpu_list") or ""), default=None)
    return None


def parse_cpu_list(text: str) -> list[int]:
    """The numbers of a kernel CPU list.

    >>> parse_cpu_list("0-2,8")
    [0, 1, 2, 8]
    """
    numbers: list[int] = []
    for part in filter(None, text.strip().split(",")):
        first, _, last = part.partition("-")
        numbers += range(int(first), int(last or first) + 1)
    return numbers


def _listed(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def _text(file: Path) -> str | None:
    try:
        return file.read_text().strip()
    except (OSError, UnicodeDecodeError):
        return None


def _number(file: Path) -> int | None:
    text = _text(file)
    try:
        return None if text is None else int(text)
    except ValueError:
        return None
