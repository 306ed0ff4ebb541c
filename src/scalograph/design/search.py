"""Planner of a search: each step goes where its search state wants it."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from math import nan
from typing import Any

from scalograph.design.planner import Design, RunPlan
from scalograph.design.search_steps import Key, Search, SearchState, SearchSteps, configuration_key
from scalograph.design.stopping_rule import score, work_time
from scalograph.errors import StudyError
from scalograph.protocol.record import Record
from scalograph.questions.registry import SWEEP, role, roles_present
from scalograph.study.levels import Run
from scalograph.study.scalars import Level
from scalograph.text.quantities import count_noun
from scalograph.text.warning_catalog import warning_text
from scalograph.verdict.cause import COUNTED, REPEATED

BUSY_FROM = 8  # least number of runs before a machine is called busy
Score = Callable[[Record], float | None]


class SearchPlanner:
    """A planner that measures the first levels of a search, then one step, a block, at a time.

    A disturbed run is repeated at once, at most `max_reruns` times; then the next step is chosen again. If more than
    half of the runs were disturbed, or eight in a row, the machine is too busy, and the search ends without an answer
    unless the study `waits` for quiet. `score` is the time of a run: of the same work at each level, or as the search
    state takes it.
    """

    def __init__(self, search: Search[Any], score: Score, *, max_reruns: int, waits: bool) -> None:
        self._search, self._score = search, score
        self._max_reruns, self._waits = max_reruns, waits
        self._steps = SearchSteps(search)
        self._told: dict[str, Key] = {}
        self._under_way: int | None = None
        self._again = ""
        self.resume()

    def resume(self) -> None:
        """Reset the stop reason: whether the machine is busy is judged by the runs of the new session."""
        self.stop_reason = ""
        self._n_disturbed = self._n_in_a_row = self._n_invalid = 0
        self._n_before = len(self._told)

    @property
    def state(self) -> SearchState:
        state: SearchState = self._search.state
        return state

    @property
    def n_left(self) -> int:
        """The number of runs still to come, as far as known."""
        if self.ask() is None:
            return 0
        expected = self.state.n_left * max(map(len, self._search.steps.values())) - self._steps.n_scores
        return max(1, min(expected, self._search.most - len(self._told)))

    def ask(self) -> Run | None:
        """Return the next run: a disturbed one again, else of the current step, else of the next step."""
        is_new = self._under_way is None
        if self.stop_reason or (is_new and len(self._told) >= self._search.most):
            return None
        level = self.state.next_level if is_new else self._under_way
        if level is None:
            return None
        left = self._steps.left(level)
        if self._again:
            again = self._told[self._again.partition("r")[0]]
            return self._run(self._again, next(t for t in left if configuration_key(t) == again))
        return self._run(f"e{sum('r' not in name for name in self._told):04d}", left[0])

    def tell(self, run: Run, record: Record, verdict: str) -> str | None:
        """Take the record and the verdict of a run; return a message for people, if any.

        Raises StudyError if the design does not have the configuration of the run.
        """
        level = self._steps.level_of(run.configuration)
        if level is None:
            raise self._unknown(run)
        if run.warmup:
            return None
        self._steps.begin(run.block)  # not the next one if another release, or other options, counted them
        self._told[run.run], self._again, self._under_way = configuration_key(run.configuration), "", level
        if verdict in REPEATED:
            self._n_invalid += verdict == "invalid"
            return self._repeat_disturbed(run.run)
        self._n_in_a_row = 0
        note = self._steps.observe(run.configuration, self._score(record) if verdict in COUNTED else None)
        if not self._steps.n_scores:
            self._under_way = None
        return note

    def _unknown(self, run: Run) -> StudyError:
        problem = f"{run.run} of {dict(run.configuration)} in the journal"
        levels = [*self._search.steps]
        shown = f"{levels[0]} to {levels[-1]}" if len(levels) > 8 else str(levels)
        return StudyError.one("resume: design", problem, f"{self._search.what} in {shown}", "start over")

    def _run(self, name: str, configuration: Mapping[str, Level]) -> Run:
        return Run(
            name, self._steps.block, configuration, [*self._told.values()].count(configuration_key(configuration))
        )

    def _repeat_disturbed(self, name: str) -> str | None:
        self._n_disturbed += 1
        self._n_in_a_row += 1
        first, _, times = name.partition("r")
        number = int(times or 0) + 1
        if number <= self._max_reruns:
            self._again = f"{first}r{number}"
        else:
            self._steps.end()
            self._under_way = None
        # Last, and without an effect on the next step: a start with other options asks the same.
        n = len(self._told) - self._n_before
        busy = self._n_in_a_row >= BUSY_FROM or (n >= BUSY_FROM and 2 * self._n_disturbed > n)
        if busy and not self._waits:
            # Waiting helps only if the machine is busy.
            self.stop_reason = "invalid" if 2 * self._n_invalid > self._n_disturbed else "busy"
            row = self._n_in_a_row if self._n_in_a_row < n else None
            return warning_text(f"search {self.stop_reason}", n=self._n_disturbed, of=n, row=row)
        return None


class SearchPlan:
    """The runs of a search; `begin` makes a new search and raises StudyError if it cannot be made."""

    def __init__(self, design: Design, begin: Callable[[], Search[Any]]) -> None:
        self._design, self._begin, self._search = design, begin, begin()

    def planner(self) -> SearchPlanner:
        study, protocol = self._design.study, self._design.study.protocol
        return SearchPlanner(
            self._begin(),
            lambda record: nan if _is_timeless(record) else work_time(study, score(study, record)),
            max_reruns=protocol.max_reruns,
            waits=protocol.wait_quiet_s > 0,
        )

    def planned_runs(self) -> Iterator[Run]:
        """Return the runs of the steps at the first levels."""
        runs = [(i, t) for i, level in enumerate(self._search.first) for t in self._search.order(i, level)]
        return (Run(f"e{number:04d}", i, configuration, 0) for number, (i, configuration) in enumerate(runs))

    def runs_per_configuration(self) -> list[int]:
        first = Counter(tuple(run.configuration.items()) for run in self.planned_runs())
        return [first[tuple(configuration.items())] for configuration in self._design.configurations]

    @property
    def most_runs(self) -> int:
        """The number of runs after which the search ends without an answer."""
        return min(self._search.most, self._design.study.protocol.budget_runs or self._search.most)

    @property
    def block_size(self) -> int:
        """The number of runs of a step: one, or a pair."""
        return max(map(len, self._search.steps.values()))

    def outlook(self) -> str:
        first = len(self._search.first)
        if self.block_size == 1:
            levels = count_noun(len(self._design.configurations), "configuration")
            return f"{levels}; {first} runs first, then one at a time where it decides most, at most {self.most_runs}"
        if self.block_size > 2:
            versions = count_noun(len(self._design.configurations), "version")
            most = f"at most {self.most_runs} runs"
            return f"{versions}; {first} pairs of the ends first, then one at a time beside both, {most}"
        pairs = f"{first} pairs of runs first, then a pair at a time where it decides most"
        most = f"at most {self.most_runs} runs with those that are made again"
        return f"{len(self._search.steps)} points, two versions; {pairs}, {most}"


def _is_timeless(record: Record) -> bool:
    return record.run.status == "ok" and record.guest is not None and not record.guest.has_times


def run_plan(design: Design) -> RunPlan:
    """Return the plan of the question that a study asks: its own, that of its search, or that of a sweep.

    Raises StudyError if the question cannot be asked of these configurations.
    """
    asked = design.study.question
    if asked not in roles_present("plan") and asked in roles_present("search_state"):
        return SearchPlan(design, partial(role(asked, "search_state").begin, design.study, design.configurations))
    plan: RunPlan = role(asked if asked in roles_present("plan") else SWEEP, "plan").plan(design)
    return plan
