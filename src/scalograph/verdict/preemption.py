"""Preemption: who had the CPUs while the run was ready (other processes, kernel threads, the hypervisor)."""

from scalograph.protocol.record import Record, RunFigures
from scalograph.text.quantities import percent_at_most
from scalograph.text.units import format_duration
from scalograph.verdict.cause import SHARE, TICK_NS, Cause

# Less than this share of a run's time is never blamed: a sleeping program wants so little CPU time that any tick is
# a large share of it.
OF_WALL = 0.005
_TELLING = 0.1  # share from which an interfering process is named
_STEAL_TICKS = 3  # steal is counted in ticks: a single one says nothing about a short run


def find_preemption(record: Record) -> list[Cause]:
    """Find what preempted a run: other processes, the probe, the hypervisor."""
    return [cause for cause in (_find_interference(record.run), _find_probe(record.run), _find_steal(record)) if cause]


def possible_preemption(record: Record) -> list[Cause]:
    """Find what may have preempted a run, but could not be checked."""
    run = record.run
    return [cause for cause in (_bound_kernel_threads(run), _bound_interference(run), _bound_steal(record)) if cause]


def _bound_kernel_threads(run: RunFigures) -> Cause | None:
    """Bound what kernel threads took: they work for the run (its pages, its packets) as well as for others."""
    taken = _kernel_ns(run) if run.neighbors else 0
    if taken and is_blamed(taken, run):
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
    if not 0 < stolen < _STEAL_TICKS * TICK_NS or not is_blamed(most, run):
        return None
    share, unit, of_what = bound_share(most, record)
    if most < wall:
        text = f"the hypervisor took the CPU for less than {percent_at_most(share)} of {of_what}"
    else:
        lasted, tick = (format_duration(ns / 1e9) for ns in (wall, TICK_NS))
        text = f"the hypervisor took the CPU for an unknown part of its {lasted}: that is counted in {tick}"
    return Cause("steal", share, unit, text)


def _find_probe(run: RunFigures) -> Cause | None:
    """Find what the probe itself took while the run was ready."""
    taken = _probe_ns(run) if run.neighbors else 0
    if taken and is_blamed(taken, run):
        share = taken / wanted_time(run, taken)
        text = f"the probe itself had {100 * share:.1f}% of the CPU time that it wanted"
        return Cause("observer", share, "of wanted", text)
    return None


def is_blamed(taken_ns: float, run: RunFigures) -> bool:
    """Tell whether so much taken CPU time disturbs a run."""
    if taken_ns <= 0 or taken_ns < OF_WALL * (run.wall_ns or 0):
        return False
    return taken_ns >= SHARE * wanted_time(run, taken_ns)


def wanted_time(run: RunFigures, taken: float) -> float:
    """Return the CPU time in ns that the run wanted: what it used, and what was taken."""
    return float((run.cpu_ns or 0) + taken)


def slowdown(taken: float, record: Record) -> float:
    """Return taken CPU time as a share of what the run wanted, or of its time if it wanted less.

    Of a run with windows it is of what it wanted: all that was taken may have been within them.
    """
    run = record.run
    return taken / max(wanted_time(run, taken), 0 if record.iterations else run.wall_ns or 0)


def bound_share(taken: float, record: Record) -> tuple[float, str, str]:
    """Return that share as a bound, its unit, and of what it is in words."""
    share, of_wanted = slowdown(taken, record), taken / wanted_time(record.run, taken)
    is_of_time = share < of_wanted
    of = ("of time, at most", "its time") if is_of_time else ("of wanted, at most", "the CPU time that it wanted")
    return share, *of


def _find_interference(run: RunFigures) -> Cause | None:
    """Find what other processes took: from the whole run, or from the CPU that lost most."""
    per_cpu, wall = run.neighbor_per_cpu_ns, run.wall_ns or 0
    taken, worst = _others_ns(run, run.neighbor_ns), _others_ns(run, max(per_cpu)) if per_cpu else 0
    if is_blamed(taken, run):
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
    worst, least = run.worst_steal_ns or 0, _STEAL_TICKS * TICK_NS
    if stolen >= least and is_blamed(stolen, run):
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


def _others_ns(run: RunFigures, taken_ns: int | None) -> float:
    """Return taken time less that of kernel threads and the probe."""
    return max(0, taken_ns - _kernel_ns(run) - _observer_ns(run)) if taken_ns else 0


def _observer_ns(run: RunFigures) -> int:
    # Without names, all the time that the probe used: with hundreds of threads it is half of what was taken.
    return _probe_ns(run) if run.neighbors is not None else run.observer_ns or 0


def _kernel_ns(run: RunFigures) -> int:
    return sum([neighbor.taken_ns for neighbor in run.neighbors if neighbor.kernel]) if run.neighbors else 0


def _probe_ns(run: RunFigures) -> int:
    return sum([neighbor.taken_ns for neighbor in run.neighbors if neighbor.observer]) if run.neighbors else 0


def _names(run: RunFigures, kernel: bool = False) -> str:
    """Name the processes that took a tenth of it or more."""
    every = [n for n in run.neighbors or () if n.kernel == kernel and not n.observer]
    least = _TELLING * sum(n.taken_ns for n in every)
    every_name = [n.name or "processes that have ended" for n in every if n.taken_ns >= least > 0]
    names = list(dict.fromkeys(every_name))
    return " and ".join(names[:2]) + (" and others" if len(names) > 2 else "") if names else "someone else"
