"""Preemption and saturation: who had the CPUs while the run was ready, and their busy time beyond its own."""

import math

from scalograph.protocol.record import Iterations, Record, RunFigures
from scalograph.text.quantities import percent_at_most
from scalograph.text.units import format_duration
from scalograph.verdict.cause import SHARE, STEAL_TICKS, TICK_NS, Cause, granted_cpus
from scalograph.verdict.partners import partner_ns
from scalograph.verdict.speed import observer_ns, probe_ns

# Less than this share of a run's time is never blamed: a sleeping program wants so little CPU time that any tick is
# a large share of it.
OF_WALL = 0.005
EVERY_WAIT = "preemption and wakeup"
_TELLING = 0.1  # share from which an interfering process is named


def find_preemption(record: Record) -> list[Cause]:
    """Find what preempted a run: other processes, the probe, the hypervisor."""
    return [cause for cause in (_find_interference(record), _find_probe(record), _find_steal(record)) if cause]


def possible_preemption(record: Record) -> list[Cause]:
    """Find what may have preempted a run, but could not be checked."""
    bounds = (_bound_kernel_threads(record), _bound_interference(record.run), _bound_steal(record))
    return [cause for cause in bounds if cause]


def had_kernel_threads(record: Record) -> bool:
    """Tell whether kernel threads took so much that it matters for whom they worked."""
    return bool(record.run.neighbors) and is_blamed(kernel_ns(record.run), record)


def _bound_kernel_threads(record: Record) -> Cause | None:
    """Bound what kernel threads took: they work for the run (its pages, its packets) as well as for others."""
    run = record.run
    if had_kernel_threads(record):
        taken = kernel_ns(run)
        share = taken / wanted_time(run, taken)
        names = _names(run, kernel=True)
        text = f"{names} had {100 * share:.1f}% of the CPU time that it wanted, on its behalf or not"
        return Cause("kernel threads", share, "of wanted, at most", text)
    return None


def _bound_interference(run: RunFigures) -> Cause | None:
    """Bound the loss of one CPU if it is unknown on which CPUs kernel threads and the probe ran."""
    per_cpu, wall = run.neighbor_per_cpu_ns, run.wall_ns or 0
    if not per_cpu or not (taken := max(per_cpu)):
        return None
    most = min(taken, _others_ns(run, run.neighbor_ns))
    if most > 0 and most >= SHARE * wall:
        text = f"one CPU was taken by {_names(run)} for {percent_at_most(most / wall)} of its time at most"
        return Cause("neighbor", most / wall, "of time, at most", text)
    return None


def _bound_steal(record: Record) -> Cause | None:
    """Bound steal of a few ticks, which may be one tick more: in a short run that is much."""
    run = record.run
    stolen, wall = run.steal_ns or 0, run.wall_ns or 0
    most = stolen + TICK_NS
    if not 0 < stolen < STEAL_TICKS * TICK_NS or not is_blamed(most, record):
        return None
    share, unit, of_what = bound_share(most, record)
    if most < wall:
        text = f"the hypervisor took the CPU for less than {percent_at_most(share)} of {of_what}"
    else:
        lasted, tick = (format_duration(ns / 1e9) for ns in (wall, TICK_NS))
        text = f"the hypervisor took the CPU for an unknown part of its {lasted}: that is counted in {tick}"
    return Cause("steal", share, unit, text)


def _find_probe(record: Record) -> Cause | None:
    """Find what the probe itself took while the run was ready."""
    run = record.run
    taken = probe_ns(run) if run.neighbors else 0
    if taken and is_blamed(taken, record):
        share = taken / wanted_time(run, taken)
        text = f"the probe itself had {100 * share:.1f}% of the CPU time that it wanted"
        return Cause("observer", share, "of wanted", text)
    return None


def is_blamed(taken_ns: float, record: Record) -> bool:
    """Tell whether so much taken CPU time disturbs a run."""
    run = record.run
    if taken_ns <= 0 or taken_ns < OF_WALL * (run.wall_ns or 0):
        return False
    wanted = wanted_time(run, taken_ns)
    return taken_ns >= SHARE * wanted and taken_ns >= SHARE * measured_time(record, taken_ns)


def wanted_time(run: RunFigures, taken: float) -> float:
    """Return the CPU time in ns that the run wanted: what it used, and what was taken."""
    return float((run.cpu_ns or 0) + taken)


def measured_time(record: Record, taken_ns: float) -> float:
    """Return the ns that were measured of a run that leaves a CPU free; 0 of other runs.

    If all waits are recorded, what was taken delays a run by that time at most, however little CPU time it wants. Of a
    run with windows, all of it may have been within them.
    """
    run = record.run
    wall = run.wall_ns or 0
    sees_waits = run.wait_scope == EVERY_WAIT and not lacks_records(run)
    if not sees_waits or wanted_time(run, taken_ns) > (n_cpus(record) - 1) * wall:
        return 0.0
    return float(min(map(_window_time, record.iterations), default=wall))


def _window_time(part: Iterations) -> int:
    """Return the ns in the windows of a copy; those of several clients may overlap, and count once."""
    total = last = 0
    for start, end in sorted(zip(part.start_ns, part.end_ns, strict=True)):
        total += max(0, end - max(start, last))
        last = max(end, last)
    return total


def slowdown(taken: float, record: Record) -> float:
    """Return taken CPU time as a share of what the run wanted, or of its time if it wanted less.

    Of a run with windows that wants all its CPUs it is of what it wanted: all may have been taken within them.
    """
    run = record.run
    measured = measured_time(record, taken) if record.iterations else run.wall_ns or 0
    return taken / max(wanted_time(run, taken), measured)


def bound_share(taken: float, record: Record) -> tuple[float, str, str]:
    """Return that share as a bound, its unit, and of what it is in words."""
    share, of_wanted = slowdown(taken, record), taken / wanted_time(record.run, taken)
    is_of_time = share < of_wanted
    of = ("of time, at most", "its time") if is_of_time else ("of wanted, at most", "the CPU time that it wanted")
    return share, *of


def _find_interference(record: Record) -> Cause | None:
    """Find what other processes took: from the whole run, or from the CPU that lost most."""
    run = record.run
    per_cpu, wall = run.neighbor_per_cpu_ns, run.wall_ns or 0
    taken, worst = _others_ns(run, run.neighbor_ns), _others_ns(run, max(per_cpu), of_one_cpu=True) if per_cpu else 0
    if is_blamed(taken, record):
        share = taken / wanted_time(run, taken)
        text = f"preempted by {_names(run)} for {100 * share:.1f}% of the CPU time that it wanted"
        return Cause("neighbor", share, "of wanted", text)
    elif worst > 0 and worst >= SHARE * wall:
        share = worst / wall if wall else 1.0
        text = f"one CPU was taken by {_names(run)} for {100 * share:.1f}% of its time, and the rest may have waited"
        return Cause("neighbor", share, "of time", text)
    return None


def _find_steal(record: Record) -> Cause | None:
    """Find what the hypervisor took: from the whole run, or from the CPU that lost most."""
    run = record.run
    stolen, wall = run.steal_ns or 0, run.wall_ns or 0
    worst, least = run.worst_steal_ns or 0, STEAL_TICKS * TICK_NS
    if stolen >= least and is_blamed(stolen, record):
        share = stolen / wanted_time(run, stolen)
        text = f"the hypervisor took the CPU for {100 * share:.1f}% of the CPU time that it wanted"
        if 2 * slowdown(stolen, record) < share:  # most of it may have been while the run slept
            taken, used = (format_duration(ns / 1e9) for ns in (stolen, run.cpu_ns or 0))
            text = f"the hypervisor took its CPUs for {taken}; it used them for {used}"
        return Cause("steal", share, "of wanted", text)
    elif worst >= least and worst >= SHARE * wall:
        share = worst / wall if wall else 1.0
        text = f"the hypervisor took one CPU for {100 * share:.1f}% of the time, and the rest may have waited"
        return Cause("steal", share, "of time", text)
    return None


def _others_ns(run: RunFigures, taken_ns: int | None, of_one_cpu: bool = False) -> float:
    """Return taken time, of all CPUs or of one, less that of kernel threads, the probe, and partners."""
    return max(0, taken_ns - kernel_ns(run) - observer_ns(run, of_one_cpu) - partner_ns(run)) if taken_ns else 0


def kernel_ns(run: RunFigures) -> int:
    """Return the time in ns that kernel threads had CPUs for which the run waited; 0 if neighbors have no names."""
    return sum([neighbor.taken_ns for neighbor in run.neighbors if neighbor.kernel]) if run.neighbors else 0


def _names(run: RunFigures, kernel: bool = False) -> str:
    """Name the processes that took a tenth of it or more."""
    every = [n for n in run.neighbors or () if n.kernel == kernel and not (n.observer or n.partner)]
    least = _TELLING * sum(n.taken_ns for n in every)
    every_name = [n.name or "processes that have ended" for n in every if n.taken_ns >= least > 0]
    names = list(dict.fromkeys(every_name))
    return " and ".join(names[:2]) + (" and others" if len(names) > 2 else "") if names else "someone else"


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
    if is_blamed(others, record) and is_saturated(record):
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
    if lacks_records(run) or not run.wait_ns or not is_blamed(run.wait_ns, record):
        return None
    held = min(run.wait_ns, _others(record) - (run.observer_ns or 0))
    if not is_blamed(held, record):
        return None
    wanted, measured = wanted_time(run, held), measured_time(record, held)
    share, of, of_what = (held / wanted, "wanted", "what it wanted")
    if measured > wanted:
        share, of, of_what = held / measured, "time", "its measured time"
    if for_sure == (is_saturated(record) and share >= _COMPANY):
        most, unit = ("", f"of {of}") if for_sure else (" at most", f"of {of}, at most")
        text = f"it waited while others had CPUs that it might use, for {100 * share:.1f}% of {of_what}{most}"
        return Cause("neighbor", share, unit, text)
    return None


def find_unseen_wait(record: Record) -> Cause | None:
    """Find a run that slept while others kept all its CPUs busy: its wait after waking up is not recorded."""
    run = record.run
    if not may_have_waited(run) or not is_saturated(record):
        return None
    held = min(_others(record) - (run.observer_ns or 0), _off_cpu(run))
    if held < _COMPANY * wanted_time(run, held) or not is_blamed(held, record):
        return None
    share, unit, of_what = bound_share(held, record)
    bound = f"for at most {percent_at_most(share)} of {of_what}"
    return Cause("neighbor", share, unit, f"others kept its CPUs busy; after sleeping it may have waited {bound}")


def may_have_waited(run: RunFigures) -> bool:
    """Tell whether a run may have waited unrecorded: it slept or has several tasks, and others ran."""
    others = (run.machine_busy_ns or 0) - (run.cpu_ns or 0)
    if others < _COMPANY * wanted_time(run, others) or run.wait_scope == EVERY_WAIT:
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


def is_saturated(record: Record) -> bool:
    """Tell whether none of the CPUs of a run was idle, to within 5%."""
    run = record.run
    had = (busy(run) or 0) + (run.steal_ns or 0)
    return had >= _SATURATED * n_cpus(record) * (run.wall_ns or 0)
