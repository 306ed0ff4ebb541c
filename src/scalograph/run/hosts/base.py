"""Define what a host is: the protocol of all that is done on a machine. A further host is one file."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable
from urllib.parse import urlsplit

from msgspec.structs import replace

from scalograph.control.control import HeldSetting, Launch
from scalograph.protocol.facts import HostFacts
from scalograph.protocol.record import CopyEvent, Record
from scalograph.protocol.record_processes import ServicesEnded
from scalograph.run.launches import has_services
from scalograph.run.plan import Plan
from scalograph.study.control_names import NO_RESET, STDOUT, Reset
from scalograph.study.levels import Configuration, Run
from scalograph.study.processes import LOOPBACK, split_address
from scalograph.system.quiet import LoadSample

MAX_OUTPUT_BYTES = 8 << 20
# The ends of what the copies write to stderr: of one, and of all. A journal line holds them however they are escaped.
MAX_STDERR_BYTES, ALL_STDERR_BYTES = 64 << 10, 512 << 10
TIMELINE_BINS, TIMELINE_TASKS = 120, 8

Tell = Callable[[str], None]
Echo = Callable[[bytes], None]


@dataclass(frozen=True)
class ProbeProgram:
    """A probe to start, and a warning about the choice."""

    argv: tuple[str, ...]
    warning: str | None = None

    @property
    def name(self) -> str:
        """Return its name for the journal; the degraded probe is a program that others run too."""
        return Path(self.argv[0]).name if len(self.argv) == 1 else "degraded"


@dataclass(frozen=True)
class Specification:
    """One run as a host is asked for it: its processes, and what is done around them.

    Attributes:
        run: its name and its configuration.
        launches: the processes, services first; environment and values of the first one are those of the steps.
        events: whether the processes may speak the workload protocol.
        capture: whether their output is read.
        timeout_s: from the gate, in seconds; each step has as long.
        in_callers_folder: run in the caller's folder, else in a fresh one.
        given_folder: run in this folder of the machine instead.
        steps: templates by name; those of `prepare` and `cleanup` count.
        running: names and process ids of services that run already.
        reset: what is done to the machine right before.
        counted: whether counters of the kernel are read before and after.
        keeps_services: whether services stay up for the other runs of the block.
        watches_speed: whether the speed of the CPUs is measured meanwhile.
        echo: receives what the processes write, as it comes; only this machine does it.
        stdout: `null`, `pipe`, `tty`, or a file in the folder of the run; None is `null`.
        awaits_gate: it is a part of a run on several machines, whose gate is opened from outside.
    """

    run: Run
    launches: tuple[Launch, ...]
    events: bool
    capture: bool
    timeout_s: float
    in_callers_folder: bool
    steps: Mapping[str, tuple[str, ...]]
    running: tuple[tuple[str, int], ...] = ()
    reset: Reset = NO_RESET
    counted: bool = False
    keeps_services: bool = False
    watches_speed: bool = False
    echo: Echo | None = None
    stdout: str | None = None
    given_folder: str | None = None
    awaits_gate: bool = False

    def line(self, folder: Path) -> dict[str, Any]:
        """Return the line that the probe reads (protocol/probe.md), with `folder` to work in."""
        protocol = 2 if self.running or self.awaits_gate or has_services(self.launches) else 1
        return {
            "protocol": protocol, "run": self.run.run,
            "commands": [
                _command(launch, folder) | (_service_fields(launch) if protocol == 2 else {})
                for launch in self.launches
            ],
            **({"running": [{"name": name, "pid": pid} for name, pid in self.running]} if self.running else {}),
            "events": self.events, "stdout": self._stdout(folder),
            "stdout_limit_bytes": MAX_OUTPUT_BYTES if self.capture or not (self.echo or self.stdout == "tty") else 0,
            **({"echo": True} if self.echo else {}),
            **({"gate": "asked"} if self.awaits_gate else {}),
            **({"sentinel": True} if self.watches_speed else {}),
            "stderr_limit_bytes": min(MAX_STDERR_BYTES, ALL_STDERR_BYTES // sum(each.copies for each in self.launches)),
            "timeout_ns": round(self.timeout_s * 1e9),
            "timeline": True, "timeline_bins": TIMELINE_BINS, "timeline_tasks": TIMELINE_TASKS,
        }  # fmt: skip

    def _stdout(self, folder: Path) -> str:
        """Return where the probe lets drivers write: what is read or shown goes through a pipe, or a terminal."""
        if self.stdout == "tty" or not (self.capture or self.echo):
            named = self.stdout or "null"
            return named if named in STDOUT else str(folder / named)
        return "capture"

    def is_driver(self, copy: CopyEvent) -> bool:
        """Tell whether a copy belongs to no service."""
        return self.launches[copy.command].service is None

    def keep_controlled_copies(self, record: Record) -> Record:
        """Return a record with only the copies that obey the levels: beside services, theirs."""
        if not has_services(self.launches):
            return record
        return replace(record, copies=[copy for copy in record.copies if self.launches[copy.command].service])


def _command(launch: Launch, folder: Path) -> dict[str, Any]:
    return {
        "argv": list(launch.argv), "copies": launch.copies, "cwd": str(folder), "env": dict(launch.env),
        "cpus": list(launch.cpus) if launch.cpus else None, "policy": launch.policy, "priority": launch.priority,
        "nice": launch.nice, **_cgroup_field(launch.cgroups),
        **({"stdin": launch.stdin} if launch.stdin else {}),
        **({"ok_exits": list(launch.ok_exits)} if launch.ok_exits != (0,) else {}),
    }  # fmt: skip


def _cgroup_field(folders: Sequence[str]) -> dict[str, Any]:
    return {"cgroup": folders[0] if len(folders) == 1 else list(folders)} if folders else {}


def _service_fields(launch: Launch) -> dict[str, Any]:
    fields, service = {"name": launch.name, "role": launch.role}, launch.service
    if service is None:
        return fields
    assert not isinstance(service.ports, int), "ports are known when a run starts"
    return {
        **fields, "ready": _ready(*service.ready) if service.ready else None,
        "ready_timeout_ns": round(service.ready_timeout_s * 1e9), "ports": list(service.ports),
        "stop_signal": service.stop_signal, "stop_grace_ns": round(service.stop_grace_s * 1e9),
    }  # fmt: skip


def _ready(form: str, text: str) -> dict[str, Any]:
    """Return the form of protocol/probe.md."""
    if form == "line":
        return {"line": text}
    host, port = split_address(form, text)
    at = {"port": int(port), **({"host": host.strip("[]")} if host != LOOPBACK else {})}
    url = urlsplit(text)
    return {"http": {**at, "path": url.path + (f"?{url.query}" if url.query else "") or "/"}} if form == "http" else at


class Host(Protocol):
    """Where runs are made, one after the other."""

    probe: ProbeProgram

    def facts(self) -> HostFacts:
        """Return what the machine is, grants and has: read once."""

    def ready(self, planned: Plan, tell: Tell) -> Plan:
        """Return the plan with its program ready to start: compiled, prepared, found, `setup` carried out.

        Raises HostError: something is missing or failed.
        """

    def apply_settings(
        self, planned: Plan, configuration: Configuration
    ) -> AbstractContextManager[Sequence[HeldSetting] | None]:
        """Apply the settings of the machine that a configuration asks for; restore them at the end.

        What was read of machine-wide settings is known when the context has ended.

        Raises HostError: the machine refuses.
        """

    def sample_load(self) -> LoadSample:
        """Sample the load of other programs: half a second at most, while nothing of ours runs."""

    def measure(self, spec: Specification) -> Record:
        """Carry out one run. A failed or interrupted one is a record with a status.

        Raises HostError: no further run can be made here; KeyboardInterrupt: a signal came that ends more than the run.
        """

    def collect_service_ends(self, is_last: bool) -> Sequence[ServicesEnded]:
        """Return how kept services (`keeps_services`) ended since the last call.

        Asked only of studies that have such; `is_last`: after the last run, so those that are up are ended first.
        """

    def keep_in(self, folder: Path) -> None:
        """Learn the folder of the results, before the first run of a study that has one.

        A host that keeps files of its own keeps them there, and finds those of an earlier session.
        """

    def close(self) -> None:
        """Release what is held for the next run."""


@runtime_checkable
class RecordingHost(Protocol):
    """What a host has beside, if its runs can be recorded."""

    def tool(self, argv: Sequence[str]) -> Sequence[str]:
        """Return the command of this machine that carries out a program on the machine of the runs."""

    def recordings(self) -> AbstractContextManager[Path]:
        """Yield a folder on the machine of the runs that is gone afterwards."""
