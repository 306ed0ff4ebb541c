"""Contrasts of corrected runs: the speed of the CPU as a covariate, hulls, and the check of a correction."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scalograph.analysis.center import FloatArray
from scalograph.analysis.contrast import PAIRED, SPEED, paired_contrast, speed_adjusted_contrast
from scalograph.analysis.estimate import Estimate
from scalograph.analysis.quantiles import t_quantile
from scalograph.analysis.versus import check_correction

N = 12
logs = st.lists(st.floats(-1, 1), min_size=N, max_size=N).map(np.array)


def draw(
    seed: int, slope: float, n: int = N, effect: float = 0.05
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Logs of two versions in pairs that share a block, on a CPU that is up to 1.5 times as slow, and of its loop."""
    rng = np.random.default_rng(seed)
    speeds = np.log(1.5) * rng.random((2, n))
    both = slope * speeds + 0.02 * rng.standard_normal(n) + 0.005 * rng.standard_normal((2, n))
    return both[0] + 0.05, both[1], speeds[0], speeds[1]


@pytest.mark.parametrize("seed", range(5))
def test_it_is_near_least_squares_over_all_runs_with_an_effect_of_each_block(seed: int) -> None:
    a, b, speed_a, speed_b = draw(seed, 0.4)
    e = speed_adjusted_contrast(a, b, speed_a, speed_b, trim=0.0)
    block, is_a = np.tile(np.eye(N), (2, 1)), np.repeat([1.0, 0.0], N)
    x = np.column_stack([is_a, np.concatenate([speed_a, speed_b]), block])
    y = np.concatenate([a, b])
    fit, squares, *_ = np.linalg.lstsq(x, y)
    df = y.size - x.shape[1]
    errors = np.sqrt(squares[0] / df * np.diag(np.linalg.inv(x.T @ x)))
    assert e.contrast.delta == pytest.approx(fit[0], abs=errors[0]) and e.slope == pytest.approx(fit[1], abs=errors[1])
    assert errors[0] * (1 - 1e-9) <= e.contrast.se <= 1.1 * errors[0]
    assert (e.contrast.df, e.contrast.n, e.contrast.method) == (df, N, f"{PAIRED}; {SPEED}")


def test_a_slope_without_noise_is_exact_and_one_slow_run_moves_neither_slope_nor_interval() -> None:
    _, _, speed_a, speed_b = draw(5, 0.4, 20)
    e = speed_adjusted_contrast(0.05 + 0.4 * speed_a, 0.4 * speed_b, speed_a, speed_b)
    assert (e.slope, e.contrast.delta) == pytest.approx((0.4, 0.05)) and e.contrast.se == pytest.approx(0.0, abs=1e-12)
    a, b, speed_a, speed_b = draw(5, 0.4, 20)
    slow = a + np.log(3) * (np.arange(20) == 7)
    clean, other = (speed_adjusted_contrast(x, b, speed_a, speed_b) for x in (a, slow))
    assert other.slope == pytest.approx(clean.slope, abs=0.03)
    assert other.contrast.delta == pytest.approx(clean.contrast.delta, abs=0.003)
    assert other.contrast.se < 1.5 * clean.contrast.se


def test_of_very_many_pairs_some_tell_the_slope() -> None:
    a, b, *speeds = draw(6, 0.4, 5000)
    assert speed_adjusted_contrast(a, b, *speeds).slope == pytest.approx(0.4, abs=0.02)


@pytest.mark.parametrize("slope", [0.1, 0.4, 1.8])
def test_what_the_speed_explains_is_taken_out_whatever_its_slope_and_narrows_the_interval(slope: float) -> None:
    a, b, *speeds = draw(2, slope, 30)
    e = speed_adjusted_contrast(a, b, *speeds)
    assert e.slope == pytest.approx(slope, abs=0.05)
    ends, plain = e.contrast.estimate(0.95), paired_contrast(a, b).estimate(0.95)
    assert ends.contains(1.05) and width(ends) < width(plain)
    assert e.contrast.delta == pytest.approx(0.05, abs=0.006)


def width(e: Estimate) -> float:
    assert e.low is not None and e.high is not None
    return math.log(e.high / e.low)


def test_the_plain_contrast_stays_where_the_speed_tells_nothing() -> None:
    a, b, speed_a, speed_b = draw(3, 0.4)
    plain = paired_contrast(a, b, 0.1)
    steady = np.full(N, 3.0)
    wanting = np.where(np.arange(N) < N - 7, np.nan, speed_a)
    for speeds in ((steady, steady), (-speed_a, -speed_b), (steady + 0.001 * speed_a, steady), (wanting, speed_b)):
        e = speed_adjusted_contrast(a, b, *speeds)
        assert (e.contrast, e.slope) == (plain, 0.0)
    assert speed_adjusted_contrast(a[:7], b[:7], speed_a[:7], speed_b[:7]).contrast == paired_contrast(
        a[:7], b[:7], 0.1
    )
    long = np.tile(a, 2), np.tile(b, 2)
    few = np.concatenate([speed_a[:11], np.full(2 * N - 11, np.nan)])
    assert speed_adjusted_contrast(*long, few, np.tile(speed_b, 2)).contrast == paired_contrast(*long, 0.1)


def test_pairs_without_the_speed_are_left_out_with_a_warning_and_pairs_can_be_trimmed() -> None:
    a, b, speed_a, speed_b = draw(4, 0.4)
    some = np.where(np.arange(N) == 5, np.nan, speed_b)
    rest = np.arange(N) != 5
    e, expected = (
        speed_adjusted_contrast(a, b, speed_a, some),
        speed_adjusted_contrast(a[rest], b[rest], speed_a[rest], speed_b[rest]),
    )
    assert e.contrast.warnings == ("1 of 12 pairs miss the speed of the CPU",)
    assert (e.contrast.delta, e.contrast.se, e.slope) == (expected.contrast.delta, expected.contrast.se, expected.slope)
    every = speed_adjusted_contrast(a, b, speed_a, speed_b, trim=0.0).contrast
    assert every.df == N - 2 and e.contrast.df == N - 5 and every.delta == pytest.approx(e.contrast.delta, abs=0.01)


@given(logs, logs, logs, logs)
def test_units_and_order_change_nothing(a: FloatArray, b: FloatArray, speed_a: FloatArray, speed_b: FloatArray) -> None:
    e = speed_adjusted_contrast(a, b, speed_a, speed_b)
    other = speed_adjusted_contrast(b + 2, a + 2, speed_b - 9, speed_a - 9)
    assert e.slope >= 0 and other.slope == pytest.approx(e.slope, rel=1e-6, abs=1e-9)
    assert (other.contrast.delta, other.contrast.se) == pytest.approx((-e.contrast.delta, e.contrast.se), abs=1e-7)
    half = t_quantile(0.95, e.contrast.df) * e.contrast.se
    assert e.contrast.estimate(0.95).contains(math.exp(e.contrast.delta)) and half >= 0


def test_a_correction_is_checked_withdrawn_or_neither_and_never_without_both_intervals() -> None:
    clean = Estimate(1.05, 1.04, 1.06, 0.95, 6)
    words = {
        word: [check_correction(clean, Estimate(x, x - half, x + half, 0.95, 9)).word for x, half in cases]
        for word, cases in {
            "checked": [(1.05, 0.01), (1.053, 0.005)],
            "unchecked": [(1.05, 0.03), (1.08, 0.01), (1.02, 0.02)],
            "withdrawn": [(1.12, 0.02), (1.0, 0.01)],
        }.items()
    }
    assert all(set(got) == {word} for word, got in words.items())
    for other in (Estimate(1.3), Estimate(None, None, None), Estimate(1.0, 0.0, 2.0)):
        assert check_correction(clean, other).word == check_correction(other, clean).word == "unchecked"


def test_the_interval_of_a_check_is_that_of_independent_logs() -> None:
    first, second = (Estimate(math.exp(d), math.exp(d - h), math.exp(d + h)) for d, h in ((0.1, 0.03), (0.3, 0.04)))
    low, value, high = (math.log(x or 0) for x in check_correction(first, second).ratio)
    assert (low, value, high) == pytest.approx((0.15, 0.2, 0.25))
