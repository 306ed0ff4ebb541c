"""What was seen of a run, as the events of protocol/probe.md."""

import json
import os
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from scalograph.run.hosts.python_probe import PROTOCOL, VERSION
from scalograph.run.hosts.python_probe.conditions import between, conditions
from scalograph.run.hosts.python_probe.launch import Copy
from scalograph.run.hosts.python_probe.spec import Spec
from scalograph.run.hosts.python_probe.watch import Watch, usage_of_tree

# JSON may need six bytes for a character: these keep each line below 4 MiB.
_CHUNK_CHARACTERS = 512 << 10
_CHUNK_ITERATIONS = 30_000
_UNAVAILABLE_WITHOUT_RECORDS = {
    "wait_ns": None,
    "neighbor_ns": None,
    "neighbor_per_cpu_ns": None,
    "neighbors": None,
    "wait_scope": None,
    "n_migrations": None,
    "n_tasks": None,
    "n_processes": None,
    "per_cpu_ns": None,
    "timeline_cost_ns": None,
    "n_lost_records": None,
    "memory_stall_ns": None,
    "io_stall_ns": None,
    "frequency_hz": None,
}
_NATIVE = "install scalograph-probe"
DEGRADED = [
    {
        "what": "kernel records",
        "why": "measured by the Python probe: times are taken from outside",
        "fix": _NATIVE,
    },
    {"what": "containment", "why": "a subreaper is all that the Python probe uses", "fix": _NATIVE},
    {
        "what": "max_rss_bytes",
        "why": "rusage keeps the size of the Python image that stood at the gate",
        "fix": _NATIVE,
    },
]


def line(event: str, run: str | None, fields: dict[str, Any]) -> str:
    """One event line."""
    return json.dumps({"event": event, "run": run, **fields}, ensure_ascii=False, separators=(",", ":"))


def header() -> dict[str, Any]:
    """Written before anything is started."""
    return {
        "protocol": PROTOCOL,
        "probe": VERSION,
        "kind": "degraded",
        "containment": "best effort",
        "cgroup": None,
        "backend": "plain",
        "degraded": DEGRADED,
    }


def machine_ticks(cpus: Iterable[int]) -> tuple[int, list[int]]:
    """(busy ns, ns stolen of each) of these CPUs, since boot."""
    allowed = {f"cpu{cpu}" for cpu in cpus}
    tick_ns = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
    busy, stolen_ns = 0, []
    with Path("/proc/stat").open() as stream:
        for words in map(str.split, stream):
            if words and words[0] in allowed:
                user, nice, system, _idle, _iowait, irq, softirq, stolen = map(int, words[1:9])
                busy += user + nice + system + irq + softirq
                stolen_ns.append(stolen * tick_ns)
    return busy * tick_ns, stolen_ns


class Window:
    """Figures that are differences between the gate and the end. `cpus`: those that the copies may use."""

    def __init__(self, cpus: Iterable[int]) -> None:
        self.cpus = frozenset(cpus)
        self.conditions = conditions()
        self.busy_ns, self.stolen_ns = machine_ticks(self.cpus)
        self.own_ns = time.process_time_ns()

    def figures(self) -> dict[str, Any]:
        """Read once the tree is empty."""
        busy_ns, stolen_ns = machine_ticks(self.cpus)
        stolen = [max(0, now - then) for now, then in zip(stolen_ns, self.stolen_ns, strict=False)]
        used = {
            "machine_busy_ns": max(0, busy_ns - self.busy_ns),
            "steal_ns": sum(stolen),
            "worst_steal_ns": max(stolen, default=0),
            "observer_ns": time.process_time_ns() - self.own_ns,
        }
        return used | between(self.conditions, conditions())


def copy_events(spec: Spec, copy: Copy) -> Iterator[tuple[str, dict[str, Any]]]:
    """`copy`, and what continues it."""
    text = copy.stdout.decode(errors="replace") if spec.capture else None
    yield "copy", _copy(copy, text)
    for at in range(_CHUNK_CHARACTERS, len(text or ""), _CHUNK_CHARACTERS):
        yield "output", {"copy": copy.index, "stdout": (text or "")[at : at + _CHUNK_CHARACTERS]}


def said_events(copy: Copy, gate_ns: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """`iterations` and `values` of a copy that wrote any, on the run's clock."""
    every = copy.speech.iterations
    for at in range(0, len(every), _CHUNK_ITERATIONS):
        index, start, end, work, cpu = zip(*every[at : at + _CHUNK_ITERATIONS], strict=True)
        yield (
            "iterations",
            {
                "copy": copy.index,
                "index": index,
                "start_ns": [ns - gate_ns for ns in start],
                "end_ns": [ns - gate_ns for ns in end],
                "work": work,
                "cpu_ns": cpu,
            },
        )
    if copy.speech.values:
        yield "values", {"copy": copy.index, "values": copy.speech.values}


def _copy(copy: Copy, text: str | None) -> dict[str, Any]:
    code = None if copy.wait_status is None else os.waitstatus_to_exitcode(copy.wait_status)
    user, system = _own_times(copy)
    return {
        "copy": copy.index,
        "command": copy.command_index,
        "pid": copy.pid,
        "exit_code": code if code is not None and code >= 0 else None,
        "signal": -code if code is not None and code < 0 else None,
        "start_ns": copy.start_ns,
        "exec_ns": None,
        "end_ns": copy.end_ns,
        "reap_ns": None,
        "user_ns": user,
        "system_ns": system,
        "in_force": copy.in_force,
        "stdout": None if text is None else text[:_CHUNK_CHARACTERS],
        "stdout_truncated": copy.truncated,
        "stderr_tail": copy.stderr.decode(errors="replace"),
    }


def _own_times(copy: Copy) -> tuple[int, int]:
    """User and system time of a copy, less what it used as Python before the gate."""
    if copy.usage is None:
        return 0, 0
    times = copy.usage.ru_utime, copy.usage.ru_stime
    user, system = (max(0, int(s * 1e9) - us * 1000) for s, us in zip(times, copy.before_us, strict=True))
    return user, system


def run_event(watch: Watch, window: Window) -> dict[str, Any]:
    """The last line."""
    status, reason = _outcome(watch)
    return {
        "status": status,
        "reason": reason,
        **_walls(watch),
        **_usage(watch),
        **window.figures(),
        **_UNAVAILABLE_WITHOUT_RECORDS,
        "stopped_ns": watch.stopped_ns,
        "n_survivors": watch.n_survivors,
        "degraded": DEGRADED,
    }


def _walls(watch: Watch) -> dict[str, Any]:
    starts = [copy.start_ns for copy in watch.copies if copy.start_ns is not None]
    ends = [copy.end_ns for copy in watch.copies if copy.end_ns is not None]
    first: dict[int, int] = {}  # CPU -> leaving of the first copy placed on it
    for copy in watch.copies:
        if copy.start_ns is not None and any(cpu not in first for cpu in copy.in_force["cpus"]):
            first.setdefault(next(c for c in copy.in_force["cpus"] if c not in first), copy.start_ns)
    begin, end = min(starts, default=None), max(ends, default=None)
    known = begin is not None and end is not None
    return {
        "wall_ns": max(0, end - begin) if begin is not None and end is not None else None,
        "wall_source": "gate",
        "wall_outer_ns": end,
        "tree_wall_ns": max(0, watch.last_reap_ns - (begin or 0)) if known else None,
        "gate_ns": watch.gate_ns,
        "gate_skew_ns": _spread(list(first.values())),
        "queue_drain_ns": _spread(starts),
        "start_skew_ns": _spread(starts) if len(watch.copies) > 1 else None,
    }


def _spread(values: list[int]) -> int | None:
    return max(values) - min(values) if values else None


def _usage(watch: Watch) -> dict[str, Any]:
    total = usage_of_tree()
    before_user, before_system = (sum(copy.before_us[i] for copy in watch.copies) * 1000 for i in (0, 1))
    user = max(0, int(total.ru_utime * 1e9) - before_user)
    system = max(0, int(total.ru_stime * 1e9) - before_system)
    return {
        "user_ns": user,
        "system_ns": system,
        "cpu_ns": user + system,
        "cpu_source": "rusage",
        "n_switches": total.ru_nvcsw + total.ru_nivcsw,
        "n_preemptions": total.ru_nivcsw,
        "n_minor_faults": total.ru_minflt,
        "n_major_faults": total.ru_majflt,
        "n_blocks_in": total.ru_inblock,
        "n_blocks_out": total.ru_oublock,
        "max_rss_bytes": total.ru_maxrss * 1024,
    }


def _outcome(watch: Watch) -> tuple[str, str | None]:
    """What ended the run, else the first copy that did not end well."""
    if watch.forced:
        return watch.forced
    found: list[tuple[str, str]] = []
    for copy in watch.copies:
        code = None if copy.wait_status is None else os.waitstatus_to_exitcode(copy.wait_status)
        name = f"copy {copy.index}"
        if copy.exec_error is not None:
            why = json.loads(copy.exec_error)["why"]
            found.append(("not started", f"{name}: {copy.command.argv[0]}: {why}"))
        elif code is None or code < 0:
            found.append(("signal", f"{name} was ended by signal {-(code or 0)}"))
        elif code > 0:
            found.append(("failed", _sentence(copy) if code == 69 else f"{name} ended with exit code {code}"))
    order = ["not started", "signal", "failed"]
    return min(found, key=lambda item: order.index(item[0]), default=("ok", None))


def _sentence(copy: Copy) -> str:
    """What a workload says when it cannot do what it was asked."""
    lines = copy.stderr.decode(errors="replace").strip().splitlines()
    text = lines[-1][:400] if lines else f"copy {copy.index} ended with exit code 69"
    return "".join(character for character in text if character.isprintable())
