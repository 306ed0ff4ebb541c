"""Settings of the whole machine that are files of /proc/sys and /sys: where each is, what it holds, how it is set.

Conditions that a study declares of them are read, never set, and reported where they are not met.
"""

import errno
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from scalograph.errors import HostError
from scalograph.protocol.bounded import read_below
from scalograph.study.control_names import CONTROLS
from scalograph.study.scalars import Level
from scalograph.system.cgroups import read
from scalograph.system.topology import parse_cpu_list
from scalograph.text.format import format_cpu_list

# Of a value that is changed; and of what a file of the kernel holds, a page.
MAX_VALUE, _PAGE = 1000, 4096
_CPUS = "sys/devices/system/cpu"
_CHOSEN = re.compile(r"\[([^\]]+)\]")


def normalize_value(text: str) -> str:
    """Return a value with one space between its words: the kernel separates numbers by tabs, people by spaces.

    >>> normalize_value("4096\\t131072\\t6291456\\n")
    '4096 131072 6291456'
    """
    return " ".join(text.split())


@dataclass(frozen=True)
class KernelFile:
    """A file with one setting, below a root.

    With `is_choice` it lists all values, the active one in brackets; `words` are values with what the file holds.
    """

    root: Path
    name: str
    is_choice: bool = False
    words: tuple[tuple[str, str], ...] = ()

    @property
    def path(self) -> Path:
        return self.root / self.name

    def value(self) -> str:
        """Return the value in force. Raises OSError."""
        text = read_below(self.root, self.name, _PAGE)
        chosen = _CHOSEN.search(text) if self.is_choice else None
        value = chosen[1] if chosen else normalize_value(text)
        return next((word for word, held in self.words if held == value), value)

    def set(self, value: str) -> None:
        """Write a value; the kernel may take another one, so read it back. Raises OSError."""
        _write(self.path, dict(self.words).get(value, value))


def has_cpus(policy: Path) -> bool:
    """Return whether a CPU of a domain is online: the kernel keeps the files of others, and refuses to read them."""
    return read(policy / "affected_cpus") != ""


@dataclass(frozen=True)
class CpuDomains:
    """A file of each domain of CPUs with one clock: one word if it is the same in all, else one for each, in order."""

    root: Path
    file: str = "scaling_governor"

    @property
    def path(self) -> Path:
        """The file of the first domain."""
        return self.root / self._name("policy0")

    def value(self) -> str:
        """Return the value in force. Raises OSError."""
        values = [normalize_value(read_below(self.root, name, _PAGE)) for name in self._names()]
        return values[0] if len({*values}) == 1 else " ".join(values)

    def set(self, value: str) -> None:
        """Write one word into all, or one into each. Raises OSError."""
        names, words = self._names(), value.split()
        if len(words) not in (1, len(names)):
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        for name, word in zip(names, words * len(names) if len(words) == 1 else words, strict=True):
            _write(self.root / name, word)

    def _names(self) -> list[str]:
        folders = (self.root / _CPUS / "cpufreq").glob("policy[0-9]*")
        names = sorted(
            (folder.name for folder in folders if self._has_cpus(folder.name)),
            key=lambda name: int(name.removeprefix("policy")),
        )
        if not names:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        return [self._name(name) for name in names]

    def _has_cpus(self, domain: str) -> bool:
        """Return what `has_cpus` does, in a tree that a guest may have filled."""
        try:
            return normalize_value(read_below(self.root, f"{_CPUS}/cpufreq/{domain}/affected_cpus", _PAGE)) != ""
        except OSError:
            return True

    def _name(self, domain: str) -> str:
        return f"{_CPUS}/cpufreq/{domain}/{self.file}"


@dataclass(frozen=True)
class OnlineCpus:
    """The CPUs that are online, as a list of the kernel."""

    root: Path

    def value(self) -> str:
        """Return the CPUs that are online. Raises OSError."""
        present = parse_cpu_list(read_below(self.root, f"{_CPUS}/present", _PAGE))
        return format_cpu_list(cpu for cpu in present if self._is_online(cpu))

    def set(self, value: str) -> None:
        """Bring these online, the lowest first, then take the others offline, the highest first. Raises OSError."""
        wanted, now = set(parse_cpu_list(value)), set(parse_cpu_list(self.value()))
        for cpu in sorted(wanted - now):
            _write(self.file(cpu), "1")
        for cpu in sorted(now - wanted, reverse=True):
            _write(self.file(cpu), "0")

    def file(self, cpu: int) -> Path:
        """Return the file that takes a CPU offline."""
        return self.root / self._name(cpu)

    @staticmethod
    def _name(cpu: int) -> str:
        return f"{_CPUS}/cpu{cpu}/online"

    def _is_online(self, cpu: int) -> bool:
        """Return whether a CPU is online; one that cannot be taken offline, as most first ones, has no such file."""
        try:
            return normalize_value(read_below(self.root, self._name(cpu), _PAGE)) == "1"
        except FileNotFoundError:
            return True


def _write(file: Path, value: str) -> None:
    """Write in one piece, and make no file: what is not there is no setting."""
    fd = os.open(file, os.O_WRONLY | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        os.write(fd, value.encode() + b"\n")
    finally:
        os.close(fd)


KernelPlace = KernelFile | CpuDomains | OnlineCpus


class KernelSetting(NamedTuple):
    """A kind of setting: where one of a name lies below the root, which names there are, and its words for people."""

    place: Callable[[Path, str], KernelPlace]
    names: str = ""
    words: str = "{name}"


def _turbo(root: Path, _name: str) -> KernelFile:
    """Return the switch of turbo: that of Intel's own driver forbids what that of the others grants."""
    forbids = f"{_CPUS}/intel_pstate/no_turbo"
    if (root / forbids).exists():
        return KernelFile(root, forbids, words=(("on", "0"), ("off", "1")))
    return KernelFile(root, f"{_CPUS}/cpufreq/boost", words=(("on", "1"), ("off", "0")))


_DEVICE = CONTROLS["io-scheduler:NAME"].named
_OF_A_QUEUE = rf"{_DEVICE}/(nr_requests|wbt_lat_usec|iosched/[a-z0-9_]{{1,32}})"
# By the names of `scalograph.control.settings.Setting`.
KERNEL: Mapping[str, KernelSetting] = {
    "sysctl": KernelSetting(
        lambda root, name: KernelFile(root, f"proc/sys/{name.replace('.', '/')}"), CONTROLS["sysctl:NAME"].named),
    "io-scheduler": KernelSetting(
        lambda root, device: KernelFile(root, f"sys/block/{device}/queue/scheduler", is_choice=True),
        _DEVICE, "I/O scheduler of {name}"),
    "io-queue": KernelSetting(
        lambda root, name: KernelFile(root, f"sys/block/{name.replace('/', '/queue/', 1)}"),
        _OF_A_QUEUE, "queue of {name}"),
    "thp": KernelSetting(
        lambda root, _: KernelFile(root, "sys/kernel/mm/transparent_hugepage/enabled", is_choice=True),
        words="transparent huge pages"),
    "governor": KernelSetting(lambda root, _: CpuDomains(root), words="CPU governor"),
    "epp": KernelSetting(
        lambda root, _: CpuDomains(root, "energy_performance_preference"), words="energy performance preference"),
    "turbo": KernelSetting(_turbo, words="turbo"),
    "online": KernelSetting(lambda root, _: OnlineCpus(root), words="CPUs online"),
}  # fmt: skip


_UNKNOWN = "unknown"


def refuse_unmet(conditions: Mapping[str, Level], root: Path = Path("/")) -> None:
    """Raise HostError for the first condition that is not met: its name, what was found, and what would meet it."""
    for name, wanted in conditions.items():
        expected = normalize_value(str(wanted))
        if (value := _read_condition(name, root)) != expected:
            raise HostError(f"conditions.{name}", value, expected, _remedy(name, expected))


_NO_RANDOM_LAYOUT = 0x0040000  # ADDR_NO_RANDOMIZE, which child processes inherit


def refuse_fixed_layout(root: Path = Path("/")) -> None:
    """Raise HostError if address layouts are not random, on the machine or for this process and its children."""
    if read(root / "proc/sys/kernel/randomize_va_space") == "0":
        fix = "sysctl kernel.randomize_va_space=2"
        raise HostError("layout", "address randomization is off on this machine", "", fix)
    flags = read(root / "proc/self/personality") or "0"
    if int(flags, 16) & _NO_RANDOM_LAYOUT:
        raise HostError("layout", "address randomization is off for this process", "", "start it without setarch -R")


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
