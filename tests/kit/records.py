"""Records as a probe would give them, with the figures that a test is about."""

from collections.abc import Mapping
from typing import Any

import msgspec

from scalograph.protocol.record import Record


def record(*args: Any, **figures: Any) -> Record:
    """The record of `recorded`, as a host gives it."""
    return read(recorded(*args, **figures))


def read(recorded: Mapping[str, Any]) -> Record:
    """What the journal keeps, as a host gives it."""
    return msgspec.convert(recorded, Record)


def placed(*in_force: Mapping[str, Any] | None) -> Record:
    """The record of copies with what was in force for each; None where that is not known."""
    usual, found = {"cpus": [0], "policy": "other", "priority": 0, "nice": 0}, recorded()
    (copy,) = found["copies"]
    copies = [{**copy, "copy": i, "in_force": one and {**usual, **one}} for i, one in enumerate(in_force)]
    return read({**found, "copies": copies})


def recorded(
    wall_s: float = 1.0,
    cpu_s: float = 1.0,
    *,
    status: str = "ok",
    reason: str | None = None,
    neighbor_s: float | None = 0.0,
    steal_s: float = 0.0,
    cpus: tuple[int, ...] = (0,),
    iterations: list[tuple[float, float, int]] | None = None,
    values: dict[str, list[float]] | None = None,
    per_cpu_s: tuple[float, ...] = (),
    kind: str = "native",
    **figures: Any,
) -> dict[str, Any]:
    """What the journal keeps of a run; `iterations`: (wall in s, CPU in s, work), one after the other.

    Further figures are fields of its run event, as they stand there.
    """
    copy = {
        "copy": 0, "command": 0, "pid": 1, "exit_code": 0, "signal": None, "start_ns": 0, "end_ns": _ns(wall_s),
        "in_force": {"cpus": list(cpus), "policy": "other", "priority": 0, "nice": 0},
    }  # fmt: skip
    run = {
        "status": status, "reason": reason, "wall_ns": _ns(wall_s), "wall_source": "kernel", "gate_ns": 0,
        "wall_outer_ns": _ns(wall_s), "cpu_ns": _ns(cpu_s), "user_ns": _ns(cpu_s), "system_ns": 0,
        "cpu_source": "records", "neighbor_ns": None if neighbor_s is None else _ns(neighbor_s),
        "steal_ns": _ns(steal_s), "per_cpu_ns": [_ns(s) for s in per_cpu_s], "degraded": [],
        **figures,
    }  # fmt: skip
    header = {
        "protocol": 1, "probe": "0.1.0", "kind": kind, "containment": "best effort", "cgroup": None,
        "backend": "kernel", "degraded": [],
    }  # fmt: skip
    return {
        "header": header, "copies": [copy], "iterations": _iterations(iterations or []),
        "values": [{"copy": 0, "values": values}] if values else [], "timeline": None, "run": run,
    }  # fmt: skip


def _ns(seconds: float) -> int:
    return round(seconds * 1e9)


def _iterations(found: list[tuple[float, float, int]]) -> list[dict[str, Any]]:
    if not found:
        return []
    start, starts, ends = 0.0, [], []
    for wall, _, _ in found:
        starts.append(_ns(start))
        start += wall
        ends.append(_ns(start))
    return [
        {
            "copy": 0, "index": list(range(len(found))), "start_ns": starts, "end_ns": ends,
            "work": [work for _, _, work in found], "cpu_ns": [_ns(cpu) for _, cpu, _ in found],
        }
    ]  # fmt: skip
