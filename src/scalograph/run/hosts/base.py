"""What a host is: six verbs, all that is ever done on a machine. A further one is a file and a row of the registry."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from scalograph.control.control import Launch
from scalograph.control.quiet import Look
from scalograph.protocol.events import Record
from scalograph.protocol.facts import HostFacts
from scalograph.run.plan import Plan
from scalograph.study.treatment import Run, Treatment

MAX_OUTPUT_BYTES = 8 << 20
# The ends of what the copies write to stderr: of one, and of all. A journal line holds them however they are escaped.
MAX_STDERR_BYTES, ALL_STDERR_BYTES = 64 << 10, 512 << 10
TIMELINE_BINS, TIMELINE_TASKS = 120, 8

Tell = Callable[[str], None]


@dataclass(frozen=True)
class ProbeProgram:
    """A probe to start, and what is to be said about the choice."""

    argv: tuple[str, ...]
    warning: str | None = None

    @property
    def name(self) -> str:
        """Name for the journal; the degraded probe is a program that others run too."""
        return Path(self.argv[0]).name if len(self.argv) == 1 else "degraded"


@dataclass(frozen=True)
class Specification:
    """One run as a host is asked for it: every process that starts at one gate, and what is done around them.

    Attributes:
        run: its name and its treatment.
        launches: the processes; the first one's environment and values are those of the steps.
        events: whether the processes may speak the workload protocol.
        capture: whether their output is read.
        timeout_s: from the gate, in seconds; each step has as long.
        in_callers_folder: run where the caller stands, else in a fresh folder.
        steps: templates by name; those of `prepare` and `cleanup` count.
    """

    run: Run
    launches: tuple[Launch, ...]
    events: bool
    capture: bool
    timeout_s: float
    in_callers_folder: bool
    steps: Mapping[str, tuple[str, ...]]

    def line(self, folder: Path) -> dict[str, Any]:
        """Return what the probe reads (protocol/probe.md), with `folder` to work in."""
        return {
            "protocol": 1,
            "run": self.run.run,
            "commands": [_command(launch, folder) for launch in self.launches],
            "events": self.events,
            "stdout": "capture" if self.capture else "null",
            "stdout_limit_bytes": MAX_OUTPUT_BYTES,
            "stderr_limit_bytes": min(MAX_STDERR_BYTES, ALL_STDERR_BYTES // self._n_copies()),
            "timeout_ns": round(self.timeout_s * 1e9),
            "timeline": True,
            "timeline_bins": TIMELINE_BINS,
            "timeline_tasks": TIMELINE_TASKS,
        }

    def _n_copies(self) -> int:
        return sum(launch.copies for launch in self.launches)


def _command(launch: Launch, folder: Path) -> dict[str, Any]:
    return {
        "argv": list(launch.argv),
        "copies": launch.copies,
        "cwd": str(folder),
        "env": dict(launch.env),
        "cpus": list(launch.cpus) if launch.cpus else None,
        "policy": launch.policy,
        "priority": launch.priority,
        "nice": launch.nice,
    }


class Host(Protocol):
    """Where runs happen, one after the other."""

    probe: ProbeProgram

    def facts(self) -> HostFacts:
        """Return what the machine is, grants and has: read once."""

    def ready(self, planned: Plan, tell: Tell) -> Plan:
        """Return the plan with its program ready to start: compiled, prepared, found, `setup` carried out.

        Raises:
            HostError: something is missing or failed.
        """

    def hold(self, planned: Plan, treatment: Treatment) -> AbstractContextManager[None]:
        """Set what a treatment asks of the machine and no process can be given; restore it at the end.

        Raises:
            HostError: the machine refuses.
        """

    def look(self) -> Look:
        """Look whether others use the machine now: half a second at most, while nothing of ours runs."""

    def measure(self, spec: Specification) -> Record:
        """Carry out one run. A failed or interrupted one is a record with a status.

        Raises:
            HostError: no further run can be made here.
            KeyboardInterrupt: a signal came that ends more than the run.
        """

    def close(self) -> None:
        """Give back what is held for the next run."""
