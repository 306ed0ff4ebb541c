"""Runs from which so little was taken that no rule counts it, as from most: none of the rules need be gone through."""

from operator import attrgetter

from scalograph.protocol.record import RunFigures
from scalograph.verdict.preemption import OF_WALL
from scalograph.verdict.saturation import may_have_waited
from scalograph.verdict.stalls import MEASURED

# Of these, less than the share of a run's time below which nothing is blamed is never a cause.
_TAKEN = attrgetter("neighbor_ns", "wait_ns", "machine_memory_stall_ns", "machine_io_stall_ns")
# Of these, any amount is left to the rules: they are counted in ticks, or have limits of their own.
_ANY = attrgetter("steal_ns", "worst_steal_ns", "n_lost_records", *MEASURED)


def is_untouched(run: RunFigures) -> bool:
    """Tell whether a run surely has no cause of `preempted`, `held_up`, `kept_out`, and none that leaves it unclear.

    Args:
        run: figures of its record; without switch records, its time and its CPU time nothing is sure.
    """
    if not run.wall_ns or run.cpu_ns is None or run.neighbor_ns is None or any(_ANY(run)) or may_have_waited(run):
        return False
    least = OF_WALL * run.wall_ns
    for taken in _TAKEN(run):
        if taken and taken >= least:
            return False
    if run.neighbors and sum([neighbor.taken_ns for neighbor in run.neighbors]) >= least:
        return False
    return not run.neighbor_per_cpu_ns or max(run.neighbor_per_cpu_ns) < least
