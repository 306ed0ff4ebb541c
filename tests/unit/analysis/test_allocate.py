"""Where time should go."""

import math

import numpy as np
import pytest

from scalograph.analysis.allocate import baseline_repeats, iterations_per_run, spread
from scalograph.simulate.noise import LOW, Noise
from scalograph.simulate.runs import run_iterations


def test_the_formula() -> None:
    assert iterations_per_run(9.0, 1.0, 0.04, 0.02).iterations == 6


def test_it_is_the_cheapest() -> None:
    start, one, within, between = 3.0, 0.1, 0.05, 0.03

    def price(m: int) -> float:
        return (between**2 + within**2 / m) * (start + one * m)

    best = iterations_per_run(start, one, within, between).iterations
    assert best is not None
    assert abs(best - min(range(1, 100), key=price)) <= 1


def test_extremes() -> None:
    assert iterations_per_run(0.0, 1.0, 0.02, 0.03).iterations == 1
    assert iterations_per_run(1.0, 1.0, 0.0, 0.0).iterations == 1
    assert iterations_per_run(1.0, 1.0, 0.02, 0.0, most=50).iterations == 50
    assert iterations_per_run(1.0, 1.0, 0.02, 0.0).warnings
    assert iterations_per_run(1e9, 1.0, 0.02, 0.02, most=50).iterations == 50
    for wrong in ((-1.0, 1.0, 0.1, 0.1), (1.0, 0.0, 0.1, 0.1), (1.0, 1.0, -0.1, 0.1), (1.0, 1.0, 0.1, math.nan)):
        with pytest.raises(ValueError, match="found"):
            iterations_per_run(*wrong)


def test_a_pilot_gives_back_its_noise() -> None:
    found, notes = spread(list(run_iterations(np.random.default_rng(1), 7.0, 400, 10, LOW)))
    assert notes == ()
    assert found is not None
    assert found.within == pytest.approx(0.02, rel=0.05)
    assert found.between == pytest.approx(0.03, rel=0.10)


def test_runs_that_do_not_differ_have_no_noise_between() -> None:
    found, _ = spread(list(run_iterations(np.random.default_rng(2), 1.0, 4, 50, Noise(0.05, 0.0))))
    assert found is not None
    assert found.between < 0.01
    assert spread([[1.0, 2.0], [2.0, 1.0]])[0] is not None


def test_a_small_pilot_says_what_it_needs() -> None:
    assert spread([])[0] is None
    assert spread([[1.0], [2.0], [1.0, 1.1]])[1][0].endswith("have 1")
    assert spread([[0.0, 1.0], [1.0, 1.0]])[1] == ("an iteration <= 0 has no log: no relative noise",)


def test_baselines_run_more_often() -> None:
    assert [baseline_repeats(5, k) for k in (0, 1, 2, 4, 9)] == [5, 5, 8, 10, 15]
    assert baseline_repeats(0, 9) == 0
    with pytest.raises(ValueError, match="-1"):
        baseline_repeats(-1, 2)


def test_square_root_is_the_best_share_for_a_baseline() -> None:
    n, k = 10, 9
    total = k * n + baseline_repeats(n, k)

    def variance(base: int) -> float:
        return 1 / base + k / (total - base)

    best = min(range(1, total), key=variance)
    assert variance(baseline_repeats(n, k)) <= 1.01 * variance(best)
