"""Follow the copies from the gate to their end, and leave nothing of them behind."""

import json
import os
import select
import signal
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field

from scalograph.run.hosts.python_probe import tree
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
