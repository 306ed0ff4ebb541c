"""The state of a search for effective CPUs: its scores, what they say, and which level is next."""

import random
from collections.abc import Sequence

from scalograph.design.search_steps import Configuration, ExcludingState, Search, count_levels, searched_factor
from scalograph.questions.effective_cpus.model import LEAST_RUNS, Effective, effective_cpus
from scalograph.questions.effective_cpus.model_programs import most_runs
from scalograph.questions.effective_cpus.model_search import Bisection, search
from scalograph.study.model import Study
from scalograph.text.quantities import probability

# Levels that are measured before anything is computed: the ends and between them, so that no program hides in a gap.
N_START = 5
# Scores after which the model has had its chance.
MOST_MODEL = 24
# Runs at most: 24 for the model, as many again for the search without one.
MOST = 48


class EffectiveCpusState(ExcludingState):
    """State of a search for effective CPUs: pure in levels, seed and observations, in their order.

    Attributes:
        k: level of each score.
        times: the scores: time for the same work.
        result: their posterior, or the bisection; None before the start levels are measured.
    """

    def __init__(self, levels: Sequence[int], seed: int, rounds: bool) -> None:
        super().__init__()
        self._levels, self._rounds = sorted(levels), rounds
        self._start = first_levels(self._levels, seed)
        # Up to hundreds of CPUs there are more programs than can be weighed after each run.
        self._without_model = bool(self._levels) and most_runs(self._levels[-1], rounds) < MOST_MODEL
        self.k: list[int] = []
        self.times: list[float] = []
        self.result: Effective | Bisection | None = None

    @property
    def next_level(self) -> int | None:
        for level in self._start:
            if level in self._levels and level not in self.k:
                return level
        if self.result is None or self.result.sure:
            return None
        return self.result.next_level

    @property
    def n_left(self) -> int:
        return max(1, LEAST_RUNS - len(self.k))

    @property
    def summary(self) -> str:
        if isinstance(self.result, Effective):
            return f"most probably {self.result.k_eff} ({100 * self.result.probability:.0f}%)"
        return f"held against {self.result.best}" if self.result else ""

    def observe(self, level: int, time: float) -> str | None:
        self.k.append(level)
        self.times.append(time / level if self._rounds else time)
        return self._update()

    def _exclude(self, level: int) -> str | None:
        kept = [(k, time) for k, time in zip(self.k, self.times, strict=True) if k != level]
        self.k, self.times = [k for k, _ in kept], [time for _, time in kept]
        self._levels.remove(level)
        note = self._update()
        return note and f"; {note}"

    def _update(self) -> str | None:
        self.result = None
        if len(self._levels) < 2 or not self.k or not set(self._start) & set(self._levels) <= set(self.k):
            return None
        if self._without_model:
            self.result = search(self.k, self.times, self._levels)
            return None
        seen = effective_cpus(self.k, self.times, self._levels, rounds=self._rounds)
        self._without_model = seen.misfit or (not seen.sure and seen.n >= MOST_MODEL)
        self.result = search(self.k, self.times, self._levels) if self._without_model else seen
        if not self._without_model:
            return None
        if seen.misfit:
            return "no program with a cap and a serial share takes such times: searched without a model"
        likely = sorted(seen.probabilities.items(), key=lambda item: (-item[1], item[0]))[:3]
        shares = ", ".join(f"{level} ({probability(share)})" for level, share in likely)
        return f"not decided after {seen.n} runs: {shares}; searched on without a model"


def rounds(study: Study, factor: str) -> bool:
    """Tell whether levels count equal pieces of work, such as threads that each do the same."""
    return study.work == "per-worker" and study.factors[factor].control is None


def begin(study: Study, configurations: Sequence[Configuration]) -> Search[EffectiveCpusState]:
    factor = searched_factor(study, configurations)
    levels = count_levels(configurations, factor)
    steps = {level: (configuration,) for level, configuration in levels.items()}
    state = EffectiveCpusState([*levels], study.seed, rounds(study, factor))
    return Search(what=factor, steps=steps, first=first_levels([*levels], study.seed), state=state, most=MOST)


def first_levels(levels: Sequence[int], seed: int) -> list[int]:
    """Choose at most five levels, evenly spread with both ends, in a drawn order.

    >>> sorted(first_levels(range(1, 13), 0)), sorted(first_levels([4, 1, 2], 0))
    ([1, 4, 7, 9, 12], [1, 2, 4])
    """
    ordered, n = sorted(levels), min(N_START, len(levels))
    chosen = sorted({ordered[round(i * (len(ordered) - 1) / (n - 1))] for i in range(n)})
    random.Random(seed).shuffle(chosen)
    return chosen
