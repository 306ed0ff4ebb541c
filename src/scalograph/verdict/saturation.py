"""Interference by the busy time of a run's CPUs beyond what the run itself used."""

import math

from scalograph.protocol.record import Record, RunFigures
from scalograph.text.quantities import percent_at_most
from scalograph.verdict.cause import TICK_NS, Cause, granted_cpus
from scalograph.verdict.preemption import bound_share, is_blamed, wanted_time

BUSY_TICKS = 2  # busy time is read at both ends of the window, on each CPU, in ticks
BUSY_NS = 2_000_000_000  # ticks are samples: over less than this they say little about who had the CPU
_SATURATED = 0.95  # a machine this busy had no idle CPU on which others could have run without harm
_COMPANY = 0.10  # the kernel may have used up to this much on the run's behalf: for its pages, its packets


def find_crowding(record: Record) -> Cause | None:
    """Find interference without switch records: the CPUs were never idle, by more than the run used."""
    run = record.run
    if not lacks_records(run) or (run.wall_ns or 0) < BUSY_NS:
        return None
    others = _others(record)
    if is_blamed(others, run) and _is_saturated(record):
        share = others / wanted_time(run, others)
        text = f"someone else used CPUs that were never idle: at least {100 * share:.1f}% of what it wanted"
        return Cause("neighbor", share, "of wanted", text)
    return None


def find_displacement(record: Record, for_sure: bool) -> Cause | None:
    """Find processes that preempted no task of the run but kept a CPU while its threads waited for another.

    The kernel may leave two threads on one CPU for as long as another process keeps the other; no switch record shows
    it. Its cost is at most what the run waited or what others used.

    Args:
        record: of the run.
        for_sure: find what disturbs: no CPU was idle, and it was more than the kernel does on a run's behalf; else
            find what cannot be distinguished from that.
    """
    run = record.run
    if lacks_records(run) or not run.wait_ns or not is_blamed(run.wait_ns, run):
        return None
    held = min(run.wait_ns, _others(record) - (run.observer_ns or 0))
    if not is_blamed(held, run):
        return None
    share = held / wanted_time(run, held)
    if for_sure == (_is_saturated(record) and share >= _COMPANY):
        most = "" if for_sure else " at most"
        text = f"it waited while others had CPUs that it might use, for {100 * share:.1f}% of what it wanted{most}"
        return Cause("neighbor", share, "of wanted" if for_sure else "of wanted, at most", text)
    return None


def find_unseen_wait(record: Record) -> Cause | None:
    """Find a run that slept while others kept all its CPUs busy: its wait after waking up is not recorded."""
    run = record.run
    if not may_have_waited(run) or not _is_saturated(record):
        return None
    held = min(_others(record) - (run.observer_ns or 0), _off_cpu(run))
    if held < _COMPANY * wanted_time(run, held) or not is_blamed(held, run):
        return None
    share, unit, of_what = bound_share(held, record)
    bound = f"for at most {percent_at_most(share)} of {of_what}"
    return Cause("neighbor", share, unit, f"others kept its CPUs busy; after sleeping it may have waited {bound}")


def may_have_waited(run: RunFigures) -> bool:
    """Tell whether a run may have waited unrecorded: it slept or has several tasks, and others ran."""
    others = (run.machine_busy_ns or 0) - (run.cpu_ns or 0)
    if others < _COMPANY * wanted_time(run, others) or run.wait_scope == "preemption and wakeup":
        return False
    return (run.n_tasks or 0) > 1 or (run.n_switches or 0) > (run.n_preemptions or 0)


def _off_cpu(run: RunFigures) -> float:
    """Return the ns in which the only task was neither on a CPU nor preempted; infinite for several tasks."""
    if run.n_tasks != 1:
        return math.inf
    return max(0, (run.wall_ns or 0) - (run.cpu_ns or 0) - (run.wait_ns or 0))


def lacks_records(run: RunFigures) -> bool:
    """Tell whether switch records are missing, all or some of them."""
    return run.neighbor_ns is None or bool(run.n_lost_records)


def busy(run: RunFigures) -> int | None:
    """Return the busy ns of the run's CPUs, if comparable with its CPU time, which includes that of survivors."""
    return None if not run.cpu_ns or run.n_survivors else run.machine_busy_ns


def n_cpus(record: Record) -> int:
    """Return the number of CPUs that the copies of a run may use together."""
    return len(granted_cpus(record)) or max(1, len(record.run.per_cpu_ns or ()))


def _others(record: Record) -> float:
    """Return what others used at least, in ns; 0 if unknown."""
    run = record.run
    busy_time = busy(run)
    return 0.0 if busy_time is None else busy_time - (run.cpu_ns or 0) - BUSY_TICKS * n_cpus(record) * TICK_NS


def _is_saturated(record: Record) -> bool:
    run = record.run
    had = (busy(run) or 0) + (run.steal_ns or 0)
    return had >= _SATURATED * n_cpus(record) * (run.wall_ns or 0)
