"""Exceptions and exit codes: each failure says where it is, what was observed and expected, and how to fix it.

Signals become exceptions here too: this file is imported first, before what takes a second.
"""

import os
import re
import signal
import sys
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from enum import IntEnum
from types import FrameType
from typing import Any, NoReturn


class Exit(IntEnum):
    """Exit codes of `scalograph` (docs/howto/README.md, "Exit codes")."""

    DONE = 0
    BUG = 1
    STUDY = 2
    HOST = 3
    CONFIGURATION_FAILED = 4
    NO_ANSWER = 5
    UNREADABLE = 6
    SLOWER = 7
    INCONCLUSIVE = 8
    MORE_WORK = 9
    INTERRUPTED = 130
    TERMINATED = 143


# The value of an option as it was given, and what is said about it.
_VALUE = re.compile(r"""(?:"([^"]*)"|'([^']*)'|(-?[0-9.]+)$)(.*)""", re.DOTALL)
_BLANK = re.compile(r"\s")
# Of an error and its hint.
MOST_WORDS = 25


@dataclass(frozen=True)
class Problem:
    """A mistake: where it is, what was found and expected there, and how to fix it."""

    where: str
    found: str
    expected: str = ""
    fix: str = ""

    def __str__(self) -> str:
        text = f"{self.where}: {self.found}" if self.where else self.found
        if self.expected:
            text += f", expected {self.expected}"
        return f"{text}; {self.fix}" if self.fix else text

    def error_and_hint(self) -> tuple[str, str]:
        """Return what a person reads: what is wrong, and what to do about it.

        >>> Problem("--runs", "found 0", "a number from 1").error_and_hint()
        ('--runs 0 is not valid', 'use a number from 1')
        """
        what, _, expected = (self.found, "", self.expected) if self.expected else self.found.partition(", expected ")
        what, fix = what.removeprefix("found "), self.fix
        value = _VALUE.fullmatch(what)
        if value and self.where.startswith("--"):
            text = value[1] or value[2] or value[3] or ""
            given = text if text and not _BLANK.search(text) else f"'{text}'"
            error = f"{self.where} {given}{value[4] or ' is not valid'}"
        else:
            what += " is not valid" * bool(value and not value[4])
            error = f"{self.where}: {what}" if self.where else what
        if fix.startswith("did you mean") or not expected:
            return error, fix
        if not fix or fix.startswith(("such as", "or ")) or (value and not value[4]):
            joint = ", " if fix.startswith("such as") else "; "
            a_value = "a value " * expected.startswith(("less", "greater", "above"))
            return error, f"use {a_value}{joint.join(filter(None, (expected, fix)))}"
        longer = f"{error}, expected {expected}"
        return longer if len(f"{longer} {fix}".split()) <= MOST_WORDS else error, fix


class ScalographError(Exception):
    """A failure that the user can fix; any other exception is a bug and keeps its traceback."""

    exit_code = Exit.BUG

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = tuple(problems)


class StudyError(ScalographError):
    """Mistakes in the study file or the command line, all of them at once."""

    exit_code = Exit.STUDY

    @classmethod
    def one(cls, where: str, observed: str, expected: str = "", fix: str = "") -> "StudyError":
        """Make a study error of a single problem."""
        return cls([Problem(where, observed, expected, fix)])


class HostError(ScalographError):
    """A refusal of the host: disk, permission, a missing program."""

    exit_code = Exit.HOST

    def __init__(self, where: str, observed: str, expected: str = "", fix: str = "") -> None:
        super().__init__([Problem(where, observed, expected, fix)])

    @classmethod
    def join_problems(cls, problems: Sequence[Problem]) -> "HostError":
        """Make a host error of several problems."""
        error = cls(*astuple(problems[0]))
        ScalographError.__init__(error, problems)
        return error


class MissingError(HostError):
    """Something that can be installed or fetched is missing; perhaps only some levels need it.

    Attributes:
        what: names of the missing artifacts, or of folders to prepare.
        sentence: what is missing, with the command that installs it where there is one.
    """

    def __init__(self, what: Sequence[str], sentence: str, problem: Problem) -> None:
        super().__init__(problem.where, problem.found, problem.expected, problem.fix)
        self.what, self.sentence = frozenset(what), sentence


class ProtocolError(ScalographError):
    """A journal, record or document that violates its specification in protocol/."""

    exit_code = Exit.UNREADABLE

    def __init__(self, where: str, observed: str, expected: str = "", fix: str = "") -> None:
        super().__init__([Problem(where, observed, expected, fix)])


class Terminated(KeyboardInterrupt):
    """SIGTERM or SIGHUP: ends as Ctrl-C does, with its own exit code."""


# SIGHUP is of Unix.
SIGNALS = (signal.SIGINT, signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else []))


def handled_signals() -> list[int]:
    """Return the signals that end us; one that was ignored, as SIGHUP under nohup, stays ignored."""
    return [number for number in SIGNALS if signal.getsignal(number) != signal.SIG_IGN]


# The signals that were raised by `_raise_signal`.
_raised: list[int] = []
# By then the object is cleared.
_SOON_S = 0.01
# What signals did before `raise_on_signals`.
_before: dict[int, Any] = {}


def raise_on_signals() -> None:
    """Make SIGTERM and SIGHUP raise Terminated, and Ctrl-C KeyboardInterrupt, so that settings are restored."""
    for number in handled_signals():
        if (before := signal.signal(number, _raise_signal)) is not _raise_signal:
            _before[number] = before
    sys.unraisablehook = _send_again


def _send_again(unraisable: "sys.UnraisableHookArgs") -> None:
    """Send a signal once more that came while an object was cleared: Python drops what is raised there."""
    if not isinstance(unraisable.exc_value, KeyboardInterrupt) or not _raised:
        sys.__unraisablehook__(unraisable)
        return
    import threading

    number = _raised.pop()
    # A second SIGHUP is ignored.
    again = number if number == signal.SIGINT else signal.SIGTERM
    later = threading.Timer(_SOON_S, os.kill, (os.getpid(), again))
    later.daemon = True
    later.start()


def raised_signal() -> Exit | None:
    """Return the exit code of the first signal that was raised: a library may have made another error of it."""
    return (Exit.INTERRUPTED if _raised[0] == signal.SIGINT else Exit.TERMINATED) if _raised else None


def _raise_signal(number: int, _frame: FrameType | None) -> NoReturn:
    _raised.append(number)
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    if number != signal.SIGTERM:
        # The kernel and the shell may both send SIGHUP: the second one would break off the putting back.
        signal.signal(number, signal.SIG_IGN)
    raise Terminated


def release_signals() -> None:
    """Give signals back what they did before `raise_on_signals`, where nothing is left to restore."""
    _raised.clear()
    sys.unraisablehook = sys.__unraisablehook__
    for number, before in _before.items():
        signal.signal(number, before)


def end_on_signals() -> None:
    """Let signals end this process at once, without a traceback."""
    for number in handled_signals():
        signal.signal(number, signal.SIG_DFL)
