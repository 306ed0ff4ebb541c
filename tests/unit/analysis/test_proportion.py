"""A share with its interval: Wilson's, as scipy has it; wider where not every observation was looked at."""

import pytest
from scipy.stats import binomtest

from scalograph.analysis.estimate import proportion


@pytest.mark.parametrize(("n_having", "n"), [(0, 12), (5, 10), (12, 12), (3, 4000)])
@pytest.mark.parametrize("confidence", [0.95, 0.99])
def test_the_interval_is_that_of_wilson(n_having: int, n: int, confidence: float) -> None:
    estimate = proportion(n_having, n_having, n, confidence)
    known = binomtest(n_having, n).proportion_ci(confidence, method="wilson")
    assert estimate.value == n_having / n and estimate.n == n and estimate.confidence == confidence
    assert (estimate.low, estimate.high) == (pytest.approx(known.low, abs=1e-12), pytest.approx(known.high, abs=1e-12))


def test_what_was_not_looked_at_widens_it_upward() -> None:
    known, open_ = proportion(5, 5, 100, 0.95), proportion(5, 60, 100, 0.95)
    assert (open_.value, open_.low) == (known.value, known.low)
    assert open_.high == proportion(60, 60, 100, 0.95).high


def test_no_observation_gives_no_value() -> None:
    estimate = proportion(0, 0, 0, 0.95)
    assert estimate.value is None and estimate.warnings == ("no observation",)


def test_none_of_many_begins_at_nothing() -> None:
    assert (proportion(0, 0, 9, 0.95).low, proportion(9, 9, 9, 0.95).high) == (0.0, 1.0)
