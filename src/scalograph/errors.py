"""The kinds of failure, each with where, found, expected and what to do; and the exit codes they end in."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum


class Exit(IntEnum):
    """Exit codes of `scalograph` (docs/howto/README.md, "Exit codes")."""

    DONE = 0
    BUG = 1
    STUDY = 2
    HOST = 3
    CONFIGURATION_FAILED = 4
    SHORT_OF_RUNS = 5
    UNREADABLE = 6
    SLOWER = 7
    NOT_MEASURABLE = 8
    INTERRUPTED = 130
    TERMINATED = 143


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong."""

    where: str
    found: str
    expected: str = ""
    fix: str = ""

    def __str__(self) -> str:
        text = f"{self.where}: {self.found}" if self.where else self.found
        if self.expected:
            text += f", expected {self.expected}"
        return f"{text}; {self.fix}" if self.fix else text


class ScalographError(Exception):
    """A failure that a person can act on. Everything else is a bug and keeps its traceback."""

    exit_code = Exit.BUG

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = tuple(problems)


class StudyError(ScalographError):
    """The study file or the command line is wrong; holds every mistake that was found."""

    exit_code = Exit.STUDY

    @classmethod
    def one(cls, where: str, found: str, expected: str = "", fix: str = "") -> "StudyError":
        """A study error with a single problem."""
        return cls([Problem(where, found, expected, fix)])


class HostError(ScalographError):
    """The host refused: disk, permission, a missing program."""

    exit_code = Exit.HOST

    def __init__(self, where: str, found: str, expected: str = "", fix: str = "") -> None:
        super().__init__([Problem(where, found, expected, fix)])


class MissingError(HostError):
    """What can be installed or fetched is not here, and perhaps only some levels need it.

    Attributes:
        what: its names: artifacts, or folders that are prepared.
        said: one sentence on it, with the command that installs it where there is one.
    """

    def __init__(self, what: Sequence[str], said: str, problem: Problem) -> None:
        super().__init__(problem.where, problem.found, problem.expected, problem.fix)
        self.what, self.said = frozenset(what), said


class ProtocolError(ScalographError):
    """A journal, a record or a document that does not follow its page in protocol/."""

    exit_code = Exit.UNREADABLE

    def __init__(self, where: str, found: str, expected: str = "", fix: str = "") -> None:
        super().__init__([Problem(where, found, expected, fix)])


class Terminated(KeyboardInterrupt):
    """SIGTERM, or SIGHUP: everything ends as after Ctrl-C, with an exit code of its own."""
