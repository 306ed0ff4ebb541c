"""The sequential test itself: right as often as it says, with few cases."""

from collections.abc import Iterator
from itertools import repeat

import numpy as np
import pytest

from tests.calibration.sequential import is_share


def drawn(rng: np.random.Generator, share: float, counted: list[int]) -> Iterator[bool]:
    for n in range(1, 1000):
        counted[0] = n
        yield bool(rng.random() < share)


@pytest.mark.parametrize(("true", "said"), [(0.95, True), (0.7, False)])
def test_it_is_wrong_in_at_most_one_of_twenty(true: float, said: bool) -> None:
    rng, counts, right, n = np.random.default_rng(51), list[int](), 0, 400
    for _ in range(n):
        counted = [0]
        right += is_share(drawn(rng, true, counted), 0.95, rather_than=0.7) == said
        counts.append(counted[0])
    assert right / n >= 0.95 - 2 * (0.05 * 0.95 / n) ** 0.5 and np.mean(counts) < 16


def test_a_share_that_should_be_small_is_decided_too_and_too_few_cases_decide_nothing() -> None:
    assert is_share(repeat(False), 0.05, rather_than=0.3)
    assert not is_share(repeat(True), 0.05, rather_than=0.3)
    with pytest.raises(ValueError, match="draw more cases"):
        is_share(repeat(True, 9), 0.95, rather_than=0.7)
