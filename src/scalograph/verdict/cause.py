"""Causes of verdicts as the journal keeps them, limits above which they count, and escapes from CPUs and quotas."""

from dataclasses import dataclass
from typing import Any

from scalograph.protocol.record import CopyEvent, Record
from scalograph.text.format import named_cpus

# Share of the CPU time that a run wanted, or of the time that it took: quiet machines show about 0.5%.
SHARE = 0.02
# A tick of /proc/stat and of rusage.
TICK_NS = 10_000_000
# Steal is counted in ticks: a single one says nothing about a short run.
STEAL_TICKS = 3
# CPU time may exceed the available time by this factor: the clocks within a kernel differ slightly.
PLAY = 1.05
# Runs with these verdicts carry the estimates; the others are saved, drawn and counted.
COUNTED = ("clean", "unverified", "corrected")
# A failed run would fail again, and an unverified one may be good.
REPEATED = ("disturbed", "invalid")


@dataclass(frozen=True, slots=True)
class Cause:
    """Reason why a run is not clean; `amount` is a share of what `unit` names, None without a size."""

    cause: str
    amount: float | None
    unit: str
    text: str

    def journal_entry(self) -> dict[str, Any]:
        """Return the fields of a `verdict` event."""
        return {"cause": self.cause, "amount": self.amount, "unit": self.unit, "text": self.text}


# Masks are set before the gate, and nothing before the gate is counted: less than this is nobody's decision.
STRAY_NS = 100_000


def find_cpu_escape(record: Record) -> Cause | None:
    """Find that a run used CPUs that none of its copies was given.

    Switch records show it for the whole tree; without them, the masks that the copies had at their end.
    """
    outside = record.run.outside_ns
    changed = [copy for copy in record.copies if copy.changed]
    if outside is None and not changed:
        return None
    # Without a sum there would be none outside either.
    share = outside / max(1, sum(record.run.per_cpu_ns or ())) if outside else 0.0
    if outside is not None and (outside < STRAY_NS or share < SHARE):
        return None
    own = granted_cpus(record)
    strayed = [copy for copy in changed if set(_final_cpus(copy)) - own]
    ended = f"; its mask was {named_cpus(_final_cpus(strayed[0]))} at its end" if strayed else ""
    if outside is None:
        return Cause("left its CPUs", None, "", f"it was given {named_cpus(own)}{ended}") if strayed else None
    # In steps, so that similar runs have one text.
    least = 100 * SHARE if share < 0.1 else 10 * int(10 * min(1.0, share))
    text = f"at least {least:.0f}% of its CPU time was not on {named_cpus(own)}, which it was given{ended}"
    return Cause("left its CPUs", share, "of CPU time", text)


def granted_cpus(record: Record) -> set[int]:
    """Return the CPUs that the copies of a run were given together; empty if unknown."""
    masks = [copy.in_force.cpus for copy in record.copies if copy.in_force]
    return set(masks[0]) if len(masks) == 1 else {cpu for mask in masks for cpu in mask}


def _final_cpus(copy: CopyEvent) -> list[int]:
    return (copy.changed.cpus or []) if copy.changed else []


def find_quota_escape(record: Record) -> Cause | None:
    """Find that processes of a run moved out of the cgroup in which the study limits it."""
    quota, contained = record.run.quota_cpus, record.header.containment == "cgroup"
    # Where there was no leaf to leave, the same line says why.
    if quota is None or not contained or all(part.what != "cgroup leaf" for part in record.run.degraded):
        return None
    text = f"processes left the cgroup of the run, and with it the quota of {quota:g} CPUs"
    return Cause("left its quota", None, "", text)
