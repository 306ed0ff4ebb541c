"""How fast the CPUs run: what chooses their clock, and whether a few may exceed what all could hold."""

import re
from collections.abc import Sequence

from scalograph.control.control import LevelError
from scalograph.control.held_settings import KernelValue
from scalograph.control.machine_control import MachineControl
from scalograph.control.settings import Setting, SettingChange
from scalograph.errors import HostError
from scalograph.protocol.facts import HostFacts

TURBO = ("on", "off")


class GovernorControl(MachineControl):
    """Levels are governors of cpufreq for all CPUs, such as performance; `false` leaves them as they are."""

    setting = Setting.GOVERNOR

    def check(self, value: str, facts: HostFacts) -> None:
        """Raise LevelError for what is no name of a governor; which ones there are, the kernel says."""
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
        """Raise LevelError for another word."""
        if value not in TURBO:
            raise LevelError(f"turbo {value!r}", 'the text "on" or "off"', "correct it")
