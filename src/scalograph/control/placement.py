"""Which n of the CPUs: close together, far apart, or one for each core."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any

from scalograph.control.base import Launch, Level, LevelError
from scalograph.facts import CpuFact, HostFacts

PLACEMENTS = ("compact", "scatter", "one-per-core", "siblings")

# What two CPUs may share, from the widest to the narrowest. Some small cores share an L2.
_SHARED: tuple[Callable[[CpuFact], int], ...] = (
    lambda cpu: cpu.package,
    lambda cpu: cpu.node,
    lambda cpu: -1 if cpu.l3 is None else cpu.l3,
    lambda cpu: -1 if cpu.l2 is None else cpu.l2,
    lambda cpu: cpu.core,
)


def place(n_cpus: int, placement: str, cpus: Sequence[CpuFact]) -> tuple[int, ...]:
    """Numbers of the CPUs to use, ascending. More CPUs of one placement always hold those of fewer.

    `compact` fills one core, then one L2, one L3 cache, node and package after the other. `scatter` goes round
    packages, nodes, caches and cores, and puts two on one core when all cores are taken. `one-per-core` is compact over
    cores and takes the first CPU of each. `siblings` is compact over the cores that have several CPUs.

    Raises:
        LevelError: no such placement, or not as many CPUs for it.
    """
    ordered = _order(placement)(cpus)
    if not 1 <= n_cpus <= len(ordered):
        found = f"{n_cpus} CPUs placed {placement}"
        raise LevelError(found, f"1 to {len(ordered)} on this host", "use fewer, or another placement")
    return tuple(sorted(cpu.cpu for cpu in ordered[:n_cpus]))


def n_available(placement: str, cpus: Sequence[CpuFact]) -> int:
    """How many CPUs the placement has: cores for `one-per-core`, CPUs of shared cores for `siblings`, else all."""
    return len(_order(placement)(cpus))


def _compact(cpus: Sequence[CpuFact]) -> list[CpuFact]:
    return sorted(cpus, key=lambda cpu: (*(share(cpu) for share in _SHARED), cpu.cpu))


def _scatter(cpus: Sequence[CpuFact]) -> list[CpuFact]:
    """First CPUs of all cores before second ones, also where packages or caches have different numbers of cores."""
    ranks: dict[int, list[CpuFact]] = {}
    taken: dict[int, int] = {}
    for cpu in _compact(cpus):
        taken[cpu.core] = taken.get(cpu.core, -1) + 1
        ranks.setdefault(taken[cpu.core], []).append(cpu)
    return [cpu for _, rank in sorted(ranks.items()) for cpu in _round_robin(rank, _SHARED)]


def _round_robin(cpus: list[CpuFact], shares: Sequence[Callable[[CpuFact], int]]) -> list[CpuFact]:
    """One of each group in turn, each group itself scattered over what is narrower."""
    if not shares:
        return cpus
    groups: dict[int, list[CpuFact]] = {}
    for cpu in cpus:
        groups.setdefault(shares[0](cpu), []).append(cpu)
    queues = [_round_robin(group, shares[1:]) for group in groups.values()]
    longest = max((len(queue) for queue in queues), default=0)
    return [queue[turn] for turn in range(longest) for queue in queues if turn < len(queue)]


def _one_per_core(cpus: Sequence[CpuFact]) -> list[CpuFact]:
    first: dict[int, CpuFact] = {}
    for cpu in _compact(cpus):
        first.setdefault(cpu.core, cpu)
    return list(first.values())


def _siblings(cpus: Sequence[CpuFact]) -> list[CpuFact]:
    counts: dict[int, int] = {}
    for cpu in cpus:
        counts[cpu.core] = counts.get(cpu.core, 0) + 1
    return [cpu for cpu in _compact(cpus) if counts[cpu.core] > 1]


_ORDERS: Mapping[str, Callable[[Sequence[CpuFact]], list[CpuFact]]] = {
    "compact": _compact,
    "scatter": _scatter,
    "one-per-core": _one_per_core,
    "siblings": _siblings,
}


def _order(placement: str) -> Callable[[Sequence[CpuFact]], list[CpuFact]]:
    if placement not in _ORDERS:
        raise LevelError(f"placement {placement!r}", "one of " + ", ".join(PLACEMENTS), "correct it")
    return _ORDERS[placement]


class PlacementControl:
    """Levels are the names above; they say which CPUs the control `cpus` takes."""

    name = "placement"
    kind = "placement"

    def resolve(self, levels: Sequence[Level], facts: HostFacts) -> list[Level]:
        """The levels as written. Raises LevelError for an unknown one, and for siblings on a host without SMT."""
        for level in levels:
            if level == "siblings" and not _siblings(facts.cpus):
                raise LevelError("placement siblings on a host without SMT", "two CPUs on one core", "leave it out")
            _order(str(level))
        return list(levels)

    def apply(self, launch: Launch, level: Level, facts: HostFacts) -> Launch:
        """Remembered until the mask is made."""
        return replace(launch, placement=str(level))

    def hold(self, level: Level, facts: HostFacts) -> AbstractContextManager[None]:
        """Nothing on the machine changes."""
        return nullcontext()

    def read_back(self, level: Level, facts: HostFacts, record: Mapping[str, Any]) -> list[str]:
        """Nothing by itself: `apply.read_back` compares the mask that it made together with `cpus`."""
        return []
