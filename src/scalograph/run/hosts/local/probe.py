"""Start a probe for one run: a specification goes in, a checked record comes out, whatever the probe does."""

import json
import os
import re
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from msgspec import to_builtins

from scalograph.errors import HostError, ProtocolError, ScalographError, handled_signals
from scalograph.protocol.events import parse_event, parse_events
from scalograph.protocol.record import MAX_LINE_BYTES, Capabilities, ErrorEvent, Header, Record, make_failed_record
from scalograph.run.hosts.base import ProbeProgram
from scalograph.run.hosts.local.probe_process import LostError, ProbeAnswer, ProbeProcess
from scalograph.run.interrupts import normalize_signal, pending_signal
from scalograph.system.stale_processes import end_orphaned_run

PROGRAM = "scalograph-probe"
DEGRADED = (sys.executable, "-P", "-m", "scalograph.run.hosts.python_probe")
# A probe may need this much beyond its own deadlines: 1 s for survivors, then killing and writing.
GRACE_S = 20.0
_TOGETHER_S = 0.2
_MASK = re.compile(r"commands\[\d+\]\.cpus")


def find_probe(environ: Mapping[str, str] | None = None) -> ProbeProgram:
    """Return the probe named by SCALOGRAPH_PROBE, beside the interpreter or on PATH; else the degraded one.

    Raises HostError: SCALOGRAPH_PROBE names no program.
    """
    environ = os.environ if environ is None else environ
    if named := environ.get("SCALOGRAPH_PROBE"):
        if path := shutil.which(named, path=environ.get("PATH")):
            return ProbeProgram((path,))
        raise HostError("SCALOGRAPH_PROBE", repr(named), "an executable file", "correct or unset it")
    beside = Path(sys.prefix) / "bin" / PROGRAM
    if path := shutil.which(str(beside)) or shutil.which(PROGRAM, path=environ.get("PATH")):
        return ProbeProgram((path,))
    warning = f"{PROGRAM} was not found: times are taken from outside by Python; install scalograph where cargo is"
    return ProbeProgram(DEGRADED, warning)


class CpuGoneError(HostError):
    """A CPU that was there when the run was planned is gone."""


def measure(
    spec: Mapping[str, Any], probe: Sequence[str] | ProbeProcess, on_signal: Callable[[int], None] | None = None
) -> Record:
    """Carry out one run, and return its record.

    It has failed if somebody else ended or stopped the probe, or its answer was broken, late or endless. Signals that
    end us go to the probe, whose record then has the status `interrupted`; one that comes too late or too early, or a
    second one, raises KeyboardInterrupt.

    `spec`: the specification of protocol/probe.md; `probe`: program and arguments of the probe, or its process, not yet
    started; `on_signal`: receives each signal as it was forwarded: the probe knows SIGHUP as SIGTERM.

    Raises NotStartedError: there was no probe; HostError: the host refused; ProtocolError: the specification does not
    follow protocol/probe.md, nor does the answer from its beginning.
    """
    received: list[int] = []
    try:
        process = probe if isinstance(probe, ProbeProcess) else ProbeProcess(probe)
        record = _run_probe(spec, process, received, on_signal)
    except ScalographError:
        if received:  # it came while the probe was starting or being killed: no fault of either
            raise KeyboardInterrupt from None
        raise
    if len(received) > 1 or (received and record.run.status != "interrupted"):
        raise KeyboardInterrupt  # the run was over, but whoever sent the signal did not mean the run only
    if record.run.status == "interrupted" and not received:
        time.sleep(_TOGETHER_S)  # who ends a service signals all of its processes, one by one: us too
        if pending_signal() is None:
            return record.mark_failed(f"another program ended its probe: {record.run.reason}")
    return record


def _run_probe(
    spec: Mapping[str, Any], process: ProbeProcess, received: list[int], on_signal: Callable[[int], None] | None
) -> Record:
    try:
        with process.running(), _forward_signals(process, received, on_signal):
            answer = process.exchange(
                json.dumps(spec).encode() + b"\n", deadline_s(spec) + process.START_S + process.extra_s
            )
        return parse_answer(answer, str(spec.get("run")))
    except LostError as error:
        end_orphaned_run(process.process.pid)
        return lost_record(str(error), process.first_line())
    except ProtocolError as error:
        if answer.exit_code == 2 or not process.began(str(spec.get("run"))):
            raise
        # The run may have written into the answer, or broken the probe.
        return lost_record(f"the answer of its probe was broken: {error}", process.first_line())


def lost_record(reason: str, first_line: bytes = b"") -> Record:
    """Return the record of a run whose probe gave none; its header is the answer's first line, if that came.

    Every run has a probe of its own, so the next one is not affected.
    """
    try:
        header = parse_event(first_line)[1]
    except ProtocolError:
        header = None
    return make_failed_record(reason, header if isinstance(header, Header) else None)


def interrupted_record() -> Record:
    """Return the record of a run that a signal kept from being started."""
    return lost_record("").replace_values(status="interrupted", reason="a signal came before it was started")


def read_capabilities(probe: Sequence[str]) -> dict[str, Any]:
    """Return what the probe is granted on this host.

    Raises HostError: the probe did not start or answer; ProtocolError: its answer is not a `capabilities` event.
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


@contextmanager
def _forward_signals(
    process: ProbeProcess, received: list[int], on_signal: Callable[[int], None] | None
) -> Iterator[None]:
    """Use a handler rather than KeyboardInterrupt: an exception could tear a line that is being read."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def forward(number: int, _frame: FrameType | None) -> None:
        if received and number == signal.SIGHUP:
            return  # the kernel and the shell may both send it; only a person's second signal means: at once
        process.send(signal.SIGKILL if received else normalize_signal(number))
        received.append(normalize_signal(number))
        if on_signal:
            on_signal(normalize_signal(number))

    previous = {number: signal.signal(number, forward) for number in handled_signals()}
    try:
        if not process.fresh and (early := pending_signal()) is not None:  # while the probe was being started
            forward(early, None)
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def deadline_s(spec: Mapping[str, Any]) -> float:
    """Return the seconds within which a probe has to answer."""
    ready = spec.get("ready_timeout_ns", 60_000_000_000) if spec.get("events") else 0
    # Services come up one after the other, and are ended so.
    limits = ("ready_timeout_ns", "stop_grace_ns")
    services = sum(int(command.get(limit, 0)) for command in spec.get("commands", ()) for limit in limits)
    return (int(spec.get("timeout_ns", 0)) + int(ready) + services) / 1e9 + GRACE_S


def parse_answer(answer: ProbeAnswer, run: str) -> Record:
    """Return the record that a probe gave for a run. Raises HostError or ProtocolError: it refused, or it is broken."""
    _refuse_failure(answer)
    lines = answer.output.split(b"\n")
    if lines.pop():
        raise ProtocolError("probe", "a last line without its newline", "whole lines", "run it again")
    return parse_events(lines, run)


def _refuse_failure(answer: ProbeAnswer) -> None:
    if answer.exit_code == 0:
        return
    last = answer.output.rstrip(b"\n").rpartition(b"\n")[2]
    if answer.exit_code in (2, 3) and len(last) <= MAX_LINE_BYTES:
        part = parse_event(last, "probe: last line")[1]
        if isinstance(part, ErrorEvent):
            refused = CpuGoneError if _MASK.fullmatch(part.where) else HostError
            error_type: type[HostError | ProtocolError] = ProtocolError if answer.exit_code == 2 else refused
            raise error_type(part.where, part.found, part.expected, part.fix)
    stderr = ascii(answer.stderr.strip()[-400:])
    if answer.exit_code < 0:
        problem = f"killed by signal {-answer.exit_code}; standard error: {stderr}"
        raise LostError("probe", problem, "a record", "look for the one who killed it (out of memory?)")
    problem = f"exit code {answer.exit_code}; standard error: {stderr}"
    raise ProtocolError("probe", problem, "0, or 2 or 3 with an error event", "report this with the study")
