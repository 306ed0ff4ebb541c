"""Which JVM runs the workload, and with which options."""

import shlex
from collections.abc import Sequence
from typing import Any

from scalograph.control.control import Control, Launch, Level, LevelError
from scalograph.errors import HostError
from scalograph.protocol.facts import HostFacts, Jvm

INSTALL = "apt install openjdk-17-jdk-headless"


def default_values(facts: HostFacts) -> dict[str, Any]:
    """Return `{java}` and `{jvm_options}` if no factor sets them: the first JVM that was found, no options.

    Raises:
        HostError: there is no JVM.
    """
    if not facts.jvms:
        expected = "a Java of release 11 or later on PATH, in JAVA_HOME or in /usr/lib/jvm"
        raise HostError("java", "no JVM found", expected, INSTALL)
    return {"java": facts.jvms[0].java, "jvm_options": []}


class JvmControl(Control):
    """Levels are names of JVMs as `scalograph doctor` prints them, "default", "all", or the path of a launcher."""

    def resolve(self, levels: Sequence[Level], facts: HostFacts) -> list[Level]:
        """Return names for "all" and "default"; other levels stay as written.

        Raises:
            LevelError: a name is unknown, there is no JVM, or one JVM occurs twice.
        """
        resolved = [spelled_out for level in levels for spelled_out in _spelled_out(level, facts)]
        launchers = [_launcher(level, facts) for level in resolved]
        twice = next((level for i, level in enumerate(resolved) if launchers[i] in launchers[:i]), None)
        if twice is not None:
            raise LevelError(f'the JVM "{twice}" twice', "each JVM once", "remove one of its names")
        return resolved

    def apply(self, launch: Launch, level: Level, facts: HostFacts) -> Launch:
        """Set the level's launcher as `{java}`."""
        return launch.with_values(java=_launcher(level, facts))


class JvmOptionsControl(Control):
    """A level is text with options, split as a shell splits words; "" is none. The text names the treatment."""

    def resolve(self, levels: Sequence[Level], facts: HostFacts) -> list[Level]:
        """Return the levels as written.

        Raises:
            LevelError: a level is not text, has an open quote, or has a word that would be taken for the program.
        """
        for level in levels:
            _options(level)
        return list(levels)

    def apply(self, launch: Launch, level: Level, facts: HostFacts) -> Launch:
        """Append the options to those that another factor has set already."""
        return launch.with_values(jvm_options=[*launch.values.get("jvm_options", []), *_options(level)])


def _spelled_out(level: Level, facts: HostFacts) -> list[Level]:
    if level in ("all", "default"):
        # A JVM with a path for a name is a level of its own.
        names: list[Level] = [jvm.name for jvm in facts.jvms if not jvm.name.startswith("/")]
        if not names:
            raise LevelError(f'"{level}" on a host without a JVM', "at least one JVM", INSTALL)
        return names if level == "all" else names[:1]
    _launcher(level, facts)
    return [level]


def _launcher(level: Level, facts: HostFacts) -> str:
    if jvm := named(level, facts):
        return jvm.java
    if isinstance(level, str) and level.startswith("/"):
        return level
    known = ", ".join(f"{jvm.name} ({jvm.build})" for jvm in facts.jvms) or "none, no JVM was found here"
    raise LevelError(f'no JVM is named "{level}"', f"one of {known}", "or give the path of a launcher")


def named(level: Level, facts: HostFacts) -> Jvm | None:
    """Return the JVM of this name or path, if it is known here."""
    # A level 17 equals "17": in the grammar of levels, digits are a number.
    wanted = "" if isinstance(level, bool) else str(level)
    return next((jvm for jvm in facts.jvms if wanted in (jvm.name, jvm.java)), None)


def _options(level: Level) -> list[str]:
    if not isinstance(level, str):
        raise LevelError(f"{level!r}", "options as text", 'write them in quotes, "-Xmx64m" say')
    try:
        words = shlex.split(level)
    except ValueError as error:
        raise LevelError(f"{level!r} ({error})", "words as a shell reads them", "close the quotes") from error
    stray = next((word for word in words if not word.startswith(("-", "@"))), None)
    if stray is not None:
        raise LevelError(f'"{stray}"', "options that begin with -", "an option and its value go together with = or :")
    return words
