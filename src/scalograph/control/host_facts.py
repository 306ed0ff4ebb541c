"""The host as a plain value, read once before a study. It contains no name of a host or a person."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from scalograph.control import capacity, isolation, memory, tasks
from scalograph.control.capacity import cpu_quota
from scalograph.control.ext_scheduler import OTHER, SCHEDULER, find_schedulers, why_no_scheduler, why_other_scheduler
from scalograph.control.machine_control import MACHINE_SETTINGS, why_no_settings
from scalograph.control.scheduler import EXT, find_granted_scheduling, why_no_ext
from scalograph.errors import HostError
from scalograph.protocol.facts import HostFacts, Jvm
from scalograph.system import platform_facts
from scalograph.system.platform_facts import ask_jvms, assume_jvms, find_jvms
from scalograph.system.private_dir import cache_folder
from scalograph.system.topology import read_topology

# Words of the kernel command line that change what is measured; the rest is not kept.
_ALLOWED = frozenset(
    """
    isolcpus nohz_full rcu_nocbs mitigations maxcpus nosmt nosmp mem intel_pstate amd_pstate idle processor.max_cstate
    intel_idle.max_cstate transparent_hugepage preempt threadirqs clocksource tsc cgroup_no_v1
    systemd.unified_cgroup_hierarchy psi
    """.split()  # noqa: SIM905
)


def read_host_facts(root: Path = Path("/"), jvms: tuple[Jvm, ...] | None = None) -> HostFacts:
    """Read the facts of this host, or of a recorded tree; what cannot be read is None. `jvms` None looks for them."""
    cpuinfo = _fields(root / "proc/cpuinfo")
    scheduling, words = find_granted_scheduling(), (_text(root / "proc/cmdline") or "").split()
    return HostFacts(
        cpus=read_topology(root),
        memory_bytes=_memory(root),
        kernel=_text(root / "proc/sys/kernel/osrelease"),
        boot_id=_text(root / "proc/sys/kernel/random/boot_id"),
        distribution=platform_facts.distribution(root),
        compiler=platform_facts.compiler() if root == Path("/") else None,
        architecture=platform_facts.architecture(root),
        clock_mhz=platform_facts.clock_mhz(cpuinfo),
        caches=platform_facts.cache_sizes(root),
        disk_rotational=platform_facts.disk_rotational(root),
        cpu_model=_cpu_model(cpuinfo),
        microcode=cpuinfo.get("microcode"),
        governor=_text(root / "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        clocksource=_text(root / "sys/devices/system/clocksource/clocksource0/current_clocksource"),
        hypervisor=_hypervisor(root, cpuinfo),
        autogroup=_flag(root / "proc/sys/kernel/sched_autogroup_enabled"),
        cpu_accounting=platform_facts.cpu_accounting(root),
        smt=_flag(root / "sys/devices/system/cpu/smt/active"),
        cpu_quota=cpu_quota(root),
        kernel_command_line=tuple(word for word in words if word.partition("=")[0] in _ALLOWED),
        jvms=find_jvms(cache=_jvm_cache()) if jvms is None else jvms,
        schedulers=find_schedulers() if root == Path("/") else None,
        refused={**scheduling.refused, **_find_refusals(root)},
        granted_priority=scheduling.priority,
        granted_nice=scheduling.nice,
    )


def _find_refusals(root: Path) -> dict[str, str]:
    checks = {
        isolation.ISOLATION: isolation.find_isolation_refusal,
        capacity.QUOTA: capacity.find_quota_refusal,
        tasks.TASKS: tasks.find_tasks_refusal,
        memory.MEMORY: memory.find_memory_refusal,
    }
    reasons = {name: refusal.why for name, find_refusal in checks.items() if (refusal := find_refusal(root))}
    explain: dict[str, Callable[[Path], str | None]] = {
        MACHINE_SETTINGS: why_no_settings, SCHEDULER: why_no_scheduler, OTHER: why_other_scheduler, EXT: why_no_ext,
    }  # fmt: skip
    return {**reasons, **{name: reason for name, why_not in explain.items() if (reason := why_not(root))}}


def add_jvms(facts: HostFacts, paths: Sequence[str], starts: bool = True) -> HostFacts:
    """Return these facts with the JVMs at `paths` appended, each asked for its build.

    A path that a study names may be any program: with `starts` off, none is started.
    """
    names = {name for jvm in facts.jvms for name in (jvm.name, jvm.java)}
    given = [path for path in paths if path not in names]
    if not given:
        return facts
    jvms = ask_jvms(given, _jvm_cache()) if starts else assume_jvms(given)
    return facts.model_copy(update={"jvms": (*facts.jvms, *jvms)})


def _jvm_cache() -> Path | None:
    try:
        return cache_folder() / "jvms"
    except HostError:
        return None


def _text(file: Path) -> str | None:
    try:
        # Device trees end their texts in a zero byte.
        return file.read_text(errors="replace").strip("\0 \n\t") or None
    except OSError:
        return None


def _flag(file: Path) -> bool | None:
    text = _text(file)
    return None if text is None else text == "1"


def _fields(file: Path) -> dict[str, str]:
    """Return the first block of a file like /proc/cpuinfo."""
    first = (_text(file) or "").split("\n\n")[0]
    pairs = (line.partition(":") for line in first.splitlines())
    return {key.strip(): value.strip() for key, _, value in pairs if value.strip()}


def _memory(root: Path) -> int | None:
    total = _fields(root / "proc/meminfo").get("MemTotal", "").removesuffix("kB").strip()
    return int(total) * 1024 if re.fullmatch("[0-9]{1,15}", total) else None


def _cpu_model(cpuinfo: dict[str, str]) -> str | None:
    """Return the CPU model: x86 and s390 write a name, POWER "cpu", ARM only numbers, RISC-V a microarchitecture."""
    for key in ("model name", "cpu model", "cpu", "Model Name"):
        if key in cpuinfo:
            return cpuinfo[key]
    if "CPU part" in cpuinfo:
        return f"ARM implementer {cpuinfo.get('CPU implementer', '?')} part {cpuinfo['CPU part']}"
    return cpuinfo.get("uarch") or cpuinfo.get("isa")


# A guest may not see the firmware's tables, but it sees the clock of its hypervisor.
_CLOCKS = {"kvm-clock": "KVM", "hyperv": "Hyper-V", "xen": "Xen"}


def _hypervisor(root: Path, cpuinfo: dict[str, str]) -> str | None:
    """Return the vendor of the hypervisor as far as it shows; None on bare metal."""
    named = _text(root / "sys/hypervisor/type") or _text(root / "proc/device-tree/hypervisor/compatible")
    if named is None and "hypervisor" not in cpuinfo.get("flags", "").split():
        return None
    clocks = _text(root / "sys/devices/system/clocksource/clocksource0/available_clocksource") or ""
    offered = (vendor for clock, vendor in _CLOCKS.items() if clock in clocks)
    return named or next(offered, None) or _text(root / "sys/class/dmi/id/sys_vendor") or "unknown"
