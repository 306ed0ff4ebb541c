"""The state of a search for the highest level within a limit, and which level comes next."""

from collections.abc import Sequence

from scalograph.analysis.crossing import SURE, Crossing, Posterior, posterior
from scalograph.design.search_steps import (
    Configuration,
    ExcludingState,
    Search,
    count_above,
    count_levels,
    searched_factor,
    unreached_levels,
)
from scalograph.study.model import Study
from scalograph.study.responses import primary_response

# Where the first runs are, as shares of the range by its log; and where the next ones, of the crossing's probability.
FIRST, NEXT = (0.5, 0.8, 0.2), (0.5, 0.3, 0.7)
MOST = 15
# A level so many times the crossing is measured at last: what is saturated shows beyond the limit.
BEYOND = 2.0


class LimitState(ExcludingState):
    """State of a search for a limit: pure in levels and observations, in their order.

    Attributes:
        over: the scores, over the limit.
        crossing: their posterior; None before the first levels are measured.
    """

    def __init__(self, levels: Sequence[int], limit: float) -> None:
        super().__init__()
        self._levels, self._limit = sorted(levels), limit
        self._first = first_levels(self._levels)
        self.at: list[int] = []
        self.over: list[float] = []
        self.crossing: Crossing | None = None
        self._posterior: Posterior | None = None

    @property
    def next_level(self) -> int | None:
        for level in self._first:
            if level in self._levels and level not in self.at:
                return level
        if self._posterior is None or self.crossing is None or not self._levels:
            return None
        if self.crossing.is_known:
            return self._level_beyond(self.crossing)
        wanted = self._posterior.quantile(NEXT[len(self.at) % len(NEXT)])
        return min(self._levels, key=lambda level: (abs(level - wanted), level))

    def _level_beyond(self, crossing: Crossing) -> int | None:
        """Return the level at which the service is overloaded; None once it was measured, or where levels fail."""
        if max(crossing.always, crossing.never) >= SURE or self.failing:
            return None
        level = next((level for level in self._levels if level >= BEYOND * crossing.level), self._levels[-1])
        return None if max(self.at) >= level else level

    @property
    def n_left(self) -> int:
        return max(1, 10 - len(self.at))

    @property
    def summary(self) -> str:
        return f"between {self.crossing.low:.0f} and {self.crossing.high:.0f}" if self.crossing else ""

    def observe(self, level: int, score: float) -> str | None:
        self.at.append(level)
        self.over.append(score / self._limit)
        self._update()
        return None

    def _exclude(self, level: int) -> str:
        out = unreached_levels(self._levels, level, self.at)
        self._levels = [n for n in self._levels if n not in out]
        self._update()
        return count_above(len(out))

    def _update(self) -> None:
        if len(self._levels) > 1 and self.at:
            self._posterior = posterior(self.at, self.over, (self._levels[0], self._levels[-1]))
            self.crossing = self._posterior.crossing(self._levels)


def first_levels(levels: Sequence[int]) -> list[int]:
    """Choose three levels, spread by ratios.

    >>> first_levels([1, 10, 100, 1000, 10000])
    [100, 1000, 10]
    """
    ends = levels[0], levels[-1]
    wanted = [ends[0] * (ends[1] / ends[0]) ** share for share in FIRST]
    return list(dict.fromkeys(min(levels, key=lambda n, at=at: (abs(n - at), n)) for at in wanted))  # type: ignore[misc]


def begin(study: Study, configurations: Sequence[Configuration]) -> Search[LimitState]:
    factor = searched_factor(study, configurations)
    levels, limit = count_levels(configurations, factor), study.responses[primary_response(study)].limit
    assert limit is not None
    state = LimitState([*levels], limit)
    steps = {level: (configuration,) for level, configuration in levels.items()}
    return Search(what=factor, steps=steps, first=first_levels(sorted(levels)), state=state, most=MOST)
