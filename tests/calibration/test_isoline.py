"""The short version of benchmarks/statistics_isoline.py: the line is near, and knowing the axes helps."""

import numpy as np

from scalograph.questions.break_even.model_mean import Axis
from scalograph.questions.break_even.truth import axes, errors, fork_join, search, simulate_search
from scalograph.simulate.noise import HIGH


def pooled(n_pairs: int, blind: bool = False, odd: bool = False, n_cases: int = 3) -> float:
    """The error that nine of ten points stay below."""
    rng = np.random.default_rng(17)
    known = [Axis("other", axis.low, axis.high) for axis in axes(3)] if blind else None
    found = []
    for _ in range(n_cases):
        program = fork_join(rng, odd)
        found.append(errors(program, search(program, 3, n_pairs, rng, HIGH, known), rng))
    return float(np.quantile(np.concatenate(found), 0.9))


def test_sixty_pairs_on_three_axes() -> None:
    assert pooled(60) <= 0.10


def test_few_pairs_without_a_word_about_the_axes_are_worse() -> None:
    assert pooled(30, blind=True) > pooled(30)


def test_what_the_mean_does_not_know_is_taken_by_the_rest() -> None:
    assert pooled(60, odd=True) <= 0.40


def test_a_search_ends_by_itself_and_tells_nothing_wrong() -> None:
    """Over two factors, at high noise: a quarter of the points or so, and none is wrong by more than what is even."""
    rng = np.random.default_rng(23)
    found = [simulate_search(fork_join(rng), 2, rng, HIGH) for _ in range(12)]
    assert sum(one.decided for one in found) >= 10
    assert np.mean([one.n for one in found]) <= 32
    assert np.mean([one.wrong for one in found]) <= 0.01
    assert np.mean([one.held for one in found]) >= 0.85
