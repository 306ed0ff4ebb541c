"""How many CPUs a run may use: an affinity mask."""

from collections.abc import Sequence
from dataclasses import replace

from scalograph.control.control import Control, Launch, Level, LevelError
from scalograph.protocol.facts import HostFacts


class CpusControl(Control):
    """Levels are counts from 1 to the CPUs of the host."""

    may_conflict = True

    def resolve(self, levels: Sequence[Level], facts: HostFacts) -> list[Level]:
        """Return the counts, with "all" spelled out. Raises LevelError for what is no count, or beyond the host."""
        counts = [self._count(level, facts) for level in levels]
        # "1,2,all" is fine on a host of two CPUs.
        return list(dict.fromkeys(counts)) if "all" in levels else list(counts)

    def _count(self, level: Level, facts: HostFacts) -> int:
        if level == "all":
            return facts.n_cpus
        if isinstance(level, bool) or not isinstance(level, int) or level < 1:
            raise LevelError(f"level {level!r}", "a count of CPUs from 1", "correct it")
        if level > facts.n_cpus:
            found = f"level {level} exceeds the {facts.n_cpus} CPUs of this host"
            raise LevelError(found, "", "lower it or choose another host")
        return level

    def apply(self, launch: Launch, level: Level, facts: HostFacts) -> Launch:
        """Set the count in the launch; `apply` makes the mask when the placement is known."""
        return replace(launch, n_cpus=int(level))
