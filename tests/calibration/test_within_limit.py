"""Up to which load is a limit met? In fifteen runs, on queues that are known."""

from collections.abc import Iterator

import numpy as np
import pytest

from scalograph.questions.within_limit.model import Crossing
from scalograph.questions.within_limit.search_state import MOST
from scalograph.questions.within_limit.truth import queue, search
from scalograph.simulate.noise import Noise
from tests.calibration.sequential import is_share

NOISES = {"quiet": Noise(0.0, 0.01), "low": Noise(0.0, 0.03)}


def searched(noise: Noise) -> Iterator[tuple[Crossing, float]]:
    rng, levels = np.random.default_rng(61), range(10, 1001)
    while True:
        over, place = queue(rng, levels[-1])
        found, n = search(over, levels, rng, noise)
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
