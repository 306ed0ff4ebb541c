"""Conditions that a study declares of the machine: read, never set, and reported where they are not met."""

from collections.abc import Callable, Mapping
from pathlib import Path

from scalograph.control.kernel_files import KERNEL, has_cpus, normalize_value
from scalograph.errors import HostError
from scalograph.study.scalars import Level
from scalograph.system.cgroups import read

_UNKNOWN = "unknown"


def refuse_unmet(conditions: Mapping[str, Level], root: Path = Path("/")) -> None:
    """Raise HostError for the first condition that is not met: its name, what was found, and what would meet it."""
    for name, wanted in conditions.items():
        expected = normalize_value(str(wanted))
        if (value := _read_condition(name, root)) != expected:
            raise HostError(f"conditions.{name}", value, expected, _remedy(name, expected))


def describe_met(conditions: Mapping[str, Level]) -> str | None:
    """Return the journal's note on conditions that were met; None if there are none."""
    words = (f"{name.removeprefix('sysctl:')} {normalize_value(str(value))}" for name, value in conditions.items())
    return f"conditions, met: {', '.join(words)}" if conditions else None


def _read_condition(name: str, root: Path) -> str:
    base, _, of = name.partition(":")
    if base in _READERS:
        return _READERS[base](root)
    try:
        return KERNEL[base].place(root, of).value()
    except OSError:
        return _UNKNOWN


def _swap(root: Path) -> str:
    lines = (read(root / "proc/swaps") or "").splitlines()[1:]
    return "on" if lines else "off"


def _smt(root: Path) -> str:
    active = read(root / "sys/devices/system/cpu/smt/active")
    return {"1": "on", "0": "off", None: "off"}.get(active, _UNKNOWN)


def _governor(root: Path) -> str:
    files = root.glob("sys/devices/system/cpu/cpu*/cpufreq/scaling_governor")
    return ", ".join(sorted({read(file) or _UNKNOWN for file in files if has_cpus(file.parent)})) or _UNKNOWN


_READERS: Mapping[str, Callable[[Path], str]] = {"swap": _swap, "smt": _smt, "governor": _governor}
_REMEDIES = {
    ("swap", "off"): "turn it off: swapoff -a",
    ("swap", "on"): "turn it on: swapon -a",
    ("smt", "off"): "echo off > /sys/devices/system/cpu/smt/control",
    ("smt", "on"): "echo on > /sys/devices/system/cpu/smt/control",
}


def _remedy(name: str, wanted: str) -> str:
    base, _, of = name.partition(":")
    commands = {
        "governor": f"cpupower frequency-set -g {wanted}",
        "thp": f"echo {wanted} > /sys/kernel/mm/transparent_hugepage/enabled",
        "sysctl": f"sysctl -w {of}='{wanted}'",
        "io-scheduler": f"echo {wanted} > /sys/block/{of}/queue/scheduler",
    }
    return _REMEDIES.get((base, wanted)) or f"set it: {commands.get(base, name)}, or leave the condition out"
