"""Exceptions and exit codes: each failure says where it is, what was observed and expected, and how to fix it."""

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
    NO_ANSWER = 5
    UNREADABLE = 6
    SLOWER = 7
    INCONCLUSIVE = 8
    INTERRUPTED = 130
    TERMINATED = 143


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
