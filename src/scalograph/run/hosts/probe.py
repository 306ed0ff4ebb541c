"""Starts a probe for one run: a specification in, a checked record out, whatever the probe does."""

import json
import os
import re
import selectors
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import IO, Any

from msgspec import to_builtins

from scalograph.control.leaves import end_unmeasured
from scalograph.errors import HostError, ProtocolError, ScalographError
from scalograph.protocol.events import (
    Capabilities,
    ErrorEvent,
    Header,
    Record,
    parse_event,
    parse_events,
)
from scalograph.protocol.record import MAX_LINE_BYTES, unmeasured
from scalograph.run.hosts.base import ProbeProgram
from scalograph.run.interrupts import heard, kept, meaning

PROGRAM = "scalograph-probe"
DEGRADED = (sys.executable, "-P", "-m", "scalograph.run.hosts.python_probe")
# A probe may need this much beyond its own deadlines: 1 s for survivors, then killing and writing.
GRACE_S = 20.0
MAX_RECORD_BYTES = 256 << 20
_STDERR_TAIL = 4096
# Between looks at a probe that says nothing; waking up more often could disturb its run.
_LOOK_S = 1.0
_TOGETHER_S = 0.2
_CHUNK = 1 << 16
# Whoever was stopped (Ctrl-Z) or got no CPU finds the answer after its time: it is read as long as more comes.
_LATE_S, _MAX_LATE = 1.0, 20
_MASK = re.compile(r"commands\[\d+\]\.cpus")
_FIX_SIZE = "let the copies print less, or ask for fewer copies or iterations"


def find_probe(environ: Mapping[str, str] | None = None) -> ProbeProgram:
    """The probe named by SCALOGRAPH_PROBE, beside the interpreter, on PATH; else the degraded one.

    Raises:
        HostError: SCALOGRAPH_PROBE names no program.
    """
    environ = os.environ if environ is None else environ
    if named := environ.get("SCALOGRAPH_PROBE"):
        if found := shutil.which(named, path=environ.get("PATH")):
            return ProbeProgram((found,))
        raise HostError("SCALOGRAPH_PROBE", repr(named), "an executable file", "correct or unset it")
    beside = Path(sys.prefix) / "bin" / PROGRAM
    if found := shutil.which(str(beside)) or shutil.which(PROGRAM, path=environ.get("PATH")):
        return ProbeProgram((found,))
    warning = f"{PROGRAM} was not found: times are taken from outside by Python; install {PROGRAM}"
    return ProbeProgram(DEGRADED, warning)


class NotStartedError(HostError):
    """The probe's program could not be started."""


class CpuGoneError(HostError):
    """A CPU that was there when the run was planned is not any more."""


class LostError(HostError):
    """A probe that began and gave no answer that could be used: killed, silent, or without end."""


def measure(
    spec: Mapping[str, Any],
    probe: Sequence[str],
    on_signal: Callable[[int], None] | None = None,
    fresh: bool = False,
) -> Record:
    """Carries out one run.

    SIGINT, SIGTERM and SIGHUP that arrive meanwhile go to the probe, whose record then has the status
    `interrupted`; one that comes too late or too early for that, or a second one, raises KeyboardInterrupt.

    Args:
        spec: the specification of protocol/probe.md.
        probe: program and arguments of the probe.
        on_signal: is told the number of a signal as it was forwarded: the probe knows SIGHUP as SIGTERM.
        fresh: a signal that came before counts no more: what cleans up after it is to be done.

    Returns:
        The record; a failed one with the reason where somebody else ended or stopped the probe, or its answer was
        broken, did not come in time, or never ended.

    Raises:
        NotStartedError: there was no probe.
        HostError: the host refused.
        ProtocolError: the specification does not follow protocol/probe.md, nor does the answer from its beginning.
    """
    received: list[int] = []
    try:
        record = _carried_out(spec, ProbeProcess(probe, fresh), received, on_signal)
    except ScalographError:
        if received:  # it came while the probe was starting or being killed: no fault of either
            raise KeyboardInterrupt from None
        raise
    if len(received) > 1 or (received and record.run.status != "interrupted"):
        raise KeyboardInterrupt  # the run was over, but whoever sent the signal did not mean the run only
    if record.run.status == "interrupted" and not received and not _told_too():
        return record.failed(f"its probe was told to end the run, not by us: {record.run.reason}")
    return record


def _told_too() -> bool:
    """Whether a signal comes that ends more than the run: who ends a service tells all of its processes, one by one."""
    time.sleep(_TOGETHER_S)
    return kept() is not None


def _carried_out(
    spec: Mapping[str, Any], process: "ProbeProcess", received: list[int], on_signal: Callable[[int], None] | None
) -> Record:
    try:
        with process.running(), _forwarding(process, received, on_signal):
            answer = process.exchange(json.dumps(spec).encode() + b"\n", _deadline_s(spec))
        return _record(answer, str(spec.get("run")))
    except LostError as error:
        end_unmeasured(process.process.pid)
        return lost(str(error), process.first_line())
    except ProtocolError as error:
        if answer.exit_code == 2 or not process.began(str(spec.get("run"))):
            raise
        # The run may have written into the answer, or broken the probe.
        return lost(f"the answer of its probe was broken: {error}", process.first_line())


def lost(reason: str, first_line: bytes = b"") -> Record:
    """The record of a run whose probe gave none. Who measured is told by the answer's first line, if it came that far.

    Every run has a probe of its own, so the next one is not in its way.
    """
    try:
        header = parse_event(first_line)[1]
    except ProtocolError:
        header = None
    return unmeasured(reason, header if isinstance(header, Header) else None)


def interrupted() -> Record:
    """The record of a run that a signal kept from being started."""
    return lost("").with_figures(status="interrupted", reason="a signal came before it was started")


def capabilities(probe: Sequence[str]) -> dict[str, Any]:
    """What the probe would be granted on this host.

    Raises:
        HostError: the probe did not start or answer.
        ProtocolError: its answer is not a `capabilities` event.
    """
    process = ProbeProcess([*probe, "--capabilities"])
    with process.running():
        answer = process.exchange(b"", GRACE_S)
    _refuse_failure(answer)
    name = "probe --capabilities"
    lines = answer.output.splitlines()
    part = parse_event(lines[-1], name)[1] if lines else None
    if not isinstance(part, Capabilities):
        raise ProtocolError(name, f"{len(lines)} lines", "one capabilities event", "reinstall the probe")
    return dict(to_builtins(part))


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
        """What is left of it."""
        return max(0.0, self._until - time.monotonic())

    def is_over(self, heard: bool) -> bool:
        """After a wait that `heard` something or did not."""
        if time.monotonic() < self._until:
            return False
        self._until, self._n_late = time.monotonic() + _LATE_S, self._n_late + 1
        return not heard or self._n_late > _MAX_LATE


class ProbeProcess:
    """One probe process, read within limits and never left behind."""

    def __init__(self, argv: Sequence[str], fresh: bool = False) -> None:
        self.argv, self.fresh = tuple(argv), fresh
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
            fix = "reinstall scalograph-probe, or unset SCALOGRAPH_PROBE"
            raise NotStartedError("probe", f"{self.argv[0]}: {error.strerror}", "a program", fix) from None
        with self.process:
            try:
                yield
            finally:
                self._end()

    def send(self, number: int) -> None:
        """Passes a signal on."""
        self.process.send_signal(number)

    def exchange(self, line: bytes, limit_s: float) -> ProbeAnswer:
        """Writes the line, reads until the probe has closed its output.

        Raises:
            LostError: no end within the limit, or more output than a record may have.
        """
        patience = _Patience(limit_s)
        with selectors.DefaultSelector() as selector:
            for stream in (self.process.stdout, self.process.stderr):
                self._register(selector, stream, selectors.EVENT_READ)
            self._register(selector, self.process.stdin, selectors.EVENT_WRITE)
            while selector.get_map():
                ready = self._ready(selector, patience.left_s())
                if patience.is_over(bool(ready)):
                    raise self._silent(limit_s)
                for key, _ in ready:
                    line = self._step(selector, key.fileobj, line)
        return self._wait(patience, limit_s)

    def _ready(self, selector: selectors.BaseSelector, left_s: float) -> list[tuple[selectors.SelectorKey, int]]:
        """What can be read or written now; none after a while, in which the probe may have been stopped.

        Raises:
            LostError: it was, and stayed so from one look to the next. It belongs to no terminal that would do that.
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
        stream.close()
        return line

    def _keep(self, stream: Any, chunk: bytes) -> None:
        if stream is self.process.stderr:
            self._stderr = (self._stderr + chunk)[-_STDERR_TAIL:]
            return
        self._output.append(chunk)
        self._size += len(chunk)
        if self._size > MAX_RECORD_BYTES:
            expected = f"at most {MAX_RECORD_BYTES} bytes of events"
            raise LostError("probe", "a longer answer", expected, _FIX_SIZE)

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


@contextmanager
def _forwarding(process: ProbeProcess, received: list[int], on_signal: Callable[[int], None] | None) -> Iterator[None]:
    """A handler rather than KeyboardInterrupt: an exception could tear a line that is being read."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def forward(number: int, _frame: FrameType | None) -> None:
        if received and number == signal.SIGHUP:
            return  # the kernel and the shell may both send it; only a person's second signal means: at once
        process.send(signal.SIGKILL if received else meaning(number))
        received.append(meaning(number))
        if on_signal:
            on_signal(meaning(number))

    previous = {number: signal.signal(number, forward) for number in heard()}
    try:
        if not process.fresh and (early := kept()) is not None:  # while the probe was being started
            forward(early, None)
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def _deadline_s(spec: Mapping[str, Any]) -> float:
    ready = spec.get("ready_timeout_ns", 60_000_000_000) if spec.get("events") else 0
    # Services come up one after the other, and are ended so.
    limits = ("ready_timeout_ns", "stop_grace_ns")
    services = sum(int(command.get(limit, 0)) for command in spec.get("commands", ()) for limit in limits)
    return (int(spec.get("timeout_ns", 0)) + int(ready) + services) / 1e9 + GRACE_S


def _record(answer: ProbeAnswer, run: str) -> Record:
    _refuse_failure(answer)
    lines = answer.output.split(b"\n")
    if lines.pop():
        raise ProtocolError("probe", "a last line without its newline", "whole lines", "run it again")
    return parse_events(lines, run)


def _refuse_failure(answer: ProbeAnswer) -> None:
    """Raises unless the probe says it did what it was asked."""
    if answer.exit_code == 0:
        return
    last = answer.output.rstrip(b"\n").rpartition(b"\n")[2]
    if answer.exit_code in (2, 3) and len(last) <= MAX_LINE_BYTES:
        part = parse_event(last, "probe: last line")[1]
        if isinstance(part, ErrorEvent):
            raise _error(answer.exit_code, part.where)(part.where, part.found, part.expected, part.fix)
    said = ascii(answer.stderr.strip()[-400:])
    if answer.exit_code < 0:
        found = f"killed by signal {-answer.exit_code}; standard error: {said}"
        raise LostError("probe", found, "a record", "look for the one who killed it (out of memory?)")
    found = f"exit code {answer.exit_code}; standard error: {said}"
    raise ProtocolError("probe", found, "0, or 2 or 3 with an error event", "report this with the study")


def _error(exit_code: int, where: str) -> type[HostError] | type[ProtocolError]:
    """Of an `error` event: `where` is the field of the specification that was refused."""
    if exit_code == 2:
        return ProtocolError
    return CpuGoneError if _MASK.fullmatch(where) else HostError
