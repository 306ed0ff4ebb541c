"""The choice of n CPUs: close together, far apart, or one for each core."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from scalograph.control.control import Control, Launch, Level, LevelError, unknown_level
from scalograph.protocol.facts import ORDERS, CpuFact, HostFacts

PLACEMENTS = tuple(ORDERS)


def choose_cpus(n_cpus: int, placement: str, cpus: Sequence[CpuFact]) -> tuple[int, ...]:
    """Return the numbers of the CPUs to use, ascending. More CPUs of one placement always include those of fewer.

    Raises LevelError if the placement (`scalograph.protocol.facts`) is unknown or does not have that many CPUs.
    """
    ordered = _order(placement)(cpus)
    refuse_count(n_cpus, placement, len(ordered))
    return tuple(sorted(cpu.cpu for cpu in ordered[:n_cpus]))


def refuse_count(n_cpus: int, placement: str, n_available: int) -> None:
    """Raise LevelError for a count of CPUs that a placement does not have."""
    if not 1 <= n_cpus <= n_available:
        request = f"{n_cpus} CPUs placed {placement}"
        raise LevelError(request, f"1 to {n_available} on this host", "use fewer, or another placement")


def count_available(placement: str, cpus: Sequence[CpuFact]) -> int:
    """Count the CPUs of a placement: cores for `one-per-core`, shared ones for `siblings`, else all."""
    return len(_order(placement)(cpus))


def _order(placement: str) -> Callable[[Sequence[CpuFact]], list[CpuFact]]:
    if placement not in ORDERS:
        raise unknown_level(f"placement {placement!r}", placement, PLACEMENTS)
    return ORDERS[placement]


class PlacementControl(Control):
    """Levels are names of `PLACEMENTS`; they select which CPUs the control `cpus` takes."""

    may_conflict = True

    def check_level(self, level: Level, facts: HostFacts) -> None:
        if level == "siblings" and not ORDERS["siblings"](facts.cpus):
            raise LevelError("placement siblings on a host without SMT", "two CPUs on one core", "leave it out")
        _order(str(level))

    def apply(self, launch: Launch, level: Level, facts: HostFacts) -> Launch:
        return replace(launch, placement=str(level))


class CpusControl(Control):
    """Levels are counts from 1 to the CPUs of the host."""

    may_conflict = True

    def resolve(self, levels: Sequence[Level], facts: HostFacts) -> list[Level]:
        """Return the counts, with "all" resolved. Raises LevelError for what is no count, or beyond the host."""
        counts = [self._count(level, facts) for level in levels]
        if (most := max(counts, default=0)) > facts.n_cpus:
            problem = f"needs {most} CPUs; this host has {facts.n_cpus}"
            raise LevelError(problem, "", f"use at most {facts.n_cpus}, or all")
        # "1,2,all" is fine on a host of two CPUs.
        return list(dict.fromkeys(counts)) if "all" in levels else list(counts)

    def _count(self, level: Level, facts: HostFacts) -> int:
        if level == "all":
            return facts.n_cpus
        if isinstance(level, bool) or not isinstance(level, int) or level < 1:
            raise LevelError(f"level {level!r}", "a count of CPUs from 1", "correct it")
        return level

    def apply(self, launch: Launch, level: Level, facts: HostFacts) -> Launch:
        return replace(launch, n_cpus=int(level))
