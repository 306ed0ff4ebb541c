"""A search: each step goes where it tells most. Which question it answers is its course's affair."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from scalograph.design.grid import REPEATED
from scalograph.design.planner import Design, Run, Treatment
from scalograph.design.sequential import DECIDING
from scalograph.errors import StudyError
from scalograph.protocol.record import Record

# Runs before which a machine is not called busy.
BUSY_FROM = 8

Score = Callable[[Record], float | None]


class Course(Protocol):
    """How far a search is: pure in the levels, the seed and what was told, in that order."""

    @property
    def next_level(self) -> int | None:
        """Where the next step is wanted; None when the search is over."""

    @property
    def n_left(self) -> int:
        """Steps that are still to come, as far as is known by now; at least 1."""

    @property
    def state(self) -> str:
        """What is known so far, in a few words; empty before anything is."""

    def add(self, level: int, score: float) -> str | None:
        """The score of a step; says what a person should know."""

    def fail(self, level: int) -> str | None:
        """A run without a score; says what a person should know."""


@dataclass(frozen=True, slots=True)
class Search:
    """A search over the levels of one factor, or over numbered points.

    Attributes:
        what: is searched: the factor, or the word for a point.
        steps: level -> treatments of the runs that one step makes there: one, or several that are compared.
        first: levels that are measured whatever they say, in their order.
        course: what is known; mutable.
        most: runs at most, disturbed ones and all.
        seed: of the order of the runs in a step.
        combined: the score of a step from those of its runs, in the order of `steps`.
    """

    what: str
    steps: Mapping[int, Sequence[Treatment]]
    first: Sequence[int]
    course: Course
    most: int
    seed: int = 0
    combined: Callable[[Sequence[float]], float] = field(default=lambda scores: scores[0])

    def order(self, number: int, level: int) -> list[Treatment]:
        """The runs of a step in the order in which they are made: drawn, so that a drift favors none."""
        draw = random.Random(f"{self.seed} {number}")
        return draw.sample([*self.steps[level]], len(self.steps[level]))


class SearchPlanner:
    """First levels in an order drawn from the seed, then one step at a time, until the answer is sure.

    A disturbed run is asked for again at once, at most `max_reruns` times; then the search asks for what it wants now,
    which may be another step at that level. Where more than half of the runs were disturbed, or eight in a row, the
    machine is too busy, and the search ends without an answer, unless the study waits for quiet. Each step is a block
    of its own.
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
        self._levels = {_key(t): level for level, made in search.steps.items() for t in made}
        self._told: dict[str, _Key] = {}
        self._step = 0
        self._scores: dict[_Key, float] = {}
        self._under_way: int | None = None
        self._again = ""
        self.resume()

    def resume(self) -> None:
        """Another start goes on, on a machine that may be quiet now: whether it is busy is judged by its own runs."""
        self.gave_up = False
        self._n_disturbed = self._n_in_a_row = 0
        self._n_before = len(self._told)

    @property
    def course(self) -> Course:
        """What is known so far."""
        return self._search.course

    @property
    def n_left(self) -> int:
        """Runs that are still to come, as far as is known by now."""
        if self.ask() is None:
            return 0
        expected = self.course.n_left * max(map(len, self._search.steps.values())) - len(self._scores)
        return max(1, min(expected, self._search.most - len(self._told)))

    def ask(self) -> Run | None:
        """A disturbed run again, else the next of the step under way, else of the step that tells most."""
        is_new = self._under_way is None
        if self.gave_up or (is_new and len(self._told) >= self._search.most):
            return None
        level = self.course.next_level if is_new else self._under_way
        if level is None:
            return None
        left = [t for t in self._search.order(self._step, level) if _key(t) not in self._scores]
        if self._again:
            again = self._told[self._again.partition("r")[0]]
            return self._run(self._again, next(t for t in left if _key(t) == again))
        return self._run(f"e{sum('r' not in name for name in self._told):04d}", left[0])

    def tell(self, run: Run, record: Record, verdict: str) -> str | None:
        """Take what became of a run.

        Returns:
            What a person should know: a level was left out, the model was, nothing was decided, the machine is busy.

        Raises:
            StudyError: the run has a treatment that this design does not have.
        """
        key = _key(run.treatment)
        if key not in self._levels:
            raise self._unknown(run)
        if run.warmup:
            return None
        if run.block != self._step:  # a journal whose steps another release, or other options, have counted
            self._step = run.block
            self._scores.clear()
        self._told[run.run], self._again, self._under_way = key, "", self._levels[key]
        if verdict in REPEATED:
            return self._disturbed(run.run)
        self._n_in_a_row = 0
        time = self._score(record) if verdict in DECIDING else None
        return self._failed() if time is None else self._took(key, time)

    def _took(self, key: "_Key", time: float) -> str | None:
        """A score; with the last one of its step the course has it."""
        self._scores[key] = time
        level = self._levels[key]
        made = [_key(t) for t in self._search.steps[level]]
        if not all(other in self._scores for other in made):
            return None
        score = self._search.combined([self._scores[other] for other in made])
        self._end_step()
        return self.course.add(level, score)

    def _failed(self) -> str | None:
        level = self._under_way
        assert level is not None
        self._end_step()
        return self.course.fail(level)

    def _end_step(self) -> None:
        self._step += 1
        self._scores.clear()
        self._under_way = None

    def _unknown(self, run: Run) -> StudyError:
        found = f"{run.run} of {dict(run.treatment)} in the journal"
        levels = [*self._search.steps]
        shown = f"{levels[0]} to {levels[-1]}" if len(levels) > 8 else str(levels)
        return StudyError.one("resume: design", found, f"{self._search.what} in {shown}", "start anew")

    def _run(self, name: str, treatment: Treatment) -> Run:
        return Run(name, self._step, treatment, [*self._told.values()].count(_key(treatment)))

    def _disturbed(self, name: str) -> str | None:
        self._n_disturbed += 1
        self._n_in_a_row += 1
        first, _, times = name.partition("r")
        number = int(times or 0) + 1
        if number <= self._max_reruns:
            self._again = f"{first}r{number}"
        else:
            self._end_step()
        # Last, and without a trace in what is asked for next: a start with other options asks the same.
        n = len(self._told) - self._n_before
        busy = self._n_in_a_row >= BUSY_FROM or (n >= BUSY_FROM and 2 * self._n_disturbed > n)
        if busy and not self._waits:
            self.gave_up = True
            in_a_row = f", the last {self._n_in_a_row} of them one after the other" if self._n_in_a_row < n else ""
            told = f"machine busy, not measurable now: {self._n_disturbed} of {n} runs were contaminated{in_a_row}"
            return f"{told} (wait for quiet: --wait-quiet 10m)"
        return None


_Key = tuple[tuple[str, Any], ...]


def _key(treatment: Treatment) -> _Key:
    # A level may read alike and be another one: 1 and true.
    return tuple(sorted((name, (type(level).__name__, level)) for name, level in treatment.items()))


def first_runs(search: Search) -> list[Run]:
    """The runs that are made whatever they say: the steps at the first levels, in their order."""
    made = [(i, t) for i, level in enumerate(search.first) for t in search.order(i, level)]
    return [Run(f"e{number:04d}", i, treatment, 0) for number, (i, treatment) in enumerate(made)]


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
