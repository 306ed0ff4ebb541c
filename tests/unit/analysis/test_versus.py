"""What is said of two versions, on noise of which the truth is known; benchmarks/statistics_ab.py is the long form."""

import numpy as np
import pytest
from simulate.two_studies import KINDS, Kind, blocks, session

from scalograph.analysis.comparisons import compare
from scalograph.analysis.modes import common_step, find_modes, rounding
from scalograph.analysis.versus import classify_ratio, versus

CASES = 120


def told(kind: Kind, n: int, effect: float) -> list[str]:
    rng = np.random.default_rng([11, n, KINDS.index(kind)])
    return [classify_ratio(versus(*blocks(rng, kind, n, effect))) for _ in range(CASES)]


@pytest.mark.parametrize("n", [5, 10])
@pytest.mark.parametrize("kind", KINDS)
def test_no_version_is_better_than_itself_and_none_of_4_percent_the_same(kind: Kind, n: int) -> None:
    alike, faster = told(kind, n, 0.0), told(kind, n, 0.04)
    assert alike.count("less") + alike.count("more") <= 18  # 5% are 6: a true share of 5% fails once in 10,000
    assert faster.count("equivalent") + faster.count("more") <= 12


@pytest.mark.parametrize("kind", ["normal", "autocorrelated", "step", "drift"])
def test_four_percent_are_told_and_equals_are_called_so(kind: Kind) -> None:
    assert told(kind, 10, 0.04).count("less") > 0.8 * CASES
    assert told(kind, 20, 0.0).count("equivalent") > 0.7 * CASES


def test_one_slow_run_in_twenty_hides_no_effect_and_the_kept_example_is_told() -> None:
    assert told("outliers", 10, 0.04).count("less") > 0.6 * CASES
    rng = np.random.default_rng(1)
    found = versus(96.05 * np.exp(rng.normal(0, 0.003, 10)), 100.11 * np.exp(rng.normal(0, 0.003, 10)))
    assert classify_ratio(found) == "less" and found.value == pytest.approx(0.959, abs=0.004)


def test_a_coarse_clock_hides_differences_below_its_step_only() -> None:
    assert told("ticks", 10, 0.02).count("inconclusive") == CASES
    constant = versus([120.0] * 8, [120.0] * 8)
    assert (constant.low, classify_ratio(constant)) == (None, "inconclusive")
    assert classify_ratio(versus([120.0] * 8, [130.0] * 8)) == "inconclusive"  # one step apart
    assert classify_ratio(versus([120.0] * 8, [200.0] * 8)) == "less"
    scores = 10 * np.round(np.random.default_rng(2).normal(12, 2, 50))
    assert common_step(scores) == 10.0 and rounding(scores, 10.0) == 0 and rounding([120, 120, 130], 10.0) == 0.0
    assert rounding([120] * 9 + [130], 10.0) == pytest.approx(5 / 121)


def test_few_runs_against_two_modes_say_nothing_and_modes_have_places() -> None:
    one, two = [100, 77, 100, 101, 77.0], [77.1, 101, 100.2, 100, 76.8]
    found = versus(one, two)
    assert found.low is None and "two modes" in found.warnings[-1]
    # Of five runs all are of one mode in one of six cases, and their spread says nothing of the other.
    rng = np.random.default_rng(4)
    pairs = [(session(rng, "modes", 5), session(rng, "modes", 50)) for _ in range(CASES)]
    assert sum(compare(few, many).label in ("faster", "slower") for few, many in pairs) <= 12
    rng = np.random.default_rng(3)
    times = np.where(rng.random(100) < 0.3, 77, 100) * np.exp(rng.normal(0, 0.01, 100))
    found = find_modes(times)
    assert found is not None and found.low == pytest.approx(77, rel=0.02) and found.high == pytest.approx(100, rel=0.02)
    assert 0.15 < found.share_low < 0.45
    assert find_modes(np.sort(times)) is None  # one after the other: a machine that changed once
    assert find_modes([0.0] * 20) is None and find_modes(times[:7]) is None


@pytest.mark.parametrize("kind", KINDS)
def test_modes_are_found_where_they_are(kind: Kind) -> None:
    rng = np.random.default_rng([5, KINDS.index(kind)])
    n = sum(find_modes(session(rng, kind, 20)) is not None for _ in range(CASES))
    assert n > 0.7 * CASES if kind == "modes" else n <= 18
