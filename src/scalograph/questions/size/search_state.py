"""The state of a search for the least that a program needs: amounts in turn, each beside the most of the other.

Then fresh runs with somewhat more of all amounts together: a program that has little of both may need more of each.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import Any

from scalograph.analysis.crossing import SURE
from scalograph.design.search_steps import Configuration, Search, configuration_key
from scalograph.questions.size.model import MOST, AmountSearch
from scalograph.study.check_processes import LIMITS
from scalograph.study.model import Study
from scalograph.study.responses import primary_response

# Steps are numbered: so many for each amount.
ROOM = 4096
# What is confirmed is so many times the least, by so many runs in a row; if one fails, once or twice more.
HEADROOM, N_CONFIRM, MOST_TRIES = 1.2, 3, 3


@dataclass
class Confirmation:
    """Fresh runs with these levels: `over`, the response over the limit, None if one failed."""

    levels: Mapping[str, float]
    over: list[float | None] = field(default_factory=list)

    @property
    def keeps(self) -> bool:
        """Tell whether all runs so far keep the limit."""
        return all(over is not None and over <= 1 for over in self.over)

    @property
    def is_over(self) -> bool:
        return len(self.over) >= N_CONFIRM or not self.keeps


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
        self.tries: list[Confirmation] = []
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
    def _has_need(self) -> bool:
        """Tell whether some amount has a least: where every level is enough, nothing is to be confirmed."""
        return any(each.crossing is not None and each.crossing.always < SURE for each in self.searches)

    def _confirm_next(self) -> None:
        """Begin to confirm what is enough, with more than before; nothing where there is no more."""
        grown = HEADROOM ** (len(self.tries) + 1)
        levels = {search.factor: search.enough(grown) for search in self.searches}
        if len(self.tries) == MOST_TRIES or (self.tries and levels == self.tries[-1].levels):
            return
        self.tries.append(Confirmation(levels))
        configuration = {**self._base, **levels}
        number = ROOM * (len(self._amounts) + len(self.tries))
        self.steps[number] = (self._planned.get(configuration_key(configuration), configuration),)

    @property
    def confirmation(self) -> Confirmation | None:
        """Return the fresh runs that keep the limit; None without any."""
        last = self.tries[-1] if self.tries else None
        return last if last is not None and last.is_over and last.keeps else None

    @property
    def next_level(self) -> int | None:
        if self.tries:
            return None if self.tries[-1].is_over else ROOM * (len(self._amounts) + len(self.tries))
        search = self.searches[-1]
        level = search.next_level
        return None if level is None else ROOM * (len(self.searches) - 1) + search.levels.index(level)

    @property
    def n_left(self) -> int:
        if self.tries:
            return max(1, N_CONFIRM - len(self.tries[-1].over))
        later = len(self._amounts) - len(self.searches)
        return max(1, self.searches[-1].n_left + 10 * later + N_CONFIRM)

    @property
    def summary(self) -> str:
        if self.tries:
            return "confirming " + ", ".join(f"{name} {level:g}" for name, level in self.tries[-1].levels.items())
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
        if number >= ROOM * len(self._amounts):
            self.tries[-1].over.append(over)
            if not self.tries[-1].keeps:
                self._confirm_next()
            return
        search = self.searches[number // ROOM]
        search.observe(search.levels[number % ROOM], over)
        if search is not self.searches[-1] or search.next_level is not None:
            return
        if search.crossing is None or search.crossing.never >= 0.5:
            return
        if len(self.searches) < len(self._amounts):
            self._begin_next()
        elif self._has_need:
            self._confirm_next()


def begin(study: Study, configurations: Sequence[Configuration]) -> Search[SizeState]:
    """Begin the search along each amount of several levels, in the order of `LIMITS`; other factors have one level."""
    limit = study.responses[primary_response(study)].limit
    assert limit is not None
    levels: dict[str, list[Any]] = {name: list(factor.levels) for name, factor in study.factors.items()}
    amounts = {name: levels[name] for name in LIMITS if len(levels.get(name, ())) > 1}
    base = {name: each[0] for name, each in levels.items() if name not in amounts}
    state = SizeState(amounts, limit, base, configurations)
    most = ceil(1.4 * (MOST * len(amounts) + N_CONFIRM * MOST_TRIES))
    first = [state.searches[0].levels.index(level) for level in state.searches[0].first]
    return Search(what="amount", steps=state.steps, first=first, state=state, most=most)
