"""Effective CPUs: each run goes where it tells most; without a model where the program fits none."""

from collections.abc import Callable, Mapping
from typing import Any

from scalograph.analysis.effective_course import Course, first_levels
from scalograph.analysis.effective_cpus import LEAST_RUNS, Effective
from scalograph.analysis.effective_search import Searched
from scalograph.design.grid import REPEATED
from scalograph.design.planner import Design, Run, Treatment
from scalograph.design.sequential import DECIDING
from scalograph.errors import StudyError

QUESTION = "effective-cpus"
# Runs at most, disturbed ones and all: 24 for the model, as many again for the search without one.
MOST = 48
# Runs before which a machine is not called busy.
BUSY_FROM = 8

Score = Callable[[Mapping[str, Any]], float | None]


class EffectivePlanner:
    """Start levels in an order drawn from the seed, then one run at a time, until the answer is sure.

    A disturbed run is asked for again at once, at most `max_reruns` times; then the search asks for what it wants now,
    which may be another run of that level. Where more than half of the runs were disturbed the machine is too busy,
    and the search ends without an answer, unless the study waits for quiet.
    """

    def __init__(self, design: Design, factor: str, score: Score, *, rounds: bool = False, most: int = MOST) -> None:
        """A search over the levels of one factor.

        Args:
            design: its treatments differ in this factor alone.
            factor: whose levels are CPU counts (or pieces of work, with `rounds`).
            score: time of a run: of the same work at each level, or with `rounds` of the same work per piece.
            rounds: levels count equal pieces of work, such as threads that each do the same.
            most: runs asked for at most.

        Raises:
            StudyError: another factor varies, or the levels are no CPU counts.
        """
        self._treatments = _treatments(design, factor)
        self._factor, self._score, self._most = factor, score, most
        self._max_reruns, self._waits = design.study.protocol.max_reruns, design.study.protocol.wait_quiet_s > 0
        self._course = Course([*self._treatments], design.study.seed, rounds)
        self._n_first = len(first_levels([*self._treatments], design.study.seed))
        self._told: dict[str, int] = {}
        self._n_disturbed, self._again = 0, ""
        self.gave_up = False

    @property
    def found(self) -> Effective | Searched | None:
        """The answer so far, with what it rests on; None before the start levels are measured."""
        return self._course.found

    @property
    def n_left(self) -> int:
        """Runs that are still to come, as far as is known by now."""
        if self.ask() is None:
            return 0
        return max(1, min(LEAST_RUNS - len(self._course.k), self._most - len(self._told)))

    def ask(self) -> Run | None:
        """A disturbed run again, else the next start level, else where one more run tells most."""
        if self.gave_up or len(self._told) >= self._most:
            return None
        if self._again:
            return self._run(self._again, self._told[self._again.partition("r")[0]])
        level = self._course.next_level
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
        return self._course.fail(level) if time is None else self._course.add(level, time)

    def _level(self, run: Run) -> int:
        for level, treatment in self._treatments.items():
            if dict(treatment) == dict(run.treatment):
                return level
        found = f"{run.run} of {dict(run.treatment)} in the journal"
        raise StudyError.one("resume: design", found, f"{self._factor} in {[*self._treatments]}", "start anew")

    def _run(self, name: str, level: int) -> Run:
        # The start levels are one block; then each run is decided by all before it, and is a block of its own.
        block = max(0, int(name[1:].partition("r")[0]) - self._n_first + 1)
        return Run(name, block, self._treatments[level], [*self._told.values()].count(level))

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


def first_runs(design: Design) -> list[Run]:
    """The runs that are made whatever they say: the start levels, in their order.

    Raises:
        StudyError: as `EffectivePlanner`.
    """
    treatments = _treatments(design, factor_of(design))
    levels = first_levels([*treatments], design.study.seed)
    return [Run(f"e{number:04d}", 0, treatments[level], 0) for number, level in enumerate(levels)]


def most_runs(design: Design) -> int:
    """Runs after which a search ends without an answer."""
    return min(MOST, design.study.protocol.budget_runs or MOST)


def factor_of(design: Design) -> str:
    """The factor whose levels are searched: the one that has several."""
    varied = (name for name in design.study.factors if len({t[name] for t in design.treatments}) > 1)
    return next(varied, next(iter(design.study.factors)))


def _treatments(design: Design, factor: str) -> dict[int, Treatment]:
    """Level -> treatment. Raises StudyError."""
    others = {tuple(value for name, value in t.items() if name != factor) for t in design.treatments}
    if len(others) != 1:
        found = f"{len(others)} settings beside {factor}"
        raise StudyError.one("factors", found, "one: CPUs are searched for one program", "give the others one level")
    levels = [treatment.get(factor) for treatment in design.treatments]
    if len(levels) < 2 or any(type(level) is not int or level < 1 for level in levels):
        found = ", ".join(map(str, levels[:8]))
        raise StudyError.one(f"factors.{factor}.levels", found, "at least two counts from 1 on", 'such as "1:all"')
    return {int(treatment[factor]): treatment for treatment in design.treatments}
