"""The state of a search for cliffs: its scores, what they say, and which level is next."""

import random
from collections.abc import Sequence
from math import exp, log

from scalograph.design.search_steps import (
    Configuration,
    ExcludingState,
    Search,
    count_above,
    count_levels,
    searched_factor,
    unreached_levels,
)
from scalograph.questions.cliff.model import LEAST_RUNS, LIKELY, SURE, Cliff, alternation, cliff, has_place
from scalograph.questions.cliff.model_wander import contradiction
from scalograph.study.model import Study

# Levels that are measured before anything is computed, evenly spread over the log of the range.
N_START = 12
# Cliffs that are searched, one after the other; a further one for so many runs, and while it is that probable.
MOST_CLIFFS, MOST_FURTHER, FURTHER = 3, 12, 0.1
# So far beside the place of the first cliff, levels are measured that often: a place that moves shows there. Where one
# of them has runs on both sides of the jump, more often.
BESIDE, CONFIRMED, CONFIRMED_MIXED = 0.92, 2, 5
# Runs at most, and levels at least: fewer are compared by a sweep.
MOST, LEAST_LEVELS = 60, 5


class CliffState(ExcludingState):
    """State of a search for cliffs: pure in levels, seed and observations, in their order.

    Attributes:
        sure: the cliffs whose place is known, in the order in which they were found.
        open: posterior of a further one; None before the first levels are measured, and after the last cliff.
        jump: time above over time below of the first one, when it was last sure.
        wandering: levels between which its place moves from run to run; None where it stays.
        alternates: time at odd levels over that at even ones, where that explains the runs; else None.
    """

    def __init__(self, levels: Sequence[int], seed: int) -> None:
        super().__init__()
        self._levels = sorted(levels)
        self._first = first_levels(self._levels, seed)
        self.n: list[int] = []
        self.times: list[float] = []
        self.sure: list[Cliff] = []
        self.open: Cliff | None = None
        self.wandering: tuple[int, int] | None = None
        self.alternates: float | None = None
        self._last_at = 0
        self._beside: tuple[int, ...] = ()
        self.jump: float | None = None

    @property
    def is_decided(self) -> bool:
        """Tell whether a cliff is found or excluded, and a further one is worth no more runs."""
        if self.wandering or self.alternates:
            return True
        if self._next_confirmation() is not None:
            return False
        if self.open is None or not self.sure:
            return bool(self.sure) if self.open is None else self.open.is_none
        return self.open.probability <= FURTHER or len(self.n) - self._last_at >= MOST_FURTHER

    @property
    def next_level(self) -> int | None:
        for level in self._first:
            if level in self._levels and level not in self.n:
                return level
        if self.wandering or self.alternates:
            return None
        if (beside := self._next_confirmation()) is not None:
            return beside
        if self.open is None:
            return None
        return self._next_repeat(self.open) or (None if self.is_decided else self.open.next_level)

    @property
    def n_left(self) -> int:
        return max(1, N_START + 5 - len(self.n))

    @property
    def summary(self) -> str:
        candidate = self.open
        if candidate is None:
            return ""
        prefix = f"{len(self.sure)} found; another" if self.sure else "a cliff"
        low, high = candidate.interval
        return f"{prefix}: {100 * candidate.probability:.0f}%, between {low:.0f} and {high:.0f}"

    def observe(self, level: int, time: float) -> str | None:
        self.n.append(level)
        self.times.append(time)
        self._update()
        return None

    def _exclude(self, level: int) -> str:
        out = unreached_levels(self._levels, level, self.n or [level])
        kept = [(n, time) for n, time in zip(self.n, self.times, strict=True) if n != level]
        self.n, self.times = [n for n, _ in kept], [time for _, time in kept]
        self._levels = [n for n in self._levels if n not in out]
        self._update()
        return count_above(len(out))

    def _update(self) -> None:
        before, self.sure, self.open, self.wandering, self.alternates = len(self.sure), [], None, None, None
        first = set(self._first) & set(self._levels)
        if len(self._levels) < 2 or len(self.n) < 2 or not first <= set(self.n):
            return
        while len(self.sure) < MOST_CLIFFS and has_place(self._levels, steps := [each.step for each in self.sure]):
            self.open = cliff(self.n, self.times, self._levels, previous=steps)
            if not self.sure and (ratio := alternation(self.n, self.times, self.open.step.place)):
                self.alternates = ratio
                return
            if self._update_wandering(self.sure[0] if self.sure else self.open):
                return
            if not self.open.is_there or len(self.n) < LEAST_RUNS or self._next_repeat(self.open):
                return
            self.sure.append(self.open)
            self._beside = self._beside or self._flanking_levels(self.open)
            if len(self.sure) > before:
                self._last_at = len(self.n)
        self.open = None

    def _update_wandering(self, candidate: Cliff) -> bool:
        """Tell whether the place moves from run to run: such runs make any single place improbable."""
        if candidate.probability >= SURE:
            self.jump = candidate.factor[1]
        against = contradiction(self.n, self.times, self.jump) if self.jump else None
        self.wandering = (against.low, against.high) if against and against.is_sure else None
        return self.wandering is not None

    def _flanking_levels(self, candidate: Cliff) -> tuple[int, ...]:
        low, high = candidate.interval
        below = [n for n in self._levels if n < low and n >= candidate.location * BESIDE**3]
        above = [n for n in self._levels if n > high and n <= candidate.location / BESIDE**3]
        wanted = ((below, candidate.location * BESIDE), (above, candidate.location / BESIDE))
        return tuple(_nearest(levels, at) for levels, at in wanted if levels)

    def _next_confirmation(self) -> int | None:
        if not self.sure:
            return None
        often = CONFIRMED_MIXED if contradiction(self.n, self.times, self.sure[0].factor[1]) else CONFIRMED
        beside = [n for n in self._beside if n in self._levels and self.n.count(n) < often]
        return min(beside, key=lambda n: (self.n.count(n), n), default=None)

    def _next_repeat(self, candidate: Cliff) -> int | None:
        """Return a level whose only run must not decide: probably slowed, or beside a known place."""
        alone = [n for n in self.n if self.n.count(n) == 1]
        for n, slowed in zip(self.n, candidate.slowed, strict=True):
            if slowed >= LIKELY and n in alone:
                return n
        if not candidate.is_there:
            return None
        above = min((n for n in self.n if n > candidate.location), default=None)
        below = max((n for n in self.n if n <= candidate.location), default=None)
        return next((n for n in (above, below) if n in alone), None)


def begin(study: Study, configurations: Sequence[Configuration]) -> Search[CliffState]:
    factor = searched_factor(study, configurations)
    levels = count_levels(configurations, factor, LEAST_LEVELS)
    steps = {level: (configuration,) for level, configuration in levels.items()}
    state, first = CliffState([*levels], study.seed), first_levels([*levels], study.seed)
    return Search(what=factor, steps=steps, first=first, state=state, most=MOST)


def first_levels(levels: Sequence[int], seed: int) -> list[int]:
    """Choose at most twelve levels, in a drawn order: both ends, and one from each tenth of the log range.

    >>> sorted(first_levels([4, 1, 2], 0)), len(first_levels(range(1, 513), 0))
    ([1, 2, 4], 12)
    """
    ordered, draw = sorted(levels), random.Random(seed)
    chosen = ordered
    if len(ordered) > N_START:
        part = log(ordered[-1] / ordered[0]) / (N_START - 2)
        drawn = [ordered[0] * exp(part * (i + draw.random())) for i in range(N_START - 2)]
        chosen = sorted({ordered[0], ordered[-1], *(_nearest(ordered, at) for at in drawn)})
        chosen += [n for n in ordered if n not in chosen][: N_START - len(chosen)]  # low parts share their levels
    draw.shuffle(chosen)
    return chosen


def _nearest(levels: Sequence[int], at: float) -> int:
    return min(levels, key=lambda level: (abs(level - at), level))
