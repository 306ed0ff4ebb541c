"""What this machine is and does at the moment, with what it means for a measurement."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from scalograph.control.cgroups import read
from scalograph.control.quota import cpu_quota
from scalograph.control.topology import parse_cpu_list
from scalograph.machine.checks import Check
from scalograph.machine.tuning import tuned
from scalograph.protocol.facts import HostFacts
from scalograph.text.cpu_list import format_cpu_list

_GIB = 1 << 30
_BUSY_PERCENT = 5.0
_STOLEN_PERCENT = 1.0
_READ_WITHOUT_A_CALL = (
    "tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter", "timebase", "tod", "riscv_clocksource",
)  # fmt: skip


def examined(facts: HostFacts, root: Path) -> Iterator[Check]:
    """The machine: topology, clocks, what schedules it, what else it does now."""
    yield _topology(facts)
    yield _allowed(facts, root)
    yield from _speeds(facts)
    yield from tuned(facts, root)
    yield _clock(facts)
    yield from _guest(facts)
    yield from _steal(facts, root)
    yield from _quota(facts, root)
    yield _load(facts, root)
    yield _memory(root)
    if facts.kernel_command_line:
        yield Check("kernel command line", "info", " ".join(facts.kernel_command_line))


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" + ("s" if count != 1 else "")


def _topology(facts: HostFacts) -> Check:
    cpus = facts.cpus
    caches = {cpu.l3 for cpu in cpus} - {None}
    parts = [
        _counted(len(cpus), "CPU"),
        _counted(len({cpu.core for cpu in cpus}), "core"),
        _counted(len({cpu.package for cpu in cpus}), "package"),
        _counted(len({cpu.node for cpu in cpus}), "NUMA node"),
        _counted(len(caches), "L3 cache") if caches else "L3 unknown",
    ]
    return Check("topology", "info", ", ".join(parts) + f"; {facts.cpu_model or 'model unknown'}")


def _allowed(facts: HostFacts, root: Path) -> Check:
    try:
        online = parse_cpu_list(read(root / "sys/devices/system/cpu/online") or "")
    except ValueError:
        online = []
    others = sorted(set(online) - {cpu.cpu for cpu in facts.cpus})
    if not others:
        return Check("CPUs", "info", "all that are online" if online else "how many are online is not visible")
    found = f"{facts.n_cpus} of {len(online)} that are online; not ours: {format_cpu_list(others)}"
    why = "all means ours; what runs on the others still shares caches, memory and clock with us"
    return Check("CPUs", "info", found, why, "start without the mask (taskset, cpuset, container) to measure them all")


def _speeds(facts: HostFacts) -> Iterator[Check]:
    speeds = sorted({cpu.max_khz for cpu in facts.cpus if cpu.max_khz})
    if len(speeds) > 1:
        found = " and ".join(f"{khz / 1e6:.1f} GHz" for khz in speeds)
        why = "a step from one kind of core to another looks like bad scaling"
        yield Check("core speeds", "warning", found, why, "make placement a factor, or start with a mask of one kind")


def _clock(facts: HostFacts) -> Check:
    if facts.clocksource is None or facts.clocksource in _READ_WITHOUT_A_CALL:
        return Check("clock", "info", facts.clocksource or "not visible")
    why = "reading this clock takes a system call, which a workload pays for each iteration"
    return Check("clock", "warning", str(facts.clocksource), why, "see why the kernel rejected tsc (dmesg)")


def _guest(facts: HostFacts) -> Iterator[Check]:
    if facts.hypervisor:
        why = "neighbors on the host are seen only as steal time, which each run records"
        fix = "ask for CPUs that are not shared, or make more runs"
        yield Check("hypervisor", "info", facts.hypervisor, why, fix)


def _steal(facts: HostFacts, root: Path) -> Iterator[Check]:
    """Of the time that CPUs were wanted since boot, the part in which the hypervisor ran somebody else."""
    fields = (read(root / "proc/stat") or "").partition("\n")[0].split()
    if len(fields) < 9 or fields[0] != "cpu" or not all(field.isdecimal() for field in fields[1:9]):
        return
    user, nice, system, _idle, _iowait, irq, softirq, steal = map(int, fields[1:9])
    percent = 100 * steal / max(1, user + nice + system + irq + softirq + steal)
    found = f"{percent:.1f} % of the busy time since boot"
    if percent > _STOLEN_PERCENT:
        why = "neighbors on the host take CPUs away in the middle of a run"
        yield Check("steal", "warning", found, why, "ask for CPUs that are not shared, or make more runs")
    elif facts.hypervisor:
        yield Check("steal", "info", found, "" if steal else "not every hypervisor tells")


def _quota(facts: HostFacts, root: Path) -> Iterator[Check]:
    quota = cpu_quota(root)
    if quota is not None and quota < facts.n_cpus:
        found, why = f"{quota:g} of {facts.n_cpus} CPUs", "more threads than that are throttled, not scaled"
        yield Check("CPU quota", "warning", found, why, "lift cpu.max of the cgroup, or start outside the container")


def _load(facts: HostFacts, root: Path) -> Check:
    waiting = re.search(r"^some avg10=([\d.]+)", read(root / "proc/pressure/cpu") or "", re.MULTILINE)
    load = (read(root / "proc/loadavg") or "").split()
    pressure = f"tasks waited for a CPU in {float(waiting[1]):.0f} % of the last 10 s" if waiting else "PSI is off"
    found = f"{pressure}, load {load[0]}" if load else pressure
    busy = float(waiting[1]) > _BUSY_PERCENT if waiting else bool(load) and float(load[0]) > facts.n_cpus / 2
    if not busy:
        return Check("load now", "info", found, "", "" if waiting else "boot with psi=1 to see what waits")
    return Check("load now", "warning", found, "neighbors make runs longer and disturbed", "end them first")


def _memory(root: Path) -> Check:
    lines = (line.partition(":") for line in (read(root / "proc/meminfo") or "").splitlines())
    size = {name: int(rest.split()[0]) * 1024 for name, _, rest in lines if rest.strip()[:1].isdigit()}
    if "MemTotal" not in size or "MemAvailable" not in size:
        return Check("memory", "info", "not visible")
    swapped = size.get("SwapTotal", 0) - size.get("SwapFree", 0)
    found = f"{size['MemAvailable'] / _GIB:.1f} of {size['MemTotal'] / _GIB:.1f} GiB free"
    found += f", {swapped / _GIB:.1f} GiB swapped out" if swapped else ", nothing swapped out"
    if size["MemAvailable"] < size["MemTotal"] / 10:
        return Check("memory", "warning", found, "runs may swap or be killed", "end what takes it")
    if swapped > _GIB // 10:
        return Check("memory", "warning", found, "pages that come back stretch a run", "swapoff -a; swapon -a")
    return Check("memory", "info", found)


def disk(name: str, folder: Path) -> Check:
    """Room for what a study writes: a journal of 100,000 runs takes a few hundred MiB.

    A folder that is not there yet will be on the disk of the nearest that is.
    """
    try:
        folder = next((path for path in (folder, *folder.parents) if path.exists()), folder)
        free = shutil.disk_usage(folder).free
    except OSError as error:
        return Check(name, "warning", f"cannot be read: {error.strerror}", "nothing can be written", "use another")
    found = f"{free / _GIB:.1f} GiB free"
    if free < _GIB:
        return Check(name, "warning", found, "a full disk ends a study at the run that it cannot write", "make room")
    return Check(name, "info", found)
