"""What can hold up a run besides its neighbors, at both ends of the window; None where the kernel does not tell."""

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

_CLOCK_SOURCE = "sys/devices/system/clocksource/clocksource0/current_clocksource"


def conditions(root: Path = Path("/")) -> dict[str, Any]:
    """Readings since boot; `root` is where /proc and /sys are."""
    vmstat = dict(line.split() for line in _text(root / "proc/vmstat").splitlines() if len(line.split()) == 2)
    disk = [int(vmstat[name]) * 1024 for name in ("pgpgin", "pgpgout") if name in vmstat]
    return {
        "machine_memory_stall_ns": stall_ns(_text(root / "proc/pressure/memory")),
        "machine_io_stall_ns": stall_ns(_text(root / "proc/pressure/io")),
        "throttled_ns": list(_throttled(root)),
        "thermal_ns": list(_thermal(root)),
        "n_swapped_in": int(vmstat["pswpin"]) if "pswpin" in vmstat else None,
        "disk_bytes": sum(disk) if disk else None,
        "clock_step_ns": _ahead_of_monotonic(time.CLOCK_REALTIME),
        "asleep_ns": _ahead_of_monotonic(time.CLOCK_BOOTTIME),
        "clock_source": _text(root / _CLOCK_SOURCE),
    }


def between(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """The figures of protocol/probe.md from two readings."""
    found = {name: _passed(before[name], after[name]) for name in before if name != "clock_source"}
    found["asleep_ns"] = max(0, found["asleep_ns"] or 0)
    return {**found, "clock_source_changed": before["clock_source"] != after["clock_source"]}


def stall_ns(pressure: str) -> int | None:
    """Time in which at least one task stalled: `total` of the line `some`, in microseconds."""
    for line in pressure.splitlines():
        if line.startswith("some "):
            return int(line.rpartition("total=")[2]) * 1000
    return None


def _passed(before: int | list[int] | None, after: int | list[int] | None) -> int | None:
    """Of several readings the one that moved most: a cgroup that was held back long ago must not hide one that is."""
    if isinstance(before, list) and isinstance(after, list):
        return max((there - here for here, there in zip(before, after, strict=False)), default=None)
    return after - before if isinstance(before, int) and isinstance(after, int) else None


def _throttled(root: Path) -> Iterator[int]:
    """What quotas of our cgroups, and of all above them, have held back: v1 in ns, v2 in us."""
    for folder in _cgroups(root):
        for line in _text(folder / "cpu.stat").splitlines():
            name, _, number = line.partition(" ")
            if name in ("throttled_time", "throttled_usec"):
                yield int(number) * (1000 if name == "throttled_usec" else 1)


def _cgroups(root: Path) -> Iterator[Path]:
    own = [line.split(":", 2) for line in _text(root / "proc/self/cgroup").splitlines()]
    for line in _text(root / "proc/self/mountinfo").splitlines():
        left, _, right = line.partition(" - ")
        kind, *_, options = right.split(" ")
        point, below = left.split(" ")[4].replace("\\040", " "), left.split(" ")[3].rstrip("/")
        for _, controllers, path in own:
            unified = kind == "cgroup2" and not controllers
            first = kind == "cgroup" and "cpu" in controllers.split(",") and "cpu" in options.split(",")
            if (unified or first) and path.startswith(below):
                folder = root / point.lstrip("/") / path.removeprefix(below).lstrip("/")
                yield from (folder, *folder.parents)


def _thermal(root: Path) -> Iterator[int]:
    for cpu in os.sched_getaffinity(0):
        for place in ("core", "package"):
            file = root / f"sys/devices/system/cpu/cpu{cpu}/thermal_throttle/{place}_throttle_total_time_ms"
            if text := _text(file):
                yield int(text) * 1_000_000


def _ahead_of_monotonic(clock: int) -> int:
    """Of several readings the one that took least: a preemption between two clocks would look like a step."""

    def reading() -> tuple[int, int]:
        before, there, after = time.monotonic_ns(), time.clock_gettime_ns(clock), time.monotonic_ns()
        return after - before, there - (before + after) // 2

    return min(reading() for _ in range(5))[1]


def _text(file: Path) -> str:
    with suppress(OSError):
        return file.read_text()
    return ""
