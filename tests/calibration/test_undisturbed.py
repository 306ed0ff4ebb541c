"""The short version of benchmarks/statistics_undisturbed.py: contrasts of corrected runs hold the truth."""

import numpy as np
import pytest
from simulate.undisturbed import TwoSpeeds, time_pairs

from scalograph.analysis.contrast import speed_adjusted_contrast
from tests.kit.scripts import Benchmarks

CELL = ("30-300 ms", "8 ms, 2%", "10 x 100 ms")
N = 300


def value(measure: object, n: int = N) -> float:
    return float(measure(np.random.default_rng(3), n)[0])  # type: ignore[operator]


def test_on_a_cpu_of_two_speeds_the_covariate_finds_what_cpu_time_hides_and_holds_the_truth(b: Benchmarks) -> None:
    bench = b.statistics_undisturbed

    def figure(estimator: object, name: str) -> float:
        return value(bench.two_speeds(estimator, name, *CELL))

    assert figure(bench.covariate, "holds") >= 91 and figure(bench.cpu_time, "holds") >= 91
    assert figure(bench.covariate, "found") >= 95 and figure(bench.cpu_time, "found") < 30
    assert figure(bench.covariate, "half-width") < 2 < 8 < figure(bench.cpu_time, "half-width")
    assert figure(bench.minimum, "holds") < 90


def test_a_program_that_feels_nothing_loses_nothing(b: Benchmarks) -> None:
    bench = b.statistics_undisturbed
    for name, least, most in (("holds", 91, 99), ("half-width", 0.3, 0.7)):
        assert least < value(bench.two_speeds(bench.covariate, name, *CELL, felt=1.0)) < most


def test_the_slope_is_that_of_the_program_and_never_below_0() -> None:
    rng, slopes = np.random.default_rng(8), []
    for felt in (1.0, 1.1, 1.5):
        pairs = time_pairs(rng, TwoSpeeds(0.03, 5.0, program=felt, loop=1.5), 40, 20, 0.1, 0.0)
        slopes.append([speed_adjusted_contrast(*pairs.times[i], *pairs.speeds[i]).slope for i in range(40)])
    assert np.min(slopes) >= 0
    assert np.median(slopes, axis=1) == pytest.approx([0.0, np.log(1.1) / np.log(1.5), 1.0], abs=0.05)


@pytest.mark.parametrize("taken", [0.0, 0.9])
def test_time_without_waits_holds_the_quiet_ratio_of_what_works_all_the_time(b: Benchmarks, taken: float) -> None:
    assert 91 <= value(b.statistics_undisturbed.taken_from("worker", taken, "without_waits")) <= 99


def test_a_sleep_that_absorbs_waits_wants_the_hull(b: Benchmarks) -> None:
    bench = b.statistics_undisturbed
    assert (
        value(bench.taken_from("ticker", 0.3, "hull"))
        >= 95
        > 70
        > value(bench.taken_from("ticker", 0.3, "without_waits"))
    )
    assert value(bench.taken_from("sleeper", 0.3, "hull")) >= 95


@pytest.mark.parametrize("kind", ["normal", "outliers", "autocorrelated", "drift", "modes"])
def test_further_pairs_make_no_false_difference_and_show_true_ones(b: Benchmarks, kind: str) -> None:
    first, last, n_pairs = b.statistics_undisturbed.add_pairs(np.random.default_rng(9), kind, 10, 0.02, N)
    false = [np.mean((ends[:, 0] > 0) | (ends[:, 1] < 0)) for ends in (first, last)]
    assert false[1] <= 0.08 and false[1] <= false[0] + 0.02 and n_pairs.max() <= 15
    assert np.median(last[:, 1] - last[:, 0]) < np.median(first[:, 1] - first[:, 0])
