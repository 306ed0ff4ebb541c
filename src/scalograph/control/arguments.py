"""Words of a command as levels: options that are given or not."""

import shlex
from collections.abc import Sequence

from scalograph.control.control import Control, Launch, Level, LevelError
from scalograph.protocol.facts import HostFacts


class ArgumentsControl(Control):
    """A level is text, split as a shell splits words; "" is none. Several factors add theirs, in their order."""

    def resolve(self, levels: Sequence[Level], facts: HostFacts) -> list[Level]:
        """Return the levels as written. Raises LevelError for one that is no text, or has an open quote."""
        for level in levels:
            _words(level)
        return list(levels)

    def apply(self, launch: Launch, level: Level, facts: HostFacts) -> Launch:
        """Append the words to those that another factor has set already."""
        return launch.with_values(arguments=[*launch.values.get("arguments", []), *_words(level)])


def _words(level: Level) -> list[str]:
    if not isinstance(level, str):
        raise LevelError(f"{level!r}", "words as text", 'write them in quotes, "-O2" say')
    try:
        return shlex.split(level)
    except ValueError as error:
        raise LevelError(f"{level!r} ({error})", "words as a shell reads them", "close the quotes") from error
