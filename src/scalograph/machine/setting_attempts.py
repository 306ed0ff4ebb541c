"""Settings of the whole machine attempted: which ones a start may change. Each file is opened, none is written."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from scalograph.control.kernel_files import KERNEL, OnlineCpus
from scalograph.control.scheduler import kernel_says
from scalograph.machine.checks import Check
from scalograph.text.cpu_list import named_cpus

# One of each family that needs no --dangerous; a kernel may lack some.
_SYSCTLS = (
    "vm.swappiness", "kernel.sched_autogroup_enabled", "kernel.numa_balancing", "net.core.somaxconn", "fs.aio-max-nr",
)  # fmt: skip
# Of an idle machine there are many, and none is a disk.
_NO_DISKS = ("loop", "ram", "zram")
_FIX = "run as root and outside of containers, or leave such factors out"


def settings_attempted(root: Path = Path("/")) -> Iterator[Check]:
    """One check for each control of the whole machine.

    Args:
        root: where /proc and /sys are; a recorded tree in tests.
    """
    yield _check("control: sysctl", {name: _file("sysctl", root, name) for name in _SYSCTLS})
    devices = sorted(file.parts[-3] for file in root.glob("sys/block/*/queue/scheduler"))
    disks = [device for device in devices if not device.startswith(_NO_DISKS)]
    yield _check("control: io-scheduler", {name: _file("io-scheduler", root, name) for name in disks})
    yield _check("control: thp", {"always, madvise, never": _file("thp", root, "")})
    yield _check("control: governor", {"as cpupower frequency-info lists them": _file("governor", root, "")})
    yield _check("control: turbo", {"on, off": _file("turbo", root, "")})
    cpus = sorted(root.glob("sys/devices/system/cpu/cpu[0-9]*/online"), key=lambda file: int(file.parts[-2][3:]))
    numbers = named_cpus(int(file.parts[-2][3:]) for file in cpus)
    yield _check("control: online", {numbers: cpus[0]} if cpus else {})


def _file(kind: str, root: Path, name: str) -> Path:
    place = KERNEL[kind].place(root, name)
    assert not isinstance(place, OnlineCpus)
    return place.path


def _check(name: str, files: Mapping[str, Path]) -> Check:
    """Tell which of these are granted, and why others are not."""
    there = {what: _refusal(file) for what, file in files.items() if file.exists()}
    granted = [what for what, why in there.items() if why is None]
    refused = {what: why for what, why in there.items() if why is not None}
    if not there:
        return Check(name, "info", "nothing to set: this kernel or machine has none")
    if not granted:
        return Check(name, "refused", ", ".join(there), "; ".join(sorted(set(refused.values()))), _FIX)
    why = "; ".join(f"not {what}: {why}" for what, why in refused.items())
    return Check(name, "granted", f"{', '.join(granted)}, with --machine-wide", why)


def _refusal(file: Path) -> str | None:
    try:
        os.close(os.open(file, os.O_WRONLY | os.O_CLOEXEC))
    except OSError as error:
        return kernel_says(error)
    return None
