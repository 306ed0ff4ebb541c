"""Growth that is none of the classes: refuted by what it leaves, and told by its exponent; time that does not grow."""

from collections.abc import Callable

import numpy as np
import pytest

from scalograph.analysis.complexity import Complexity, fit_complexity
from scalograph.analysis.growth_classes import CLASSES, least_growth, power_law

# One run of each size: what curves miss must be seen without runs that repeat.
SIZES = 2.0 ** np.arange(4, 13)
N_CASES = 10


def fitted(growth: Callable[[np.ndarray], np.ndarray], noise: float = 0.02, seed: int = 1) -> list[Complexity]:
    rng = np.random.default_rng(seed)
    return [fit_complexity(SIZES, growth(SIZES) * np.exp(noise * rng.standard_normal(9))) for _ in range(N_CASES)]


def possible(fit: Complexity) -> list[str]:
    return [growth.name for growth in fit.possible]


@pytest.mark.parametrize("power", [0.5, 1.5, 2.5, 4.0])
def test_a_power_between_or_above_the_classes_is_none_of_them_and_has_its_exponent(power: float) -> None:
    for noise in (0.0, 0.02):
        fits = fitted(lambda n: 1e-9 * n**power, noise)
        assert sum(possible(fit) == [] for fit in fits) >= 0.9 * N_CASES
        held = [fit.power.exponent.contains(power) or noise == 0 for fit in fits]
        assert sum(held) >= 0.8 * N_CASES
        assert all(abs((fit.power.exponent.value or 0) - power) < 0.03 for fit in fits)
        assert sum(not fit.power.refuted for fit in fits) >= 0.8 * N_CASES


@pytest.mark.parametrize("name", ["n", "n log n", "n^2", "n^3"])
def test_a_class_without_a_fixed_part_is_left_alone_with_single_runs(name: str) -> None:
    fits = fitted(CLASSES[name])
    assert sum(possible(fit) == [name] for fit in fits) >= 0.8 * N_CASES
    assert not any("1" in possible(fit) or "log n" in possible(fit) for fit in fits)


def test_the_constant_is_refuted_by_a_trend_and_time_that_falls_is_no_growth() -> None:
    kept = [possible(fit)[:1] == ["1"] for fit in fitted(np.ones_like, 0.05)]
    assert sum(kept) >= 0.9 * N_CASES and not any("1" in possible(fit) for fit in fitted(lambda n: n**0.2))
    slightly = fitted(lambda n: n**-0.004, 0.005)
    assert sum(fit.most_growth < 0.02 for fit in slightly) >= 0.9 * N_CASES
    for fit in fitted(lambda n: n**-0.5):
        assert possible(fit) == [] and (fit.power.exponent.high or 0) < 0


def test_the_most_growth_is_a_share_and_a_bent_curve_no_power() -> None:
    grown = fitted(lambda n: 1 + 99 * n / n.max(), 0.01)
    true = (1 + 99.0) / (1 + 99 * 16 / 4096) - 1
    assert all(0.8 * true < fit.most_growth for fit in grown)
    assert sum(fit.most_growth < 1.3 * true for fit in fitted(lambda n: 1 + 99 * n / n.max(), 0.0)) == N_CASES
    assert all(fit.power.refuted for fit in fitted(lambda n: 100 + n))
    exact = power_law(SIZES, 3 * SIZES**1.5, 0.95)
    assert exact.refuted == "" and exact.exponent.low == exact.exponent.high == pytest.approx(1.5)


def test_the_fit_is_the_least_of_all_curves_near_it() -> None:
    rng = np.random.default_rng(3)
    times = (5 + SIZES) * np.exp(0.3 * rng.standard_normal(9))
    fit = least_growth(SIZES, times, "n")

    def squares(a: float, b: float) -> float:
        return float((np.log(times / (a + b * SIZES)) ** 2).sum())

    a, b, _ = fit.coefficients
    assert squares(a, b) == pytest.approx(fit.rss)
    assert all(squares(a * u, b * v) >= fit.rss - 1e-9 for u in (0.97, 1, 1.03) for v in (0.97, 1, 1.03))
