"""Report what was seen of a run as events of protocol/probe.md; what is not seen from outside is absent."""

import resource
from collections.abc import Iterator
from typing import Any

from scalograph.run.hosts.python_probe import FIX
from scalograph.run.hosts.python_probe.launch import Copy
from scalograph.run.hosts.python_probe.watch import RunWatch

# JSON may need six bytes for a character: these keep each line below 4 MiB.
_CHUNK_CHARACTERS = 512 << 10
_CHUNK_ITERATIONS = 30_000
_MISSING = {
    "kernel records": "measured by the Python probe: times are taken from outside",
    "neighbors": "the Python probe reads nothing of the machine: it can call no run clean",
    "containment": "a subreaper is all that the Python probe uses",
}
DEGRADED = [{"what": what, "why": why, "fix": FIX} for what, why in _MISSING.items()]

Event = tuple[str, dict[str, Any]]


def empty_run(reason: str) -> dict[str, Any]:
    """Return the `run` event where no copy left the gate."""
    return {"status": "not started", "reason": reason, "degraded": DEGRADED}


def events(watch: RunWatch) -> Iterator[Event]:
    """Yield all events after the header, of a run that has ended."""
    for copy in watch.copies:
        if copy.refusal:
            where = f"commands[{copy.command_index}].argv[0]: {copy.command.argv[0]}"
            yield "run", empty_run(f"{where}: {copy.refusal}")
            return
    for copy in watch.copies:
        yield from _copy_events(watch, copy)
        yield from _workload_events(copy, watch.gate_ns)
    yield "run", _run(watch)


def _copy_events(watch: RunWatch, copy: Copy) -> Iterator[Event]:
    text = copy.stdout.decode(errors="replace")
    code = copy.code
    left_ns, *before_ns = copy.left
    user, system = _cpu_times(copy.usage, *before_ns)
    changed = {name: value for name, value in copy.at_end.items() if value != copy.in_force[name]}
    fields = {
        "copy": copy.index, "command": copy.command_index, "pid": copy.pid,
        "exit_code": code if code is not None and code >= 0 else None,
        "signal": -code if code is not None and code < 0 else None,
        "start_ns": left_ns - watch.gate_ns if left_ns else None, "end_ns": copy.end_ns,
        "user_ns": user, "system_ns": system,
        "in_force": copy.in_force, "changed": changed if copy.at_end else None,
        "stdout": text[:_CHUNK_CHARACTERS] if watch.spec.stdout == "capture" else None,
        "stdout_truncated": copy.truncated, "stderr_tail": copy.stderr.decode(errors="replace"),
    }  # fmt: skip
    yield "copy", fields
    for at in range(_CHUNK_CHARACTERS, len(text), _CHUNK_CHARACTERS):
        yield "output", {"copy": copy.index, "stdout": text[at : at + _CHUNK_CHARACTERS]}


def _workload_events(copy: Copy, gate_ns: int) -> Iterator[Event]:
    """Yield what a copy wrote by the lines of protocol/workload.md, on the run's clock."""
    every = copy.speech.iterations
    for at in range(0, len(every), _CHUNK_ITERATIONS):
        index, start, end, work, cpu = zip(*every[at : at + _CHUNK_ITERATIONS], strict=True)
        windows = {"start_ns": [ns - gate_ns for ns in start], "end_ns": [ns - gate_ns for ns in end]}
        yield "iterations", {"copy": copy.index, "index": index, **windows, "work": work, "cpu_ns": cpu}
    if copy.speech.values:
        yield "values", {"copy": copy.index, "values": copy.speech.values}
    if phases := copy.speech.phases:
        rows = [{"name": name, "start_ns": start - gate_ns, "end_ns": end - gate_ns} for name, start, end in phases]
        yield "phases", {"copy": copy.index, "phases": rows}
    for (phase, operation), counts in sorted(copy.speech.histograms.items()):
        index, count = zip(*sorted(counts.items()), strict=True)
        yield "histogram", {"copy": copy.index, "phase": phase, "operation": operation, "index": index, "count": count}


def _run(watch: RunWatch) -> dict[str, Any]:
    status, reason = watch.forced or _outcome(watch.copies)
    left = [copy.left for copy in watch.copies]
    starts = [leaving - watch.gate_ns for leaving, _, _ in left if leaving]
    ends = [copy.end_ns for copy in watch.copies if copy.end_ns is not None]
    walls: dict[str, int | None] = {}
    if starts and ends:
        begin, skew = min(starts), max(starts) - min(starts)
        walls = {"wall_ns": max(0, max(ends) - begin), "wall_outer_ns": max(ends), "queue_drain_ns": skew}
        walls |= {"tree_wall_ns": max(0, watch.last_reap_ns - begin)}
        walls |= {"start_skew_ns": skew if len(starts) > 1 else None}
    total = resource.getrusage(resource.RUSAGE_CHILDREN)
    user, system = _cpu_times(total, sum(user for _, user, _ in left), sum(system for _, _, system in left))
    # Before its exec a copy was a copy of us: only a larger peak is its own.
    peak, hidden = total.ru_maxrss, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "status": status, "reason": reason, "wall_source": "gate", "gate_ns": watch.gate_ns, **walls,
        "user_ns": user, "system_ns": system, "cpu_ns": user + system, "cpu_source": "rusage",
        "n_switches": total.ru_nvcsw + total.ru_nivcsw, "n_preemptions": total.ru_nivcsw,
        "n_minor_faults": total.ru_minflt, "n_major_faults": total.ru_majflt,
        "n_blocks_in": total.ru_inblock, "n_blocks_out": total.ru_oublock,
        "max_rss_bytes": peak * 1024 if peak > hidden else None,
        "n_survivors": watch.n_survivors, "degraded": DEGRADED,
    }  # fmt: skip


def _cpu_times(usage: resource.struct_rusage | None, user_ns: int, system_ns: int) -> tuple[int, int]:
    """Return user and system time, less what was used as Python before the gate."""
    if usage is None:
        return 0, 0
    return max(0, int(usage.ru_utime * 1e9) - user_ns), max(0, int(usage.ru_stime * 1e9) - system_ns)


def _outcome(copies: list[Copy]) -> tuple[str, str | None]:
    """Return how the first copy ended that a signal ended, else the first that failed."""
    ends = [(copy.code, copy) for copy in copies]
    failures = [(code, copy) for code, copy in ends if code is not None and code not in copy.command.ok_exits]
    if not failures:
        return "ok", None
    code, copy = min(failures, key=lambda failure: failure[0] > 0)
    if code < 0:
        return "signal", f"copy {copy.index} was ended by signal {-code}"
    lines = copy.stderr.decode(errors="replace").split("\n") if code == 69 else []
    texts = ["".join(filter(str.isprintable, line)).strip() for line in lines]
    return "failed", next(filter(None, reversed(texts)), f"copy {copy.index} exited with {code}")[:400]
