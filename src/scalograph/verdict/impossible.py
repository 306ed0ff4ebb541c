"""More was used than there was: a record that contradicts itself."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from scalograph.verdict.cause import PLAY, TICK_NS, cause


def impossible(record: Mapping[str, Any], cpus: int) -> Iterator[dict[str, Any]]:
    """Why a record cannot be true, if it cannot.

    Args:
        record: of a run (protocol/journal.md).
        cpus: that its copies were allowed to use, together.
    """
    yield from _too_much(record["run"], cpus)
    yield from _too_soon(record["copies"])
    yield from _outside(record)
    yield from _longer(record["run"])


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


def _outside(record: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Windows that end before they begin, or lie outside the life of the copy that reported them."""
    lives = {copy["copy"]: (copy.get("start_ns"), copy.get("end_ns")) for copy in record["copies"]}
    for part in record.get("iterations") or ():
        born, died = lives.get(part["copy"], (None, None))
        if not part["index"] or born is None or died is None:
            continue
        first, last = min(part["start_ns"]), max(part["end_ns"])
        if any(end < start for start, end in zip(part["start_ns"], part["end_ns"], strict=True)):
            yield cause("window", None, "", f"an iteration of copy {part['copy']} ends before it begins")
        elif first < born - TICK_NS or last > died + TICK_NS:
            lived, told = (died - born) / 1e9, (last - first) / 1e9
            text = f"copy {part['copy']} lived for {lived:.3g} s and reports {told:.3g} s of iterations, not all within"
            yield cause("window", None, "", text)


def _longer(run: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Times within a run that are longer than the run."""
    wall = max(run.get("wall_ns") or 0, run.get("tree_wall_ns") or 0)
    for name in ("memory_stall_ns", "io_stall_ns", "stopped_ns"):
        if (run.get(name) or 0) > PLAY * wall + 100 * TICK_NS:
            yield cause("stall", None, "", f"{name} is {run[name] / 1e9:.3g} s of a run of {wall / 1e9:.3g} s")
