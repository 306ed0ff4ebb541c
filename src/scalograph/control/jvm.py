"""Which JVM runs the workload and with which options; arguments and environment variables of a program."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from scalograph.control.control import Control, Launch, Level, LevelError
from scalograph.errors import HostError
from scalograph.protocol.facts import HostFacts, Jvm
from scalograph.study.scalars import list_words, suggest

INSTALL = "apt install openjdk-17-jdk-headless"


def default_values(facts: HostFacts) -> dict[str, Any]:
    """Return `{java}` and `{jvm_options}` if no factor sets them: the first JVM, no options. Raises HostError."""
    if not facts.jvms:
        expected = "a Java of release 11 or later on PATH, in JAVA_HOME or in /usr/lib/jvm"
        raise HostError("java", "no JVM found", expected, INSTALL)
    return {"java": facts.jvms[0].java, "jvm_options": []}


class JvmControl(Control):
    """Levels are names of JVMs as `scalograph doctor` prints them, "default", "all", or the path of a launcher."""

    def resolve(self, levels: Sequence[Level], facts: HostFacts) -> list[Level]:
        """Return names for "all" and "default"; other levels stay as written.

        Raises LevelError if a name is unknown, there is no JVM, or one JVM occurs twice.
        """
        jvms = index_jvms(facts)
        resolved = [spelled_out for level in levels for spelled_out in _resolve_level(level, facts)]
        seen: set[str] = set()
        for level in resolved:
            launcher = _launcher(level, jvms)
            if launcher in seen:
                raise LevelError(f'the JVM "{level}" twice', "each JVM once", "remove one of its names")
            seen.add(launcher)
        return resolved

    def apply(self, launch: Launch, level: Level, facts: HostFacts) -> Launch:
        return launch.add_values(java=_launcher(level, index_jvms(facts)))


class JvmOptionsControl(Control):
    """A level is text with options, split as a shell splits words; "" is none. The text names the configuration."""

    def check_level(self, level: Level, facts: HostFacts) -> None:
        stray = next((word for word in _options(level) if not word.startswith(("-", "@"))), None)
        if stray is not None:  # it would be taken for the program
            fix = "an option and its value go together with = or :"
            raise LevelError(f'"{stray}"', "options that begin with -", fix)

    def apply(self, launch: Launch, level: Level, facts: HostFacts) -> Launch:
        return launch.add_values(jvm_options=[*launch.values.get("jvm_options", []), *_options(level)])


def _options(level: Level) -> list[str]:
    return _split_words(level, "options", "-Xmx64m")


def _resolve_level(level: Level, facts: HostFacts) -> list[Level]:
    if level not in ("all", "default"):
        return [level]
    # A JVM with a path for a name is a level of its own.
    names: list[Level] = [jvm.name for jvm in facts.jvms if not jvm.name.startswith("/")]
    if not names:
        raise LevelError(f'"{level}" on a host without a JVM', "at least one JVM", INSTALL)
    return names if level == "all" else names[:1]


def _launcher(level: Level, jvms: Mapping[str, Jvm]) -> str:
    if jvm := find_jvm(level, jvms):
        return jvm.java
    if isinstance(level, str) and level.startswith("/"):
        return level
    names = list_words(f"{jvm.name} ({jvm.build})" for jvm in dict.fromkeys(reversed([*jvms.values()])))
    expected = f"one of {names or 'none, no JVM was found here'}"
    fix = suggest(level, (jvm.name for jvm in jvms.values())) or "or give the path of a launcher"
    raise LevelError(f'no JVM is named "{level}"', expected, fix)


def index_jvms(facts: HostFacts) -> dict[str, Jvm]:
    """Index the JVMs of a host by name and by path; of two with one name, the first."""
    return {name: jvm for jvm in reversed(facts.jvms) for name in (jvm.java, jvm.name)}


def find_jvm(level: Level, jvms: Mapping[str, Jvm]) -> Jvm | None:
    """Return the JVM of this name or path, if it is known here."""
    # A level 17 equals "17": in the grammar of levels, digits are a number.
    return None if isinstance(level, bool) else jvms.get(str(level))


def _split_words(level: Level, what: str, example: str) -> list[str]:
    if not isinstance(level, str):
        raise LevelError(f"{level!r}", f"{what} as text", f'write them in quotes, "{example}" say')
    try:
        return shlex.split(level)
    except ValueError as error:
        raise LevelError(f"{level!r} ({error})", "words as a shell reads them", "close the quotes") from error


class ArgumentsControl(Control):
    """A level is text, split as a shell splits words; "" is none. Several factors add theirs, in their order."""

    def check_level(self, level: Level, facts: HostFacts) -> None:
        _words(level)

    def apply(self, launch: Launch, level: Level, facts: HostFacts) -> Launch:
        return launch.add_values(arguments=[*launch.values.get("arguments", []), *_words(level)])


def _words(level: Level) -> list[str]:
    return _split_words(level, "words", "-O2")


class EnvironmentControl(Control):
    """A level is the value of the variable, as text or a number; `false` leaves it unset."""

    def __init__(self, variable: str) -> None:
        self.variable = variable

    def check_level(self, level: Level, facts: HostFacts) -> None:
        if level is True:
            raise LevelError(f"{self.variable} = true", "text, a number, or false for unset", 'write "1" or "true"')

    def apply(self, launch: Launch, level: Level, facts: HostFacts) -> Launch:
        others = {name: value for name, value in launch.env.items() if name != self.variable}
        return replace(launch, env=others if level is False else {**others, self.variable: str(level)})
