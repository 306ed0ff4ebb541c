"""The host as a plain value: read once, before a study. No name of a host or a person is in it."""

import platform
from pathlib import Path

from scalograph.control.isolation import why_refused
from scalograph.control.jvms import find
from scalograph.control.scheduler import refused_scheduling
from scalograph.control.topology import read_topology
from scalograph.facts import HostFacts, Jvm

# Words of the kernel command line that change what is measured; nothing else of it is kept.
_ALLOWED = frozenset(
    """
    isolcpus nohz_full rcu_nocbs mitigations maxcpus nosmt nosmp mem intel_pstate amd_pstate idle processor.max_cstate
    intel_idle.max_cstate transparent_hugepage preempt threadirqs clocksource tsc cgroup_no_v1
    systemd.unified_cgroup_hierarchy psi
    """.split()  # noqa: SIM905
)


def discover(root: Path = Path("/"), jvms: tuple[Jvm, ...] | None = None) -> HostFacts:
    """Facts of this host; what cannot be read is None.

    Args:
        root: where /proc and /sys are; a recorded tree in tests.
        jvms: instead of looking for them.
    """
    cpuinfo = _fields(root / "proc/cpuinfo")
    isolation = why_refused(root)
    return HostFacts(
        cpus=read_topology(root),
        memory_bytes=_memory(root),
        kernel=_text(root / "proc/sys/kernel/osrelease") or platform.release(),
        cpu_model=cpuinfo.get("model name") or cpuinfo.get("Model") or platform.machine(),
        microcode=cpuinfo.get("microcode"),
        governor=_text(root / "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        clocksource=_text(root / "sys/devices/system/clocksource/clocksource0/current_clocksource"),
        hypervisor=_hypervisor(root, cpuinfo),
        autogroup=_flag(root / "proc/sys/kernel/sched_autogroup_enabled"),
        smt=_flag(root / "sys/devices/system/cpu/smt/active"),
        kernel_command_line=_command_line(root),
        jvms=find() if jvms is None else jvms,
        refused={**refused_scheduling(), **({"isolation": isolation} if isolation else {})},
    )


def _text(file: Path) -> str | None:
    try:
        return file.read_text(errors="replace").strip() or None
    except OSError:
        return None


def _flag(file: Path) -> bool | None:
    text = _text(file)
    return None if text is None else text == "1"


def _fields(file: Path) -> dict[str, str]:
    """The first block of /proc/cpuinfo."""
    first = (_text(file) or "").split("\n\n")[0]
    pairs = (line.partition(":") for line in first.splitlines())
    return {key.strip(): value.strip() for key, _, value in pairs if value.strip()}


def _memory(root: Path) -> int | None:
    total = _fields(root / "proc/meminfo").get("MemTotal", "")
    return int(total.split()[0]) * 1024 if total.endswith("kB") else None


def _hypervisor(root: Path, cpuinfo: dict[str, str]) -> str | None:
    if "hypervisor" not in cpuinfo.get("flags", "").split():
        return None
    return _text(root / "sys/hypervisor/type") or _text(root / "sys/class/dmi/id/sys_vendor") or "unknown"


def _command_line(root: Path) -> tuple[str, ...]:
    words = (_text(root / "proc/cmdline") or "").split()
    return tuple(word for word in words if word.partition("=")[0] in _ALLOWED)
