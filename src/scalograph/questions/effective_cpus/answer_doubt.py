"""An answer that the CPUs in use contradict: a neighbor that keeps one CPU busy makes a second one look helpful."""

from collections.abc import Mapping
from statistics import median

from scalograph.findings.sample import Sample

# Speedup beyond the CPUs in use that noise and caches explain.
SLACK = 1.05


def beyond_use(members: Mapping[int, Sample], k_eff: int, response: str) -> str:
    """Why an answer cannot stand; empty where it can.

    Args:
        members: the runs at each CPU count, for the same work.
        k_eff: CPUs that seem to help.
        response: whose scores are times.
    """
    least = min((k for k, sample in members.items() if sample.counted), default=k_eff)
    if least >= k_eff or k_eff not in members:
        return ""
    times, used = [members[k].scores(response) for k in (least, k_eff)], [_used(members[k]) for k in (least, k_eff)]
    if not all(times) or None in used:
        return ""
    had, has = (1.0 if least == 1 else used[0] or 1.0), used[1] or 0.0
    gained = median(times[0]) / median(times[1])
    if gained <= SLACK * has / had:
        return ""
    seen = f"with {k_eff} CPUs it is {gained:.2f}x as fast as with {least}, and had {has:.2f} of them in use"
    return f"{seen}, which cannot be: something else kept CPUs busy while it was given few"


def _used(sample: Sample) -> float | None:
    """CPU seconds over wall seconds."""
    found = [row.cpu_s / row.wall_s for row in sample.counted if row.wall_s and row.cpu_s is not None]
    return median(found) if found else None
