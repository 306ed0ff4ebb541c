"""Checks of what this machine is and does at the moment, with what it means for a measurement."""

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from scalograph.control.capacity import cpu_quota
from scalograph.control.kernel_files import KERNEL, OnlineCpus
from scalograph.protocol.facts import HostFacts
from scalograph.system.cgroups import read
from scalograph.system.topology import parse_cpu_list
from scalograph.text.format import format_cpu_list

Status = Literal["granted", "refused", "warning", "info"]


@dataclass(frozen=True)
class Check:
    """One result; for a refusal or a warning why it matters and what to do about it."""

    name: str
    status: Status
    found: str
    why: str = ""
    fix: str = ""


@dataclass(frozen=True)
class Report:
    """All checks, in the order in which a person reads them."""

    checks: tuple[Check, ...]


_CPUS = "sys/devices/system/cpu"
_LAYOUTS = {"0": "off", "1": "without the heap", "2": "on"}
# What moves interrupts between CPUs.
_BALANCER = "irqbalance"


def check_tuning(facts: HostFacts, root: Path) -> Iterator[Check]:
    """Yield a check for each setting that this machine has."""
    yield from _smt(facts, root)
    yield _governor(facts)
    yield from _turbo(root)
    yield _autogroup(facts)
    yield from _huge_pages(root)
    yield from _layout(root)
    yield from _balancer(root)


def _smt(facts: HostFacts, root: Path) -> Iterator[Check]:
    if len({cpu.core for cpu in facts.cpus}) < len(facts.cpus):
        reason = "two CPUs of one core share it: beyond the cores, a CPU more is worth a fraction"
        fix = "make placement a factor: one-per-core against siblings"
        if (root / _CPUS / "smt/control").exists():
            fix += f"; off: echo off > /{_CPUS}/smt/control"
        yield Check("SMT", "info", "on", reason, fix)


def _governor(facts: HostFacts) -> Check:
    if facts.governor is None:
        return Check("governor", "info", "not visible", "no frequency control here, as in most guests")
    if facts.governor == "performance":
        return Check("governor", "info", "performance")
    reason = "the clock follows the load: the first moments of a run are slower"
    fix = "cpupower frequency-set -g performance; for a study alone: a factor of control governor"
    return Check("governor", "warning", facts.governor, reason, fix)


def _turbo(root: Path) -> Iterator[Check]:
    switch = KERNEL["turbo"].place(root, "")
    assert not isinstance(switch, OnlineCpus)
    try:
        value = switch.value()
    except OSError:
        return
    if value == "on":
        reason = "few busy cores run faster than many: one thread looks too good, and scaling too bad"
        off = "1" if switch.path.name == "no_turbo" else "0"
        fix = f"echo {off} > /{switch.path.relative_to(root)}; for a study alone: a factor of control turbo"
        yield Check("turbo", "warning", "on", reason, fix)


def _autogroup(facts: HostFacts) -> Check:
    if not facts.autogroup:
        return Check("autogroup", "info", "not visible" if facts.autogroup is None else "off")
    reason = "each session is one scheduling group: beside a busy one, many threads get no larger share than one"
    return Check("autogroup", "warning", "on", reason, "sysctl kernel.sched_autogroup_enabled=0, or no neighbors")


def _huge_pages(root: Path) -> Iterator[Check]:
    try:
        mode = KERNEL["thp"].place(root, "").value()
    except OSError:
        return
    reason = "which memory gets them depends on what is free at the moment: runs of one program may differ"
    fix = "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled; for a study alone: a factor of control thp"
    yield Check("huge pages", "info", mode, *((reason, fix) if mode == "always" else ()))


def _layout(root: Path) -> Iterator[Check]:
    held = read(root / "proc/sys/kernel/randomize_va_space")
    if held == "2":
        yield Check("memory layout", "info", "random in each run")
    elif held in _LAYOUTS:
        reason = "all runs have one layout of memory: what it does to them looks like what the program does"
        state = f"randomization {_LAYOUTS[held]}"
        yield Check("memory layout", "warning", state, reason, "sysctl kernel.randomize_va_space=2")


def _balancer(root: Path) -> Iterator[Check]:
    """Yield a check if irqbalance runs, by process names, which any user may read."""
    if any(read(file) == _BALANCER for file in root.glob("proc/[0-9]*/comm")):
        reason = "it moves interrupts from one CPU to another while runs are made"
        fix = f"systemctl stop {_BALANCER}, and start it afterwards"
        yield Check("interrupts", "info", f"{_BALANCER} runs", reason, fix)


_GIB = 1 << 30
_BUSY_PERCENT = 5.0
_STOLEN_PERCENT = 1.0
_READ_WITHOUT_A_CALL = (
    "tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter", "timebase", "tod", "riscv_clocksource",
)  # fmt: skip


def check_machine(facts: HostFacts, root: Path) -> Iterator[Check]:
    """Yield checks of the machine: topology, clocks, scheduling, and its current load."""
    yield _topology(facts)
    yield _allowed_cpus(facts, root)
    yield from _speeds(facts)
    yield from check_tuning(facts, root)
    yield _clock(facts)
    yield from _guest(facts)
    yield from _steal(facts, root)
    yield from _quota(facts, root)
    yield _load(facts, root)
    yield _memory(root)
    if facts.kernel_command_line:
        yield Check("kernel command line", "info", " ".join(facts.kernel_command_line))


def _count(count: int, noun: str) -> str:
    return f"{count} {noun}" + ("s" if count != 1 else "")


def _topology(facts: HostFacts) -> Check:
    cpus = facts.cpus
    caches = {cpu.l3 for cpu in cpus} - {None}
    parts = [
        _count(len(cpus), "CPU"),
        _count(len({cpu.core for cpu in cpus}), "core"),
        _count(len({cpu.package for cpu in cpus}), "package"),
        _count(len({cpu.node for cpu in cpus}), "NUMA node"),
        _count(len(caches), "L3 cache") if caches else "L3 unknown",
    ]
    return Check("topology", "info", ", ".join(parts) + f"; {facts.cpu_model or 'model unknown'}")


def _allowed_cpus(facts: HostFacts, root: Path) -> Check:
    try:
        online = parse_cpu_list(read(root / "sys/devices/system/cpu/online") or "")
    except ValueError:
        online = []
    others = sorted(set(online) - {cpu.cpu for cpu in facts.cpus})
    if not others:
        return Check("CPUs", "info", "all that are online" if online else "how many are online is not visible")
    state = f"{facts.n_cpus} of {len(online)} that are online; not ours: {format_cpu_list(others)}"
    reason = "all means ours; what runs on the others still shares caches, memory and clock with us"
    return Check(
        "CPUs", "info", state, reason, "start without the mask (taskset, cpuset, container) to measure them all"
    )


def _speeds(facts: HostFacts) -> Iterator[Check]:
    speeds = sorted({cpu.max_khz for cpu in facts.cpus if cpu.max_khz})
    if len(speeds) > 1:
        clocks = " and ".join(f"{khz / 1e6:.1f} GHz" for khz in speeds)
        reason = "a step from one kind of core to another looks like bad scaling"
        yield Check(
            "core speeds", "warning", clocks, reason, "make placement a factor, or start with a mask of one kind"
        )


def _clock(facts: HostFacts) -> Check:
    if facts.clocksource is None or facts.clocksource in _READ_WITHOUT_A_CALL:
        return Check("clock", "info", facts.clocksource or "not visible")
    reason = "reading this clock takes a system call, which a workload pays for each iteration"
    return Check("clock", "warning", str(facts.clocksource), reason, "see why the kernel rejected tsc (dmesg)")


def _guest(facts: HostFacts) -> Iterator[Check]:
    if facts.hypervisor:
        reason = "neighbors on the host are seen only as steal time, which each run records"
        fix = "ask for CPUs that are not shared, or make more runs"
        yield Check("hypervisor", "info", facts.hypervisor, reason, fix)


def _steal(facts: HostFacts, root: Path) -> Iterator[Check]:
    """Yield a check of CPU steal: its part of the time that CPUs were wanted since boot."""
    fields = (read(root / "proc/stat") or "").partition("\n")[0].split()
    if len(fields) < 9 or fields[0] != "cpu" or not all(field.isdecimal() for field in fields[1:9]):
        return
    user, nice, system, _idle, _iowait, irq, softirq, steal = map(int, fields[1:9])
    percent = 100 * steal / max(1, user + nice + system + irq + softirq + steal)
    share = f"{percent:.1f} % of the busy time since boot"
    if percent > _STOLEN_PERCENT:
        reason = "neighbors on the host take CPUs away in the middle of a run"
        yield Check("steal", "warning", share, reason, "ask for CPUs that are not shared, or make more runs")
    elif facts.hypervisor:
        yield Check("steal", "info", share, "" if steal else "not every hypervisor tells")


def _quota(facts: HostFacts, root: Path) -> Iterator[Check]:
    quota = cpu_quota(root)
    if quota is not None and quota < facts.n_cpus:
        limit, reason = f"{quota:g} of {facts.n_cpus} CPUs", "more threads than that are throttled, not scaled"
        yield Check("CPU quota", "warning", limit, reason, "lift cpu.max of the cgroup, or start outside the container")


def _load(facts: HostFacts, root: Path) -> Check:
    waiting = re.search(r"^some avg10=([\d.]+)", read(root / "proc/pressure/cpu") or "", re.MULTILINE)
    load = (read(root / "proc/loadavg") or "").split()
    pressure = f"tasks waited for a CPU in {float(waiting[1]):.0f} % of the last 10 s" if waiting else "PSI is off"
    state = f"{pressure}, load {load[0]}" if load else pressure
    busy = float(waiting[1]) > _BUSY_PERCENT if waiting else bool(load) and float(load[0]) > facts.n_cpus / 2
    if not busy:
        return Check("load now", "info", state, "", "" if waiting else "boot with psi=1 to see what waits")
    return Check("load now", "warning", state, "neighbors make runs longer and disturbed", "end them first")


def _memory(root: Path) -> Check:
    lines = (line.partition(":") for line in (read(root / "proc/meminfo") or "").splitlines())
    size = {name: int(rest.split()[0]) * 1024 for name, _, rest in lines if rest.strip()[:1].isdigit()}
    if "MemTotal" not in size or "MemAvailable" not in size:
        return Check("memory", "info", "not visible")
    swapped = size.get("SwapTotal", 0) - size.get("SwapFree", 0)
    state = f"{size['MemAvailable'] / _GIB:.1f} of {size['MemTotal'] / _GIB:.1f} GiB free"
    state += f", {swapped / _GIB:.1f} GiB swapped out" if swapped else ", nothing swapped out"
    if size["MemAvailable"] < size["MemTotal"] / 10:
        return Check("memory", "warning", state, "runs may swap or be killed", "end what takes it")
    if swapped > _GIB // 10:
        return Check("memory", "warning", state, "pages that come back stretch a run", "swapoff -a; swapon -a")
    return Check("memory", "info", state)


def check_disk(name: str, folder: Path) -> Check:
    """Check the room for what a study writes: a journal of 100,000 runs takes a few hundred MiB.

    A folder that is not there yet will be on the disk of the nearest that is.
    """
    try:
        folder = next((path for path in (folder, *folder.parents) if path.exists()), folder)
        free = shutil.disk_usage(folder).free
    except OSError as error:
        return Check(name, "warning", f"cannot be read: {error.strerror}", "nothing can be written", "use another")
    space = f"{free / _GIB:.1f} GiB free"
    if free < _GIB:
        return Check(name, "warning", space, "a full disk ends a study at the run that it cannot write", "make room")
    return Check(name, "info", space)
