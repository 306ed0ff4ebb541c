"""The state of a search for the least that a program needs: amounts in turn, each beside the most of the other."""

from collections.abc import Mapping, Sequence
from math import ceil
from typing import Any

from scalograph.design.search_steps import Configuration, Search, configuration_key
from scalograph.questions.size.model import MOST, AmountSearch
from scalograph.study.check_processes import LIMITS
from scalograph.study.model import Study
from scalograph.study.responses import primary_response

# Steps are numbered: so many for each amount.
ROOM = 4096


class SizeState:
    """State of the searches along all amounts: pure in levels and observations, in their order.

    `steps` are those of the search; the ones of a further amount are added when those before have ended.
    """

    def __init__(
        self, amounts: Mapping[str, Sequence[float]], limit: float, base: Configuration,
        planned: Sequence[Configuration] = (),
    ) -> None:  # fmt: skip
        self._planned = {configuration_key(configuration): configuration for configuration in planned}
        self._amounts = {name: sorted(levels) for name, levels in amounts.items()}
        self._limit, self._base = limit, dict(base)
        self.steps: dict[int, Sequence[Configuration]] = {}
        self.searches: list[AmountSearch] = []
        self._begin_next()

    def _begin_next(self) -> None:
        number = len(self.searches)
        factor, levels = [*self._amounts.items()][number]
        # Beside the least of another amount every run would be near its limit, whatever this one is.
        beside = {name: others[-1] for name, others in self._amounts.items() if name != factor}
        self.searches.append(AmountSearch(factor, levels, beside))
        for i, level in enumerate(levels):
            configuration = {**self._base, **beside, factor: level}
            self.steps[ROOM * number + i] = (self._planned.get(configuration_key(configuration), configuration),)

    @property
    def next_level(self) -> int | None:
        search = self.searches[-1]
        level = search.next_level
        return None if level is None else ROOM * (len(self.searches) - 1) + search.levels.index(level)

    @property
    def n_left(self) -> int:
        later = len(self._amounts) - len(self.searches)
        return max(1, self.searches[-1].n_left + 10 * later)

    @property
    def summary(self) -> str:
        search = self.searches[-1]
        if search.crossing is None:
            return ""
        return f"{search.factor} between {1 / search.crossing.high:.3g} and {1 / search.crossing.low:.3g}"

    def observe(self, level: int, score: float) -> str | None:
        self._observe(level, score / self._limit)
        return None

    def observe_failure(self, level: int) -> str | None:
        """Take a run that failed: at that level the limit is not kept."""
        self._observe(level, None)
        return None

    def _observe(self, number: int, over: float | None) -> None:
        search = self.searches[number // ROOM]
        search.observe(search.levels[number % ROOM], over)
        is_done = search is self.searches[-1] and search.next_level is None
        never = search.crossing is not None and search.crossing.never >= 0.5
        if is_done and not never and len(self.searches) < len(self._amounts):
            self._begin_next()


def begin(study: Study, configurations: Sequence[Configuration]) -> Search[SizeState]:
    """Begin the search along each amount of several levels, in the order of `LIMITS`; other factors have one level."""
    limit = study.responses[primary_response(study)].limit
    assert limit is not None
    levels: dict[str, list[Any]] = {name: list(factor.levels) for name, factor in study.factors.items()}
    amounts = {name: levels[name] for name in LIMITS if len(levels.get(name, ())) > 1}
    base = {name: each[0] for name, each in levels.items() if name not in amounts}
    state = SizeState(amounts, limit, base, configurations)
    most = ceil(1.4 * MOST * len(amounts))
    first = [state.searches[0].levels.index(level) for level in state.searches[0].first]
    return Search(what="amount", steps=state.steps, first=first, state=state, most=most)
