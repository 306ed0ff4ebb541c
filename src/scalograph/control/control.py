"""The interface of a control: a level becomes part of a launch, or a setting that is held for a while."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

from scalograph.protocol.facts import HostFacts
from scalograph.protocol.plain import load_object
from scalograph.protocol.record import Record
from scalograph.study.control_names import CONTROLS, control_row
from scalograph.study.program import Service
from scalograph.study.scalars import suggest, unknown_name_error

Level = bool | int | float | str


@dataclass(frozen=True)
class Launch:
    """How one process of a run will be started, in all its copies; controls return changed launches.

    `name`, `role` and `copy` tell it apart if a run has several, of which each copy of a service is one; `service` is
    how such a one is waited for and ended. `argv` is filled in, beside services only when the run starts (`filled`).
    `stdin` is the file that each copy reads, from its beginning; `ok_exits` are exit codes that are no failure.
    `own_quota_cpus` is granted to its process alone, and so are `max_memory` bytes, in the folders `cgroups`, which are
    made when the run starts.
    `request` is what a run asks of a cluster, by the names of `cluster:NAME`.
    `kernel` and `boot_options` are of the machine that is booted for the run, if one is. `values` fills the workload's
    templates. `host` is the machine it is started on, where a run has several. `place` turns the requested `n_cpus` and
    `placement` into `cpus`; `online` are the CPUs that the others are taken offline beside.
    """

    name: str = ""
    role: str = ""
    copy: int = 0
    service: Service | None = None
    argv: tuple[str, ...] = ()
    stdin: str | None = None
    ok_exits: tuple[int, ...] = (0,)
    env: Mapping[str, str] = field(default_factory=dict)
    copies: int = 1
    values: Mapping[str, Any] = field(default_factory=dict)
    n_cpus: int | None = None
    placement: str = "compact"
    cpus: tuple[int, ...] | None = None
    policy: str | None = None
    priority: int = 0
    nice: int | None = None
    exclusive: bool = False
    quota_cpus: float | None = None
    max_tasks: int | None = None
    online: tuple[int, ...] | None = None
    host: str = ""
    own_quota_cpus: float | None = None
    max_memory: int | None = None
    cgroups: tuple[str, ...] = ()
    kernel: str | None = None
    boot_options: str = ""
    request: Mapping[str, Level] = field(default_factory=dict)

    def add_values(self, **values: Any) -> "Launch":
        """Return this launch with more template values."""
        return replace(self, values={**self.values, **values})


@dataclass
class HeldSetting:
    """A setting of the whole machine while a run has changed it, each value as it was read.

    `in_force` during the run, `at_end` of it, and `after` the restore; empty if it did not come to that.
    """

    name: str
    before: str
    asked: str
    in_force: str = ""
    at_end: str = ""
    after: str = ""


class LevelError(ValueError):
    """A level that this control cannot set on this host: what was found, what is expected, what to do."""

    def __init__(self, problem: str, expected: str, fix: str) -> None:
        super().__init__(f"{problem}, expected {expected}; {fix}" if expected else f"{problem}; {fix}")
        self.found, self.expected, self.fix = problem, expected, fix


def unknown_level(problem: str, level: Level, names: Sequence[str], fix: str = "correct it") -> LevelError:
    """Return the error of a level that is none of the names. `fix` applies if no similar one exists."""
    return LevelError(problem, f"one of {', '.join(names)}", suggest(level, names) or fix)


class Control:
    """One way to make the machine obey; subclasses override what differs. Stateless: a context holds what was changed.

    Levels of one with `may_conflict` may contradict those of another on a host; those of others never do.
    """

    may_conflict = False

    def resolve(self, levels: Sequence[Level], facts: HostFacts) -> list[Level]:
        """Resolve levels for this host ("all", a JVM's name). Raises LevelError. Changes nothing."""
        for level in levels:
            self.check_level(level, facts)
        return list(levels)

    def check_level(self, level: Level, facts: HostFacts) -> None:
        """Raise LevelError for a level that is none, or that this host does not grant."""

    def apply(self, launch: Launch, level: Level, facts: HostFacts) -> Launch:
        """Return the launch that obeys the level, without changing the machine."""
        return launch

    def apply_settings(self, level: Level, facts: HostFacts) -> AbstractContextManager[HeldSetting | None]:
        """Set and later restore what cannot be set per process; most controls have nothing to hold."""
        return nullcontext()

    def read_back(self, level: Level, facts: HostFacts, record: Record) -> list[str]:
        """List what was not in force by the run's record; empty if the level was obeyed."""
        return []


def find_control(name: str) -> Control:
    """Return the control of a name in `scalograph.study.control_names`, imported on first use.

    What follows a colon is passed to the control. Raises StudyError for an unknown name, which lists the known ones.
    """
    row = control_row(name)
    if row is None:
        raise unknown_name_error("control", f'no control "{name}"', name, CONTROLS)
    control: Control = load_object(row.defined)(*name.split(":", 1)[1:])
    return control
