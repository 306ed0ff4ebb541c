"""The short version of benchmarks/statistics_isoline.py, and searches for a limit: a place is near the truth."""

from collections.abc import Iterator

import numpy as np
import pytest
from simulate.break_even import axes, errors, fork_join, search, simulate_search
from simulate.noise import HIGH, Noise
from simulate.within_limit import queue
from simulate.within_limit import search as search_limit

from scalograph.analysis.crossing import Crossing
from scalograph.questions.break_even.model_mean import Axis
from scalograph.questions.within_limit.search_state import MOST
from tests.calibration.sequential import is_share


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


NOISES = {"quiet": Noise(0.0, 0.01), "low": Noise(0.0, 0.03)}


def searched(noise: Noise) -> Iterator[tuple[Crossing, float]]:
    rng, levels = np.random.default_rng(61), range(10, 1001)
    while True:
        over, place = queue(rng, levels[-1])
        found, n = search_limit(over, levels, rng, noise)
        assert found is not None and n <= MOST
        yield found, place


@pytest.mark.parametrize("noise", NOISES)
def test_the_level_is_within_5_percent(noise: str) -> None:
    found = (abs(np.log(one.level / place)) <= 0.05 for one, place in searched(NOISES[noise]))
    assert is_share(found, 0.95, rather_than=0.7)


@pytest.mark.parametrize("noise", NOISES)
def test_its_interval_holds_it(noise: str) -> None:
    held = (one.low <= place <= one.high for one, place in searched(NOISES[noise]))
    assert is_share(held, 0.95, rather_than=0.7)
