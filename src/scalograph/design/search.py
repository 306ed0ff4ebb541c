"""A search: each run goes where it tells most. Which question it answers is its course's affair."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from scalograph.design.grid import REPEATED
from scalograph.design.planner import Design, Run, Treatment
from scalograph.design.sequential import DECIDING
from scalograph.errors import StudyError

# Runs before which a machine is not called busy.
BUSY_FROM = 8

Score = Callable[[Mapping[str, Any]], float | None]


class Course(Protocol):
    """How far a search is: pure in the levels, the seed and what was told, in that order."""

    @property
    def next_level(self) -> int | None:
        """Where the next run is wanted; None when the search is over."""

    @property
    def n_left(self) -> int:
        """Runs that are still to come, as far as is known by now; at least 1."""

    @property
    def state(self) -> str:
        """What is known so far, in a few words; empty before anything is."""

    def add(self, level: int, time: float) -> str | None:
        """A score; says what a person should know."""

    def fail(self, level: int) -> str | None:
        """A run without a score; says what a person should know."""


@dataclass(frozen=True, slots=True)
class Search:
    """A search over the levels of one factor.

    Attributes:
        factor: whose levels are searched.
        treatments: level -> treatment.
        first: levels that are measured whatever they say, in their order.
        course: what is known; mutable.
        most: runs at most, disturbed ones and all.
    """

    factor: str
    treatments: Mapping[int, Treatment]
    first: Sequence[int]
    course: Course
    most: int


class SearchPlanner:
    """First levels in an order drawn from the seed, then one run at a time, until the answer is sure.

    A disturbed run is asked for again at once, at most `max_reruns` times; then the search asks for what it wants now,
    which may be another run of that level. Where more than half of the runs were disturbed the machine is too busy,
    and the search ends without an answer, unless the study waits for quiet.
    """

    def __init__(self, search: Search, score: Score, *, max_reruns: int, waits: bool) -> None:
        """A search from its beginning.

        Args:
            search: what is searched.
            score: time of a run: of the same work at each level, or as the course takes it.
            max_reruns: how often a disturbed run is made again.
            waits: whether the study waits for quiet, and so never gives up.
        """
        self._search, self._score = search, score
        self._max_reruns, self._waits = max_reruns, waits
        self._told: dict[str, int] = {}
        self._n_disturbed, self._again = 0, ""
        self.gave_up = False

    @property
    def course(self) -> Course:
        """What is known so far."""
        return self._search.course

    @property
    def n_left(self) -> int:
        """Runs that are still to come, as far as is known by now."""
        if self.ask() is None:
            return 0
        return max(1, min(self.course.n_left, self._search.most - len(self._told)))

    def ask(self) -> Run | None:
        """A disturbed run again, else the next first level, else where one more run tells most."""
        if self.gave_up or len(self._told) >= self._search.most:
            return None
        if self._again:
            return self._run(self._again, self._told[self._again.partition("r")[0]])
        level = self.course.next_level
        number = sum("r" not in name for name in self._told)
        return None if level is None else self._run(f"e{number:04d}", level)

    def tell(self, run: Run, record: Mapping[str, Any], verdict: str) -> str | None:
        """Take what became of a run.

        Returns:
            What a person should know: a level was left out, the model was, nothing was decided, the machine is busy.

        Raises:
            StudyError: the run has a treatment that this design does not have.
        """
        level = self._level(run)
        if run.warmup:
            return None
        self._told[run.run], self._again = level, ""
        if verdict in REPEATED:
            return self._disturbed(run.run)
        time = self._score(record) if verdict in DECIDING else None
        return self.course.fail(level) if time is None else self.course.add(level, time)

    def _level(self, run: Run) -> int:
        level = run.treatment.get(self._search.factor)
        if isinstance(level, int) and dict(self._search.treatments.get(level, {})) == dict(run.treatment):
            return level
        found = f"{run.run} of {dict(run.treatment)} in the journal"
        levels = [*self._search.treatments]
        shown = f"{levels[0]} to {levels[-1]}" if len(levels) > 8 else str(levels)
        raise StudyError.one("resume: design", found, f"{self._search.factor} in {shown}", "start anew")

    def _run(self, name: str, level: int) -> Run:
        # Each run is a block of its own: a budget may end a search before any of them.
        block = int(name[1:].partition("r")[0])
        return Run(name, block, self._search.treatments[level], [*self._told.values()].count(level))

    def _disturbed(self, name: str) -> str | None:
        self._n_disturbed += 1
        n = len(self._told)
        if n >= BUSY_FROM and 2 * self._n_disturbed > n and not self._waits:
            self.gave_up = True
            return f"machine busy, not measurable now: {self._n_disturbed} of {n} runs were contaminated"
        first, _, times = name.partition("r")
        number = int(times or 0) + 1
        self._again = f"{first}r{number}" if number <= self._max_reruns else ""
        return None


def first_runs(search: Search) -> list[Run]:
    """The runs that are made whatever they say: the first levels, in their order."""
    return [Run(f"e{i:04d}", i, search.treatments[level], 0) for i, level in enumerate(search.first)]


def factor_of(design: Design) -> str:
    """The factor whose levels are searched: the one that has several."""
    varied = (name for name in design.study.factors if len({t[name] for t in design.treatments}) > 1)
    return next(varied, next(iter(design.study.factors)))


def counted(design: Design, factor: str) -> dict[int, Treatment]:
    """Level -> treatment.

    Raises:
        StudyError: another factor varies, or the levels are no counts.
    """
    others = {tuple(value for name, value in t.items() if name != factor) for t in design.treatments}
    if len(others) != 1:
        found = f"{len(others)} settings beside {factor}"
        raise StudyError.one("factors", found, "one: one program is searched", "give the others one level")
    levels = [treatment.get(factor) for treatment in design.treatments]
    if len(levels) < 2 or any(type(level) is not int or level < 1 for level in levels):
        found = ", ".join(map(str, levels[:8]))
        raise StudyError.one(f"factors.{factor}.levels", found, "at least two counts from 1 on", 'such as "1:all"')
    return {int(treatment[factor]): treatment for treatment in design.treatments}
