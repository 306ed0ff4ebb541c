"""Growth of time with size: its class is found, left open or refuted, and an exponent told where it is none."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from scalograph.analysis.complexity import Complexity, fit_complexity, predict_time
from scalograph.analysis.growth_classes import CLASSES, least_growth, power_law
from tests.kit.refusals import refuses

SIZES = np.repeat([16.0, 64, 256, 1024, 4096, 16384], 3)
# One run of each size: what curves miss must be seen without runs that repeat.
DOUBLED = 2.0 ** np.arange(4, 13)
N_CASES = 10


def times(name: str, start: float = 1.0, rng: np.random.Generator | None = None, noise: float = 0.02) -> np.ndarray:
    """Times that begin at `start` and rise to a hundred times that."""
    rise = CLASSES[name](SIZES)
    exact = start + 99 * rise / rise.max()
    return exact if rng is None else exact * np.exp(noise * rng.standard_normal(SIZES.size))


def possible(found: np.ndarray, sizes: np.ndarray = SIZES) -> list[str]:
    return [growth.name for growth in fit_complexity(sizes, found).possible]


@pytest.mark.parametrize("name", [name for name in CLASSES if name != "1"])
def test_a_class_without_noise_is_found_with_its_cost(name: str) -> None:
    fit = fit_complexity(SIZES, times(name))
    (found,) = fit.possible
    assert found.name == name and found.start == pytest.approx(1.0, rel=1e-6)
    assert found.cost.value == pytest.approx(99 / CLASSES[name](SIZES).max(), rel=1e-6)


@pytest.mark.parametrize("name", CLASSES)
def test_the_true_class_is_hardly_ever_refuted(name: str) -> None:
    rng, n_cases = np.random.default_rng(5), 20
    kept = sum(name in possible(times(name, rng=rng)) for _ in range(n_cases))
    assert kept >= 0.9 * n_cases


def test_classes_that_differ_are_told_apart_and_the_cost_has_its_interval() -> None:
    rng, n_cases = np.random.default_rng(6), 20
    alone = [possible(times("n log n", rng=rng)) for _ in range(n_cases)]
    assert sum(found == ["n log n"] for found in alone) >= 0.8 * n_cases
    narrow = np.repeat([100.0, 200, 300, 400], 3)
    found = possible(narrow * np.exp(0.1 * rng.standard_normal(narrow.size)), narrow)
    assert len(found) >= 2 and "n" in found
    rng, held, n_cases, true = np.random.default_rng(7), 0, 60, 99 / SIZES.max()
    for _ in range(n_cases):
        cost = next(g for g in fit_complexity(SIZES, times("n", rng=rng)).growths if g.name == "n").cost
        held += cost.low is None or cost.contains(true)  # none of a class that is refuted
    assert held >= 0.88 * n_cases


def test_growth_of_none_of_the_classes() -> None:
    flat = np.exp(0.01 * np.random.default_rng(9).standard_normal(SIZES.size))
    fit = fit_complexity(SIZES, flat)
    assert fit.possible[0].name == "1" and 0 < fit.most_growth < 0.05
    rng = np.random.default_rng(9)
    cache = np.where(SIZES > 1000, 8 * SIZES, SIZES) * np.exp(0.005 * rng.standard_normal(SIZES.size))
    fit = fit_complexity(SIZES, cache)
    assert fit.possible == () and predict_time(fit, 20000).value is None
    assert all(growth.refuted for growth in fit.growths)
    roots = np.repeat(2.0 ** np.arange(4, 16), 1)
    assert possible(np.sqrt(roots), roots) == []


@pytest.mark.parametrize("times", [
    np.where(DOUBLED >= 256, 3 * DOUBLED, DOUBLED), np.maximum(DOUBLED, DOUBLED**2 / 256),
    np.where(DOUBLED.max() == DOUBLED, 10 * DOUBLED, DOUBLED),
], ids=["step", "steeper from the middle on", "last too long"])  # fmt: skip
def test_a_class_that_single_runs_contradict_is_not_named(times: np.ndarray) -> None:
    rng = np.random.default_rng(11)
    left = [possible(times * np.exp(0.05 * rng.standard_normal(times.size)), DOUBLED) for _ in range(N_CASES)]
    assert sum(not names for names in left) >= 0.9 * N_CASES
    kept = [possible(DOUBLED * np.exp(0.1 * rng.standard_normal(times.size)), DOUBLED) for _ in range(N_CASES)]
    assert sum("n" in names for names in kept) >= 0.9 * N_CASES


def test_a_prediction_holds_the_truth_and_ends_at_twice_the_largest() -> None:
    rng, held, n_cases = np.random.default_rng(10), 0, 30
    true = 1 + 99 * (30000 * math.log2(30000)) / CLASSES["n log n"](SIZES).max()
    for _ in range(n_cases):
        made = predict_time(fit_complexity(SIZES, times("n log n", rng=rng)), 30000)
        held += made.value is None or made.contains(true)
    assert held >= 0.9 * n_cases
    fit = fit_complexity(SIZES, times("n"))
    assert predict_time(fit, 20000).value == pytest.approx(1 + 99 * 20000 / 16384)
    assert "up to 2 times the largest" in predict_time(fit, 40000).warnings[0]


@pytest.mark.parametrize(("n", "took", "why"), [
    ([1, 2, 3], [1, 2, 3], "found 3 different sizes, expected at least 4"),
    ([1000, 1200, 1500, 3000], [1, 2, 3, 4], "from 1,000 to 3,000, a factor of 3; expected a factor of 4 or more"),
    ([0.5, 1, 2, 3], [1, 2, 3, 4], "found a size below 1"),
    ([1, 2, 3, 4], [1, 2, 0, 4], "a time of 0 or less"),
    ([1, 2, 3, 4], [1, 2, 3], "expected two lists of one length"),
])  # fmt: skip
def test_what_has_no_growth(n: list[float], took: list[float], why: str) -> None:
    refuses(ValueError, why, fit_complexity, n, took)


def fitted(growth: Callable[[np.ndarray], np.ndarray], noise: float = 0.02, seed: int = 1) -> list[Complexity]:
    rng = np.random.default_rng(seed)
    return [fit_complexity(DOUBLED, growth(DOUBLED) * np.exp(noise * rng.standard_normal(9))) for _ in range(N_CASES)]


def classes_of(fit: Complexity) -> list[str]:
    return [growth.name for growth in fit.possible]


@pytest.mark.parametrize("power", [0.5, 1.5, 2.5, 4.0])
def test_a_power_between_or_above_the_classes_is_none_of_them_and_has_its_exponent(power: float) -> None:
    for noise in (0.0, 0.02):
        fits = fitted(lambda n: 1e-9 * n**power, noise)
        assert sum(classes_of(fit) == [] for fit in fits) >= 0.9 * N_CASES
        held = [fit.power.exponent.contains(power) or noise == 0 for fit in fits]
        assert sum(held) >= 0.8 * N_CASES
        assert all(abs((fit.power.exponent.value or 0) - power) < 0.03 for fit in fits)
        assert sum(not fit.power.refuted for fit in fits) >= 0.8 * N_CASES


@pytest.mark.parametrize("name", ["n", "n log n", "n^2", "n^3"])
def test_a_class_without_a_fixed_part_is_left_alone_with_single_runs(name: str) -> None:
    fits = fitted(CLASSES[name])
    assert sum(classes_of(fit) == [name] for fit in fits) >= 0.8 * N_CASES
    assert not any("1" in classes_of(fit) or "log n" in classes_of(fit) for fit in fits)


def test_the_constant_is_refuted_by_a_trend_and_time_that_falls_is_no_growth() -> None:
    kept = [classes_of(fit)[:1] == ["1"] for fit in fitted(np.ones_like, 0.05)]
    assert sum(kept) >= 0.9 * N_CASES and not any("1" in classes_of(fit) for fit in fitted(lambda n: n**0.2))
    slightly = fitted(lambda n: n**-0.004, 0.005)
    assert sum(fit.most_growth < 0.02 for fit in slightly) >= 0.9 * N_CASES
    for fit in fitted(lambda n: n**-0.5):
        assert classes_of(fit) == [] and (fit.power.exponent.high or 0) < 0


def test_the_most_growth_is_a_share_and_a_bent_curve_no_power() -> None:
    grown = fitted(lambda n: 1 + 99 * n / n.max(), 0.01)
    true = (1 + 99.0) / (1 + 99 * 16 / 4096) - 1
    assert all(0.8 * true < fit.most_growth for fit in grown)
    assert sum(fit.most_growth < 1.3 * true for fit in fitted(lambda n: 1 + 99 * n / n.max(), 0.0)) == N_CASES
    assert all(fit.power.refuted for fit in fitted(lambda n: 100 + n))
    exact = power_law(DOUBLED, 3 * DOUBLED**1.5, 0.95)
    assert exact.refuted == "" and exact.exponent.low == exact.exponent.high == pytest.approx(1.5)


def test_the_fit_is_the_least_of_all_curves_near_it() -> None:
    rng = np.random.default_rng(3)
    times = (5 + DOUBLED) * np.exp(0.3 * rng.standard_normal(9))
    fit = least_growth(DOUBLED, times, "n")

    def squares(a: float, b: float) -> float:
        return float((np.log(times / (a + b * DOUBLED)) ** 2).sum())

    a, b, _ = fit.coefficients
    assert squares(a, b) == pytest.approx(fit.rss)
    assert all(squares(a * u, b * v) >= fit.rss - 1e-9 for u in (0.97, 1, 1.03) for v in (0.97, 1, 1.03))
