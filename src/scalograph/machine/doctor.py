"""Check what this machine supports, what it does not, and what to do about it. Reads and attempts; changes nothing."""

import os
import re
import shlex
import shutil
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial
from math import ceil
from pathlib import Path
from types import MappingProxyType
from typing import Any

from scalograph.control import capacity, isolation, memory, tasks
from scalograph.control.capacity import MIN_QUOTA_CPUS, PERIOD_US, cgroup_version
from scalograph.control.ext_scheduler import END_IT, OTHER, SCHEDULER
from scalograph.control.ext_scheduler import FIX as NO_EXT
from scalograph.control.isolation import Refusal
from scalograph.control.kernel_files import KERNEL, OnlineCpus
from scalograph.control.placement import PLACEMENTS, count_available
from scalograph.control.scheduler import EXT, EXT_FIX, NEGATIVE_NICE, REAL_TIME, attempt, format_kernel_error
from scalograph.errors import HostError
from scalograph.machine.examine import (
    Check,
    Report,
    Slices,
    Status,
    check_disk,
    check_machine,
    check_speed,
    root_command,
)
from scalograph.protocol.facts import HostFacts
from scalograph.protocol.noise_floor import SavedNoise, read_noise
from scalograph.system.cgroups import CPU_TIME
from scalograph.system.private_dir import cache_folder
from scalograph.system.runtimes import RUNTIMES
from scalograph.text.format import format_cpu_list, named_cpus
from scalograph.text.quantities import two_digits

_PRIVILEGE = "run as root or with CAP_SYS_NICE, or leave out such levels"


def check_controls(facts: HostFacts, isolation: Refusal | None, quota: Refusal | str) -> Iterator[Check]:
    """Yield a check for each control of a run. Each attempt is made in a thread of its own, and ends with it.

    `isolation` is why exclusive CPUs are refused; `quota` why quotas are, or what they are set with.
    """
    yield _cpus(facts)
    yield _placement(facts)
    granted = "exclusive CPUs by a cgroup v2 partition, made when a run asks for it"
    yield _control("isolation", isolation, "shared only", granted)
    period = f"periods of {PERIOD_US / 1000:g} ms"
    granted = f"{MIN_QUOTA_CPUS} to {facts.n_cpus} CPUs' worth of time in {period}, by {quota}"
    yield _control("quota", quota if isinstance(quota, Refusal) else None, "none", granted)
    yield _batch_and_idle()
    ext = Refusal(reason, EXT_FIX) if (reason := facts.refused.get(EXT)) else None
    yield _control("policy ext", ext, "only the kernel's own scheduler", "a sched_ext scheduler is running")
    yield _scheduler(facts)
    limited, nice = facts.refused.get(REAL_TIME, ""), facts.granted_nice
    refusal = None if facts.granted_priority else Refusal(limited, _PRIVILEGE)
    granted = f"priority 1 to {facts.granted_priority}"
    yield _control("policy fifo and rr", refusal, "no real-time policy", granted, limited)
    limited = facts.refused.get(NEGATIVE_NICE, "")
    yield _control(
        "nice", None if nice < 0 else Refusal(limited, _PRIVILEGE), f"{nice} to 19 only", f"{nice} to 19", limited
    )


def _cpus(facts: HostFacts) -> Check:
    reasons = {cpu.cpu: attempt(partial(os.sched_setaffinity, 0, (cpu.cpu,))) for cpu in facts.cpus}
    name = "control: cpus"
    if refused := {cpu: reason for cpu, reason in reasons.items() if reason}:
        missing, reason = f"CPUs {format_cpu_list(refused)} not usable", "; ".join(sorted(set(refused.values())))
        command = f"taskset -c {format_cpu_list(reasons.keys() - refused)} scalograph doctor"
        return Check(name, "refused", missing, reason, "start scalograph on the other CPUs", command)
    return Check(name, "granted", f"1 to {facts.n_cpus}, each CPU alone")


def _placement(facts: HostFacts) -> Check:
    counts = {placement: count_available(placement, facts.cpus) for placement in PLACEMENTS}
    limits = ", ".join(f"{placement} up to {count}" for placement, count in counts.items() if count)
    reason = "" if counts["siblings"] else "no siblings: no core has two CPUs that we may use"
    return Check("control: placement", "granted", limits, reason)


def _control(name: str, refusal: Refusal | None, refused: str, granted: str, limited: str = "") -> Check:
    """Check a control by why it is refused; `limited` is why no more of it is granted."""
    if refusal:
        return Check(f"control: {name}", "refused", refused, refusal.why, refusal.fix)
    return Check(f"control: {name}", "granted", granted, limited)


def _batch_and_idle() -> Check:
    def switch_and_return(policy: int) -> None:
        os.sched_setscheduler(0, policy, os.sched_param(0))
        # An idle thread might wait long for its end on a busy machine; back from idle not everybody may.
        with suppress(PermissionError):
            os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))

    name = "control: policy batch and idle"
    for policy in (os.SCHED_BATCH, os.SCHED_IDLE):
        if reason := attempt(partial(switch_and_return, policy)):
            return Check(name, "refused", "not available", reason, "allow sched_setscheduler where seccomp filters it")
    return Check(name, "granted", "batch, idle")


def _scheduler(facts: HostFacts) -> Check:
    name = "control: scheduler"
    if reason := facts.refused.get(SCHEDULER):
        return Check(name, "refused", "only the kernel's own", reason, NO_EXT)
    if reason := facts.refused.get(OTHER):
        return Check(name, "refused", "only the one that is running", reason, END_IT)
    if not facts.schedulers:
        return Check(name, "info", "no program of sched_ext on PATH", "", "install one, such as scx_simple")
    programs = f"the kernel has sched_ext; programs: {', '.join(facts.schedulers)}"
    return Check(name, "info", programs, "not started, since it would change the whole machine")


# One of each family that needs no --dangerous; a kernel may lack some.
_SYSCTLS = (
    "vm.swappiness", "kernel.sched_autogroup_enabled", "kernel.numa_balancing", "net.core.somaxconn", "fs.aio-max-nr",
)  # fmt: skip
# Of an idle machine there are many, and none is a disk.
_NO_DISKS = ("loop", "ram", "zram")
_FIX = "run as root outside containers, or leave out such factors"


def check_machine_settings(root: Path = Path("/")) -> Iterator[Check]:
    """Yield a check for each control of the whole machine, or of a recorded tree."""
    yield _check_files("control: sysctl", {name: _file("sysctl", root, name) for name in _SYSCTLS})
    devices = sorted(file.parts[-3] for file in root.glob("sys/block/*/queue/scheduler"))
    disks = [device for device in devices if not device.startswith(_NO_DISKS)]
    yield _check_files("control: io-scheduler", {name: _file("io-scheduler", root, name) for name in disks})
    yield _check_files("control: thp", {"always, madvise, never": _file("thp", root, "")})
    yield _check_files("control: governor", {"as cpupower frequency-info lists them": _file("governor", root, "")})
    yield _check_files("control: turbo", {"on, off": _file("turbo", root, "")})
    cpus = sorted(root.glob("sys/devices/system/cpu/cpu[0-9]*/online"), key=lambda file: int(file.parts[-2][3:]))
    numbers = named_cpus(int(file.parts[-2][3:]) for file in cpus)
    yield _check_files("control: online", {numbers: cpus[0]} if cpus else {})


def _file(kind: str, root: Path, name: str) -> Path:
    file = KERNEL[kind].place(root, name)
    assert not isinstance(file, OnlineCpus)
    return file.path


def _check_files(name: str, files: Mapping[str, Path]) -> Check:
    """Check which of these files can be written, and why others cannot."""
    there = {what: _refusal(file) for what, file in files.items() if file.exists()}
    granted = [what for what, reason in there.items() if reason is None]
    refused = {what: reason for what, reason in there.items() if reason is not None}
    if not there:
        return Check(name, "info", "this kernel or machine has none")
    if not granted:
        return Check(name, "refused", ", ".join(there), "; ".join(sorted(set(refused.values()))), _FIX)
    reason = "; ".join(f"not {what}: {reason}" for what, reason in refused.items())
    return Check(name, "granted", f"{', '.join(granted)}, with --machine-wide", reason)


def _refusal(file: Path) -> str | None:
    try:
        os.close(os.open(file, os.O_WRONLY | os.O_CLOEXEC))
    except OSError as error:
        return format_kernel_error(error)
    return None


_PROGRAMS = {
    "cc": ("C workloads need a compiler", "gcc"),
    "javac": ("Java workloads need a compiler", "openjdk-17-jdk-headless"),
}


def examine(
    facts: HostFacts, probe_capabilities: Mapping[str, Any], root: Path = Path("/"),
    environ: Mapping[str, str] = os.environ, folder: Path = Path(), slices: Slices | None = None,
    has_probe: bool = True, believed: Mapping[str, int] = MappingProxyType({}),
) -> Report:  # fmt: skip
    """Examine a machine, or a recorded tree of one below `root`.

    `probe_capabilities` are the output of `scalograph-probe --capabilities` (protocol/probe.md); `folder` is where
    results will be written; `slices` are of known work on some CPUs, by `time_slices`, None skips that check. With
    `has_probe` the compiled probe was found, and no Python stands for it. `believed` is how many CPUs each installed
    runtime sees, where a quota holds.
    """
    are_alike = len({cpu.max_khz for cpu in facts.cpus}) == 1
    quota = capacity.find_quota_refusal(root) or cgroup_version(CPU_TIME, root)
    granted = "by a cgroup of our own, made when a run asks for it"
    checks = (
        *check_machine(facts, root),
        *([check_speed(slices, facts.hypervisor is not None, are_alike)] if slices else ()),
        *check_controls(facts, isolation.find_isolation_refusal(root), quota),
        _control("tasks", tasks.find_tasks_refusal(root), "none", granted),
        _control("memory", memory.find_memory_refusal(root), "none", granted),
        *check_machine_settings(root),
        *_probe(probe_capabilities, has_probe),
        _jvms(facts),
        *_programs(facts, environ),
        *_runtimes(facts, believed),
        _noise(facts, environ),
        check_disk("disk: results", folder),
        _builds(environ),
        check_disk("disk: scratch", Path(environ.get("TMPDIR") or "/tmp")),  # noqa: S108
    )
    return Report(checks)


PROGRAM = "scalograph-probe"
# The level of kernel.perf_event_paranoid at which anybody is granted these.
_PARANOID = {"kernel records": 2, "switch records": 2, "names of interfering programs": 0}
_PARANOID_FILE = Path("/proc/sys/kernel/perf_event_paranoid")


def _probe(capabilities: Mapping[str, Any], has_probe: bool) -> Iterator[Check]:
    if has_probe:
        yield Check("probe", "granted", f"{PROGRAM} {capabilities.get('probe', '')}".rstrip())
    else:
        reason, fix = "Python cannot detect interference", "install Rust 1.85 or later, then Scalograph again"
        state = f"{PROGRAM} is missing; Python takes the times"
        yield Check("probe", "warning", state, reason, fix, "pip install --force-reinstall --no-deps .")
    for capability in capabilities["capabilities"]:
        name, reason, fix = f"probe: {capability['name']}", capability.get("why") or "", capability.get("fix") or ""
        is_granted, least = capability["granted"], _PARANOID.get(capability["name"])
        command = ""
        if least is not None and (level := re.search(r"perf_event_paranoid=(\d+)", reason)) and int(level[1]) > least:
            command = root_command(f"sysctl kernel.perf_event_paranoid={least}", _PARANOID_FILE)
        status: Status = "granted" if is_granted else "refused"
        yield Check(name, status, "" if is_granted else "not granted", reason, fix, command)


def _jvms(facts: HostFacts) -> Check:
    if not facts.jvms:
        command = root_command("apt install openjdk-17-jdk-headless")
        return Check("JVMs", "warning", "none", "studies of Java programs cannot run", "install a JDK", command)
    names = (f"{jvm.name} ({jvm.build}{', javac' if jvm.javac else ''})" for jvm in facts.jvms)
    return Check("JVMs", "info", ", ".join(names))


def _programs(facts: HostFacts, environ: Mapping[str, str]) -> Iterator[Check]:
    for program, (reason, package) in _PROGRAMS.items():
        by_jvm = program == "javac" and any(jvm.javac for jvm in facts.jvms)
        if by_jvm or shutil.which(program, path=environ.get("PATH", os.defpath)):
            yield Check(f"compiler: {program}", "info", "found")
        else:
            command = root_command(f"apt install {package}")
            yield Check(f"compiler: {program}", "warning", "not found", reason, f"install {package}", command)


def _runtimes(facts: HostFacts, believed: Mapping[str, int]) -> Iterator[Check]:
    """Yield a check of runtimes under the quota of a container or a cgroup: they size their pools by what they see."""
    if facts.cpu_quota is None or not believed:
        return
    n, name = ceil(facts.cpu_quota), "CPUs seen"
    seen = f"{', '.join(f'{key} {count}' for key, count in believed.items())}; the quota is {facts.cpu_quota:g}"
    rows = [RUNTIMES[key] for key, count in believed.items() if count > n]
    if not rows:
        yield Check(name, "info", seen)
        return
    reason, fix = "runtimes start as many threads as they see CPUs", "set the variable of each runtime"
    settings = " ".join(shlex.quote(f"{row.variable}={row.value.format(n)}") for row in rows)
    yield Check(name, "warning", seen, reason, fix, f"export {settings}")


def _builds(environ: Mapping[str, str]) -> Check:
    name = "disk: builds"
    try:
        return check_disk(name, cache_folder(environ))
    except HostError:
        reason, command = "compiled workloads have no place", "export XDG_CACHE_HOME=/var/tmp/$USER"
        return Check(name, "warning", "this user has no home folder", reason, "set XDG_CACHE_HOME", command)


def _noise(facts: HostFacts, environ: Mapping[str, str]) -> Check:
    kept = read_noise(environ)
    reason = "it shows which differences runs here can detect"
    remedy = "measure the noise floor (80 s)", "scalograph doctor --noise"
    if kept is None:
        return Check("noise", "info", "not measured yet", reason, *remedy)
    if not kept.is_of(facts):
        return Check("noise", "info", "measured on another machine only", reason, *remedy)
    if kept.floor and kept.floor.warnings:
        return Check("noise", "warning", _describe_noise(kept), kept.floor.warnings[0], *remedy)
    return Check("noise", "info", _describe_noise(kept))


def _describe_noise(kept: SavedNoise) -> str:
    parts = kept.floor.parts if kept.floor else ()
    spreads = [(part.n_cpus, part.spread.sd_log_percent) for part in parts if part.spread]
    values = [f"{two_digits(sd)}% on {n} CPU{'s' * (n > 1)}" for n, sd in spreads]
    differ = ", ".join(values) or f"{two_digits(kept.sd_log_percent)}%"
    smallest = two_digits(kept.minimum_detectable_percent)
    return f"runs differ by {differ}: {kept.n} runs detect effects from {smallest}% ({kept.study}, {kept.at})"
