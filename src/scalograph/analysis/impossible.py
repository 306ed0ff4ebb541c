"""More was used than there was: a record that contradicts itself."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from scalograph.analysis.cause import PLAY, TICK_NS, cause


def impossible(record: Mapping[str, Any], cpus: int) -> Iterator[dict[str, Any]]:
    """Why a record cannot be true, if it cannot.

    Args:
        record: of a run (protocol/journal.md).
        cpus: that its copies were allowed to use, together.
    """
    yield from _too_much(record["run"], cpus)
    yield from _too_soon(record["copies"])


def _too_much(run: Mapping[str, Any], cpus: int) -> Iterator[dict[str, Any]]:
    # Until the last of the tree had ended: what a survivor used belongs to the whole time that it had.
    capacity = max(run["wall_ns"] or 0, run.get("tree_wall_ns") or 0) * cpus
    if run["cpu_ns"] is not None and run["cpu_ns"] > PLAY * capacity + 2 * TICK_NS:
        text = f"{run['cpu_ns'] / 1e9:.3g} s of CPU time in {capacity / 1e9:.3g} CPU seconds"
        yield cause("CPU time", run["cpu_ns"] / capacity if capacity else None, "of capacity", text)


def _too_soon(copies: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Copies that finished sooner than their CPU time allows; the first is told, the others counted."""
    found = [copy for copy in copies if _excess(copy) > 0]
    if found:
        first, cpus = found[0], len(found[0]["in_force"]["cpus"])
        used, lasted = _used(first) / 1e9, (first["end_ns"] - first["start_ns"]) / 1e9
        many = f" (and {len(found) - 1} other copies)" if len(found) > 1 else ""
        text = f"copy {first['copy']} ended after {lasted:.3g} s on {cpus} CPUs, with {used:.3g} s of CPU time{many}"
        yield cause("finished too soon", None, "", text)


def _used(copy: Mapping[str, Any]) -> int:
    return (copy.get("user_ns") or 0) + (copy.get("system_ns") or 0)


def _excess(copy: Mapping[str, Any]) -> float:
    """CPU time of a copy and of the children it waited for, beyond what its CPUs had while it lived."""
    if copy.get("start_ns") is None or copy.get("end_ns") is None or not copy.get("in_force"):
        return 0.0
    capacity = (copy["end_ns"] - copy["start_ns"]) * len(copy["in_force"]["cpus"])
    return float(_used(copy) - PLAY * capacity - 2 * TICK_NS)
