"""How many CPUs the machine has: the others are taken offline. A mask leaves them to the kernel and to others."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from scalograph.control.control import HeldSetting, Launch, Level, LevelError
from scalograph.control.held_settings import hold_setting
from scalograph.control.machine_control import MachineControl
from scalograph.control.placement import choose_cpus
from scalograph.control.settings import Setting
from scalograph.errors import HostError
from scalograph.protocol.facts import HostFacts
from scalograph.system.topology import parse_cpu_list
from scalograph.text.format import format_cpu_list


class OnlineControl(MachineControl):
    """Levels are counts of CPUs: those that placement `compact` takes stay, so fewer are always among more."""

    setting = Setting.ONLINE
    may_conflict = True

    def check(self, value: str, facts: HostFacts) -> None:
        if not value.isdecimal() or not 1 <= int(value) <= facts.n_cpus:
            raise LevelError(f"online {value}", f"a count from 1 to {facts.n_cpus}", "correct it")

    def resolve(self, levels: Sequence[Level], facts: HostFacts) -> list[Level]:
        """Return the counts, with "all" resolved. Raises LevelError as the others do."""
        counts = [facts.n_cpus if level == "all" else level for level in levels]
        return super().resolve(list(dict.fromkeys(counts)) if "all" in levels else counts, facts)

    def dangers(self, value: str, facts: HostFacts) -> str | None:
        """Explain its cost for others: the kernel moves what ran there, and may drop masks that it does not restore."""
        return None if int(value) == facts.n_cpus else "the kernel moves what runs there, whatever mask it has"

    def text(self, level: Level, facts: HostFacts) -> str:
        return format_cpu_list(choose_cpus(int(level), "compact", facts.cpus))

    def apply(self, launch: Launch, level: Level, facts: HostFacts) -> Launch:
        if level is False:
            return launch
        return replace(launch, online=choose_cpus(int(level), "compact", facts.cpus))

    @contextmanager
    def apply_settings(self, level: Level, facts: HostFacts) -> Iterator[HeldSetting | None]:
        """Take CPUs offline, and bring them back with the mask that we had.

        Raises HostError if a CPU cannot be taken offline, or the machine has CPUs that we may not use.
        """
        if level is False:
            yield None
            return
        value, mask = self.value(), os.sched_getaffinity(0)
        ours, online = {cpu.cpu for cpu in facts.cpus}, set(parse_cpu_list(value.read()))
        if online != ours:
            raise HostError("online", "CPUs that we may not use, or that are offline", "all of them", "use `cpus`")
        try:
            with hold_setting(value, self.text(level, facts), self.changes) as held:
                yield held
        finally:
            if os.sched_getaffinity(0) != mask:
                os.sched_setaffinity(0, mask)
