"""Checks of what this machine is and does at the moment, with what it means for a measurement."""

import os
import re
import shlex
import shutil
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Literal

from scalograph.control.capacity import cpu_quota
from scalograph.control.kernel_files import KERNEL, OnlineCpus
from scalograph.protocol.facts import HostFacts
from scalograph.system.cgroups import read
from scalograph.system.topology import parse_cpu_list
from scalograph.text.format import format_cpu_list
from scalograph.text.quantities import count_noun

Status = Literal["granted", "refused", "warning", "info"]


@dataclass(frozen=True)
class Check:
    """One result; for a refusal or a warning why it matters, what to do about it, and the command that does it."""

    name: str
    status: Status
    found: str
    why: str = ""
    fix: str = ""
    command: str = ""


@dataclass(frozen=True)
class Report:
    """All checks, in the order in which a person reads them."""

    checks: tuple[Check, ...]


# What answers in place of a machine that cannot be made better: more runs average over what changes.
MORE_RUNS = "scalograph measure --runs 30 -- ./prog"
_CPUS = "sys/devices/system/cpu"
_LAYOUTS = {"0": "off", "1": "without the heap", "2": "on"}
# What moves interrupts between CPUs.
_BALANCER = "irqbalance"


def root_command(command: str, file: Path | None = None) -> str:
    """Return a command as this user may call it; empty where even root may not write to the file it sets."""
    if os.geteuid() == 0:
        return command if file is None or os.access(file, os.W_OK) else ""
    return f"sudo sh -c '{command}'" if " > " in command or "&&" in command else f"sudo {command}"


def check_tuning(facts: HostFacts, root: Path) -> Iterator[Check]:
    """Yield a check for each setting that this machine has."""
    yield from _smt(facts, root)
    yield _governor(facts, root)
    yield from _turbo(root)
    yield _autogroup(facts, root)
    yield _accounting(facts)
    yield from _huge_pages(root)
    yield from _layout(root)
    yield from _balancer(root)


def _smt(facts: HostFacts, root: Path) -> Iterator[Check]:
    if len({cpu.core for cpu in facts.cpus}) < len(facts.cpus):
        reason = "two CPUs of one core share it, so a CPU beyond the cores adds only a fraction"
        fix = "make placement a factor: one-per-core against siblings"
        if (root / _CPUS / "smt/control").exists():
            fix += f"; off: echo off > /{_CPUS}/smt/control"
        yield Check("SMT", "info", "on", reason, fix)


def _governor(facts: HostFacts, root: Path) -> Check:
    if facts.governor is None:
        return Check("governor", "info", "not visible", "no frequency control here, as in most guests")
    if facts.governor == "performance":
        return Check("governor", "info", "performance")
    reason = "the clock follows the load, so the start of a run is slower"
    fix = 'set the governor to performance (for one study: control = "governor")'
    command = root_command("cpupower frequency-set -g performance", root / _CPUS / "cpu0/cpufreq/scaling_governor")
    return Check("governor", "warning", facts.governor, reason, fix, command)


def _turbo(root: Path) -> Iterator[Check]:
    switch = KERNEL["turbo"].place(root, "")
    assert not isinstance(switch, OnlineCpus)
    try:
        value = switch.value()
    except OSError:
        return
    if value == "on":
        reason = "few busy cores run faster than many, so scaling looks worse than it is"
        off = "1" if switch.path.name == "no_turbo" else "0"
        fix = 'turn off turbo (for one study: control = "turbo")'
        command = root_command(f"echo {off} > /{switch.path.relative_to(root)}", switch.path)
        yield Check("turbo", "warning", "on", reason, fix, command)


def _accounting(facts: HostFacts) -> Check:
    words = {"precise": "measured", "ticks": "sampled at the tick", None: "not visible"}[facts.cpu_accounting]
    if facts.cpu_accounting != "ticks":
        return Check("user and system time", "info", words)
    reason = "total CPU time is exact; how it divides into user and system time is a sample"
    fix = "compare total CPU time; a kernel with CONFIG_VIRT_CPU_ACCOUNTING_GEN and nohz_full measures both"
    return Check("user and system time", "info", words, reason, fix)


def _autogroup(facts: HostFacts, root: Path) -> Check:
    if not facts.autogroup:
        return Check("autogroup", "info", "not visible" if facts.autogroup is None else "off")
    reason = "beside another busy session, many threads get no more CPU time than one"
    command = root_command("sysctl kernel.sched_autogroup_enabled=0", root / "proc/sys/kernel/sched_autogroup_enabled")
    return Check("autogroup", "warning", "on", reason, "turn off autogroup scheduling, or end other sessions", command)


def _huge_pages(root: Path) -> Iterator[Check]:
    try:
        mode = KERNEL["thp"].place(root, "").value()
    except OSError:
        return
    reason = "which memory gets them depends on what is free, so runs of one program may differ"
    fix = 'set huge pages to madvise (for one study: control = "thp")'
    command = root_command("echo madvise > /sys/kernel/mm/transparent_hugepage/enabled")
    yield Check("huge pages", "info", mode, *((reason, fix, command) if mode == "always" else ()))


def _layout(root: Path) -> Iterator[Check]:
    held = read(root / "proc/sys/kernel/randomize_va_space")
    if held == "2":
        yield Check("memory layout", "info", "random in each run")
    elif held in _LAYOUTS:
        reason = "all runs share one memory layout, so its effect looks like the program's"
        state, command = f"randomization {_LAYOUTS[held]}", "sysctl kernel.randomize_va_space=2"
        command = root_command(command, root / "proc/sys/kernel/randomize_va_space")
        yield Check("memory layout", "warning", state, reason, "randomize the memory layout", command)


def _balancer(root: Path) -> Iterator[Check]:
    """Yield a check if irqbalance runs, by process names, which any user may read."""
    if any(read(file) == _BALANCER for file in root.glob("proc/[0-9]*/comm")):
        reason, fix = "it moves interrupts between CPUs during runs", f"stop {_BALANCER}, and start it afterwards"
        yield Check("interrupts", "info", f"{_BALANCER} runs", reason, fix, root_command(f"systemctl stop {_BALANCER}"))


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


def _topology(facts: HostFacts) -> Check:
    cpus = facts.cpus
    caches = {cpu.l3 for cpu in cpus} - {None}
    parts = [
        count_noun(len(cpus), "CPU"),
        count_noun(len({cpu.core for cpu in cpus}), "core"),
        count_noun(len({cpu.package for cpu in cpus}), "package"),
        count_noun(len({cpu.node for cpu in cpus}), "NUMA node"),
        count_noun(len(caches), "L3 cache") if caches else "L3 unknown",
    ]
    return Check("topology", "info", ", ".join(parts) + f"; {facts.cpu_model or 'model unknown'}")


def _allowed_cpus(facts: HostFacts, root: Path) -> Check:
    try:
        online = parse_cpu_list(read(root / "sys/devices/system/cpu/online") or "")
    except ValueError:
        online = []
    others = sorted(set(online) - {cpu.cpu for cpu in facts.cpus})
    if not others:
        n = count_noun(facts.n_cpus, "CPU")
        return Check("CPUs", "info", f"{n} usable, all that are online" if online else f"{n} usable")
    state = f"{facts.n_cpus} of {len(online)} online CPUs usable; not usable: {format_cpu_list(others)}"
    reason = '"all" means the usable CPUs; programs on the others share caches and memory with them'
    return Check("CPUs", "info", state, reason, "start without the mask (taskset, cpuset, container) to use them all")


def _speeds(facts: HostFacts) -> Iterator[Check]:
    speeds = sorted({cpu.max_khz for cpu in facts.cpus if cpu.max_khz})
    if len(speeds) > 1:
        clocks = " and ".join(f"{khz / 1e6:.1f} GHz" for khz in speeds)
        reason = "a step from one kind of core to another looks like bad scaling"
        fastest = format_cpu_list(cpu.cpu for cpu in facts.cpus if cpu.max_khz == speeds[-1])
        fix, command = "use cores of one kind, or make placement a factor", f"taskset -c {fastest} {MORE_RUNS}"
        yield Check("core speeds", "warning", clocks, reason, fix, command)


def _clock(facts: HostFacts) -> Check:
    if facts.clocksource is None or facts.clocksource in _READ_WITHOUT_A_CALL:
        return Check("clock", "info", facts.clocksource or "not visible")
    reason = "reading this clock takes a system call, which a workload pays for each iteration"
    fix = "find out why the kernel rejected the clock tsc"
    return Check("clock", "warning", str(facts.clocksource), reason, fix, root_command("dmesg | grep -i tsc"))


def _guest(facts: HostFacts) -> Iterator[Check]:
    if facts.hypervisor:
        reason = "other guests are visible only as CPU steal, which each run records"
        yield Check("hypervisor", "info", facts.hypervisor, reason, "use CPUs that are not shared, or make more runs")


def _steal(facts: HostFacts, root: Path) -> Iterator[Check]:
    """Yield a check of CPU steal: its part of the time that CPUs were wanted since boot."""
    fields = (read(root / "proc/stat") or "").partition("\n")[0].split()
    if len(fields) < 9 or fields[0] != "cpu" or not all(field.isdecimal() for field in fields[1:9]):
        return
    user, nice, system, _idle, _iowait, irq, softirq, steal = map(int, fields[1:9])
    percent = 100 * steal / max(1, user + nice + system + irq + softirq + steal)
    share = f"{percent:.1f}% of the busy time since boot"
    if percent > _STOLEN_PERCENT:
        reason, fix = "other guests take CPU time during runs", "make more runs, or use CPUs that are not shared"
        yield Check("steal", "warning", share, reason, fix, MORE_RUNS)
    elif facts.hypervisor:
        yield Check("steal", "info", share, "" if steal else "not every hypervisor reports it")


def _quota(facts: HostFacts, root: Path) -> Iterator[Check]:
    quota = cpu_quota(root)
    if quota is not None and quota < facts.n_cpus:
        limit, reason = f"{quota:g} of {facts.n_cpus} CPUs", "threads beyond it are throttled"
        fix = "measure no more CPUs than the quota, or lift it"
        command = f"scalograph measure --cpus 1:{max(1, int(quota))} -- ./prog"
        yield Check("CPU quota", "warning", limit, reason, fix, command)


def _load(facts: HostFacts, root: Path) -> Check:
    waiting = re.search(r"^some avg10=([\d.]+)", read(root / "proc/pressure/cpu") or "", re.MULTILINE)
    load = (read(root / "proc/loadavg") or "").split()
    pressure = f"tasks waited for a CPU {float(waiting[1]):.0f}% of the last 10 s" if waiting else "PSI is off"
    state = f"{pressure}, load {load[0]}" if load else pressure
    busy = float(waiting[1]) > _BUSY_PERCENT if waiting else bool(load) and float(load[0]) > facts.n_cpus / 2
    if not busy:
        return Check("load now", "info", state, "", "" if waiting else "boot with psi=1 to see what waits")
    return Check(
        "load now", "warning", state, "other programs lengthen runs, which are then excluded", "stop other programs",
        "ps -eo pcpu,pid,user,args --sort=-pcpu | head",
    )  # fmt: skip


def _memory(root: Path) -> Check:
    lines = (line.partition(":") for line in (read(root / "proc/meminfo") or "").splitlines())
    size = {name: int(rest.split()[0]) * 1024 for name, _, rest in lines if rest.strip()[:1].isdigit()}
    if "MemTotal" not in size or "MemAvailable" not in size:
        return Check("memory", "info", "not visible")
    swapped = size.get("SwapTotal", 0) - size.get("SwapFree", 0)
    state = f"{size['MemAvailable'] / _GIB:.1f} of {size['MemTotal'] / _GIB:.1f} GiB free"
    state += f", {swapped / _GIB:.1f} GiB swapped out" if swapped else ", nothing swapped out"
    if size["MemAvailable"] < size["MemTotal"] / 10:
        command = "ps -eo rss,pid,user,args --sort=-rss | head"
        return Check("memory", "warning", state, "runs may swap or be killed", "stop what uses the memory", command)
    if swapped > _GIB // 10:
        fix, command = "bring swapped memory back", root_command("swapoff -a && swapon -a")
        return Check("memory", "warning", state, "pages that come back lengthen a run", fix, command)
    return Check("memory", "info", state)


def check_disk(name: str, folder: Path) -> Check:
    """Check the room for what a study writes: a journal of 100,000 runs takes a few hundred MiB.

    A folder that is not there yet will be on the disk of the nearest that is.
    """
    try:
        folder = next((path for path in (folder, *folder.parents) if path.exists()), folder)
        free = shutil.disk_usage(folder).free
    except OSError as error:
        return Check(name, "warning", f"cannot be read: {error.strerror}", "nothing can be written", "use another disk")
    space = f"{free / _GIB:.1f} GiB free"
    if free < _GIB:
        reason, fix = "a study ends when the disk is full", "free some space"
        return Check(name, "warning", space, reason, fix, f"df -h {shlex.quote(str(folder))}")
    return Check(name, "info", space)


# Another guest on the other thread of a core takes no CPU time, and no task waits: only the work itself shows it.
# Slices of some 5 ms, over three seconds: phases last from 10 ms to minutes.
N_SLICES, STEPS, PAUSE_S = 60, 50_000, 0.03
# A slice that takes so many times the CPU time of the fastest is slow; other programs on the CPU move it less.
SLOW = 1.2
# Fewer slow ones are timer ticks and cold caches.
LEAST_SHARE = 0.05
Slices = Mapping[int, Sequence[float]]


def time_slices(cpus: Collection[int]) -> Slices:
    """Time slices of the same work, in seconds of CPU time, on the first and the last of these CPUs."""
    ordered, slices = sorted(cpus), dict[int, list[float]]()
    mask = os.sched_getaffinity(0)
    try:
        for _ in range(N_SLICES):
            for cpu in {*ordered[:1], *ordered[-1:]}:
                os.sched_setaffinity(0, {cpu})
                _slice(STEPS // 4)  # a CPU that was idle is not at its speed yet
                slices.setdefault(cpu, []).append(_slice(STEPS))
            time.sleep(PAUSE_S)
    except OSError:  # a CPU that was taken away meanwhile
        pass
    finally:
        os.sched_setaffinity(0, mask)
    return slices


def _slice(steps: int) -> float:
    x, began = 1, time.thread_time()
    for _ in range(steps):
        x = x * 1103515245 + 12345 & 0x7FFFFFFF
    return time.thread_time() - began


def slow_share(slices: Sequence[float], fastest: float) -> tuple[float, float]:
    """Return the share of slices that were slow, and how many times the fastest one these took (1 if there are none).

    >>> slow_share([2.0] * 60 + [3.0] * 40, 2.0)
    (0.4, 1.5)
    """
    slow = [seconds for seconds in slices if seconds > SLOW * fastest]
    return len(slow) / len(slices), median(slow) / fastest if slow else 1.0


def check_speed(slices: Slices, is_guest: bool, are_alike: bool = True) -> Check:
    """Check whether these CPUs kept their speed. In a guest a hypervisor may give the core to others.

    `are_alike` says that all CPUs are of one kind, so that one that was slow all the time shows beside another.
    """
    best = {cpu: min(times) for cpu, times in slices.items()}
    if are_alike:
        best = dict.fromkeys(best, min(best.values()))
    name, shares = "CPU speed", {cpu: slow_share(times, best[cpu]) for cpu, times in slices.items()}
    changing = {cpu: each for cpu, each in shares.items() if each[0] >= LEAST_SHARE}
    if not changing:
        return Check(name, "info", f"steady: CPU {format_cpu_list(shares)} did equal work in equal time")
    parts = [
        f"{times:.1f} times as long in {100 * share:.0f}% of {len(slices[cpu])} slices on CPU {cpu}"
        for cpu, (share, times) in changing.items()
    ]
    cause = "another guest on the same core" if is_guest else "the clock, or the core's other thread"
    reason = f"no counter shows it, so clean runs differ by as much; probable cause: {cause}"
    fix = "make more runs, or use a machine that shares no core"
    return Check(name, "warning", f"the same work takes {', '.join(parts)}", reason, fix, MORE_RUNS)
