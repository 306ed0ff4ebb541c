"""How a command line asks a question: the options of `find QUESTION`, and the factors that they become.

A question's `find.py` has `OPTIONS`, a dataclass whose docstring is the command's help and whose `factors()` makes the
factors of the study, and `figures(findings)`, the answer for machines.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from scalograph.study.scalars import Level


@dataclass(frozen=True)
class AskedFactors:
    """What a search varies.

    Attributes:
        levels: levels as text, by the name of the factor.
        roles: what a factor is, by its name.
        baseline: factor and level that others are compared with.
        per_worker: whether each worker does the same work.
        precision: difference that counts as none, as text.
        lists: levels in place of the text, where they may hold what divides it.
        controls: what sets a factor, by its name.
        titles: what a factor is for people, by its name.
        fills: the name that the command is to hold; put behind the program where it does not.
        plan: of the question, by name; None for its own.
        runs: of each treatment, where the plan leaves that open.
        title: of the study, with {} for the command; empty for what varies.
    """

    levels: dict[str, str]
    roles: dict[str, str] = field(default_factory=dict)
    baseline: tuple[str, str] | None = None
    per_worker: bool = False
    precision: str | None = None
    lists: Mapping[str, Sequence[Level]] = field(default_factory=dict)
    controls: Mapping[str, str] = field(default_factory=dict)
    titles: Mapping[str, str] = field(default_factory=dict)
    fills: str | None = None
    plan: str | None = None
    runs: int | None = None
    title: str = ""


class Option(NamedTuple):
    """What is said of an option: its help, the name of its value, and the least value."""

    help: str
    metavar: str | None = None
    min: int | None = None


class QuestionOptions(Protocol):
    """The options of one question: a dataclass whose fields are annotated with an `Option`."""

    def factors(self) -> AskedFactors:
        """Make the factors of the study. Raises StudyError where the options make none."""
