"""The universal scalability law: published coefficients, known truth, and what it must refuse or flag."""

import math

import numpy as np
import pytest

from scalograph.analysis.quadratic import least
from scalograph.analysis.usl import fit_usl
from scalograph.analysis.usl_predict import Boundary, fitted_throughput, largest_prediction, predict
from tests.kit.findings import texts
from tests.kit.refusals import refuses

# SPEC SDM 91 on a SPARCcenter 2000, and a ray tracer: Gunther, Guerrilla Capacity Planning (2007).
SPEC = ([1, 18, 36, 72, 108, 144, 216], [64.9, 995.9, 1652.4, 1853.2, 1828.9, 1775.0, 1702.2])
RAYS = ([1, 4, 8, 12, 16, 20, 24, 28, 32, 48, 64], [20, 78, 130, 170, 190, 200, 210, 230, 260, 280, 310])
SIZES = np.repeat([1.0, 2, 4, 8, 16, 32], 3)


def curve(n: np.ndarray, sigma: float, kappa: float, gamma: float = 10.0) -> np.ndarray:
    return gamma * n / (1 + sigma * (n - 1) + kappa * n * (n - 1))


@pytest.mark.parametrize(
    ("data", "sigma", "kappa", "gamma"), [(SPEC, 0.0277285, 0.0001044, 89.9952), (RAYS, 0.057771, 0.0, 21.84884)]
)
def test_published_coefficients_hold(
    data: tuple[list[float], list[float]], sigma: float, kappa: float, gamma: float
) -> None:
    fit = fit_usl(*data, weights="none")
    assert fit.sigma.value == pytest.approx(sigma, rel=1e-4)
    assert fit.kappa.value == pytest.approx(kappa, rel=5e-4, abs=1e-9)
    assert fit.gamma.value == pytest.approx(gamma, rel=1e-4)


@pytest.mark.parametrize("weights", ["relative", "none"])
@pytest.mark.parametrize(("sigma", "kappa"), [(0.05, 0.001), (0.2, 0.0), (0.0, 0.002), (0.0, 0.0)])
def test_a_curve_without_noise_gives_its_own_coefficients(weights: str, sigma: float, kappa: float) -> None:
    fit = fit_usl(SIZES, curve(SIZES, sigma, kappa), weights=weights)  # type: ignore[arg-type]
    assert (fit.sigma.value, fit.kappa.value) == (pytest.approx(sigma, abs=1e-6), pytest.approx(kappa, abs=1e-6))
    assert fit.gamma.value == pytest.approx(10.0) and fit.residual < 1e-5
    if kappa:
        assert fit.optimum.value == pytest.approx(math.sqrt((1 - sigma) / kappa), rel=1e-3)


@pytest.mark.parametrize(("sigma", "kappa"), [(0.05, 0.001), (0.05, 0.0)])
def test_intervals_hold_the_truth(sigma: float, kappa: float) -> None:
    rng, n_cases = np.random.default_rng(1), 300
    truth = math.sqrt((1 - sigma) / kappa) if kappa else math.inf
    held = np.zeros(4)
    for _ in range(n_cases):
        fit = fit_usl(SIZES, curve(SIZES, sigma, kappa) * np.exp(0.03 * rng.standard_normal(SIZES.size)))
        for i, (part, value) in enumerate(((fit.sigma, sigma), (fit.kappa, kappa), (fit.gamma, 10.0))):
            held[i] += (part.low or 0.0) <= value <= (math.inf if part.high is None else part.high)
        held[3] += (fit.optimum.low or 0.0) <= truth <= (math.inf if fit.optimum.high is None else fit.optimum.high)
    assert (held / n_cases >= 0.91).all(), held / n_cases


def test_an_optimum_that_was_not_reached_has_a_lower_end_alone() -> None:
    fit = fit_usl(*RAYS)
    assert fit.optimum.value is None and fit.optimum.high is None
    assert fit.optimum.low is not None and 32 < fit.optimum.low < 64 * 4
    assert fit.optimum.warnings[0].startswith("not reached: the optimum is above")


def test_weights_are_of_relative_errors_unless_told_otherwise() -> None:
    rates = curve(SIZES, 0.05, 0.001)
    rates[-1] *= 1.2
    relative, plain = fit_usl(SIZES, rates), fit_usl(SIZES, rates, weights="none")
    assert relative.sigma.value != plain.sigma.value
    scaled = fit_usl(SIZES, 7 * rates)
    assert scaled.sigma.value == pytest.approx(relative.sigma.value)
    assert scaled.gamma.value == pytest.approx(7 * (relative.gamma.value or 0))


def test_flags() -> None:
    two, noise = np.array([1.0, 2, 4, 8]), np.random.default_rng(2)
    assert "superlinear at 2" in texts(fit_usl(two, [10, 23, 50, 90]).flags)[0]
    assert "bound of zero" in [flag.code for flag in fit_usl(two, [10, 20, 40, 80]).flags]
    step = np.where(SIZES > 8, 40.0, 10 * SIZES) * np.exp(0.005 * noise.standard_normal(SIZES.size))
    assert any(flag.startswith("lack of fit") for flag in texts(fit_usl(SIZES, step).flags))
    good = curve(SIZES, 0.05, 0.001) * np.exp(0.02 * noise.standard_normal(SIZES.size))
    assert texts(fit_usl(SIZES, good).flags) == []
    slow = np.where(SIZES == 1, 6.0, curve(SIZES, 0.05, 0.0005)) * np.exp(0.01 * noise.standard_normal(SIZES.size))
    assert any("off where one was measured" in flag for flag in texts(fit_usl(SIZES, slow).flags))
    assert "few sizes" in {flag.code for flag in fit_usl([1, 2, 4, 8, 16], [10, 18, 29, 39, 45]).flags}
    codes = {flag.code for flag in fit_usl([1, 2, 4, 8, 16, 32], [8, 20, 39, 70, 110, 140]).flags}
    assert "gamma open" in codes and "few sizes" not in codes
    assert "no share" in {flag.code for flag in fit_usl([1, 2, 4, 8, 16, 32], [10, 8, 6.1, 3.9, 3.5, 3.4]).flags}
    n = [1.0, 1, 2, 2, 4, 4, 8, 8]
    lucky = fit_usl(n, [10, 9, 20, 21, 40, 38, 76, 77])
    assert [flag.code for flag in lucky.flags if "superlinear" in flag.code] == ["perhaps superlinear"]
    assert predict(lucky, 10).value is not None
    sure = fit_usl(n, [10, 10.01, 24, 24.1, 50, 50.2, 100, 101])
    assert any(flag.startswith("superlinear at 2, 4, 8") for flag in texts(sure.flags))
    assert predict(sure, 10).value is None


@pytest.mark.parametrize(("n", "rates"), [
    ([1, 2], [1, 2]), ([1, 2, 2, 2], [1, 2, 2, 2]), ([0, 1, 2], [1, 1, 1]), ([1, 2, 3], [1, 0, 1]),
    ([1, 2, 3], [1, math.nan, 1]), ([1, 2, 3], [1, 2]),
])  # fmt: skip
def test_what_no_law_can_be_fitted_to(n: list[float], rates: list[float]) -> None:
    refuses(ValueError, "expected", fit_usl, n, rates)


def test_few_points_have_no_interval_and_some_curves_no_prediction() -> None:
    fit = fit_usl([1, 2, 4], [10, 18, 29.0])
    assert fit.sigma.value is not None and fit.sigma.low is None and "need" in fit.sigma.warnings[0]
    assert predict(fit, 8).low is None
    fit = fit_usl([1.0, 2, 4, 8], [10, 23, 50, 90])
    assert predict(fit, 10).warnings == (fit.misfit,) and fit.misfit.startswith("superlinear at 2, 4")
    assert {fit.sigma.value, fit.kappa.value, fit.gamma.low, fit.optimum.value} == {None}
    fit = fit_usl([1, 2, 4, 8], [1, 1.2, 4, 2.1])
    found = fitted_throughput(fit, 8)
    assert found.low is not None and found.value is not None and found.low < found.value
    assert found.high is None and any("from below only" in text for text in found.warnings)
    with pytest.raises(ValueError):
        least(np.array([[1.0, np.nan, 1.0]] * 4), np.ones(4))


def test_a_prediction_is_a_bracket_that_holds_the_truth() -> None:
    rng, held, refused = np.random.default_rng(3), 0, 0
    for _ in range(100):
        fit = fit_usl(SIZES, curve(SIZES, 0.08, 0.0) * np.exp(0.03 * rng.standard_normal(SIZES.size)))
        made = predict(fit, 64)
        if made.value is None:
            refused += 1  # a lack of fit by chance
            continue
        assert made.low is not None and made.high is not None and made.low < made.value < made.high
        held += made.contains(float(curve(np.array([64.0]), 0.08, 0.0)[0]))
    assert refused <= 5 and held >= 0.9 * (100 - refused)


@pytest.mark.parametrize(("n", "boundaries", "why"), [
    (65, (), "more than 2 times the largest size measured (32)"), (48, (32,), "beyond 32 a cache begins"),
    (48, (64, 40), "beyond 40 a cache begins; nothing was measured there"), (1, (), "above 1"),
])  # fmt: skip
def test_a_prediction_is_refused(n: float, boundaries: tuple[int, ...], why: str) -> None:
    made = predict(
        fit_usl(SIZES, curve(SIZES, 0.05, 0.001)), n, [Boundary(after, "a cache begins") for after in boundaries]
    )
    assert made.value is None and why in made.warnings[0]


def test_how_far_a_curve_may_be_drawn() -> None:
    fit, bad = fit_usl(SIZES, curve(SIZES, 0.05, 0.001)), fit_usl([1.0, 2, 4, 8], [10, 23, 50, 90])
    end, why = largest_prediction(fit, [Boundary(40, "a socket begins")])
    assert (end, why) == (40, "beyond 40 a socket begins; nothing was measured there")
    assert largest_prediction(bad)[0] == 8 and largest_prediction(bad)[1].startswith("superlinear")
    limits = [Boundary(16, "a cache begins"), Boundary(64, "a socket begins")]
    fit = fit_usl(SIZES, curve(SIZES, 0.05, 0.001))
    assert predict(fit, 48, limits).value is not None
    assert largest_prediction(fit, limits) == (64, "2 times the largest size measured")


def test_the_curve_within_what_was_measured_has_its_profile_interval() -> None:
    rng, held = np.random.default_rng(4), 0
    for _ in range(100):
        fit = fit_usl(SIZES, curve(SIZES, 0.08, 0.0005) * np.exp(0.03 * rng.standard_normal(SIZES.size)))
        inside, beyond = fitted_throughput(fit, 12), predict(fit, 12)
        held += inside.contains(float(curve(np.array([12.0]), 0.08, 0.0005)[0]))
        assert beyond.low is None or (inside.low is not None and beyond.low <= inside.low)  # a lack of fit by chance
    assert held >= 88 and fitted_throughput(fit, 1) == fit.gamma


@pytest.mark.parametrize(("sigma", "kappa"), [(0.05, 0.002), (0.0, 0.0)])
def test_speedups_along_the_curve_hold_the_truth(sigma: float, kappa: float) -> None:
    """Divided by a throughput of one that were known, 12 to 17% of these would miss."""
    n, rng, n_fits, inside = np.repeat([1.0, 2, 4, 8], 5), np.random.default_rng(11), 150, 0
    for _ in range(n_fits):
        fit = fit_usl(n, curve(n, sigma, kappa) * np.exp(rng.normal(0, 0.03, n.size)))
        found = fitted_throughput(fit, 8, over=1.0)
        assert found.low is not None and found.high is not None and found.value is not None
        inside += found.low <= float(curve(np.array(8.0), sigma, kappa)) / 10 <= found.high
    assert inside / n_fits > 0.9
    assert fitted_throughput(fit, 1, over=1.0).low == fitted_throughput(fit, 1, over=1.0).high == 1.0


@pytest.mark.parametrize("weights", ["relative", "none"])
def test_the_gain_of_one_more_errs_less_than_the_throughput(weights: str) -> None:
    noise = np.exp(np.random.default_rng(5).normal(0, 0.03, SIZES.size))
    fit = fit_usl(SIZES, curve(SIZES, 0.05, 0.0) * noise, weights=weights)  # type: ignore[arg-type]
    alone, gain = predict(fit, 33), predict(fit, 33, over=32.0)
    assert gain.value == pytest.approx(fit.throughput(33) / fit.throughput(32))
    assert alone.value and alone.low and alone.high and gain.value and gain.low and gain.high
    assert gain.low < gain.value < gain.high < 33 / 32
    assert gain.high - gain.low < 0.5 * (alone.high - alone.low) / alone.value


def test_a_size_below_the_base_has_a_ratio_too() -> None:
    fit = fit_usl(SIZES, curve(SIZES, 0.05, 0.001) * np.exp(np.random.default_rng(2).normal(0, 0.02, SIZES.size)))
    found, other = fitted_throughput(fit, 2, over=8.0), fitted_throughput(fit, 8, over=2.0)
    assert found.low and found.high and other.low and other.high
    assert (1 / found.high, 1 / found.low) == (pytest.approx(other.low, rel=1e-3), pytest.approx(other.high, rel=1e-3))


def test_a_bend_shows_in_the_order_of_residuals_also_with_one_run_a_size() -> None:
    n, rng = np.arange(1, 31.0), np.random.default_rng(6)
    knees = np.minimum(10 * n, 80) * np.exp(0.02 * rng.standard_normal((20, n.size)))
    lawful = curve(n, 0.05, 0.001) * np.exp(0.02 * rng.standard_normal((60, n.size)))
    found = [sum("lack of fit" in {flag.code for flag in fit_usl(n, x).flags} for x in xs) for xs in (knees, lawful)]
    assert found[0] >= 16 and found[1] <= 9


def test_more_runs_narrow_a_prediction_at_twice_the_range() -> None:
    rng, width = np.random.default_rng(7), {}
    for n_runs in (3, 100):
        n = np.repeat([1.0, 2, 4, 8, 16, 32], n_runs)
        made = predict(fit_usl(n, curve(n, 0.05, 0.001) * np.exp(0.03 * rng.standard_normal(n.size))), 64)
        width[n_runs] = (made.high or math.inf) / (made.low or 1.0)
    assert width[100] < 1 + 0.5 * (width[3] - 1)
