"""The short version of benchmarks/statistics_coverage.py: nominal 95% intervals must cover 93-97%.

Each share comes from a fixed seed and a few thousand samples, so it is allowed twice its own standard
error beyond the target. Known and not hidden: under high noise the Welch ratio covers 97.1% at 3 runs and
97.3% at 10, the paired one 97.2% at 10 (too wide, by less than half a point; trimmed, they are on target
at 10), and no interval for the arithmetic mean reaches the target there.
"""

from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats
from simulate.noise import HIGH, LOW, FloatArray, Noise, Truth
from simulate.runs import run_iterations, run_scores, sweep
from simulate.two_studies import Coverage, coverage

from scalograph.analysis.comparisons import minimum_detectable_effect
from scalograph.analysis.estimate import Estimate
from scalograph.analysis.interval import summarize
from scalograph.analysis.ratios import paired_ratio, ratio
from scalograph.analysis.speedup_points import speedup

CASES = 3000
NOISES = pytest.mark.parametrize("noise", [LOW, HIGH], ids=["low", "high"])
COUNTS = pytest.mark.parametrize("n", [3, 5, 10])


def on_target(found: Coverage) -> bool:
    return 0.93 - 2 * found.error <= found.share <= 0.97 + 2 * found.error


def of_one(noise: Noise, n: int, truth: Truth, interval: Callable[[FloatArray], Estimate]) -> Coverage:
    samples = run_scores(np.random.default_rng([11, n]), (CASES, n), noise)
    return coverage(map(interval, samples), noise.truth(truth))


def of_two(noise: Noise, n: int, interval: Callable[[FloatArray, FloatArray], Estimate]) -> Coverage:
    rng = np.random.default_rng([12, n])
    return coverage(map(interval, 2 * run_scores(rng, (CASES, n), noise), run_scores(rng, (CASES, n), noise)), 2.0)


@NOISES
@COUNTS
def test_typical(noise: Noise, n: int) -> None:
    assert on_target(of_one(noise, n, "median", summarize))


@COUNTS
def test_mean_without_slow_runs(n: int) -> None:
    assert on_target(of_one(LOW, n, "mean", lambda x: summarize(x, estimand="mean")))


def test_mean_misses_slow_runs_that_a_sample_does_not_show() -> None:
    found = of_one(HIGH, 10, "mean", lambda x: summarize(x, estimand="mean"))
    assert 0.78 < found.share < 0.84  # a warning on the estimate says so


@NOISES
@COUNTS
@pytest.mark.parametrize("interval", [ratio, paired_ratio])
def test_ratio(noise: Noise, n: int, interval: Callable[[FloatArray, FloatArray], Estimate]) -> None:
    assert on_target(of_two(noise, n, interval))


@pytest.mark.parametrize("n", [10, 20])
def test_trimmed_under_high_noise_is_on_target_and_narrower(n: int) -> None:
    trimmed, plain = of_two(HIGH, n, lambda a, b: ratio(a, b, trim=0.1)), of_two(HIGH, n, ratio)
    assert on_target(trimmed)
    assert trimmed.half_width < 0.95 * plain.half_width
    assert on_target(of_one(HIGH, n, "median", lambda x: summarize(x, trim=0.1)))


@NOISES
def test_the_check_can_fail(noise: Noise) -> None:
    rng = np.random.default_rng(13)
    pools = (run_iterations(rng, 1.0, 5, 20, noise).ravel() for _ in range(500))
    assert coverage(map(summarize, pools), noise.truth("median")).share < 0.8
    assert of_two(noise, 5, quotient).share > 0.985


def test_shared_baselines_err_together_and_bands_hold_for_all() -> None:
    truth = {n: n**0.8 for n in (1, 2, 4, 8, 16, 32)}
    rng, n_tables = np.random.default_rng(14), 200
    band = single = 0
    for _ in range(n_tables):
        scores, _ = sweep(rng, {n: 1 / s for n, s in truth.items()}, 5)
        points = speedup(scores)
        band += all(p.simultaneous.contains(truth[p.n]) for p in points)
        single += all(p.speedup.contains(truth[p.n]) for p in points)
    assert band / n_tables >= 0.93 - 2 * np.sqrt(0.05 * 0.95 / n_tables)
    assert single / n_tables < 0.9


@pytest.mark.parametrize(("n", "effect"), [(3, 0.091), (5, 0.061), (10, 0.040), (20, 0.027)])
def test_the_minimum_detectable_effect_is_found_four_times_in_five(n: int, effect: float) -> None:
    claimed = minimum_detectable_effect(0.03, n)
    assert claimed == pytest.approx(effect, abs=5e-4)
    logs = 0.03 * np.random.default_rng([15, n]).standard_normal((2, 20_000, n))
    found = stats.ttest_ind(logs[0] + claimed, logs[1], axis=1).pvalue < 0.05
    assert 0.78 < found.mean() < 0.82


def quotient(a: FloatArray, b: FloatArray) -> Estimate:
    one, two = summarize(a), summarize(b)
    assert one.low is not None
    assert one.high is not None
    assert two.low
    assert two.high
    return Estimate(1.0, one.low / two.high, one.high / two.low, 0.95, a.size, "quotient")
