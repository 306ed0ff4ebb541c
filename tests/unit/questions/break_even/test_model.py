"""The line of break-even, on surfaces whose line is known, and the points of a spread start, those of scipy."""

from math import exp, log, log2

import numpy as np
import pytest
from scipy.stats import qmc
from simulate.break_even import line, open_share, straddle_index

from scalograph.analysis.center import FloatArray
from scalograph.questions.break_even.model import MOST_AXES, MOST_POINTS, RatioSurface, least_work, sobol_points
from scalograph.questions.break_even.model_mean import Axis, fit_mean, size_powers
from tests.kit.refusals import refuses

AXES = (Axis("size", 4, 18), Axis("workers", 0, 6))
CPUS, START, WORKER = 8, 5000.0, 200.0


def truth(x: FloatArray) -> FloatArray:
    """Log ratio: a start, a cost of each worker, and the work divided over workers up to the CPUs."""
    n, p = 2.0 ** x[:, 0], 2.0 ** x[:, 1]
    return np.log((START + WORKER * p + n / np.minimum(p, CPUS) ** 0.9) / n)


def even(n: int = 40) -> FloatArray:
    rng = np.random.default_rng(3)
    return np.column_stack([rng.uniform(axis.low, axis.high, n) for axis in AXES])


def surface(noise: float = 0.02, n: int = 40, seed: int = 5) -> RatioSurface:
    x = even(n)
    return RatioSurface(x, truth(x) + noise * np.random.default_rng(seed).standard_normal(n), AXES, CPUS)


def true_line(p: float) -> float:
    """n where START + WORKER p + n / s = n."""
    return log2((START + WORKER * 2**p) / (1 - min(2**p, CPUS) ** -0.9))


def test_the_mean_has_the_form_that_made_the_pairs_and_is_a_formula() -> None:
    mean = fit_mean(even(60), truth(even(60)), AXES, CPUS)
    assert np.abs(mean(even(200)) - truth(even(200))).max() < 0.03
    assert size_powers(mean) == {0: pytest.approx(1, abs=0.02)}
    mean = surface(noise=0.0).mean
    work, (power,) = least_work(mean, {1: 3.0}), size_powers(mean).values()
    assert work == pytest.approx(exp(power * true_line(3.0) * log(2)), rel=0.08)
    assert least_work(mean, {1: 0.0}) is None


def test_a_slow_run_moves_the_line_little_and_from_an_earlier_fit_comes_the_same() -> None:
    x = even(41)
    g = truth(x) + 0.02 * np.random.default_rng(5).standard_normal(len(x))
    earlier = RatioSurface(x[:40], g[:40], AXES, CPUS)
    cold, warm = RatioSurface(x, g, AXES, CPUS), RatioSurface(x, g, AXES, CPUS, earlier)
    at = np.array([[1.0], [3.0]])
    assert line(warm, at) == pytest.approx(line(cold, at), abs=0.05)
    assert warm.parameters == earlier.parameters
    x = even()
    slow = truth(x) + 0.02 * np.random.default_rng(5).standard_normal(len(x))
    slow[np.argmin(np.abs(slow))] += log(1.8)
    (found,) = line(RatioSurface(x, slow, AXES, CPUS), np.array([[3.0]]))
    assert 2**found == pytest.approx(2 ** true_line(3.0), rel=0.15)


@pytest.mark.parametrize("p", [1.0, 2.0, 3.0, 5.0])
def test_the_line_is_where_it_is(p: float) -> None:
    (found,) = line(surface(), np.array([[p]]))
    assert 2**found == pytest.approx(2 ** true_line(p), rel=0.08)


def test_one_worker_never_wins_and_an_axis_that_starts_above_the_line_always_does() -> None:
    (found,) = line(surface(), np.array([[0.0]]))
    assert np.isnan(found)
    above = (Axis("size", 16, 18), Axis("workers", 2, 6))
    x = np.column_stack([np.linspace(16, 18, 12), np.linspace(2, 6, 12)])
    (found,) = line(RatioSurface(x, truth(x), above, CPUS), np.array([[3.0]]))
    assert found == -np.inf


def test_the_next_pair_is_near_the_line_and_more_pairs_decide_more() -> None:
    candidates = np.array([[n, p] for n in np.linspace(4, 18, 29) for p in np.linspace(0, 6, 13)])
    few, many = surface(0.05, 12), surface(0.05, 80)
    chosen = candidates[straddle_index(few, candidates)]
    mean, sd = few(chosen[None, :])
    assert abs(mean[0]) < 1.96 * sd[0]
    assert 0 < open_share(many, candidates) < open_share(few, candidates) < 0.5


def test_intervals_hold_the_truth() -> None:
    at, held = even(200), []
    for seed in range(12):
        mean, sd = surface(0.05, 60, seed)(at)
        held.append(np.mean(np.abs(truth(at) - mean) <= 1.96 * sd))
    assert 0.9 <= np.mean(held) < 1


def test_clients_share_the_cpus_that_workers_divide_the_work_over() -> None:
    axes = (*AXES, Axis("clients", 0, 4))
    rng = np.random.default_rng(9)
    x = np.column_stack([rng.uniform(axis.low, axis.high, 80) for axis in axes])
    n, p, c = (2.0 ** x[:, i] for i in range(3))
    own, slower = np.minimum(p, np.maximum(CPUS / c, 1)), np.maximum(c / CPUS, 1)
    g = np.log((START + WORKER * p + n * slower / own**0.9) / (n * slower))
    found = line(RatioSurface(x, g, axes, CPUS), np.array([[3.0, 0.0], [3.0, 2.0], [3.0, 4.0]]))
    assert found[0] < found[1] and np.isnan(found[2])


def test_a_call_of_the_sequential_version_costs_too() -> None:
    """At small sizes the ratio ends to grow: as a lower power of the size it would let one worker win at large ones."""
    x = even(40)
    n, p = 2.0 ** x[:, 0], 2.0 ** x[:, 1]
    g = np.log((START + WORKER * p + n / np.minimum(p, CPUS) ** 0.9) / (1000 + n))
    g += 0.02 * np.random.default_rng(5).standard_normal(len(g))
    found = RatioSurface(x, g, AXES, CPUS)
    mean, _ = found(np.array([[16.0, 0.0], [18.0, 0.0]]))
    assert np.all(np.abs(mean) < 0.1)
    (at,) = line(found, np.array([[3.0]]))
    assert 2**at == pytest.approx((START + WORKER * 8 - 1000) / (1 - 8**-0.9), rel=0.1)
    assert least_work(found.mean, {1: 3.0}) is not None


@pytest.mark.parametrize("n_axes", range(1, MOST_AXES + 1))
@pytest.mark.parametrize("digits", [1, 2, 3, 4])
def test_they_are_those_of_scipy_bit_for_bit(n_axes: int, digits: int) -> None:
    for seed in (0, 5, 20_260_101, 2**63):
        expected = qmc.Sobol(n_axes, rng=np.random.default_rng(seed)).random_base2(digits)
        assert np.array_equal(sobol_points(n_axes, 2**digits, seed), expected)
        assert np.array_equal(sobol_points(n_axes, 2**digits, -seed), expected)


def test_more_than_it_has_numbers_for_is_refused() -> None:
    assert sobol_points(MOST_AXES, MOST_POINTS - 3, 1).shape == (MOST_POINTS, MOST_AXES)
    refuses(ValueError, "expected at most 4 and 16", sobol_points, MOST_AXES + 1, 4, 1)
    refuses(ValueError, "expected at most 4 and 16", sobol_points, 1, MOST_POINTS + 1, 1)
