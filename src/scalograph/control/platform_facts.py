"""What is to be known of a machine beside its CPUs: caches, clock, system, compiler, disk. Never a guess."""

import os
import re
import shutil
import subprocess
from pathlib import Path

_UNITS = {"K": 1 << 10, "M": 1 << 20, "": 1}
_KINDS = {"Data": "d", "Instruction": "i", "Unified": ""}
TIMEOUT_S = 5


def cache_sizes(root: Path) -> dict[str, int]:
    """Return the caches of the first CPU in bytes: {"L1d_bytes": 49152, ...}; empty where sizes are not told."""
    found: dict[str, int] = {}
    for index in sorted((root / "sys/devices/system/cpu/cpu0/cache").glob("index*")):
        level, kind, size = (_text(index / name) for name in ("level", "type", "size"))
        if (match := re.fullmatch(r"(\d{1,12})([KM]?)", size)) and kind in _KINDS and level.isdecimal():
            found[f"L{level}{_KINDS[kind]}_bytes"] = int(match[1]) * _UNITS[match[2]]
    return found


def clock_mhz(cpuinfo: dict[str, str]) -> float | None:
    """Return the clock of the first CPU at that moment, MHz; None where /proc/cpuinfo has none, as on ARM."""
    text = cpuinfo.get("cpu MHz", cpuinfo.get("clock", "")).removesuffix("MHz")
    return float(text) if re.fullmatch(r"\d+(\.\d+)?", text) else None


def architecture(root: Path) -> str | None:
    """Return the kernel's name of the instruction set, such as x86_64 (a file since Linux 6.1)."""
    return _text(root / "proc/sys/kernel/arch") or (os.uname().machine if root == Path("/") else None)


def distribution(root: Path) -> str | None:
    """Return the name and version of the system as /etc/os-release has it."""
    named = re.search(r'^PRETTY_NAME="?([^"\n]+)', _text(root / "etc/os-release"), re.MULTILINE)
    return named[1].strip() if named else None


def disk_rotational(root: Path) -> bool | None:
    """Tell whether the disk of / has plates that turn; None where / lies on no disk of its own."""
    mounts = (line.split() for line in _text(root / "proc/self/mountinfo").splitlines())
    devices = [words[2] for words in mounts if len(words) > 4 and words[4] == "/"]
    if not devices or not re.fullmatch(r"\d+:\d+", devices[-1]):
        return None
    device = (root / "sys/dev/block" / devices[-1]).resolve()
    told = _text(device / "queue/rotational") or _text(device.parent / "queue/rotational")  # a partition has no queue
    return told == "1" if told else None


def compiler() -> str | None:
    """Return the first line that the C compiler says of itself; None where there is none."""
    program = shutil.which("cc")
    if program is None:
        return None
    try:
        done = subprocess.run(
            [program, "--version"], env={"LC_ALL": "C.UTF-8"}, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            errors="replace", timeout=TIMEOUT_S, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return None
    lines = done.stdout.splitlines()
    return lines[0].strip()[:200] or None if done.returncode == 0 and lines else None


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
