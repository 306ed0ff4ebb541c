"""The state of a search for the best: its runs, what they say, and which configuration is next."""

import random
from collections.abc import Sequence
from math import log, prod

import numpy as np

from scalograph.design.search_steps import Configuration, ExcludingState, Search
from scalograph.errors import StudyError
from scalograph.questions.asked import COUNTED
from scalograph.questions.best.model import BestSpace, read_space
from scalograph.questions.best.model_choice import Choice, choose
from scalograph.questions.best.model_surface import Kernels, TimeSurface
from scalograph.study.model import Study
from scalograph.study.scalars import Level
from scalograph.text.quantities import probability

# Difference that counts as none, unless the study sets a precision.
MARGIN = 0.02
# Probability that another configuration is faster by more than the margin, at which a search ends, where it stays for
# so many runs: a smooth surface is sure of more than was measured.
RISK, IN_A_ROW = 0.05, 4
# Runs of the winner before it is confirmed.
LEAST_REPEATS = 3
# Runs of a search at most, and so many for each configuration, fresh ones included; of a small grid at least.
MOST, PER_CONFIGURATION, LEAST_MOST = 150, 2, 24
# Fresh runs of each configuration that is confirmed, each in a block with the default.
N_FRESH = 8
# A cheaper configuration is confirmed beside the winner that is within the margin of the best with that probability.
EQUIVALENT = 0.5
# By how much a failing configuration counts as slower than all others, in logs.
WORSE = 0.3
# Configurations at most: each is weighed after every run.
MOST_CONFIGURATIONS = 20_000
DEFAULT_FAILS = "runs of the default fail, so nothing can be compared with it"


class BestState(ExcludingState):
    """State of a search for the best: pure in the grid, seed and observations. A level is a configuration's index.

    Attributes:
        at, logs: configuration and log time of each run of the search.
        fresh: log times of the confirming runs, by block: configuration -> log time, None where it failed.
        surface: their fit, by which the choice is made.
        choice: what the runs of the search say; None before the first ones are made.
        confirmed: the configurations of each confirming block, the default first; empty before there are any.
        over: whether all planned runs were made.
        stop: why the search ended without an answer; empty where it did not.
    """

    def __init__(self, space: BestSpace, costs: Sequence[int], seed: int, margin: float = MARGIN) -> None:
        super().__init__()
        self.space, self.margin, self._costs, self._seed = space, margin, costs, seed
        self._kernels = Kernels(space)
        self.surface: TimeSurface | None = None
        self._first = space.first(seed)
        self.most = min(MOST, max(LEAST_MOST, PER_CONFIGURATION * len(space.at) - 3 * N_FRESH))
        self._in_a_row, self._next = 0, self._first[0]
        self.at: list[int] = []
        self.logs: list[float] = []
        self.choice: Choice | None = None
        self.confirmed: list[int] = []
        self._queue: list[tuple[int, int]] = []
        self.fresh: list[dict[int, float | None]] = []
        self.over, self.stop = False, ""

    @property
    def next_level(self) -> int | None:
        if self.over:
            return None
        return self._queue[0][1] if self._queue else self._next

    @property
    def n_left(self) -> int:
        if self._queue:
            return len(self._queue)
        return max(1, len(self._first) + IN_A_ROW - len(self.at)) + 2 * N_FRESH

    @property
    def summary(self) -> str:
        if self.choice is None:
            return ""
        if self._queue:
            return f"confirming {self.level_name(self.choice.winner)}"
        best = f"{self.level_name(self.choice.winner)} or {len(self.choice.members) - 1} more"
        return f"{best}; another is faster: {probability(self.choice.risk)}"

    @property
    def noise(self) -> float | None:
        """Return the standard deviation of the log time of a run; None before the first ones are made."""
        return self.surface.noise if self.surface else None

    @property
    def cheapest(self) -> int | None:
        """Return the cheapest configuration that is probably equivalent to the winner; None where the winner is."""
        if self.choice is None:
            return None
        winner, members = self.choice.winner, self.choice.members
        alike = [i for i, within in members.items() if within >= EQUIVALENT and i not in self.failing]
        cheapest = min(alike, key=lambda i: (self._costs[i], -members[i], i), default=winner)
        return cheapest if self._costs[cheapest] < self._costs[winner] else None

    def level_name(self, level: int) -> str:
        """Name a configuration for people."""
        names, levels, at = self.space.names, self.space.levels, self.space.at[level]
        return ", ".join(f"{name}={own[k]}" for name, own, k in zip(names, levels, at, strict=True))

    def observe(self, level: int, score: float) -> str | None:
        if self._queue:
            self._take_fresh(level, log(score))
            return None
        self.at.append(level)
        self.logs.append(log(score))
        return self._update()

    def observe_failure(self, level: int) -> str | None:
        """Observe a run without a score; the second one excludes its configuration."""
        if self._queue:
            self._take_fresh(level, None)
            return None
        return super().observe_failure(level)

    def _exclude(self, level: int) -> str | None:
        if level == self.space.default:
            self.over, self.stop = True, DEFAULT_FAILS
        note = self.stop or self._update()
        return note and f"; {note}"

    def _take_fresh(self, level: int, value: float | None) -> None:
        index = next((i for i, (_, other) in enumerate(self._queue) if other == level), 0)
        block, _ = self._queue.pop(index)
        self.fresh[block][level] = value
        self.over = not self._queue

    def _update(self) -> str | None:
        waiting = [i for i in self._first if i not in self.at and i not in self.failing]
        if waiting:
            self._next = waiting[0]
            return None
        allowed = np.setdiff1d(np.arange(len(self.space.at)), [*self.failing])
        failed = [*self.failing]
        logs = [*self.logs, *[max(self.logs) + WORSE] * len(failed)]
        last, before = (self.at[-1], self.surface) if self.at else (-1, None)
        is_lone = before is not None and self.at.count(last) == 1
        surprising = [last] if before and is_lone and before.is_suspect(last, self.logs[-1]) else []
        surface = self.surface = TimeSurface(self._kernels, [*self.at, *failed], logs, self.surface)
        self.choice = choose(surface, self.margin, allowed)
        suspects = [i for i in (*surprising, *surface.suspects) if i not in failed]
        is_sure = not suspects and self.choice.risk <= RISK
        # How much runs differ is known from repeats alone.
        is_repeated = self.at.count(self.choice.winner) >= LEAST_REPEATS
        self._in_a_row = self._in_a_row + 1 if is_sure and is_repeated else 0
        if self._in_a_row >= IN_A_ROW or len(self.at) >= self.most or len(allowed) == 1:
            return self._confirm()
        likely = self.choice.winner if is_sure else self.choice.next
        self._next = suspects[0] if suspects else self._choose_untried(surface) if self._in_a_row else likely
        return None

    def _choose_untried(self, surface: TimeSurface) -> int:
        """Return the configuration without a run that may be the fastest, once all seems known."""
        fresh = np.setdiff1d(np.arange(len(self.space.at)), [*self.at, *self.failing])
        if not len(fresh):
            return self.choice.next if self.choice else self._next
        return int(fresh[np.argmin(np.round(surface.mean[fresh] - 3 * surface.sd[fresh], 9))])

    def _confirm(self) -> str | None:
        assert self.choice is not None
        chosen = [self.space.default, self.choice.winner, self.cheapest]
        self.confirmed = [*dict.fromkeys(i for i in chosen if i is not None)]
        if len(self.confirmed) == 1:
            self.over, self.confirmed = True, []
            return None
        draw = random.Random(f"{self._seed} confirm")
        for block in range(N_FRESH):
            self._queue += [(block, i) for i in draw.sample(self.confirmed, len(self.confirmed))]
            self.fresh.append({})
        return f"confirming {self.level_name(self.choice.winner)}"


def begin(study: Study, configurations: Sequence[Configuration]) -> Search[BestState]:
    """Begin a search. Raises StudyError: the default cannot run here, or configurations are too few or many."""
    if not 2 <= len(configurations) <= MOST_CONFIGURATIONS:
        problem, expected = f"{len(configurations)} configurations", f"2 to {MOST_CONFIGURATIONS:,}"
        fix = "use fewer levels" if len(configurations) > 2 else "use more levels"
        raise StudyError.one("factors", problem, expected, fix)
    if not any(study.baseline.items() <= configuration.items() for configuration in configurations):
        default = ", ".join(f"{name} = {level}" for name, level in study.baseline.items())
        raise StudyError.one("baseline", f"no configuration has {default}", "one that can run here")
    space, protocol = read_space(configurations, study.baseline), study.protocol
    costs = [cost(study, configuration) for configuration in configurations]
    state = BestState(space, costs, study.seed, MARGIN if protocol.precision is None else protocol.precision)
    steps = {index: (configuration,) for index, configuration in enumerate(configurations)}
    most = 2 * (state.most + 3 * N_FRESH)
    return Search("configurations", steps, space.first(study.seed), state, most, study.seed)


def cost(study: Study, configuration: Configuration) -> int:
    """Return how many workers or CPUs a configuration takes: the product of the factors that count them."""
    counts = [level for name, level in configuration.items() if is_cost(study, name, level)]
    return prod(int(level) for level in counts)


def is_cost(study: Study, name: str, level: Level) -> bool:
    """Tell whether a factor counts what works at once."""
    counts = name in COUNTED or study.factors[name].control == "cpus"
    return counts and type(level) is int and level > 0
