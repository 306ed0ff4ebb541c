"""Open the gates of one run on several machines together, close their windows together, and leave none running.

The probe of each machine says what it awaits (protocol/probe.md), and is sent a line. Whatever ends early ends all.
"""

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any

from scalograph.protocol.record import Record
from scalograph.protocol.record_processes import Awaits
from scalograph.run.hosts.local.probe import deadline_s, lost_record, measure
from scalograph.run.hosts.local.probe_process import ProbeProcess
from scalograph.run.interrupts import pending_signal

_LOOK_S = 0.05


@dataclass(eq=False)
class MachineRun:
    """The part of a run on one machine.

    Attributes:
        spec: what its probe is asked, with an asked gate.
        process: its probe, not yet started.
        has_driver: whether a driver is among its commands: its end closes the window.
        record: what it measured; None before its end.
        error: what its probe raised instead.
        clock_offset_ns, clock_error_ns: its clock minus ours, and the largest error of that.
        gate_lag_ns: from the order for the first gate to the answer that this one is open.
    """

    spec: Mapping[str, Any]
    process: ProbeProcess
    has_driver: bool
    record: Record | None = None
    error: Exception | None = None
    clock_offset_ns: int | None = None
    clock_error_ns: int | None = None
    gate_lag_ns: int | None = None
    awaits: str = ""
    _thread: Thread | None = field(default=None, repr=False)

    @property
    def is_over(self) -> bool:
        """Whether its probe has ended."""
        return self.record is not None or self.error is not None

    def start(self, changed: "SimpleQueue[MachineRun]", more_s: float) -> None:
        """Start its probe, which may take `more_s` seconds longer than alone; each change is put into the queue."""

        def carry_out() -> None:
            try:
                self.record = measure(self.spec, self.process)
            except Exception as error:
                self.error = error  # raised where all have ended
            changed.put(self)

        def hear(awaited: Awaits) -> None:
            self._note_clock(awaited)
            self.awaits = awaited.what
            changed.put(self)

        self.process.on_await = hear
        self.process.extra_s = more_s
        self._thread = Thread(target=carry_out, daemon=True)
        self._thread.start()

    def open_gate(self, first_ns: int) -> None:
        """Order it to open its gate; `first_ns` is when the first was ordered, on our clock (CLOCK_MONOTONIC)."""
        self._ordered_ns, self._first_ns = time.monotonic_ns(), first_ns
        self.process.send_line()

    def _note_clock(self, awaited: Awaits) -> None:
        if awaited.what != "window":
            return
        now, real = time.monotonic_ns(), time.time_ns()
        self.clock_error_ns = (now - self._ordered_ns) // 2
        self.clock_offset_ns = awaited.clock_ns - (real - self.clock_error_ns)
        self.gate_lag_ns = now - self._first_ns

    def stop(self) -> None:
        """End its services, or all of it where its window is open; wait for its probe."""
        while self._thread is not None and self._thread.is_alive():
            with suppress(AttributeError, OSError):  # it is not started yet, or gone
                assert self.process.process.stdin is not None
                self.process.process.stdin.close()
            self._thread.join(_LOOK_S)


def conduct(parts: Sequence[MachineRun]) -> MachineRun | None:
    """Carry out the parts of a run: services come up in order, all gates open, and all windows close with the drivers'.

    Afterwards no probe runs, and each part that was started has a record or an error.

    Returns the part that ended before the others, which is why they ended; None if none did.
    """
    changed = SimpleQueue[MachineRun]()
    alone_s = [deadline_s(part.spec) for part in parts]
    started = list[MachineRun]()
    try:
        for part, own_s in zip(parts, alone_s, strict=True):
            started.append(part)
            part.start(changed, sum(alone_s) - own_s)
            if not _await(changed, started, [part], "gate"):
                return _first_over(started)
        first_ns = time.monotonic_ns()
        for part in parts:
            part.open_gate(first_ns)
        return _close(changed, parts)
    finally:
        for part in reversed(started):
            part.stop()


def _close(changed: "SimpleQueue[MachineRun]", parts: Sequence[MachineRun]) -> MachineRun | None:
    """Wait for the drivers, and close the windows of the other machines."""
    drivers, others = [part for part in parts if part.has_driver], [part for part in parts if not part.has_driver]
    if not _await(changed, parts, drivers, "release", "end"):
        return _first_over(parts)
    if any(part.awaits == "release" for part in drivers):
        for part in drivers:
            part.process.send_line()
    if not _await(changed, parts, drivers, "end"):
        return _first_over(parts)
    for part in others:
        part.process.send_line()
    return None if _await(changed, parts, others, "end") else _first_over(others)


def _await(
    changed: "SimpleQueue[MachineRun]", parts: Sequence[MachineRun], those: Sequence[MachineRun], *what: str
) -> bool:
    """Wait until those parts await one of these; False if a part or a signal ended the run before."""
    while True:
        if all(part.awaits in what for part in those):
            return True
        if pending_signal() is not None or any(part.is_over and part.awaits != "end" for part in parts):
            return False
        with suppress(Empty):
            changed.get(timeout=_LOOK_S)


def _first_over(parts: Sequence[MachineRun]) -> MachineRun | None:
    return next((part for part in parts if part.is_over), None)


def record_of(part: MachineRun) -> Record:
    """Return the record of a part, also of one that gave none."""
    return part.record or lost_record(str(part.error or "it was not started"))
