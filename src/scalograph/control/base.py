"""What a control is: a level becomes part of a launch, or a machine setting that is held for a while."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from scalograph.protocol.facts import HostFacts

Level = bool | int | float | str


@dataclass(frozen=True)
class Launch:
    """How one run will be started; controls return changed copies.

    `values` fills the workload's argv template. `n_cpus` and `placement` are wishes that `place` turns into `cpus`.
    """

    argv: tuple[str, ...] = ()
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

    def with_values(self, **values: Any) -> "Launch":
        """This launch with more template values."""
        return replace(self, values={**self.values, **values})


class LevelError(ValueError):
    """A level that this control cannot set on this host: found, expected, what to do."""

    def __init__(self, found: str, expected: str, fix: str) -> None:
        super().__init__(f"{found}, expected {expected}; {fix}" if expected else f"{found}; {fix}")
        self.found, self.expected, self.fix = found, expected, fix


class Control(Protocol):
    """One way to make the machine obey. Stateless; machine settings are held by the context of `hold`."""

    name: str
    kind: str

    def resolve(self, levels: Sequence[Level], facts: HostFacts) -> list[Level]:
        """Spell the levels out for this host ("all", a JVM's name). Raises LevelError. Touches nothing."""

    def apply(self, launch: Launch, level: Level, facts: HostFacts) -> Launch:
        """The launch that obeys the level. Pure."""

    def hold(self, level: Level, facts: HostFacts) -> AbstractContextManager[None]:
        """Set and later restore what cannot be set per process; most controls have nothing to hold."""
        return nullcontext()

    def read_back(self, level: Level, facts: HostFacts, record: Mapping[str, Any]) -> list[str]:
        """What the run's record says was not in force, in words; empty when the level was obeyed."""
