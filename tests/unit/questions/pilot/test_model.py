"""Noise pooled over the configurations of a pilot, and the runs that it asks for."""

import math

import numpy as np
import pytest
from simulate.noise import LOW, Noise
from simulate.runs import run_iterations

from scalograph.questions.pilot.model import half_width_of, noisier_configurations, pilot, runs_for


def made(
    noise: Noise, levels: tuple[float, ...] = (1.0, 50.0), runs: int = 200, m: int = 9, seed: int = 1
) -> list[object]:
    rng = np.random.default_rng(seed)
    return [list(run_iterations(rng, level, runs, m, noise)) for level in levels]


def test_a_large_pilot_gives_back_its_noise_whatever_the_levels() -> None:
    found = pilot(made(LOW))
    assert found is not None and found.spread is not None
    assert found.spread.within == pytest.approx(0.02, rel=0.05)
    assert found.spread.between == pytest.approx(0.03, rel=0.1)
    assert found.sd_score == pytest.approx(LOW.score_sd(9), rel=0.1)
    assert (found.df, found.iterations, found.differ) == (398, 9, True)


@pytest.mark.parametrize("m", [1, 3, 100])
def test_it_knows_the_noise_of_longer_and_shorter_runs(m: int) -> None:
    found = pilot(made(Noise(within=0.06, between=0.02)))
    assert found is not None
    assert found.sd_at(m) == pytest.approx(Noise(within=0.06, between=0.02).score_sd(m), rel=0.12)


def test_runs_that_do_not_differ_are_not_said_to_and_hidden_noise_is_bounded() -> None:
    seen = [pilot(made(Noise(within=0.05, between=0.0), runs=3, m=5, seed=n)) for n in range(200)]
    assert sum(found is not None and found.differ for found in seen) <= 20
    alike = next(found for found in seen if found is not None and not found.differ)
    assert alike.sd_at(100) == alike.sd_score
    seen = [pilot(made(LOW, runs=3, m=5, seed=n)) for n in range(200)]
    assert sum(found is not None and found.between_most >= 0.03 for found in seen) >= 180


def test_one_iteration_tells_of_scores_only() -> None:
    found = pilot([[[1.0], [1.1], [1.2]]])
    assert found is not None
    assert (found.spread, found.differ, found.df) == (None, False, 2)
    assert found.sd_score == pytest.approx(np.log([1.0, 1.1, 1.2]).std(ddof=1))
    assert found.sd_at(9) == found.sd_score


@pytest.mark.parametrize("configurations", [[], [[[1.0, 2.0]]], [[[1.0]], [[2.0]]], [[[0.0], [0.0]]], [[[], [1.0]]]])
def test_too_little_is_no_pilot(configurations: list[list[list[float]]]) -> None:
    assert pilot(configurations) is None


def test_identical_iterations_are_no_noise() -> None:
    found = pilot([[[1.0, 1.0], [1.0, 1.0]]])
    assert found is not None
    assert (found.sd_score, found.differ) == (0.0, False)


def test_a_configuration_that_varies_more_is_named() -> None:
    still, wild = made(Noise(0.01, 0.01), runs=3, levels=(1.0,) * 3), made(Noise(0.01, 0.5), runs=3, levels=(1.0,))
    assert noisier_configurations([*still, *wild]) == [3]
    alike = [noisier_configurations(made(LOW, levels=(1.0,) * 4, runs=3, seed=n)) for n in range(100)]
    assert sum(map(bool, alike)) <= 12  # one of twenty by chance


def test_a_surer_plan_and_a_smaller_pilot_ask_for_more_runs() -> None:
    assert runs_for(0.03, 10**6, 0.01, sure=0.5) == pytest.approx(37, abs=2)  # t * 3% / sqrt(n) = 1%
    half, sure, small = runs_for(0.03, 8, 0.01, sure=0.5), runs_for(0.03, 8, 0.01), runs_for(0.03, 2, 0.01)
    assert half is not None and sure is not None and small is not None
    assert half < sure < small
    assert runs_for(0.0, 2, 0.01) == 2


def test_what_is_out_of_reach_is_no_number_and_the_expected_half_width() -> None:
    assert runs_for(1.0, 8, 0.001) is None
    with pytest.raises(ValueError, match="above zero"):
        runs_for(0.03, 8, 0.0)
    assert half_width_of(0.03, 5) == pytest.approx(2.776 * 0.03 / math.sqrt(5), rel=1e-3)
