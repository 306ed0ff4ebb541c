"""How many CPUs did a run use, and how many of its tasks were on a CPU at once?

Both come from the on-CPU time of the whole tree, the second in bins (protocol/probe.md, `timeline`). A bin says how
long each CPU was busy in it, not when: two CPUs that were busy for half of a bin may have worked together or in turns.
Bins in which every CPU was busy throughout or not at all are exact; `exact` is the share of time in such bins. In the
others each number of tasks gets the time that it would have if the CPUs were busy independently of each other.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from scalograph.analysis.center import FloatArray

# Busy for less, or for more than the rest, is not at all and throughout: the edges of a slice, a tick of the kernel.
EDGE = 0.01
# Of the time: fewer tasks at once than this are a passing moment, a start or an end.
PASSING = 0.05


@dataclass(frozen=True, slots=True)
class Concurrency:
    """What a timeline says of one run.

    Attributes:
        used_cpus: CPU time over wall time; None where not both were measured.
        shares: share of the time with 0, 1, 2, ... tasks on a CPU; sums to 1. Empty without switch records.
        exact: share of the time for which `shares` is no estimate, 0 to 1.
    """

    used_cpus: float | None
    shares: tuple[float, ...] = ()
    exact: float = 0.0

    @property
    def most(self) -> int:
        """Largest number of tasks on a CPU for 5 % of the time or more; 0 without switch records.

        >>> Concurrency(1.5, (0.0, 0.49, 0.49, 0.02), 0.9).most
        2
        """
        return max((n for n, share in enumerate(self.shares) if share >= PASSING), default=0)


def concurrency(
    wall_ns: int | None, cpu_ns: int | None, bin_ns: int = 0, busy_ns: Sequence[Sequence[int]] = ()
) -> Concurrency:
    """CPUs used and tasks at once, from the figures of a record.

    Args:
        wall_ns: `run.wall_ns`.
        cpu_ns: `run.cpu_ns`.
        bin_ns: `timeline.bin_ns`, above zero where there are rows.
        busy_ns: `timeline.busy_ns`: a row for each CPU that was used, a number for each bin. None of them (switches
            were too many to record each) gives no shares.

    >>> found = concurrency(4, 6, 1, [[1, 1, 1, 1], [1, 1, 0, 0]])
    >>> found.used_cpus, found.shares, found.exact
    (1.5, (0.0, 0.5, 0.5), 1.0)
    """
    used = cpu_ns / wall_ns if wall_ns and cpu_ns is not None else None
    lengths = _lengths(wall_ns or 0, bin_ns, max(map(len, busy_ns), default=0))
    if not lengths.size:
        return Concurrency(used)
    busy = _busy(busy_ns, lengths)
    total = float(lengths.sum())
    sharp = ((busy <= EDGE) | (busy >= 1 - EDGE)).all(axis=0)
    shares = at_once(busy) @ lengths / total
    return Concurrency(used, tuple(float(share) for share in shares), float(lengths[sharp].sum()) / total)


def _lengths(wall_ns: int, bin_ns: int, n: int) -> FloatArray:
    """Time of each bin that lies within the run: the last one is cut where the run ends."""
    lengths = np.clip(wall_ns - bin_ns * np.arange(n, dtype=float), 0.0, bin_ns)
    return np.asarray(lengths[lengths > 0])


def _busy(rows: Sequence[Sequence[int]], lengths: FloatArray) -> FloatArray:
    """Share of each bin for which each CPU was busy, shape (CPUs, bins)."""
    busy = np.zeros((len(rows), lengths.size))
    for cpu, row in enumerate(rows):
        known = row[: lengths.size]
        busy[cpu, : len(known)] = known
    return np.clip(busy / lengths, 0.0, 1.0)


def at_once(busy: FloatArray) -> FloatArray:
    """Probability of 0, 1, ... busy CPUs in each bin, shape (CPUs + 1, bins), if they are independent within it.

    >>> at_once(np.array([[1.0, 0.5], [0.0, 0.5]])).tolist()
    [[0.0, 0.25], [1.0, 0.5], [0.0, 0.25]]
    """
    found = np.zeros((busy.shape[0] + 1, busy.shape[1]))
    found[0] = 1.0
    for row in busy:
        found[1:] = found[1:] * (1 - row) + found[:-1] * row
        found[0] *= 1 - row
    return found
