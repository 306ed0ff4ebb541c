"""Known truth must be true: the generators give back their own parameters."""

import math

import numpy as np
import pytest
from simulate.noise import HIGH, LOW, QUIET, Noise
from simulate.runs import (
    aa_tests,
    amdahl,
    drift,
    linear,
    lock_collapse,
    run_iterations,
    run_scores,
    sweep,
    times,
    usl,
    usl_peak,
)
from simulate.two_studies import coverage

from scalograph.analysis.estimate import Estimate


def test_the_noises_of_the_design_have_the_size_of_their_parts() -> None:
    assert (LOW.within, LOW.between, LOW.slow_share) == (0.02, 0.03, 0.0)
    assert (HIGH.within, HIGH.between, HIGH.slow_share, HIGH.slow_factor) == (0.05, 0.03, 0.03, 1.5)
    logs = np.log(run_iterations(np.random.default_rng(0), 2.0, 4000, 20, LOW)) - math.log(2.0)
    assert logs.std(axis=1, ddof=1).mean() == pytest.approx(0.02, rel=0.03)
    assert logs.mean(axis=1).std(ddof=1) == pytest.approx(math.hypot(0.03, 0.02 / math.sqrt(20)), rel=0.03)
    slowed = HIGH.run_logs(np.random.default_rng(0), (100_000,)) > 0.2
    assert slowed.mean() == pytest.approx(0.03, rel=0.06)


@pytest.mark.parametrize("noise", [LOW, HIGH])
def test_stated_truths_are_those_of_many_runs(noise: Noise) -> None:
    x = run_scores(np.random.default_rng(1), (400_000,), noise)
    assert np.median(x) == pytest.approx(noise.truth("median"), abs=3e-4)
    assert np.exp(np.log(x).mean()) == pytest.approx(noise.truth("geometric"), abs=5e-4)
    assert x.mean() == pytest.approx(noise.truth("mean"), abs=5e-4)
    assert np.log(x[x < 1.2]).std() == pytest.approx(noise.score_sd(20), rel=0.02)


def test_runs_are_alike_without_noise_and_with_the_same_seed_and_warm_up_ends() -> None:
    assert (run_scores(np.random.default_rng(0), (3, 2), QUIET) == 1.0).all()
    assert QUIET.truth("median") == QUIET.truth("mean") == QUIET.truth("geometric") == 1.0
    assert Noise(0.0, 0.0, 1.0, 2.0).truth("median") == 2.0
    x = run_iterations(np.random.default_rng(0), 1.0, 2, 5, QUIET, warmup=2, warmup_factor=3.0)
    assert x == pytest.approx(np.array([[3.0, 3.0, 1.0, 1.0, 1.0]] * 2))
    one, two = (run_scores(np.random.default_rng(9), (4,), HIGH) for _ in range(2))
    assert (one == two).all()


def test_drift_and_the_orders_of_an_a_a_test() -> None:
    assert drift(1, 0.06).tolist() == [1.0]
    rng = np.random.default_rng(0)
    a, b = aa_tests(rng, 1, 4, order="blocked", drift_total=0.7, noise=QUIET)
    assert a[0] == pytest.approx([1.0, 1.1, 1.2, 1.3])
    assert b[0] == pytest.approx([1.4, 1.5, 1.6, 1.7])
    a, b = aa_tests(rng, 1, 4, order="alternating", drift_total=0.7, noise=QUIET)
    assert (b - a)[0] == pytest.approx([0.1] * 4)
    a, b = aa_tests(rng, 500, 4, order="randomized", drift_total=0.7, noise=QUIET)
    assert np.abs(b - a) == pytest.approx(np.full((500, 4), 0.1))
    assert np.mean(b > a) == pytest.approx(0.5, abs=0.05)


def test_a_sweep_holds_every_level_once_in_each_block() -> None:
    scores, blocks = sweep(np.random.default_rng(0), {1: 8.0, 2: 4.0}, 3, noise=QUIET, drift_total=0.5)
    assert blocks == {1: [0, 1, 2], 2: [0, 1, 2]}
    places = np.sort(np.column_stack([scores[1] / 8.0, scores[2] / 4.0]), axis=1).ravel()
    assert places == pytest.approx(np.linspace(1.0, 1.5, 6))


def test_curves() -> None:
    assert linear(7) == 7.0
    assert amdahl(10**9, 0.1) == pytest.approx(10.0)
    assert usl(8, 0.1, 0.0) == pytest.approx(amdahl(8, 0.1))
    assert usl(5, 0.0, 0.0) == 5.0
    peak = usl_peak(0.02, 0.0005)
    assert usl(peak, 0.02, 0.0005) > max(usl(peak * 0.9, 0.02, 0.0005), usl(peak * 1.1, 0.02, 0.0005))
    assert usl_peak(0.1, 0.0) == math.inf
    assert lock_collapse(7, 8, 0.53) == 7.0
    assert lock_collapse(8, 8, 0.53) == 0.53
    assert times(lambda n: amdahl(n, 0.5), (1, 2), first=10.0) == pytest.approx({1: 10.0, 2: 7.5})


def test_coverage_counts_missing_intervals_as_misses() -> None:
    found = coverage([Estimate(1, 0.9, 1.1, 0.95, 3, "t"), Estimate(1, None, None, 0.95, 1, "t")], 1.0)
    assert (found.share, found.n) == (0.5, 2)
    assert found.half_width == pytest.approx(0.1)
    assert found.error == pytest.approx(math.sqrt(0.125))
    with pytest.raises(ValueError, match="no intervals"):
        coverage([], 1.0)
