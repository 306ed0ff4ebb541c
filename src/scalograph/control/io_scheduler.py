"""The I/O scheduler of a block device: in which order its requests go to the disk."""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress

from scalograph.control.control import LevelError
from scalograph.control.held_settings import KernelValue
from scalograph.control.machine_control import MachineControl
from scalograph.control.settings import Setting, SettingChange
from scalograph.errors import HostError
from scalograph.protocol.facts import HostFacts


class IoSchedulerControl(MachineControl):
    """Levels are schedulers of the device (none, mq-deadline, kyber, bfq); `false` leaves it as it is."""

    setting = Setting.IO_SCHEDULER

    def check(self, value: str, facts: HostFacts) -> None:
        """Raise LevelError for what is no name of a scheduler; which ones there are, the kernel says."""
        if not re.fullmatch(r"[a-z][a-z0-9_-]{0,15}", value):
            raise LevelError(f"{self.called} {value!r}", "a scheduler such as none or mq-deadline", "correct it")

    def changes(self, value: KernelValue) -> Sequence[SettingChange]:
        """Return what is undone: the scheduler, then its parameters and those of the queue, which it set anew."""
        return (*self._parameters(value), value.change())

    def _parameters(self, value: KernelValue) -> Iterator[SettingChange]:
        queue = value.store.kernel / "sys/block" / self.name / "queue"
        own = sorted(f"iosched/{file.name}" for file in queue.glob("iosched/*"))
        # Undone from the end: a scheduler may set its own anew when the number of requests is written.
        for name in (*own, "wbt_lat_usec", "nr_requests"):
            # The kernel lists some that it does not tell, as without throttling of writes.
            with suppress(HostError):
                yield KernelValue(Setting.IO_QUEUE, f"{self.name}/{name}", value.store).change()
