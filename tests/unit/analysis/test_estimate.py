"""An estimate carries its interval, its method and its warnings; that of a share is Wilson's."""

import dataclasses
import json
import math

import pytest
from scipy.stats import binomtest

from scalograph.analysis.estimate import Estimate, exp, finite, need_runs, proportion, unknown_estimate
from scalograph.analysis.quantiles import t_quantile
from tests.kit.refusals import refuses


def test_zero_is_a_value_and_without_an_interval_nothing_is_covered() -> None:
    zero = Estimate(0.0, 0.0, 0.0, 0.95, 3, "test")
    assert zero.contains(0.0) and zero.rescale(2.0).value == 0.0
    assert not Estimate(1.0, None, None, 0.95, 1, "test").contains(1.0)
    assert not Estimate(1.0, 0.0, None, 0.95, 1, "test").contains(1.0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        Estimate(1.0, 0.5, 1.5, 0.95, 3, "test").value = 2.0  # type: ignore[misc]
    assert unknown_estimate("test", 0.95, 0, "a").add_warnings("a", "b").warnings == ("a", "b")


def test_t_quantiles_are_as_printed_and_what_json_cannot_hold_is_none() -> None:
    assert [round(t_quantile(0.95, df), 3) for df in (1, 2, 4, 9)] == [12.706, 4.303, 2.776, 2.262]
    assert finite(math.inf) is None and finite(math.nan) is None and exp(1e6) is None
    assert exp(-1e6) == 0.0
    json.dumps(dataclasses.asdict(Estimate(1.0, finite(-math.inf), None, 0.95, 2, "t")), allow_nan=False)


def test_need_and_have_are_stated() -> None:
    assert need_runs(2, 1) == "need >= 2 runs for an interval, have 1"
    assert need_runs(1, (0, 3), "a ratio") == "no run that counts"


@pytest.mark.parametrize("factor", [0.0, -1.0, math.nan])
def test_a_unit_is_above_zero(factor: float) -> None:
    refuses(ValueError, "above zero", unknown_estimate("test", 0.95, 0).rescale, factor)


@pytest.mark.parametrize("confidence", [0.0, 1.0, 95.0, math.nan])
def test_confidence_is_a_probability(confidence: float) -> None:
    refuses(ValueError, r"0\.95", t_quantile, confidence, 3)


@pytest.mark.parametrize(("n_having", "n"), [(0, 12), (5, 10), (12, 12), (3, 4000)])
@pytest.mark.parametrize("confidence", [0.95, 0.99])
def test_the_interval_is_that_of_wilson(n_having: int, n: int, confidence: float) -> None:
    estimate = proportion(n_having, n_having, n, confidence)
    known = binomtest(n_having, n).proportion_ci(confidence, method="wilson")
    assert estimate.value == n_having / n and estimate.n == n and estimate.confidence == confidence
    assert (estimate.low, estimate.high) == (pytest.approx(known.low, abs=1e-12), pytest.approx(known.high, abs=1e-12))


def test_what_was_not_looked_at_widens_it_upward_and_nothing_gives_no_value() -> None:
    known, open_ = proportion(5, 5, 100, 0.95), proportion(5, 60, 100, 0.95)
    assert (open_.value, open_.low) == (known.value, known.low) and open_.high == proportion(60, 60, 100, 0.95).high
    estimate = proportion(0, 0, 0, 0.95)
    assert estimate.value is None and estimate.warnings == ("no observation",)
    assert (proportion(0, 0, 9, 0.95).low, proportion(9, 9, 9, 0.95).high) == (0.0, 1.0)
