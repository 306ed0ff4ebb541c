"""Partners of a run: processes outside it that work for it, such as a database server or the daemon of a build tool.

Two facts tell them from interference: they use CPU time during runs and hardly any between runs, and they and the run
wake each other. What works at the same rate between runs is interference, whatever else it does.
"""

from typing import NamedTuple

from msgspec.structs import replace

from scalograph.protocol.record import Record, RunFigures
from scalograph.protocol.record_processes import OtherProcess

# A process works for the run if its CPU usage at rest is at most this share of that during the run; from the second
# share on it does not.
SELDOM, STEADY = 0.1, 0.5
# CPU time in ns that a steady process would have used at rest: one tick. A shorter rest proves nothing.
ENOUGH_NS = 10_000_000
# Without wake-ups it takes so many pauses between runs, and five times that CPU time.
PAUSES = 5


class RunPartner(NamedTuple):
    """A process that works for a run, or may do so if it is not sure."""

    pid: int
    name: str
    cpu_ns: int
    is_sure: bool


def find_partners(run: RunFigures) -> list[RunPartner]:
    """Find the processes outside a run that work for it, or may do so; most CPU time first."""
    if run.others is None or run.others.to_ns <= run.others.from_ns:
        return []
    span_ns = run.others.to_ns - run.others.from_ns
    sees_wakes = run.wait_scope == "preemption and wakeup"
    pairs = [(other, _assess(other, span_ns, sees_wakes)) for other in run.others.processes]
    return [RunPartner(other.pid, other.name, other.cpu_ns, is_sure) for other, is_sure in pairs if is_sure is not None]


def _assess(other: OtherProcess, span_ns: int, sees_wakes: bool) -> bool | None:
    """Tell whether a process works for the run; None if nothing speaks for it."""
    rate = other.cpu_ns / span_ns
    if sees_wakes and other.n_wakes > (rate * other.pause_ns < ENOUGH_NS):
        # Pauses are evidence of this session. Without them, it is the life of the process before the run, and two
        # wake-ups: a single one may be a lock of the kernel.
        rests = ((other.between_ns, other.pause_ns), (other.before_ns, other.age_ns))
        rest = next((used / (rate * ns) for used, ns in rests if rate * ns >= ENOUGH_NS), None)
        if rest is None or SELDOM < rest < STEADY:
            return False
        return True if rest <= SELDOM else None
    expected_ns = rate * other.pause_ns
    is_at_rest = expected_ns >= PAUSES * ENOUGH_NS and other.between_ns <= SELDOM * expected_ns
    return False if is_at_rest and other.n_pauses >= PAUSES else None


def mark_partners(record: Record, with_possible: bool = False) -> Record:
    """Return the record with what partners took marked as theirs, the same if it has none.

    Args:
        record: of the run.
        with_possible: take those that may be partners as partners too: what is left then was surely taken by others.
    """
    run = record.run
    partners = {p.pid: p for p in find_partners(run) if p.is_sure or with_possible}
    if not partners:
        return record
    used_ns = sum(partner.cpu_ns for partner in partners.values())
    busy_ns = None if run.machine_busy_ns is None else max(0, run.machine_busy_ns - used_ns)
    if run.neighbors is not None or not with_possible:
        neighbors = run.neighbors and [replace(n, partner=n.family in partners) for n in run.neighbors]
        return record.replace_values(neighbors=neighbors, machine_busy_ns=busy_ns)
    # Without names, they may have taken as much as they used.
    taken_ns = None if run.neighbor_ns is None else max(0, run.neighbor_ns - used_ns)
    per_cpu_ns = [max(0, ns - used_ns) for ns in run.neighbor_per_cpu_ns or ()]
    return record.replace_values(neighbor_ns=taken_ns, neighbor_per_cpu_ns=per_cpu_ns, machine_busy_ns=busy_ns)


def partner_ns(run: RunFigures) -> int:
    """Return the time in ns that marked partners had CPUs for which the run waited."""
    return sum([neighbor.taken_ns for neighbor in run.neighbors if neighbor.partner]) if run.neighbors else 0


class _Rest(NamedTuple):
    total_ns: int
    seen_ns: int
    between_ns: int = 0
    pause_ns: int = 0
    n_pauses: int = 0


class PauseLog:
    """Remembers the CPU time of other processes between the runs of a session."""

    def __init__(self) -> None:
        self._rests: dict[int | str, _Rest] = {}

    def annotate(self, record: Record) -> Record:
        """Return the record with what each other process used in the pauses before it."""
        others = record.run.others
        if others is None:
            return record
        older = {other.name for other in others.processes if other.age_ns}
        # A container has a new process in each run: its name stands for it, unless one was there before the run.
        born = {other.name for other in others.processes if not other.age_ns} - older
        self._rests = {key: rest for key, rest in self._rests.items() if not isinstance(key, str) or key in born}
        processes = []
        for other in others.processes:
            key = other.name if other.name in born else other.pid
            rest = self._advance(key, other, others.from_ns)
            processes.append(replace(other, between_ns=rest.between_ns, pause_ns=rest.pause_ns, n_pauses=rest.n_pauses))
            total_ns = 0 if key in born else other.before_ns + other.cpu_ns
            self._rests[key] = rest._replace(total_ns=total_ns, seen_ns=others.to_ns)
        return record.replace_values(others=replace(others, processes=processes))

    def _advance(self, key: int | str, other: OtherProcess, from_ns: int) -> _Rest:
        """Add the pause since the last run; none if the process is another one or was not seen."""
        last = self._rests.get(key)
        is_younger = last is not None and isinstance(key, int) and other.age_ns < from_ns - last.seen_ns
        if last is None or is_younger or from_ns <= last.seen_ns:
            return _Rest(0, from_ns)
        # CPU time of ended children is counted in ticks: it may seem to shrink.
        used_ns, pause_ns = max(0, other.before_ns - last.total_ns), from_ns - last.seen_ns
        return _Rest(0, from_ns, last.between_ns + used_ns, last.pause_ns + pause_ns, last.n_pauses + 1)
