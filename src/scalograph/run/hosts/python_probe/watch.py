"""Follows the copies from the gate to their end, and sees that nothing of them stays."""

import os
import resource
import select
import signal
import time
from contextlib import suppress
from dataclasses import dataclass, field

from scalograph.run.hosts.python_probe import tree
from scalograph.run.hosts.python_probe.launch import Copy
from scalograph.run.hosts.python_probe.lines import BrokenLineError, Budget
from scalograph.run.hosts.python_probe.spec import Spec

_SURVIVOR_NS = 1_000_000_000
_CHUNK = 1 << 16


@dataclass
class Alarm:
    """Signals that end a run early, and the descriptor that wakes the loop for them and for SIGCHLD."""

    received: int | None = None
    wake: int = -1

    def install(self) -> None:
        """From here on SIGINT and SIGTERM are remembered, not obeyed."""
        self.wake, into = os.pipe()
        os.set_blocking(self.wake, False)
        os.set_blocking(into, False)
        signal.set_wakeup_fd(into, warn_on_full_buffer=False)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._remember)
        signal.signal(signal.SIGCHLD, lambda _number, _frame: None)

    def _remember(self, number: int, _frame: object) -> None:
        self.received = number


@dataclass
class Watch:
    """The one loop. Afterwards `forced` holds (status, reason) where the run was ended."""

    spec: Spec
    copies: list[Copy]
    alarm: Alarm
    gate_ns: int
    forced: tuple[str, str] | None = None
    n_survivors: int = 0
    last_reap_ns: int = 0
    stopped_ns: int = 0
    _stopped: set[int] = field(default_factory=set)
    _stopped_since_ns: int = 0
    _budget: Budget = field(default_factory=Budget)
    _by_fd: dict[int, tuple[Copy, str]] = field(default_factory=dict)
    _by_pid: dict[int, Copy] = field(default_factory=dict)

    def follow(self) -> None:
        """Returns when the tree is empty (or could not be killed) and all that was written is read."""
        self._poll = select.poll()
        self._poll.register(self.alarm.wake, select.POLLIN)
        for copy in self.copies:
            self._by_pid[copy.pid] = copy
            for name, fd in copy.pipes.items():
                if name != "go":
                    self._by_fd[fd] = (copy, name)
                    self._poll.register(fd, select.POLLIN)
        while self._mains_alive() and self.forced is None:
            self._wait(self._next_deadline())
            self._check_clock()
            self._let_go()
        if self.forced is None:
            self._wait_for_survivors()
        self._end_tree()
        self._drain()

    def _mains_alive(self) -> bool:
        return any(copy.wait_status is None for copy in self.copies)

    def _waiting(self) -> list[Copy]:
        """Copies that stand at their `ready`."""
        return [c for c in self.copies if c.wait_status is None and c.speech.ready and "go" in c.pipes]

    def _late(self) -> list[Copy]:
        """Copies for which another one waits: they have said nothing yet, and may still write `ready`."""
        silent = [c for c in self.copies if c.wait_status is None and "events" in c.pipes and not c.speech.spoke]
        return silent if self._waiting() else []

    def _next_deadline(self) -> int:
        limits = [self.spec.timeout_ns] + [self.spec.ready_timeout_ns] * bool(self._late())
        return self.gate_ns + min(limits)

    def _check_clock(self) -> None:
        passed = time.monotonic_ns() - self.gate_ns
        if self.alarm.received is not None:
            self._force("interrupted", f"{signal.Signals(self.alarm.received).name} received; killed")
        elif passed >= self.spec.timeout_ns and self._mains_alive():
            self._force("timeout", f"still running after {self.spec.timeout_ns / 1e9:g} s; killed")
        elif (late := self._late()) and passed >= self.spec.ready_timeout_ns:
            limit = f"{self.spec.ready_timeout_ns / 1e9:g} s"
            self._force(
                "timeout", f"copy {late[0].index} had not written ready after {limit}, while another waited; killed"
            )

    def _force(self, status: str, reason: str) -> None:
        self.forced = self.forced or (status, reason)

    def _let_go(self) -> None:
        """One byte for each copy that waits, once none can be waited for any more."""
        if self._late() or self.forced:
            return
        for fd in [copy.pipes.pop("go") for copy in self._waiting()]:
            # It wrote ready and did not wait, or has filled the pipe itself.
            with suppress(BrokenPipeError, BlockingIOError):
                os.write(fd, b"g")
            os.close(fd)

    def _wait(self, deadline_ns: int) -> None:
        """Sleeps until something happens, and takes it."""
        left_ms = max(0.0, (deadline_ns - time.monotonic_ns()) / 1e6)
        for fd, _ in self._poll.poll(left_ms + 1):
            if fd == self.alarm.wake:
                os.read(fd, _CHUNK)
            else:
                self._take(fd)
        self._reap()

    def _take(self, fd: int) -> bool:
        """Reads once; False when there is nothing (any more)."""
        try:
            data = os.read(fd, _CHUNK)
        except BlockingIOError:
            return False
        if not data:
            self._poll.unregister(fd)
            copy, name = self._by_fd.pop(fd)
            copy.pipes.pop(name, None)
            os.close(fd)
            return False
        self._keep(*self._by_fd[fd], data)
        return True

    def _keep(self, copy: Copy, name: str, data: bytes) -> None:
        if name == "events" and self.forced is None:
            try:
                copy.speech.feed(data, self._budget)
            except BrokenLineError as broken:
                self._force("protocol", f"copy {copy.index}: {broken}")
        elif name == "stdout":
            room = self.spec.stdout_limit - len(copy.stdout)
            copy.stdout += data[:room]
            copy.truncated |= len(data) > room
        elif name == "stderr" and self.spec.stderr_limit:
            copy.stderr = (copy.stderr + data)[-self.spec.stderr_limit :]
        elif name == "status":
            copy.exec_error = data.decode(errors="replace")

    def _reap(self) -> bool:
        """Takes all that have ended, orphans too; whether any child is left."""
        while True:
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG | os.WUNTRACED | os.WCONTINUED)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            now_ns = time.monotonic_ns() - self.gate_ns
            if os.WIFSTOPPED(status):
                self._stop(pid, now_ns)
                continue
            self._go_on(pid, now_ns)
            if os.WIFCONTINUED(status):
                continue
            self.last_reap_ns = now_ns
            if (copy := self._by_pid.get(pid)) and copy.wait_status is None:
                copy.wait_status, copy.usage, copy.end_ns = status, usage, self.last_reap_ns

    def _stop(self, pid: int, now_ns: int) -> None:
        if pid in self._by_pid:
            self._stopped_since_ns = self._stopped_since_ns if self._stopped else now_ns
            self._stopped.add(pid)

    def _go_on(self, pid: int, now_ns: int) -> None:
        """It was continued, or has ended: what counts is time in which at least one copy stood."""
        if pid in self._stopped:
            self._stopped.remove(pid)
            self.stopped_ns += 0 if self._stopped else now_ns - self._stopped_since_ns

    def _wait_for_survivors(self) -> None:
        """A tree may take 1 s longer than its mains."""
        until = time.monotonic_ns() + _SURVIVOR_NS
        while self._reap():
            self._wait(until)
            self._check_clock()
            if self.forced or time.monotonic_ns() >= until:
                break
        self.n_survivors = len(tree.descendants(os.getpid())) if self._reap() else 0

    def _end_tree(self) -> None:
        def reap() -> bool:
            for fd in list(self._by_fd):
                self._take(fd)  # a full pipe must not hold up what is to die
            return self._reap()

        if not tree.kill_all(reap):
            self._force("failed", "processes of this run could not be killed")

    def _drain(self) -> None:
        for fd in list(self._by_fd):
            while self._take(fd):
                pass
        for copy in self.copies:
            # Who dies with a full buffer leaves half a line: how it ended says more.
            if self.forced is None and copy.wait_status == 0:
                try:
                    copy.speech.finish()
                except BrokenLineError as broken:
                    self._force("protocol", f"copy {copy.index}: {broken}")


def usage_of_tree() -> resource.struct_rusage:
    """Of all that was reaped: the mains, what they waited for, and the orphans that came to us."""
    return resource.getrusage(resource.RUSAGE_CHILDREN)
