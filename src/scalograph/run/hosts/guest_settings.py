"""Settings of the whole machine in a guest: it sets them itself, before its run, and keeps what it read of them.

A guest has a machine of its own, which ends with its run: nothing need be restored. What it read lies in trees like
those of /proc and /sys: `before` they were set, `in_force` at the start of the run, and `at_end` of it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from scalograph.control.consent import machine_controls
from scalograph.control.control import HeldSetting
from scalograph.control.kernel_files import KERNEL, KernelPlace, OnlineCpus
from scalograph.control.machine_control import MachineControl
from scalograph.control.topology import parse_cpu_list
from scalograph.protocol.facts import HostFacts
from scalograph.protocol.record_part import MAX_TEXT
from scalograph.study.model import Study
from scalograph.study.treatment import Treatment

# Read beside the settings: what there is to be read of CPUs, and what was counted.
_BESIDE = ("sys/devices/system/cpu/present", "proc/vmstat")


@dataclass(frozen=True)
class GuestSetting:
    """A setting and the value that it is to have in a guest; `held` will have what was read of it."""

    control: MachineControl
    held: HeldSetting

    def place(self, root: Path) -> KernelPlace:
        """Return where it lies below a root."""
        return KERNEL[self.control.setting].place(root, self.control.name)

    def writes(self, n_cpus: int) -> Iterator[tuple[Path, str]]:
        """Yield the files to write, relative to the root, in order, and what is written."""
        place = self.place(Path())
        if isinstance(place, OnlineCpus):  # all of them are online when a guest has booted
            stay = parse_cpu_list(self.held.asked)
            yield from ((place.file(cpu), "0") for cpu in reversed(range(n_cpus)) if cpu not in stay)
        else:
            yield place.path, self.held.asked


def guest_settings(study: Study, treatment: Treatment, facts: HostFacts) -> list[GuestSetting]:
    """Return the settings of a treatment that are files, but for those that it leaves as they are.

    The scheduler is none: it is that of the guest's kernel, since no program of ours runs beside the probe.
    """
    levels = {name: (found, treatment[name]) for name, found in machine_controls(study).items()}
    return [
        GuestSetting(found, HeldSetting(found.called, before="", asked=found.text(level, facts)))
        for found, level in levels.values()
        if found.is_file and level is not False
    ]


def lines(settings: list[GuestSetting], n_cpus: int) -> str:
    """Return what a guest is told: in each line a file, and what it writes there; nothing where it only reads."""
    written = [f"{path} {text}" for one in settings for path, text in one.writes(n_cpus)]
    return "".join(f"{line}\n" for line in [*_BESIDE, *written])


def read_back(settings: list[GuestSetting], trees: Path) -> None:
    """Note what a guest read of its settings; what it could not read stays empty."""
    for one in settings:
        for when in ("before", "in_force", "at_end"):
            setattr(one.held, when, _value(one.place(trees / when)))


def _value(place: KernelPlace) -> str:
    try:
        return place.value()[:MAX_TEXT]
    except (OSError, ValueError):
        return ""
