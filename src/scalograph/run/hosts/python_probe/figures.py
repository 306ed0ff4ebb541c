"""What was seen of a run, as the events of protocol/probe.md; what is not seen from outside is left out."""

import json
import resource
from collections.abc import Iterator
from typing import Any

from scalograph.run.hosts.python_probe import PROTOCOL, VERSION
from scalograph.run.hosts.python_probe.copies import Copy
from scalograph.run.hosts.python_probe.watch import RunWatch

# JSON may need six bytes for a character: these keep each line below 4 MiB.
_CHUNK_CHARACTERS = 512 << 10
_CHUNK_ITERATIONS = 30_000
_MISSING = {
    "kernel records": "measured by the Python probe: times are taken from outside",
    "neighbors": "the Python probe reads nothing of the machine: it can call no run clean",
    "containment": "a subreaper is all that the Python probe uses",
}
_DEGRADED = [{"what": what, "why": why, "fix": "install scalograph where cargo is"} for what, why in _MISSING.items()]

Event = tuple[str, dict[str, Any]]


def header() -> dict[str, Any]:
    """The first event, written before anything is started."""
    made_by = {"protocol": PROTOCOL, "probe": VERSION, "kind": "degraded", "backend": "plain"}
    return {**made_by, "containment": "best effort", "cgroup": None, "degraded": _DEGRADED}


def events(watch: RunWatch) -> Iterator[Event]:
    """All events after the header, of a run that has ended."""
    refused = [copy for copy in watch.copies if copy.refusal]
    for copy in [] if refused else watch.copies:
        yield from _of_copy(watch, copy)
    yield "run", not_started(_refusal(refused[0])) if refused else _run(watch)


def not_started(reason: str) -> dict[str, Any]:
    """All that there is to say of a run whose copies never left the gate."""
    return {"status": "not started", "reason": reason, "degraded": _DEGRADED}


def _refusal(copy: Copy) -> str:
    return f"commands[{copy.command_index}].argv[0]: {copy.command.argv[0]}: {json.loads(copy.refusal)['why']}"


def _of_copy(watch: RunWatch, copy: Copy) -> Iterator[Event]:
    text = copy.stdout.decode(errors="replace") if watch.spec.capture else None
    code = copy.code
    left_ns, *before_ns = watch.board.left(copy.index)
    user, system = _times(copy.usage, *before_ns)
    yield (
        "copy",
        {
            "copy": copy.index,
            "command": copy.command_index,
            "pid": copy.pid,
            "exit_code": code if code is not None and code >= 0 else None,
            "signal": -code if code is not None and code < 0 else None,
            "start_ns": left_ns - watch.gate_ns if left_ns else None,
            "end_ns": copy.end_ns,
            "user_ns": user,
            "system_ns": system,
            "in_force": copy.in_force,
            "changed": _changed(copy),
            "stdout": None if text is None else text[:_CHUNK_CHARACTERS],
            "stdout_truncated": copy.truncated,
            "stderr_tail": copy.stderr.decode(errors="replace"),
        },
    )
    for at in range(_CHUNK_CHARACTERS, len(text or ""), _CHUNK_CHARACTERS):
        yield "output", {"copy": copy.index, "stdout": (text or "")[at : at + _CHUNK_CHARACTERS]}
    yield from _said(copy, watch.gate_ns)


def _changed(copy: Copy) -> dict[str, Any] | None:
    """What of `in_force` was otherwise at the end; None if nobody asked."""
    found = {name: value for name, value in copy.at_end.items() if value != copy.in_force[name]}
    return found if copy.at_end else None


def _said(copy: Copy, gate_ns: int) -> Iterator[Event]:
    """What a copy said by the lines of protocol/workload.md, on the run's clock."""
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
    left = [watch.board.left(copy.index) for copy in watch.copies]
    total = resource.getrusage(resource.RUSAGE_CHILDREN)
    user, system = _times(total, sum(user for _, user, _ in left), sum(system for _, _, system in left))
    # Before its exec a copy was a copy of us: only a larger peak is its own.
    peak, hidden = total.ru_maxrss, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "status": status,
        "reason": reason,
        **_walls(watch, [leaving - watch.gate_ns for leaving, _, _ in left if leaving]),
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
        "max_rss_bytes": peak * 1024 if peak > hidden else None,
        "n_survivors": watch.n_survivors,
        "degraded": _DEGRADED,
    }


def _times(usage: resource.struct_rusage | None, user_ns: int, system_ns: int) -> tuple[int, int]:
    """User and system time, less what was used as Python before the gate."""
    if usage is None:
        return 0, 0
    return max(0, int(usage.ru_utime * 1e9) - user_ns), max(0, int(usage.ru_stime * 1e9) - system_ns)


def _walls(watch: RunWatch, starts: list[int]) -> dict[str, Any]:
    """Times from the first leaving of the gate to the last end, and how far the leavings lie apart."""
    ends = [copy.end_ns for copy in watch.copies if copy.end_ns is not None]
    source = {"wall_source": "gate", "gate_ns": watch.gate_ns}
    if not starts or not ends:
        return source
    begin, skew = min(starts), max(starts) - min(starts)
    return {
        **source,
        "wall_ns": max(0, max(ends) - begin),
        "wall_outer_ns": max(ends),
        "tree_wall_ns": max(0, watch.last_reap_ns - begin),
        "queue_drain_ns": skew,
        "start_skew_ns": skew if len(starts) > 1 else None,
    }


def _outcome(copies: list[Copy]) -> tuple[str, str | None]:
    """How the first copy ended that a signal ended, else the first that failed."""
    ended = ((copy.code, copy) for copy in copies)
    codes = [(code, copy) for code, copy in ended if code is not None and code not in copy.command.ok_exits]
    if not codes:
        return "ok", None
    code, copy = min(codes, key=lambda ended: ended[0] > 0)
    if code < 0:
        return "signal", f"copy {copy.index} was ended by signal {-code}"
    said = copy.stderr.decode(errors="replace").split("\n") if code == 69 else []
    words = ["".join(filter(str.isprintable, line)).strip() for line in said]
    return "failed", next(filter(None, reversed(words)), f"copy {copy.index} exited with {code}")[:400]
