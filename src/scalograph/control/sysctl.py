"""Settings of the machine by name: sysctls, CPU governor, turbo, huge pages, I/O scheduler."""

import re
from collections.abc import Sequence
from contextlib import suppress

from scalograph.control.control import LevelError, unknown_level
from scalograph.control.held_settings import KernelValue
from scalograph.control.machine_control import MachineControl
from scalograph.control.settings import Setting, SettingChange
from scalograph.errors import HostError
from scalograph.protocol.facts import HostFacts

# Two units of one limit: the kernel sets one to 0 when the other is written.
PAIRS = {
    "vm.dirty_bytes": "vm.dirty_ratio",
    "vm.dirty_background_bytes": "vm.dirty_background_ratio",
    "vm.overcommit_kbytes": "vm.overcommit_ratio",
}
_OTHER_UNIT = {**PAIRS, **{ratio: amount for amount, ratio in PAIRS.items()}}
# What is written there is done once, and is no state that could be restored.
_ACTIONS = ("vm.drop_caches", "vm.compact_memory", "vm.stat_refresh")
# Families of which a wrong value makes programs slow, and neither ends them nor opens the machine.
_FAMILIES = re.compile(r"(vm\.|kernel\.sched|kernel\.numa|net\.core\.|net\.ipv4\.tcp_|fs\.).+")
_GUARDED = re.compile(
    r"vm\.(panic_on_oom|oom_kill_allocating_task|mmap_min_addr|mmap_rnd_\w+|max_map_count|memfd_noexec"
    r"|unprivileged_userfaultfd|hugetlb_shm_group|legacy_va_layout|nr_(overcommit_)?hugepages\w*|watermark_scale_factor)"
    r"|net\.core\.bpf_\w+"
    r"|fs\.(protected_\w+|suid_dumpable|binfmt_misc\..+|file-max|nr_open|mount-max|pipe-user-pages-\w+)"
)
# In kilobytes, kept away from programs: with an eighth of the memory others begin to be killed.
_RESERVED = ("vm.min_free_kbytes", "vm.user_reserve_kbytes", "vm.admin_reserve_kbytes")
_SHARE = 8


class SysctlControl(MachineControl):
    """Levels are values as text, several numbers in one, or a number; `false` leaves the setting as it is."""

    setting = Setting.SYSCTL

    def check(self, value: str, facts: HostFacts) -> None:
        if self.name in _ACTIONS:
            raise LevelError(self.name, "a setting that keeps its value", "for caches declare [reset] drop_caches")

    def dangers(self, value: str, facts: HostFacts) -> str | None:
        """Explain why a value may end or harm other programs: by its name, or by its amount."""
        if not _FAMILIES.fullmatch(self.name):
            return "outside vm, kernel.sched, kernel.numa, net.core, net.ipv4.tcp and fs"
        if _GUARDED.fullmatch(self.name):
            return "it ends programs, takes their memory, or guards the machine"
        if self.name == "vm.overcommit_memory" and value == "2":
            return "programs are refused memory that they rely on"
        if self.name in _RESERVED and value.isdecimal() and int(value) * 1024 * _SHARE >= (facts.memory_bytes or 0):
            return "an eighth of the memory or more is withheld from programs"
        return None

    def changes(self, value: KernelValue) -> Sequence[SettingChange]:
        """Return what is undone: of two units of one limit first the one in force, which sets the other to 0.

        Raises HostError if neither was in force; the kernel does not take 0 back.
        """
        own = value.change()
        if self.name not in _OTHER_UNIT:
            return (own,)
        other = KernelValue(self.setting, _OTHER_UNIT[self.name], value.store).change()
        if own.old == other.old == "0":
            raise HostError(
                self.name, f"{other.name} is 0 too", "one that is not", "the kernel has no way back to both"
            )
        return (other, own) if other.old == "0" else (own, other)


TURBO = ("on", "off")


class GovernorControl(MachineControl):
    """Levels are governors of cpufreq for all CPUs, such as performance; `false` leaves them as they are."""

    setting = Setting.GOVERNOR

    def check(self, value: str, facts: HostFacts) -> None:
        if not re.fullmatch(r"[a-z][a-z_]{0,30}", value):
            raise LevelError(f"governor {value!r}", "a governor such as performance or powersave", "correct it")

    def changes(self, value: KernelValue) -> Sequence[SettingChange]:
        """Return what is undone: the governor, then the preference, which amd-pstate leaves as `performance` set it."""
        try:
            return (KernelValue(Setting.EPP, "", value.store).change(), value.change())
        except HostError:  # other drivers have none
            return (value.change(),)


class TurboControl(MachineControl):
    """Levels are "on" and "off"; `false` leaves it as it is."""

    setting = Setting.TURBO

    def check(self, value: str, facts: HostFacts) -> None:
        if value not in TURBO:
            raise LevelError(f"turbo {value!r}", 'the text "on" or "off"', "correct it")


HUGE_PAGES = ("always", "madvise", "never")
# The kernel keeps more memory free as soon as huge pages may be made, and leaves it at that.
_KEPT_FREE = "vm.min_free_kbytes"


class HugePagesControl(MachineControl):
    """Levels are those of `/sys/kernel/mm/transparent_hugepage/enabled`; `false` leaves it as it is."""

    setting = Setting.THP

    def check(self, value: str, facts: HostFacts) -> None:
        if value not in HUGE_PAGES:
            raise unknown_level(f"thp {value!r}", value, HUGE_PAGES)

    def changes(self, value: KernelValue) -> Sequence[SettingChange]:
        """Return what is undone: the setting, then the memory that the kernel keeps free."""
        return (KernelValue(Setting.SYSCTL, _KEPT_FREE, value.store).change(), value.change())


class IoSchedulerControl(MachineControl):
    """Levels are schedulers of the device (none, mq-deadline, kyber, bfq); `false` leaves it as it is."""

    setting = Setting.IO_SCHEDULER

    def check(self, value: str, facts: HostFacts) -> None:
        if not re.fullmatch(r"[a-z][a-z0-9_-]{0,15}", value):
            raise LevelError(f"{self.label} {value!r}", "a scheduler such as none or mq-deadline", "correct it")

    def changes(self, value: KernelValue) -> Sequence[SettingChange]:
        """Return what is undone: the scheduler, then its parameters and those of the queue, which it set anew."""
        queue = value.store.kernel / "sys/block" / self.name / "queue"
        own = sorted(f"iosched/{file.name}" for file in queue.glob("iosched/*"))
        changes = []
        # Undone from the end: a scheduler may set its own anew when the number of requests is written.
        for name in (*own, "wbt_lat_usec", "nr_requests"):
            # The kernel lists some that it does not report, as without throttling of writes.
            with suppress(HostError):
                changes.append(KernelValue(Setting.IO_QUEUE, f"{self.name}/{name}", value.store).change())
        return (*changes, value.change())
