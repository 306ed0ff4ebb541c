"""One probe process: what it says is read within limits of time and memory, and it is never left behind."""

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from typing import IO, Any

from scalograph.errors import HostError, ProtocolError
from scalograph.protocol.events import parse_event
from scalograph.protocol.record import MAX_LINE_BYTES, Header
from scalograph.protocol.record_processes import Awaits

MAX_RECORD_BYTES = 256 << 20
_STDERR_TAIL = 4096
# Between looks at a probe that says nothing; waking up more often could disturb its run.
_LOOK_S = 1.0
_CHUNK = 1 << 16
_AWAITS = b'{"event":"awaits"'
# Whoever was stopped (Ctrl-Z) or got no CPU finds the answer after its time: it is read as long as more comes.
_LATE_S, _MAX_LATE = 1.0, 20
_FIX_SIZE = "let the copies print less, or ask for fewer copies or iterations"


class NotStartedError(HostError):
    """The probe's program could not be started."""


class LostError(HostError):
    """A probe that began and gave no answer that could be used: killed, silent, or without end."""


@cache
def hold_wakeup_records(program: str) -> None:
    """Keep wake-up records set up in the kernel until this process ends; without this, each run ends 0.1 s later.

    `program` is a native probe. It starts a process that reads a pipe, which this process never closes.
    """
    reading, _ = os.pipe()
    null = subprocess.DEVNULL
    with suppress(OSError, subprocess.SubprocessError):
        subprocess.run(
            [program, "--hold"], stdin=reading, stdout=null, stderr=null, env={}, timeout=_LATE_S, check=False
        )
    os.close(reading)


@dataclass(frozen=True)
class ProbeAnswer:
    """All that a probe process gave back."""

    exit_code: int
    output: bytes
    stderr: str


class _Patience:
    """How long an answer is waited for: what is there when the time is over was written in time."""

    def __init__(self, limit_s: float) -> None:
        self._until, self._n_late = time.monotonic() + limit_s, 0

    def left_s(self) -> float:
        return max(0.0, self._until - time.monotonic())

    def is_over(self, heard: bool) -> bool:
        """After a wait that `heard` something or did not."""
        if time.monotonic() < self._until:
            return False
        self._until, self._n_late = time.monotonic() + _LATE_S, self._n_late + 1
        return not heard or self._n_late > _MAX_LATE


class ProbeProcess:
    """One probe process, read within limits and never left behind."""

    # What it takes beyond its own deadlines before it reads its line.
    START_S = 0.0

    def __init__(self, argv: Sequence[str], fresh: bool = False) -> None:
        """Prepare a probe. For a fresh one a signal that came before counts no more: it cleans up after it."""
        self.argv, self.fresh = tuple(argv), fresh
        # Receives what it writes to stderr: of a run that is shown, what the processes of the run write.
        self.echo: Callable[[bytes], None] | None = None
        # It waits so long for others, at most.
        self.extra_s = 0.0
        # Receives what a run awaits whose gate is opened by `send_line`; standard input stays open then.
        self.on_await: Callable[[Awaits], None] | None = None
        self._line = b""
        self._stderr = b""
        self._output: list[bytes] = []
        self._size = 0
        self._stopped = False

    @contextmanager
    def running(self) -> Iterator[None]:
        """Starts the probe; at the end, on whatever way, it is gone."""
        pipe = subprocess.PIPE
        try:
            # A session of its own: Ctrl-C on the terminal reaches the probe through us only.
            self.process = subprocess.Popen(self.argv, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True)
        except OSError as error:
            fix = "install scalograph anew, or unset SCALOGRAPH_PROBE"
            raise NotStartedError("probe", f"{self.argv[0]}: {error.strerror}", "a program", fix) from None
        with self.process:
            try:
                yield
            finally:
                self._end()

    def send(self, number: int) -> None:
        """Passes a signal on."""
        self.process.send_signal(number)

    def boot_id(self) -> str | None:
        """Return the boot in which a run on another machine was made; None here."""
        return None

    def send_line(self) -> None:
        """Send the line that a run awaits; one that has ended needs none."""
        assert self.process.stdin is not None
        with suppress(OSError, ValueError):
            os.write(self.process.stdin.fileno(), b"\n")

    def check(self) -> None:
        """Raises LostError where it is known that no answer will come; asked at least once a second."""

    def exchange(self, line: bytes, limit_s: float) -> ProbeAnswer:
        """Writes the line, reads until the probe has closed its output.

        Raises LostError: no end within the limit, or more output than a record may have.
        """
        patience = _Patience(limit_s)
        with selectors.DefaultSelector() as selector:
            for stream in (self.process.stdout, self.process.stderr):
                self._register(selector, stream, selectors.EVENT_READ)
            self._register(selector, self.process.stdin, selectors.EVENT_WRITE)
            while selector.get_map():
                ready = self._ready(selector, patience.left_s())
                self.check()
                if patience.is_over(bool(ready)):
                    raise self._silent(limit_s)
                for key, _ in ready:
                    line = self._step(selector, key.fileobj, line)
        return self._wait(patience, limit_s)

    def _ready(self, selector: selectors.BaseSelector, left_s: float) -> list[tuple[selectors.SelectorKey, int]]:
        """What can be read or written now; none after a while, in which the probe may have been stopped.

        Raises LostError: it was, and stayed so from one look to the next. It belongs to no terminal that would do that.
        """
        # Stopped and continued, Python ends a wait whose time is over without another look.
        ready = selector.select(min(left_s, _LOOK_S)) or selector.select(0)
        how = os.WSTOPPED | os.WNOHANG | os.WNOWAIT
        stopped = not ready and os.waitid(os.P_PID, self.process.pid, how) is not None
        if stopped and self._stopped:
            raise LostError("probe", "stopped by a signal that was not ours; killed", "its answer", "let it run")
        self._stopped = stopped
        return ready

    def _register(self, selector: selectors.BaseSelector, stream: IO[bytes] | None, events: int) -> None:
        assert stream is not None
        os.set_blocking(stream.fileno(), False)
        selector.register(stream, events)

    def _step(self, selector: selectors.BaseSelector, stream: Any, line: bytes) -> bytes:
        """One read or write; returns what is still to be written."""
        fd = stream.fileno()
        if stream is self.process.stdin:
            try:
                line = line[os.write(fd, line) :] if line else line
            except BrokenPipeError:  # the probe ended without reading; its answer says why
                line = b""
            if line:
                return line
        elif chunk := os.read(fd, _CHUNK):
            self._keep(stream, chunk)
            return line
        selector.unregister(stream)
        if self.on_await is None or stream is not self.process.stdin:
            self.end(stream)
        return line

    def end(self, stream: IO[bytes]) -> None:
        """Close a stream that has nothing more to say, or to be told."""
        stream.close()

    def _keep(self, stream: Any, chunk: bytes) -> None:
        if stream is self.process.stderr:
            self._stderr = (self._stderr + chunk)[-_STDERR_TAIL:]
            if self.echo:
                self.echo(chunk)
            return
        if self.on_await is not None:
            chunk = self._hear_lines(chunk, self.on_await)
        self._output.append(chunk)
        self._size += len(chunk)
        if self._size > MAX_RECORD_BYTES:
            expected = f"at most {MAX_RECORD_BYTES} bytes of events"
            raise LostError("probe", "a longer answer", expected, _FIX_SIZE)

    def _hear_lines(self, chunk: bytes, on_await: Callable[[Awaits], None]) -> bytes:
        """Return whole lines of the answer, without those that say what is awaited."""
        *lines, self._line = (self._line + chunk).split(b"\n")
        answer = list[bytes]()
        for line in lines:
            try:
                part = parse_event(line)[1] if line.startswith(_AWAITS) else None
            except ProtocolError:
                part = None  # as part of the answer it is refused
            if isinstance(part, Awaits):
                on_await(part)
            else:
                answer.append(line + b"\n")
        return b"".join(answer)

    def _wait(self, patience: "_Patience", limit_s: float) -> ProbeAnswer:
        try:
            code = self.process.wait(max(_LATE_S, patience.left_s()))
        except subprocess.TimeoutExpired:
            raise self._silent(limit_s) from None
        return ProbeAnswer(code, b"".join(self._output), self._stderr.decode(errors="replace"))

    def first_line(self) -> bytes:
        """The beginning of the answer, as far as it came."""
        return b"".join(self._output[: MAX_LINE_BYTES // _CHUNK + 1]).partition(b"\n")[0]

    def began(self, run: str) -> bool:
        """Whether the probe began this run: its answer has a header, which is written before anything is started."""
        try:
            name, part = parse_event(self.first_line())
        except ProtocolError:
            return False
        return name == run and isinstance(part, Header)

    def _silent(self, limit_s: float) -> LostError:
        expected = "its answer by then"
        return LostError("probe", f"no end after {limit_s:.1f} s; killed", expected, "raise the timeout")

    def _end(self) -> None:
        """A probe that still runs here was given up: it gets the chance to kill its tree itself."""
        if self.process.poll() is None:
            self.process.terminate()
            self.process.send_signal(signal.SIGCONT)  # one that is stopped hears of it then
            try:
                self.process.wait(3.0)
            except subprocess.TimeoutExpired:
                self.process.kill()
