"""Order in which a placement uses the CPUs of a machine.

`compact` fills one core, then one L2, one L3 cache, node and package after the other. `scatter` goes round packages,
nodes, caches and cores, and puts two on one core when all cores are taken. `one-per-core` is compact over cores and
takes the first CPU of each. `siblings` is compact over the cores that have several CPUs.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from scalograph.protocol.facts import CpuFact

# What two CPUs may share, from the widest to the narrowest. Some small cores share an L2.
_SHARED: tuple[Callable[[CpuFact], int], ...] = (
    lambda cpu: cpu.package,
    lambda cpu: cpu.node,
    lambda cpu: -1 if cpu.l3 is None else cpu.l3,
    lambda cpu: -1 if cpu.l2 is None else cpu.l2,
    lambda cpu: cpu.core,
)


def _compact(cpus: Sequence[CpuFact]) -> list[CpuFact]:
    return sorted(cpus, key=lambda cpu: (*(share(cpu) for share in _SHARED), cpu.cpu))


def _scatter(cpus: Sequence[CpuFact]) -> list[CpuFact]:
    """Use the first CPUs of all cores before second ones, also on asymmetric packages or caches."""
    ranks: dict[int, list[CpuFact]] = {}
    n_used: Counter[int] = Counter()
    for cpu in _compact(cpus):
        ranks.setdefault(n_used[cpu.core], []).append(cpu)
        n_used[cpu.core] += 1
    return [cpu for _, rank in sorted(ranks.items()) for cpu in _round_robin(rank, _SHARED)]


def _round_robin(cpus: list[CpuFact], shares: Sequence[Callable[[CpuFact], int]]) -> list[CpuFact]:
    """Take one CPU of each group in turn, each group itself scattered over the narrower levels."""
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
    counts = Counter(cpu.core for cpu in cpus)
    return [cpu for cpu in _compact(cpus) if counts[cpu.core] > 1]


ORDERS: Mapping[str, Callable[[Sequence[CpuFact]], list[CpuFact]]] = {
    "compact": _compact,
    "scatter": _scatter,
    "one-per-core": _one_per_core,
    "siblings": _siblings,
}
