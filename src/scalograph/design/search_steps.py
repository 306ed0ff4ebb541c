"""The steps of a search, and the interface of its state, which observes the score of each complete step."""

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan
from typing import Any, Generic, Protocol, TypeVar

from scalograph.errors import StudyError
from scalograph.study.model import Study
from scalograph.study.scalars import Level

Configuration = Mapping[str, Level]
Key = tuple[tuple[str, Any], ...]


class SearchState(Protocol):
    """State of a search: a pure function of the levels, the seed and what was observed, in order."""

    @property
    def next_level(self) -> int | None:
        """The level of the next step; None when the search is over."""

    @property
    def n_left(self) -> int:
        """The number of steps still to come, as far as known; at least 1."""

    @property
    def summary(self) -> str:
        """What is known so far, for people; empty before anything is."""

    def observe(self, level: int, score: float) -> str | None:
        """Take the score of a step; return a message for people, if any."""

    def observe_failure(self, level: int) -> str | None:
        """Take a run without a score; return a message for people, if any."""


C = TypeVar("C", bound=SearchState)
# Runs without a score that exclude their level.
FAILURES = 2


class ExcludingState:
    """Base of the search states that exclude a level, mostly at its second run without a score."""

    def __init__(self) -> None:
        self._failures = Counter[int]()

    @property
    def failing(self) -> set[int]:
        """Return the excluded levels."""
        return {level for level, n in self._failures.items() if n >= self._most_failures(level)}

    def observe_failure(self, level: int) -> str | None:
        """Observe a run without a score; return a message for people once its level is excluded."""
        self._failures[level] += 1
        if self._failures[level] != (most := self._most_failures(level)):
            return None
        more = self._exclude(level)
        return f"{self.level_name(level)} failed {most} times: excluded{more or ''}"

    def _most_failures(self, level: int) -> int:
        """Return how many runs without a score exclude a level."""
        return FAILURES

    def level_name(self, level: int) -> str:
        """Name a level for people."""
        return f"level {level}"

    def _exclude(self, level: int) -> str | None:
        """Go on without a level; return what more there is to say of it, if anything."""
        raise NotImplementedError


def unreached_levels(levels: Sequence[int], level: int, measured: Sequence[int]) -> list[int]:
    """Return a level that failed, and all above it if none of these has a score.

    >>> unreached_levels([1, 2, 4, 8], 4, [1, 2]), unreached_levels([1, 2, 4, 8], 4, [1, 8])
    ([4, 8], [4])
    """
    is_last = level > max(measured, default=level - 1)
    return [n for n in levels if n == level or (is_last and n > level)]


def count_above(n_excluded: int) -> str:
    """Say how many levels are excluded above a failing one; empty for none."""
    return f", and the {n_excluded - 1} levels above it" if n_excluded > 1 else ""


@dataclass(frozen=True, slots=True)
class Search(Generic[C]):
    """A search over the levels of one factor, or over numbered points.

    Attributes:
        what: the factor, or the word for a point.
        steps: level -> configurations of the runs of one step, one or several; the state may add to them.
        first: levels that are measured in any case, in order.
        state: what is known; mutable.
        most: runs at most, including disturbed ones.
        seed: of the order of the runs in a step.
        combine: the score of a step, as the state observes it, from those of its runs, in the order of `steps`.
    """

    what: str
    steps: Mapping[int, Sequence[Configuration]]
    first: Sequence[int]
    state: C
    most: int
    seed: int = 0
    combine: Callable[[Sequence[float]], Any] = field(default=lambda scores: scores[0])

    def order(self, number: int, level: int) -> list[Configuration]:
        """Return the runs of a step in random order, so that drift favors none."""
        return random.Random(f"{self.seed} {number}").sample([*self.steps[level]], len(self.steps[level]))


class SearchSteps:
    """The steps of a search, each a block: the state observes each step that is complete or has failed."""

    def __init__(self, search: Search[Any]) -> None:
        self._search = search
        self._state: SearchState = search.state
        self._levels: dict[Key, list[int]] = {}
        self._n_known = 0
        self.block = 0
        self._scores: dict[Key, float] = {}

    def level_of(self, configuration: Configuration) -> int | None:
        """Return the level that has a configuration, or None; the search may have added steps.

        Where several share it, the one that the state wants: it wants no other before its step has ended.
        """
        key = configuration_key(configuration)
        if len(self._search.steps) > self._n_known:
            self._levels = {}
            for level, configurations in self._search.steps.items():
                for t in configurations:
                    self._levels.setdefault(configuration_key(t), []).append(level)
            self._n_known = len(self._search.steps)
        levels = self._levels.get(key, [])
        if len(levels) > 1:
            wanted = self._state.next_level
            return wanted if wanted in levels else levels[0]
        return next(iter(levels), None)

    def begin(self, block: int) -> None:
        """Continue the step of a block; the scores of an unfinished other step are dropped."""
        if block != self.block:
            self.block = block
            self._scores.clear()

    def end(self) -> None:
        """End the current step, complete or not."""
        self.begin(self.block + 1)

    @property
    def n_scores(self) -> int:
        """The number of runs of the current step that have a score."""
        return len(self._scores)

    def left(self, level: int) -> list[Configuration]:
        """Return the configurations that the current step lacks, in the order of measurement."""
        return [t for t in self._search.order(self.block, level) if configuration_key(t) not in self._scores]

    def observe(self, configuration: Configuration, time: float | None) -> str | None:
        """Take the time of an undisturbed run, None without one, which ends its step; return a message, if any.

        NaN is a run that succeeded where no time counts; a state that does not care takes it as a failure.
        With the last run of a step the state observes its score.
        """
        level = self.level_of(configuration)
        if level is None:
            return None
        if time is None or isnan(time):
            self.end()
            without = self._state.observe_failure
            return without(level) if time is None else getattr(self._state, "observe_timeless", without)(level)
        self._scores[configuration_key(configuration)] = time
        keys = [configuration_key(t) for t in self._search.steps[level]]
        if not all(other in self._scores for other in keys):
            return None
        score = self._search.combine([self._scores[other] for other in keys])
        self.end()
        return self._state.observe(level, score)


def configuration_key(configuration: Configuration) -> Key:
    """Return a configuration as a key in which 1 and true are different levels."""
    return tuple(sorted((name, (type(level).__name__, level)) for name, level in configuration.items()))


def searched_factor(study: Study, configurations: Sequence[Configuration]) -> str:
    """Return the factor whose levels are searched: the first that has several."""
    varied = (name for name in study.factors if len({t[name] for t in configurations}) > 1)
    return next(varied, next(iter(study.factors)))


def count_levels(configurations: Sequence[Configuration], factor: str, least: int = 2) -> dict[int, Configuration]:
    """Return level -> configuration. Raises StudyError if another factor varies or levels are no counts or too few."""
    others = {tuple(value for name, value in t.items() if name != factor) for t in configurations}
    if len(others) != 1:
        problem = f"{len(others)} combinations of levels beside {factor}"
        raise StudyError.one("factors", problem, "one: one program is searched", "give the others one level")
    levels = [configuration.get(factor) for configuration in configurations]
    if len(levels) < 2 or any(type(level) is not int or level < 1 for level in levels):
        problem = ", ".join(map(str, levels[:8]))
        raise StudyError.one(f"factors.{factor}.levels", problem, "at least two counts from 1 on", 'such as "1:all"')
    if len(levels) < least:
        problem = f"{len(levels)} levels are too few for a search"
        raise StudyError.one(f"factors.{factor}.levels", problem, f"at least {least}", "such as 1:512")
    return {int(configuration[factor]): configuration for configuration in configurations}
