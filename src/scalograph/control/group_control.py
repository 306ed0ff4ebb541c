"""A control whose levels are limits of a cgroup of our own."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext

from scalograph.control.control import Control, Launch, Level, LevelError
from scalograph.protocol.facts import HostFacts

NO_LIMIT = "none"


class GroupControl(Control, ABC):
    """Levels are numbers, which limit a run, and "none"; the limit is read back before and after the run.

    Attributes:
        name: of the control.
    """

    may_conflict = True
    name: str

    def resolve(self, levels: Sequence[Level], facts: HostFacts) -> list[Level]:
        """Return the levels as written. Raises LevelError for one that is no limit, or that is refused."""
        for level in levels:
            if level != NO_LIMIT:
                self._check(level, facts)
        return list(levels)

    def apply(self, launch: Launch, level: Level, facts: HostFacts) -> Launch:
        """Note the limit in the launch, so that the record of the run says it; `hold` sets it."""
        return self.noted(launch, None if level == NO_LIMIT else float(level))

    def hold(self, level: Level, facts: HostFacts) -> AbstractContextManager[None]:
        """Return the context in which the cgroup limits the run."""
        return nullcontext() if level == NO_LIMIT else self.limited(float(level))

    @abstractmethod
    def accepted(self, level: float, facts: HostFacts) -> tuple[bool, str]:
        """Tell whether a number is a limit, and which ones are."""

    def refuse_beyond(self, level: float, facts: HostFacts) -> None:
        """Raise LevelError for a limit beyond one that holds for this process already, as far as that is a fact."""

    @abstractmethod
    def noted(self, launch: Launch, level: float | None) -> Launch:
        """Return the launch with this limit; None: with none."""

    @abstractmethod
    def limited(self, level: float) -> AbstractContextManager[None]:
        """Return the context in which this process and what it starts are limited."""

    def _check(self, level: Level, facts: HostFacts) -> None:
        number = -1 if isinstance(level, (bool, str)) else level
        is_limit, expected = self.accepted(number, facts)
        if not is_limit:
            raise LevelError(f"{self.name} {level!r}", f'{expected}, or "{NO_LIMIT}"', "correct it")
        if self.name in facts.refused:
            found = f"{self.name} {level} is refused here ({facts.refused[self.name]})"
            raise LevelError(found, NO_LIMIT, "leave it out; `scalograph doctor` says what would help")
        self.refuse_beyond(number, facts)
