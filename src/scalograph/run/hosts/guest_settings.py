"""Settings of the whole machine in a guest: it sets them itself, before its run, and keeps what it read of them.

A guest has a machine of its own, which ends with its run: nothing need be restored. What it read lies in trees like
those of /proc and /sys: `before` they were set, `in_force` at the start of the run, `at_end` of it, and `after` it,
when the program of its scheduler has ended too.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from scalograph.control.consent import machine_controls
from scalograph.control.control import HeldSetting, Level
from scalograph.control.ext_scheduler import DEFAULT, OPERATIONS, STATE, SchedulerControl, called_by
from scalograph.control.kernel_files import KERNEL, KernelPlace, OnlineCpus
from scalograph.control.machine_control import MachineControl
from scalograph.control.topology import parse_cpu_list
from scalograph.protocol.bounded import read_below
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
    when: tuple[str, ...] = ("before", "in_force", "at_end")

    def place(self, root: Path) -> KernelPlace:
        """Return where it lies below a root."""
        return KERNEL[self.control.setting].place(root, self.control.name)

    def writes(self, n_cpus: int) -> Iterator[str]:
        """Yield lines: a file relative to the root, and what is written, in order."""
        place = self.place(Path())
        if isinstance(place, OnlineCpus):  # all of them are online when a guest has booted
            stay = parse_cpu_list(self.held.asked)
            yield from (f"{place.file(cpu)} 0" for cpu in reversed(range(n_cpus)) if cpu not in stay)
        else:
            yield f"{place.path} {self.held.asked}"

    def value(self, root: Path) -> str:
        """Return what a tree has of it. Raises OSError or ValueError where it has nothing."""
        return self.place(root).value()


@dataclass(frozen=True)
class GuestScheduler(GuestSetting):
    """A scheduler of sched_ext, or the kernel's own: a guest starts its program, and ends it after the run."""

    when: tuple[str, ...] = ("before", "in_force", "at_end", "after")
    program: str = ""

    def writes(self, n_cpus: int) -> Iterator[str]:
        """Yield the files that tell which one is at work: nothing is written."""
        yield from (STATE, OPERATIONS)

    def value(self, root: Path) -> str:
        """Return the one that is at work; a file that the kernel does not have is empty in the tree."""
        return called_by(*(read_below(root, name, MAX_TEXT).strip() for name in (STATE, OPERATIONS)))


def guest_settings(study: Study, treatment: Treatment, facts: HostFacts) -> list[GuestSetting]:
    """Return the settings of a treatment, but for those that it leaves as they are."""
    levels = {name: (found, treatment[name]) for name, found in machine_controls(study).items()}
    return [_setting(found, level, facts) for found, level in levels.values() if level is not False]


def _setting(found: MachineControl, level: Level, facts: HostFacts) -> GuestSetting:
    held = HeldSetting(found.called, before="", asked=found.text(level, facts))
    if isinstance(found, SchedulerControl):
        return GuestScheduler(found, held, program="" if level == DEFAULT else found.program(level, facts))
    return GuestSetting(found, held)


def lines(settings: Sequence[GuestSetting], n_cpus: int) -> str:
    """Return what a guest is told: in each line a file, and what it writes there; nothing where it only reads."""
    written = [line for one in settings for line in one.writes(n_cpus)]
    return "".join(f"{line}\n" for line in [*_BESIDE, *written])


def scheduler_of(settings: Sequence[GuestSetting]) -> str:
    """Return the path of the program of sched_ext that a guest starts; empty for none."""
    return next((one.program for one in settings if isinstance(one, GuestScheduler)), "")


def read_back(settings: Sequence[GuestSetting], trees: Path) -> None:
    """Note what a guest read of its settings; what it could not read stays empty."""
    for one in settings:
        for when in one.when:
            setattr(one.held, when, _value(one, trees / when))


def _value(setting: GuestSetting, tree: Path) -> str:
    try:
        return setting.value(tree)[:MAX_TEXT]
    except (OSError, ValueError):
        return ""
