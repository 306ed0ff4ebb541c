"""One environment variable of a run: the switch that many libraries have and no command line."""

from collections.abc import Sequence
from dataclasses import replace

from scalograph.control.control import Control, Launch, Level, LevelError
from scalograph.protocol.facts import HostFacts


class EnvironmentControl(Control):
    """A level is the value of the variable, as text or a number; `false` leaves it unset."""

    def __init__(self, variable: str) -> None:
        self.variable = variable

    def resolve(self, levels: Sequence[Level], facts: HostFacts) -> list[Level]:
        """Return the levels as written. Raises LevelError for `true`, which is no value of a variable."""
        if any(level is True for level in levels):
            raise LevelError(f"{self.variable} = true", "text, a number, or false for unset", 'write "1" or "true"')
        return list(levels)

    def apply(self, launch: Launch, level: Level, facts: HostFacts) -> Launch:
        """Set the variable in the environment of each copy, or take it away."""
        others = {name: value for name, value in launch.env.items() if name != self.variable}
        return replace(launch, env=others if level is False else {**others, self.variable: str(level)})
