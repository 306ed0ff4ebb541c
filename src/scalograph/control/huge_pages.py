"""Transparent huge pages: for all memory, for what a program asks, or not at all."""

from collections.abc import Sequence

from scalograph.control.control import no_such_level
from scalograph.control.held_settings import KernelValue
from scalograph.control.machine_control import MachineControl
from scalograph.control.settings import Setting, SettingChange
from scalograph.protocol.facts import HostFacts

HUGE_PAGES = ("always", "madvise", "never")
# The kernel keeps more memory free as soon as huge pages may be made, and leaves it at that.
_KEPT_FREE = "vm.min_free_kbytes"


class HugePagesControl(MachineControl):
    """Levels are those of `/sys/kernel/mm/transparent_hugepage/enabled`; `false` leaves it as it is."""

    setting = Setting.THP

    def check(self, value: str, facts: HostFacts) -> None:
        """Raise LevelError for another word."""
        if value not in HUGE_PAGES:
            raise no_such_level(f"thp {value!r}", value, HUGE_PAGES)

    def changes(self, value: KernelValue) -> Sequence[SettingChange]:
        """Return what is undone: the setting, then the memory that the kernel keeps free."""
        return (KernelValue(Setting.SYSCTL, _KEPT_FREE, value.store).change(), value.change())
