"""A probe that starts services, and ends them when we say so or are gone: its driver only reads a pipe that we hold."""

import errno
import os
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from threading import Thread
from typing import Any

from scalograph.control.control import Launch
from scalograph.errors import HostError
from scalograph.protocol.record import Record
from scalograph.run.hosts.base import Specification
from scalograph.run.hosts.probe import lost, measure
from scalograph.run.hosts.probe_process import ProbeProcess
from scalograph.run.interrupts import kept

# No block takes longer.
_LONGEST_S = 7 * 86_400.0
_LOOK_S = 0.005
_WAITER = "cat"


class ServiceHolder:
    """Such a probe, whose answer a thread waits for."""

    def __init__(self, spec: Specification, folder: Path, pipe: Path, process: ProbeProcess) -> None:
        """Begin to start services.

        Args:
            spec: of a run with these services, filled; its driver is not started.
            folder: that they work in.
            pipe: a path at which there is nothing yet.
            process: a probe that was not started yet.
        """
        os.mkfifo(pipe)
        self._pipe, self._process, self._end = pipe, process, -1
        self._record: Record | None = None
        self._error: Exception | None = None
        self._thread = Thread(target=self._answer, args=(_line(spec, folder, pipe),), daemon=True)
        self._thread.start()

    def _answer(self, line: dict[str, Any]) -> None:
        try:
            self._record = measure(line, self._process)
        except Exception as error:
            self._error = error  # raised where the answer is asked for

    def is_up(self) -> bool:
        """Wait until the services are ready, and tell whether they are; else the probe has ended."""
        is_told = False
        while self._end < 0 and self._thread.is_alive():
            if kept() is not None and not is_told and hasattr(self._process, "process"):
                self._process.process.terminate()
                is_told = True
            self._open()
            time.sleep(_LOOK_S)
        return self._end >= 0

    def _open(self) -> None:
        try:
            self._end = os.open(self._pipe, os.O_WRONLY | os.O_NONBLOCK)
        except OSError as error:
            if error.errno != errno.ENXIO:  # nobody reads yet
                raise HostError("workload.keep", f"no pipe: {error.strerror}", "one", "run it again") from error

    def mains(self, n: int) -> list[tuple[int, int]]:
        """List when its n services and its driver were started (CLOCK_MONOTONIC, ns), and their process ids, in order.

        Returns:
            Nothing where it cannot be told which these are: beside them a probe has one child at most, which holds
            the others.
        """
        found = sorted(_children(self._process.process.pid))
        is_told = n + 1 <= len(found) <= n + 2 and _name(found[-1][1]) == _WAITER
        return found[-(n + 1) :] if is_told else []

    def close(self) -> Record:
        """End the services, and return their record. Raises what their probe raised."""
        if self._end >= 0:
            os.close(self._end)
            self._end = -1
        self._thread.join()
        if self._error is not None:
            raise self._error
        return self._record or lost("the probe of the services gave no record")


def _line(spec: Specification, folder: Path, pipe: Path) -> dict[str, Any]:
    """What the probe reads. What it would record of services is recorded by the probes of the runs."""
    *services, driver = spec.launches
    waiting = Launch(name=driver.name, role=driver.role, argv=(_WAITER, str(pipe)), env=driver.env)
    asked = replace(spec, launches=(*services, waiting), events=False, capture=False, timeout_s=_LONGEST_S)
    return asked.line(folder) | {"backend": "plain", "timeline": False}


def _children(parent: int) -> Iterator[tuple[int, int]]:
    tick_ns = 10**9 // os.sysconf("SC_CLK_TCK")
    slept_ns = time.clock_gettime_ns(time.CLOCK_BOOTTIME) - time.monotonic_ns()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has ended
            fields = stat.read_bytes().rpartition(b")")[2].split()
            if int(fields[1]) == parent:
                yield int(fields[19]) * tick_ns - slept_ns, int(stat.parent.name)


def _name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""
