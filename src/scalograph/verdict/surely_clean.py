"""Runs that are surely clean, as most are: rule by rule, judging takes a third of the time of reading a journal.

A plain run has one copy that numbered its iterations in order, and no figure that takes a rule of its own. Where
nothing of it comes near a limit, no rule finds a cause. All others are left to the rules.
"""

from operator import attrgetter, lt

from scalograph.protocol.record import CopyEvent, Iterations, Record, RunFigures
from scalograph.verdict.cause import PLAY, TICK_NS
from scalograph.verdict.untouched import is_untouched

# Of these, any amount is left to the rules.
_SPECIAL = attrgetter("quota_cpus", "outside_ns")
_NUMBERS = list(range(1000))


def is_surely_clean(record: Record, iterations: int) -> bool:
    """Tell whether surely no rule finds a cause in a run that succeeded.

    Args:
        record: of the run.
        iterations: the number that was asked for.
    """
    run, copies, parts = record.run, record.copies, record.iterations
    if len(copies) != 1 or len(parts) != 1 or record.guest or any(_SPECIAL(run)) or not is_untouched(run):
        return False
    copy, part = copies[0], parts[0]
    if copy.changed or copy.copy_index != part.copy_index or part.index != _NUMBERS[:iterations]:
        return False
    # What a driver tells of its requests has a law of its own.
    return _is_possible(run, copy, part) and not any("requests" in told.values for told in record.values)


def _is_possible(run: RunFigures, copy: CopyEvent, part: Iterations) -> bool:
    """Whether there was time for its CPU time, and for its iterations."""
    if copy.start_ns is None or copy.end_ns is None or not copy.in_force or not run.wall_ns or not part.index:
        return False
    cpus, lived = copy.in_force.cpus, copy.end_ns - copy.start_ns
    wall = max(run.wall_ns, run.tree_wall_ns or 0)
    used, ends = (copy.user_ns or 0) + (copy.system_ns or 0), part.end_ns
    return (
        (run.cpu_ns or 0) <= PLAY * wall * len(set(cpus)) + 2 * TICK_NS
        and used <= PLAY * lived * len(cpus)
        and min(part.start_ns) >= copy.start_ns - TICK_NS
        and max(ends) <= copy.end_ns + TICK_NS
        and not any(map(lt, ends, part.start_ns))
    )
