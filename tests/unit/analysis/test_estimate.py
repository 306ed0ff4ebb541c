"""An estimate carries its interval, its method and its warnings."""

import dataclasses
import json
import math

import pytest

from scalograph.analysis.estimate import Estimate, exp, finite, need_runs, unknown_estimate
from scalograph.analysis.quantiles import t_quantile


def test_a_zero_is_a_value_and_has_an_interval() -> None:
    zero = Estimate(0.0, 0.0, 0.0, 0.95, 3, "test")
    assert zero.contains(0.0)
    assert zero.rescale(2.0).value == 0.0


def test_without_an_interval_nothing_is_covered() -> None:
    assert not Estimate(1.0, None, None, 0.95, 1, "test").contains(1.0)
    assert not Estimate(1.0, 0.0, None, 0.95, 1, "test").contains(1.0)


def test_it_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Estimate(1.0, 0.5, 1.5, 0.95, 3, "test").value = 2.0  # type: ignore[misc]


def test_warnings_are_not_repeated() -> None:
    assert unknown_estimate("test", 0.95, 0, "a").add_warnings("a", "b").warnings == ("a", "b")


@pytest.mark.parametrize("factor", [0.0, -1.0, math.nan])
def test_a_unit_is_above_zero(factor: float) -> None:
    with pytest.raises(ValueError, match="above zero"):
        unknown_estimate("test", 0.95, 0).rescale(factor)


@pytest.mark.parametrize("confidence", [0.0, 1.0, 95.0, math.nan])
def test_confidence_is_a_probability(confidence: float) -> None:
    with pytest.raises(ValueError, match=r"0\.95"):
        t_quantile(confidence, 3)


def test_t_quantiles_of_the_printed_tables() -> None:
    assert [round(t_quantile(0.95, df), 3) for df in (1, 2, 4, 9)] == [12.706, 4.303, 2.776, 2.262]


def test_numbers_that_json_cannot_hold_become_none() -> None:
    assert finite(math.inf) is None
    assert finite(math.nan) is None
    assert exp(1e6) is None
    assert exp(-1e6) == 0.0
    json.dumps(dataclasses.asdict(Estimate(1.0, finite(-math.inf), None, 0.95, 2, "t")), allow_nan=False)


def test_need_and_have_are_stated() -> None:
    assert need_runs(2, 1) == "need >= 2 runs for an interval, have 1"
    assert need_runs(1, (0, 3), "a ratio") == "no run that counts"
