"""Impossible records: they contradict themselves, such as more CPU time than there was."""

from collections.abc import Iterator, Sequence
from operator import attrgetter, lt

from scalograph.protocol.record import CopyEvent, Record, RunFigures
from scalograph.verdict.cause import PLAY, TICK_NS, Cause
from scalograph.verdict.little import unlawful

# Times within a run.
_WITHIN = ("memory_stall_ns", "io_stall_ns", "stopped_ns")
_TIMES = attrgetter(*_WITHIN)


def impossible(record: Record, cpus: int) -> list[Cause]:
    """Find why a record cannot be true, if it cannot.

    Args:
        record: of a run (protocol/journal.md).
        cpus: number of CPUs that its copies were allowed to use together.
    """
    run = record.run
    found = [cause for cause in (_too_much(run, cpus), _too_soon(record.copies)) if cause]
    if record.iterations:
        found += _outside(record)
    if any(_TIMES(run)):
        found += _longer(run)
    return [*found, *unlawful(record)] if record.values else found


def _too_much(run: RunFigures, cpus: int) -> Cause | None:
    # Until the last process of the tree had ended: what a survivor used belongs to the whole time that it had.
    capacity = max(run.wall_ns or 0, run.tree_wall_ns or 0) * cpus
    if run.cpu_ns is not None and run.cpu_ns > PLAY * capacity + 2 * TICK_NS:
        text = f"{run.cpu_ns / 1e9:.3g} s of CPU time in {capacity / 1e9:.3g} CPU seconds{_unseen(run)}"
        return Cause("CPU time", run.cpu_ns / capacity if capacity else None, "of capacity", text)
    return None


def _unseen(run: RunFigures) -> str:
    """Tell what may be behind it where nobody saw on which CPUs the run was."""
    return ": it left its CPUs, or a counter is wrong" if run.outside_ns is None else ""


def _too_soon(copies: Sequence[CopyEvent]) -> Cause | None:
    """Find copies that finished sooner than their CPU time allows; report the first and count the others."""
    found = [copy for copy in copies if _excess(copy) > 0]
    if found:
        first, cpus = found[0], _n_cpus(found[0])
        used, lasted = _used(first) / 1e9, ((first.end_ns or 0) - (first.start_ns or 0)) / 1e9
        many = f" (and {len(found) - 1} other copies)" if len(found) > 1 else ""
        text = f"copy {first.copy_index} ended after {lasted:.3g} s on {cpus} CPUs, with {used:.3g} s of CPU time{many}"
        return Cause("finished too soon", None, "", text)
    return None


def _used(copy: CopyEvent) -> int:
    return (copy.user_ns or 0) + (copy.system_ns or 0)


def _n_cpus(copy: CopyEvent) -> int:
    return len(copy.in_force.cpus) if copy.in_force else 0


def _excess(copy: CopyEvent) -> float:
    """Return the CPU time of a copy and its waited-for children beyond what its CPUs had while it lived."""
    if copy.start_ns is None or copy.end_ns is None or not copy.in_force:
        return 0.0
    capacity = (copy.end_ns - copy.start_ns) * len(copy.in_force.cpus)
    return float(_used(copy) - PLAY * capacity - 2 * TICK_NS)


def _outside(record: Record) -> Iterator[Cause]:
    """Find windows that end before they begin, or lie outside the life of the copy that reported them."""
    lives = {copy.copy_index: copy for copy in record.copies}
    for part in record.iterations:
        life = lives.get(part.copy_index)
        if not part.index or life is None or life.start_ns is None or life.end_ns is None:
            continue
        born, died, first, last = life.start_ns, life.end_ns, min(part.start_ns), max(part.end_ns)
        if any(map(lt, part.end_ns, part.start_ns)):
            yield Cause("window", None, "", f"an iteration of copy {part.copy_index} ends before it begins")
        elif first < born - TICK_NS or last > died + TICK_NS:
            lived, told = (died - born) / 1e9, (last - first) / 1e9
            text = f"lived for {lived:.3g} s and reports {told:.3g} s of iterations, not all within"
            yield Cause("window", None, "", f"copy {part.copy_index} {text}")


def _longer(run: RunFigures) -> Iterator[Cause]:
    """Find times within a run that are longer than the run."""
    wall = max(run.wall_ns or 0, run.tree_wall_ns or 0)
    most = PLAY * wall + 100 * TICK_NS
    for name in _WITHIN:
        lasted = getattr(run, name)
        if lasted is not None and lasted > most:
            yield Cause("stall", None, "", f"{name} is {lasted / 1e9:.3g} s of a run of {wall / 1e9:.3g} s")
