"""The steps of a search: runs go in, and its state learns the score of each step that is complete."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from scalograph.errors import StudyError
from scalograph.study.model import Study
from scalograph.study.scalars import Level

Configuration = Mapping[str, Level]
Key = tuple[tuple[str, Any], ...]


class Course(Protocol):
    """How far a search is: pure in the levels, the seed and what was told, in that order."""

    @property
    def next_level(self) -> int | None:
        """Where the next step is wanted; None when the search is over."""

    @property
    def n_left(self) -> int:
        """SearchSteps that are still to come, as far as is known by now; at least 1."""

    @property
    def state(self) -> str:
        """What is known so far, in a few words; empty before anything is."""

    def observe(self, level: int, score: float) -> str | None:
        """The score of a step; says what a person should know."""

    def observe_failure(self, level: int) -> str | None:
        """A run without a score; says what a person should know."""


C = TypeVar("C", bound=Course)


@dataclass(frozen=True, slots=True)
class Search(Generic[C]):
    """A search over the levels of one factor, or over numbered points.

    Attributes:
        what: is searched: the factor, or the word for a point.
        steps: level -> configurations of the runs that one step makes there: one, or several that are compared. The
            course may add to them.
        first: levels that are measured whatever they say, in their order.
        course: what is known; mutable.
        most: runs at most, disturbed ones and all.
        seed: of the order of the runs in a step.
        combined: the score of a step from those of its runs, in the order of `steps`.
    """

    what: str
    steps: Mapping[int, Sequence[Configuration]]
    first: Sequence[int]
    course: C
    most: int
    seed: int = 0
    combined: Callable[[Sequence[float]], float] = field(default=lambda scores: scores[0])

    def order(self, number: int, level: int) -> list[Configuration]:
        """The runs of a step in the order in which they are made: drawn, so that a drift favors none."""
        draw = random.Random(f"{self.seed} {number}")
        return draw.sample([*self.steps[level]], len(self.steps[level]))


class SearchSteps:
    """The steps of a search: runs go in, and the course is told of each step that is complete, or has failed.

    Attributes:
        block: of the step under way; each step is a block of its own.
    """

    def __init__(self, search: Search[Any]) -> None:
        self._search = search
        self._course: Course = search.course
        self._levels: dict[Key, int] = {}
        self._n_known = 0
        self.block = 0
        self._scores: dict[Key, float] = {}

    def level_of(self, configuration: Configuration) -> int | None:
        """Return the level that has a configuration; None where none has. Steps may have become more."""
        key = key_of(configuration)
        if key not in self._levels and len(self._search.steps) > self._n_known:
            self._levels |= {
                key_of(t): level for level, configurations in self._search.steps.items() for t in configurations
            }
            self._n_known = len(self._search.steps)
        return self._levels.get(key)

    def begin(self, block: int) -> None:
        """Go on with the step of a block; one that another was left for is forgotten."""
        if block != self.block:
            self.block = block
            self._scores.clear()

    def end(self) -> None:
        """End the step under way, whatever of it was measured."""
        self.begin(self.block + 1)

    @property
    def n_scores(self) -> int:
        """Runs of the step under way that have a score."""
        return len(self._scores)

    def left(self, level: int) -> list[Configuration]:
        """Configurations that the step under way lacks, in the order in which they are wanted."""
        return [t for t in self._search.order(self.block, level) if key_of(t) not in self._scores]

    def observe(self, configuration: Configuration, time: float | None) -> str | None:
        """Take a run that was not disturbed; with the last one of its step the course has the score.

        Args:
            configuration: of a step.
            time: of the same work; None where the run has none, which ends its step.

        Returns:
            What a person should know.
        """
        level = self.level_of(configuration)
        if level is None:
            return None
        if time is None:
            self.end()
            return self._course.observe_failure(level)
        self._scores[key_of(configuration)] = time
        keys = [key_of(t) for t in self._search.steps[level]]
        if not all(other in self._scores for other in keys):
            return None
        score = self._search.combined([self._scores[other] for other in keys])
        self.end()
        return self._course.observe(level, score)


def key_of(configuration: Configuration) -> Key:
    """A configuration as a key: a level may read alike and be another one, 1 and true."""
    return tuple(sorted((name, (type(level).__name__, level)) for name, level in configuration.items()))


def searched_factor(study: Study, configurations: Sequence[Configuration]) -> str:
    """The factor whose levels are searched: the one that has several."""
    varied = (name for name in study.factors if len({t[name] for t in configurations}) > 1)
    return next(varied, next(iter(study.factors)))


def count_levels(configurations: Sequence[Configuration], factor: str, least: int = 2) -> dict[int, Configuration]:
    """Level -> configuration.

    Raises:
        StudyError: another factor varies, or the levels are no counts, or too few.
    """
    others = {tuple(value for name, value in t.items() if name != factor) for t in configurations}
    if len(others) != 1:
        problem = f"{len(others)} combinations of levels beside {factor}"
        raise StudyError.one("factors", problem, "one: one program is searched", "give the others one level")
    levels = [configuration.get(factor) for configuration in configurations]
    if len(levels) < 2 or any(type(level) is not int or level < 1 for level in levels):
        problem = ", ".join(map(str, levels[:8]))
        raise StudyError.one(f"factors.{factor}.levels", problem, "at least two counts from 1 on", 'such as "1:all"')
    if len(levels) < least:
        expected = f"at least {least}: fewer are compared by a sweep"
        raise StudyError.one(f"factors.{factor}.levels", f"{len(levels)} levels", expected, "such as 1:512")
    return {int(configuration[factor]): configuration for configuration in configurations}
