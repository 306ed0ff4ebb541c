"""What a program changed of what was set for it: its CPUs, its policy, its nice value."""

from collections.abc import Iterator

from scalograph.protocol.record import CopyEvent, InForce, Record
from scalograph.text.cpu_list import format_cpu_list, named_cpus

# A CPU with less of a run's CPU time was not used by it.
USED = 0.01


def own_changes(record: Record) -> tuple[str, ...]:
    """Return in words what the copies of a run changed themselves, each change once, in their order."""
    changed = [copy for copy in record.copies if copy.changed]
    return tuple(dict.fromkeys(text for copy in changed for text in _told(copy))) if changed else ()


def _told(copy: CopyEvent) -> Iterator[str]:
    before, end = copy.in_force, copy.at_end
    if before is None or end is None:
        return
    if end.cpus != before.cpus:
        yield f"its CPUs from {format_cpu_list(before.cpus)} to {format_cpu_list(end.cpus)}"
    if (end.policy, end.priority) != (before.policy, before.priority):
        yield f"its policy from {_policy(before)} to {_policy(end)}"
    if end.nice != before.nice:
        yield f"its nice value from {before.nice} to {end.nice}"


def _policy(placed: InForce) -> str:
    return f"{placed.policy}:{placed.priority}" if placed.priority else placed.policy


def kept_to_fewer(record: Record) -> str:
    """Tell that a run used no more CPUs than its program had confined itself to; empty if it did, or nobody saw it.

    One that binds its threads narrows the mask of the first, and uses all CPUs that it was given all the same.
    """
    copy, used = record.copies[0] if len(record.copies) == 1 else None, record.run.per_cpu_ns
    before, end = (copy.in_force, copy.at_end) if copy and copy.changed else (None, None)
    if before is None or end is None or not used or not set(end.cpus) < set(before.cpus):
        return ""
    n_used = sum(ns > USED * sum(used) for ns in used)
    return f"it kept to {named_cpus(end.cpus)} of {format_cpu_list(before.cpus)}" if n_used <= len(end.cpus) else ""
