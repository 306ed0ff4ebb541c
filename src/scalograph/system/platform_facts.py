"""Facts of a machine beside its CPUs: caches, clock, distribution, compiler, disk, memory counters. Never a guess."""

import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from scalograph.protocol.bounded import read_below
from scalograph.protocol.record_processes import LAST
from scalograph.study.responses import COUNTERS

_UNITS = {"K": 1 << 10, "M": 1 << 20, "": 1}
_KINDS = {"Data": "d", "Instruction": "i", "Unified": ""}
TIMEOUT_S = 5


def cache_sizes(root: Path) -> dict[str, int]:
    """Return the caches of the first CPU in bytes: {"L1d_bytes": 49152, ...}; empty where sizes are not reported."""
    sizes: dict[str, int] = {}
    for index in sorted((root / "sys/devices/system/cpu/cpu0/cache").glob("index*")):
        level, kind, size = (read_or_empty(index / name) for name in ("level", "type", "size"))
        if (match := re.fullmatch(r"(\d{1,12})([KM]?)", size)) and kind in _KINDS and level.isdecimal():
            sizes[f"L{level}{_KINDS[kind]}_bytes"] = int(match[1]) * _UNITS[match[2]]
    return sizes


def clock_mhz(cpuinfo: dict[str, str]) -> float | None:
    """Return the current clock of the first CPU in MHz; None where /proc/cpuinfo has none, as on ARM."""
    text = cpuinfo.get("cpu MHz", cpuinfo.get("clock", "")).removesuffix("MHz")
    return float(text) if re.fullmatch(r"\d+(\.\d+)?", text) else None


def architecture(root: Path) -> str | None:
    """Return the kernel's name of the instruction set, such as x86_64 (a file since Linux 6.1)."""
    return read_or_empty(root / "proc/sys/kernel/arch") or (os.uname().machine if root == Path("/") else None)


def distribution(root: Path) -> str | None:
    """Return the name and version of the distribution, by /etc/os-release."""
    named = re.search(r'^PRETTY_NAME="?([^"\n]+)', read_or_empty(root / "etc/os-release"), re.MULTILINE)
    return named[1].strip() if named else None


def disk_rotational(root: Path) -> bool | None:
    """Return whether the disk of / has rotating plates; None where / lies on no disk of its own."""
    mounts = (line.split() for line in read_or_empty(root / "proc/self/mountinfo").splitlines())
    devices = [words[2] for words in mounts if len(words) > 4 and words[4] == "/"]
    if not devices or not re.fullmatch(r"\d+:\d+", devices[-1]):
        return None
    device = (root / "sys/dev/block" / devices[-1]).resolve()
    folders = (device, device.parent)  # a partition has no queue
    flag = next(filter(None, (read_or_empty(folder / "queue/rotational") for folder in folders)), "")
    return flag == "1" if flag else None


def compiler() -> str | None:
    """Return the first line that the C compiler prints of its version; None where there is none."""
    program = shutil.which("cc")
    printed = run_for_text([program, "--version"], TIMEOUT_S) if program else None
    lines = printed[0].splitlines() if printed else []
    return lines[0].strip()[:200] or None if lines else None


def run_for_text(argv: Sequence[str], timeout_s: float) -> tuple[str, str] | None:
    """Run a program and return its output and errors; None where it fails or does not end in time."""
    try:
        done = subprocess.run(
            argv, env={"LC_ALL": "C.UTF-8"}, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            errors="replace", timeout=timeout_s, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return None
    return (done.stdout, done.stderr) if done.returncode == 0 else None


def read_or_empty(file: Path) -> str:
    """Return the text of a file; empty if it cannot be read."""
    try:
        return file.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


# Counted by zones of memory, and added up.
_SUMS = ("allocstall",)
# In pages, as they are; a background limit at or above the other is half of it, which the settings do not show.
LIMITS = ("nr_dirty_threshold", "nr_dirty_background_threshold")
# A guest may have written both: what is longer is no /proc/vmstat, and no count of 64 bits.
_MAX_BYTES, _COUNT = 64 << 10, re.compile("[0-9]{1,20}")


def read_counters(root: Path = Path("/")) -> dict[str, int] | None:
    """Read counters and limits of /proc/vmstat; those of other kernels are absent, None if it has none."""
    try:
        lines = [line.split() for line in read_below(root, "proc/vmstat", _MAX_BYTES).splitlines()]
    except OSError:
        return None
    counts = {words[0]: int(words[1]) for words in lines if len(words) == 2 and _COUNT.fullmatch(words[1])}
    counters = {name: counts[name] for name in COUNTERS if name in counts}
    for name in _SUMS:
        parts = [count for key, count in counts.items() if key == name or key.startswith(f"{name}_")]
        counters |= {name: sum(parts)} if parts else {}
    return {name: min(count, LAST) for name, count in counters.items()} or None


def counter_changes(before: Mapping[str, int] | None, after: Mapping[str, int] | None) -> dict[str, int] | None:
    """Return what was counted between two readings, and the limits at the second one; None without both."""
    if before is None or after is None:
        return None
    counts = {name: max(0, after[name] - before[name]) for name in after if name in before and name not in LIMITS}
    return {**counts, **{name: after[name] for name in LIMITS if name in after}}
