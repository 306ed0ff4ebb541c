"""Follow the copies from the gate to their end, leave nothing of them behind, and report what was seen.

What is not seen from outside is absent.
"""

import json
import os
import resource
import select
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from scalograph.run.hosts.python_probe import FIX, tree
from scalograph.run.hosts.python_probe.launch import Copy, GatePipe, read_back
from scalograph.run.hosts.python_probe.lines import BrokenLineError, Limits
from scalograph.run.hosts.python_probe.spec import Spec

_SURVIVOR_NS = 1_000_000_000
_CHUNK = 1 << 16
_LONGEST_MS = 3_600_000.0  # no kernel waits for thirty years in one call


def wake_on_signals() -> int:
    """Have every end of a child, and every signal to stop, wake the loop; the descriptor gets their numbers."""
    wake, into = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(into, warn_on_full_buffer=False)
    for number in (*tree.STOP_SIGNALS, signal.SIGCHLD):
        signal.signal(number, lambda _number, _frame: None)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    return wake


@dataclass
class RunWatch:
    """The one loop. Afterwards `forced` holds (status, reason) where the run was ended."""

    spec: Spec
    copies: list[Copy]
    wake: int
    gate: GatePipe
    gate_ns: int = 0
    forced: tuple[str, str] | None = None
    n_survivors: int = 0
    last_reap_ns: int = 0
    _limits: Limits = field(default_factory=Limits)
    _by_fd: dict[int, tuple[Copy, str]] = field(default_factory=dict)

    def follow(self) -> None:
        """Open the gate, and return when the tree is empty (or cannot be killed) and all that was written is read."""
        pipes = [(fd, copy, name) for copy in self.copies for name, fd in copy.pipes.items()]
        self._by_fd = {fd: (copy, name) for fd, copy, name in pipes if name not in ("go", "status")}
        self._poll = select.poll()
        for fd in (self.wake, *self._by_fd):
            self._poll.register(fd, select.POLLIN)
        self.gate_ns = self.gate.open(len(self.copies))
        while (alive := self._alive()) and self.forced is None:
            self._wait(self._check_clock(alive))
        if self.forced is None:
            self._wait_for_survivors()
        if not tree.kill_all(self._reap_and_read):
            self._force("failed", "processes of this run could not be killed")
        self._drain()

    def _alive(self) -> list[Copy]:
        return [copy for copy in self.copies if copy.wait_status is None]

    def _check_clock(self, alive: list[Copy]) -> int:
        """End a run that takes too long, let go who waits for nobody any more; return the next deadline."""
        timeout, ready_timeout = self.spec.timeout_ns, self.spec.ready_timeout_ns
        passed = time.monotonic_ns() - self.gate_ns
        waiting = [copy for copy in alive if copy.speech.ready and "go" in copy.pipes]
        # These are waited for: they have said nothing yet, and may still write `ready`.
        late = [copy for copy in alive if waiting and "events" in copy.pipes and not copy.speech.spoke]
        if passed >= timeout:
            self._force("timeout", f"still running after {timeout / 1e9:g} s; killed")
        elif late and passed >= ready_timeout:
            state = f"had not written ready after {ready_timeout / 1e9:g} s, while another waited"
            self._force("timeout", f"copy {late[0].index} {state}; killed")
        elif not late:
            for copy in waiting:
                # It wrote ready and did not wait, or has filled the pipe itself.
                with suppress(BrokenPipeError, BlockingIOError):
                    os.write(copy.pipes["go"], b"g")
                os.close(copy.pipes.pop("go"))
        return self.gate_ns + (min(timeout, ready_timeout) if late else timeout)

    def _force(self, status: str, reason: str) -> None:
        self.forced = self.forced or (status, reason)

    def _wait(self, deadline_ns: int) -> None:
        """Sleep until something happens, and take it."""
        left_ms = min(max(0.0, (deadline_ns - time.monotonic_ns()) / 1e6), _LONGEST_MS)
        for fd, _ in self._poll.poll(left_ms + 1):
            if fd == self.wake:
                for number in set(os.read(fd, _CHUNK)) & set(tree.STOP_SIGNALS):
                    self._force("interrupted", f"{signal.Signals(number).name} received; killed")
            else:
                self._take(fd)
        self._reap()

    def _take(self, fd: int) -> bool:
        """Read once; return False when there is nothing (any more)."""
        copy, name = self._by_fd[fd]
        try:
            data = os.read(fd, _CHUNK)
        except BlockingIOError:
            return False
        if data:
            self._store(copy, name, data)
            return True
        self._poll.unregister(fd)
        del self._by_fd[fd], copy.pipes[name]
        os.close(fd)
        return False

    def _store(self, copy: Copy, name: str, data: bytes) -> None:
        if self.spec.echo and name in ("stdout", "stderr"):
            with suppress(OSError):  # whoever read it has left
                sys.stderr.buffer.write(data)
                sys.stderr.buffer.flush()
        if name == "events" and self.forced is None:
            try:
                copy.speech.feed(data, self._limits)
            except BrokenLineError as broken:
                self._force("protocol", f"copy {copy.index}: {broken}")
        elif name == "stdout":
            if self.spec.stdout == "capture":
                room = self.spec.stdout_limit_bytes - len(copy.stdout)
                copy.stdout += data[:room]
                copy.truncated |= len(data) > room
        elif name == "stderr" and self.spec.stderr_limit_bytes:
            copy.stderr = (copy.stderr + data)[-self.spec.stderr_limit_bytes :]

    def _reap(self) -> bool:
        """Take all that have ended, orphans too; return whether any child is left."""
        while True:
            try:
                ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            except ChildProcessError:
                return False
            if ended is None:
                return True
            mains = [copy for copy in self._alive() if copy.pid == ended.si_pid]
            for copy in mains:
                copy.at_end = read_back(copy.pid)  # once it is waited for, nobody can ask any more
            _, status, usage = os.wait4(ended.si_pid, 0)
            self.last_reap_ns = time.monotonic_ns() - self.gate_ns
            for copy in mains:
                copy.wait_status, copy.usage, copy.end_ns = status, usage, self.last_reap_ns

    def _wait_for_survivors(self) -> None:
        """Give the tree 1 s longer than its mains."""
        until = time.monotonic_ns() + _SURVIVOR_NS
        while self._reap() and self.forced is None and time.monotonic_ns() < until:
            self._wait(until)
        # A list of processes misses whoever hops from one to the next.
        self.n_survivors = max(1, len(tree.descendants(os.getpid()))) if self._reap() else 0

    def _reap_and_read(self) -> bool:
        for fd in list(self._by_fd):
            self._take(fd)  # a full pipe must not hold up what is to die
        return self._reap()

    def _drain(self) -> None:
        for fd in list(self._by_fd):
            while self._take(fd):
                pass
        for copy in self.copies:
            for line in os.read(copy.pipes["status"], _CHUNK).splitlines() if copy.end_ns else ():
                report = json.loads(line)
                if isinstance(report, list):
                    copy.left = tuple(report)
                else:
                    copy.refusal = report["why"]
            # Who dies with a full buffer leaves half a line: how it ended says more.
            if self.forced is None and copy.wait_status == 0:
                try:
                    copy.speech.finish()
                except BrokenLineError as broken:
                    self._force("protocol", f"copy {copy.index}: {broken}")


# JSON may need six bytes for a character: these keep each line below 4 MiB.
_CHUNK_CHARACTERS = 512 << 10
_CHUNK_ITERATIONS = 30_000
_MISSING = {
    "kernel records": "measured by the Python probe: times are taken from outside",
    "neighbors": "the Python probe reads nothing of the machine: it can call no run clean",
    "containment": "a subreaper is all that the Python probe uses",
}
DEGRADED = [{"what": what, "why": why, "fix": FIX} for what, why in _MISSING.items()]
NO_SENTINEL = {"what": "sentinel", "why": "the Python probe does not measure the speed of the CPUs", "fix": FIX}

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
    used = {"user_ns": user, "system_ns": system, "cpu_ns": user + system, "cpu_source": "rusage"}
    return {
        "status": status, "reason": reason, "wall_source": "gate", "gate_ns": watch.gate_ns, **walls,
        **({} if watch.n_survivors else used),  # what survivors used after the last main is part of it
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
