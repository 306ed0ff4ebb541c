"""Keep services up over the runs of a block (`keep = "block"`): for the probe of a run they run already."""

import errno
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Thread
from typing import Any

from msgspec.structs import replace as replace_part

from scalograph.control.control import Launch
from scalograph.errors import HostError
from scalograph.protocol.record import Record
from scalograph.protocol.record_processes import EndedService, ProcessEvent, ServicesEnded
from scalograph.run.hosts.base import Specification
from scalograph.run.hosts.local.probe import lost_record, measure
from scalograph.run.hosts.local.probe_process import ProbeProcess
from scalograph.run.interrupts import pending_signal, record_signal
from scalograph.run.launches import fail_if_disk_full, fill_launches, free_ports
from scalograph.study.processes import SERVICE
from scalograph.system.private_dir import scratch
from scalograph.system.stale_processes import read_stat

# No block takes longer.
_LONGEST_S = 7 * 86_400.0
_LOOK_S = 0.005
_WAITER = "cat"


class ServiceHolder:
    """A probe that keeps services up; a thread waits for its answer."""

    def __init__(self, spec: Specification, folder: Path, pipe: Path, process: ProbeProcess) -> None:
        """Begin to start the services of a filled specification; its driver is not started.

        There is nothing yet at `pipe`; `process` is a probe, not yet started.
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
            if pending_signal() is not None and not is_told and hasattr(self._process, "process"):
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

    def main_processes(self, n: int) -> list[tuple[int, int]]:
        """Return start (CLOCK_MONOTONIC, ns) and process id of the n services and the driver, in order.

        Empty if it cannot be told which these are: beside them a probe has one child at most, which holds the others.
        """
        children = sorted(_children(self._process.process.pid))
        is_told = n + 1 <= len(children) <= n + 2 and _name(children[-1][1]) == _WAITER
        return children[-(n + 1) :] if is_told else []

    def close(self) -> Record:
        """End the services, and return their record. Raises what their probe raised."""
        if self._end >= 0:
            os.close(self._end)
            self._end = -1
        self._thread.join()
        if self._error is not None:
            raise self._error
        return self._record or lost_record("the probe of the services gave no record")


def _line(spec: Specification, folder: Path, pipe: Path) -> dict[str, Any]:
    """Return what the probe reads. What it would record of services is recorded by the probes of the runs."""
    *services, driver = spec.launches
    waiting = Launch(name=driver.name, role=driver.role, argv=(_WAITER, str(pipe)), env=driver.env)
    launches = (*services, waiting)
    asked = replace(spec, launches=launches, events=False, capture=False, timeout_s=_LONGEST_S, watches_speed=False)
    return asked.line(folder) | {"backend": "plain", "timeline": False}


def _children(parent: int) -> Iterator[tuple[int, int]]:
    tick_ns = 10**9 // os.sysconf("SC_CLK_TCK")
    slept_ns = time.clock_gettime_ns(time.CLOCK_BOOTTIME) - time.monotonic_ns()
    for process in Path("/proc").glob("[0-9]*"):
        fields = read_stat(process)
        if fields and int(fields[1]) == parent:
            yield int(fields[19]) * tick_ns - slept_ns, int(process.name)


def _name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


@dataclass(frozen=True)
class _ServiceGroup:
    """Services of a block that are up, with what is released when they have ended.

    `begun_ns` is CLOCK_MONOTONIC at the start of each, and of the driver behind them: the one before is ready then.
    """

    block: int
    services: tuple[Launch, ...]
    ports: Sequence[tuple[int, ...]]
    state: Path
    pids: tuple[int, ...]
    begun_ns: tuple[int, ...]
    holder: ServiceHolder
    folders: ExitStack

    @property
    def running(self) -> tuple[tuple[str, int], ...]:
        """Return names and process ids."""
        return tuple((launch.name, pid) for launch, pid in zip(self.services, self.pids, strict=True))

    def reorder_processes(self, record: Record) -> Record:
        """Return a record in which services come before the driver, as in runs that start them."""
        processes = sorted(record.processes, key=lambda process: process.command == 0)
        numbered = [replace_part(process, command=i) for i, process in enumerate(processes)]
        copies = [replace_part(copy, command=len(self.pids)) for copy in record.copies]
        return fail_if_disk_full(replace_part(record, processes=numbered, copies=copies), self.state)

    def add_start_times(self, record: Record, before: Record | None) -> Record:
        """Return the record of the first run with the time services took to start, and earlier ones to end."""
        if not (gate_ns := record.run.gate_ns):
            return record
        ended = {process.command: process for process in before.processes} if before else {}
        processes = [self._add_start_time(process, gate_ns, ended.get(process.command)) for process in record.processes]
        return replace_part(record, processes=processes)

    def _add_start_time(self, process: ProcessEvent, gate_ns: int, before: ProcessEvent | None) -> ProcessEvent:
        if process.role != SERVICE:
            return process
        start, ready = self.begun_ns[process.command : process.command + 2]
        stop = before.stop_ns if before and before.name == process.name else None
        return replace_part(process, start_ns=start - gate_ns, ready_ns=max(0, ready - start), stop_ns=stop)

    def describe_end(self, record: Record) -> ServicesEnded:
        exits = {copy.command: copy for copy in record.copies}
        services = [
            EndedService(
                name=process.name, stop_signal=service.stop_signal, stopped_by=process.stopped_by,
                stop_ns=process.stop_ns, exit_code=exits[i].exit_code if i in exits else None,
                signal=exits[i].signal if i in exits else None,
            )
            for i, (process, launch) in enumerate(zip(record.processes, self.services, strict=False))
            if (service := launch.service) is not None
        ]  # fmt: skip
        return ServicesEnded(
            block=self.block, services=services, n_survivors=record.run.n_survivors,
            reason=record.run.reason if record.run.status == "failed" else None,
        )  # fmt: skip


class HeldServices:
    """Keeps services of one block at a time up, on a host that starts probes here."""

    def __init__(
        self, process: Callable[[], ProbeProcess], folder: Callable[[bool, str | None], AbstractContextManager[Path]]
    ) -> None:
        """Keep none yet. `process` makes a probe, not yet started; `folder` the working folder of services."""
        self._process, self._folder = process, folder
        self._held: _ServiceGroup | None = None
        self._ended: list[ServicesEnded] = []

    def measure(self, spec: Specification, folder: Path) -> Record:
        """Carry out a run, after starting its services if none are up, or others. If it fails, they are ended.

        The record of their first run holds start and ready times, and how long the services before took to end.

        Raises HostError: the host refuses.
        """
        launches, before = self._find_serving(spec), None
        if is_first := not launches:
            before = self.close()
            if (failed := self._begin(spec)) is not None:
                return failed
            launches = self._find_serving(spec)
        held = self._held
        assert held is not None and launches
        driver = replace(spec, launches=launches[-1:], running=held.running)
        record = held.reorder_processes(measure(driver.line(folder), self._process(), record_signal))
        if record.run.status != "ok":
            return self._end_failed(record, len(held.pids))
        return held.add_start_times(record, before) if is_first else record

    def close(self) -> Record | None:
        """End the services that are up, in order; return their record, None if there are none."""
        held, self._held = self._held, None
        if held is None:
            return None
        with held.folders:
            record = held.holder.close()
        if record.run.status != "interrupted":
            self._ended.append(held.describe_end(record))
        return record

    def collect_service_ends(self) -> list[ServicesEnded]:
        """Return how services ended since the last call, without failures that a run reports."""
        ends, self._ended = self._ended, []
        return ends

    def _end_failed(self, record: Record, n: int) -> Record:
        """End the n services after a failed run; return it with their reason and output if they failed too."""
        last = self.close()
        if last is None or last.run.status != "failed" or record.run.status != "failed":
            return record
        self._ended.pop()
        services = [copy for copy in last.copies if copy.command < n]
        drivers = [replace_part(copy, copy_index=copy.copy_index + len(services)) for copy in record.copies]
        return replace_part(record.mark_failed(last.run.reason or ""), copies=[*services, *drivers])

    def _find_serving(self, spec: Specification) -> tuple[Launch, ...]:
        """Return a run's launches, filled, if its services are up; else nothing."""
        held = self._held
        if held is None or held.block != spec.run.block:
            return ()
        if [launch.name for launch in spec.launches[:-1]] != [launch.name for launch in held.services]:
            return ()
        launches = fill_launches(spec.launches, held.state, held.ports)
        return launches if _drop_values(launches[:-1]) == _drop_values(held.services) else ()

    def _begin(self, spec: Specification) -> Record | None:
        with ExitStack() as folders:
            state = folders.enter_context(scratch("state"))
            ports = free_ports(spec.launches)
            whole = replace(spec, launches=fill_launches(spec.launches, state, ports))
            folder = folders.enter_context(self._folder(spec.in_callers_folder, spec.given_folder))
            # No process has such a name.
            holder = ServiceHolder(whole, folder, state / ".end", self._process())
            if not holder.is_up():
                return holder.close()
            mains = holder.main_processes(len(whole.launches) - 1)
            if not mains:
                holder.close()
                problem = "services whose processes are not the first that they start"
                raise HostError("workload.keep", problem, "services that stay in the foreground", "leave it out")
            self._held = _ServiceGroup(
                spec.run.block, whole.launches[:-1], ports, state, tuple(pid for _, pid in mains[:-1]),
                tuple(at for at, _ in mains), holder, folders.pop_all(),
            )  # fmt: skip
        return None


def _drop_values(launches: Sequence[Launch]) -> list[Launch]:
    """Return launches without the values that filled them: levels of the driver are among these."""
    return [replace(launch, values={}) for launch in launches]
