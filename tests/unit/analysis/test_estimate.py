"""An estimate carries its interval, its method and its warnings; quantiles are those of scipy, shares are Wilson's."""

import dataclasses
import json
import math

import numpy as np
import pytest
from scipy.special import chdtri, stdtrit
from scipy.stats import binomtest

from scalograph.analysis.estimate import Estimate, exp, finite, need_runs, proportion, unknown_estimate
from scalograph.analysis.quantiles import (
    MOST_DEGREES,
    chi_square_median,
    histogram,
    merge_histograms,
    student_t,
    t_quantile,
)
from tests.kit.refusals import refuses


def test_zero_is_a_value_and_without_an_interval_nothing_is_covered() -> None:
    zero = Estimate(0.0, 0.0, 0.0, 0.95, 3, "test")
    assert zero.contains(0.0) and zero.rescale(2.0).value == 0.0
    assert not Estimate(1.0, None, None, 0.95, 1, "test").contains(1.0)
    assert not Estimate(1.0, 0.0, None, 0.95, 1, "test").contains(1.0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        Estimate(1.0, 0.5, 1.5, 0.95, 3, "test").value = 2.0  # type: ignore[misc]
    assert unknown_estimate("test", 0.95, 0, "a").add_warnings("a", "b").warnings == ("a", "b")


def test_t_quantiles_are_as_printed_and_what_is_needed_is_stated() -> None:
    assert [round(t_quantile(0.95, df), 3) for df in (1, 2, 4, 9)] == [12.706, 4.303, 2.776, 2.262]
    assert finite(math.inf) is None and finite(math.nan) is None and exp(1e6) is None
    assert exp(-1e6) == 0.0
    json.dumps(dataclasses.asdict(Estimate(1.0, finite(-math.inf), None, 0.95, 2, "t")), allow_nan=False)
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


SOME = (1, 2, 3, 4, 5, 9, 10, 19, 38, 49, 98, 499, MOST_DEGREES - 1, MOST_DEGREES)
RNG = np.random.default_rng(4)
VALUES = [float(x) for x in np.exp(RNG.normal(-7, 1, 5000))]


@pytest.mark.parametrize("df", [*SOME, MOST_DEGREES + 1, 2.5, 7.75])
@pytest.mark.parametrize("p", [0.2, 0.5, 0.75, 0.8, 0.95, 0.975, 0.995, 0.9999])
def test_students_t(p: float, df: float) -> None:
    assert student_t(p, df) == pytest.approx(float(stdtrit(df, p)), rel=1e-11, abs=1e-15)


@pytest.mark.parametrize("df", [*SOME, MOST_DEGREES + 1])
def test_the_median_of_chi_square(df: int) -> None:
    assert chi_square_median(df) == pytest.approx(float(chdtri(df, 0.5)), rel=1e-12)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.99])
def test_a_quantile_is_known_within_a_bin(share: float) -> None:
    found = histogram(VALUES)
    assert found is not None and found.n == 5000
    assert found.quantile(share) == pytest.approx(np.quantile(VALUES, share), rel=0.012)


def test_parts_merge_to_the_whole_and_the_largest_is_exact() -> None:
    found = histogram([1.0, 2.0, 1000.123])
    assert found is not None and found.quantile(1) == found.largest == 1000.123
    assert found.quantile(0.999) == pytest.approx(1000, rel=0.01)
    found = histogram([0.0, -1.0, 3.0])
    assert found is not None and found.n == 1
    assert histogram([0.0]) is None and histogram([]) is None and merge_histograms([]) is None
    parts = [part for i in range(5) if (part := histogram(VALUES[i::5]))]
    assert merge_histograms(parts) == histogram(VALUES)
    # What averaging the quantiles of parts gives is something else.
    slow = [part for values in ([1.0] * 99 + [50.0], [1.0] * 100) if (part := histogram(values))]
    whole = merge_histograms(slow)
    assert whole is not None and whole.quantile(0.99) == pytest.approx(1, rel=0.01)
    assert whole.quantile(0.999) == pytest.approx(50, rel=0.01)
