"""Which n of the CPUs: close together, far apart, or one for each core."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any

from scalograph.control.base import Launch, Level, LevelError
from scalograph.control.cpu_order import ORDERS
from scalograph.protocol.facts import CpuFact, HostFacts

PLACEMENTS = tuple(ORDERS)


def place(n_cpus: int, placement: str, cpus: Sequence[CpuFact]) -> tuple[int, ...]:
    """Numbers of the CPUs to use, ascending. More CPUs of one placement always hold those of fewer.

    The placements are those of `scalograph.control.cpu_order`.

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


def _order(placement: str) -> Callable[[Sequence[CpuFact]], list[CpuFact]]:
    if placement not in ORDERS:
        raise LevelError(f"placement {placement!r}", "one of " + ", ".join(PLACEMENTS), "correct it")
    return ORDERS[placement]


class PlacementControl:
    """Levels are the names above; they say which CPUs the control `cpus` takes."""

    name = "placement"
    kind = "placement"

    def resolve(self, levels: Sequence[Level], facts: HostFacts) -> list[Level]:
        """The levels as written. Raises LevelError for an unknown one, and for siblings on a host without SMT."""
        for level in levels:
            if level == "siblings" and not ORDERS["siblings"](facts.cpus):
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
