"""The short version of benchmarks/statistics_compare.py: two results of a sweep, alike, slower, or disturbed."""

from collections.abc import Callable, Iterator

import numpy as np
import pytest
from simulate.noise import LOW
from simulate.two_studies import Place

from tests.calibration.sequential import is_share
from tests.kit.scripts import Benchmarks

Answers = Callable[..., Iterator[str]]


@pytest.fixture
def answers(b: Benchmarks) -> Answers:
    """What is said of one pair of studies after the other."""

    def told(
        effect: float, place: Place = "level", disturbed: float = 0.0, margin: float | None = None
    ) -> Iterator[str]:
        rng, compare = np.random.default_rng([29, int(1000 * effect)]), b.statistics_compare
        while True:
            yield compare.said(*compare.pair(rng, effect, place, LOW, 10, disturbed), margin).answer

    return told


@pytest.mark.parametrize("disturbed", [0.0, 0.33])
def test_what_did_not_change_is_seldom_called_slower(answers: Answers, disturbed: float) -> None:
    assert is_share((word == "slower" for word in answers(0.0, disturbed=disturbed)), 0.05, 0.20) is True


def test_five_percent_are_found(answers: Answers) -> None:
    assert is_share((word == "slower" for word in answers(0.05)), 0.95, 0.80) is True
    assert is_share((word == "slower" for word in answers(0.05, "sigma")), 0.90, 0.65) is True
    assert is_share((word == "slower" for word in answers(0.05, "kappa")), 0.80, 0.50) is True


def test_a_study_disturbed_in_more_than_half_of_its_runs_says_nothing(answers: Answers) -> None:
    told = answers(0.10, disturbed=0.75)
    assert {next(told) for _ in range(20)} == {"inconclusive"}
