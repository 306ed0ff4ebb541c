"""The short version of benchmarks/statistics_pilot.py: proposals reach the precision, at a price near the best."""

import numpy as np
import pytest

from scalograph.analysis.allocate import iterations_per_run
from scalograph.analysis.stopping import half_width
from scalograph.questions.pilot.model import (
    SURE,
    Pilot,
    pilot,
    runs_for,
)
from scalograph.simulate.noise import HIGH, LOW, Noise
from scalograph.simulate.runs import run_iterations

MIXED = Noise(within=0.06, between=0.03)
N_CASES = 300


def piloted(rng: np.random.Generator, noise: Noise) -> Pilot:
    found = pilot([list(run_iterations(rng, level, 3, 5, noise)) for level in (1.0, 0.5, 0.3, 0.2)])
    assert found is not None
    return found


def proposed(known: Pilot, start: float) -> int:
    if known.spread is None or not known.differ:
        return known.iterations
    return iterations_per_run(start, 1.0, known.spread.within, known.spread.between).iterations or known.iterations


def share_that_reaches(noise: Noise, sure: float, seed: int) -> float:
    rng, hits = np.random.default_rng(seed), 0
    for _ in range(N_CASES):
        known = piloted(rng, noise)
        m = proposed(known, 20.0)
        n = runs_for(known.sd_at(m), known.df, 0.02, sure=sure)
        assert n is not None
        half = half_width(np.median(run_iterations(rng, 1.0, n, m, noise), axis=1))
        hits += half is not None and half <= 0.02
    return hits / N_CASES


@pytest.mark.parametrize("noise", [LOW, MIXED, HIGH], ids=["low", "mixed", "high"])
def test_four_of_five_studies_reach_the_precision(noise: Noise) -> None:
    assert share_that_reaches(noise, SURE, 41) >= 0.8 - 2 * (0.8 * 0.2 / N_CASES) ** 0.5


def test_planned_from_the_plain_value_they_do_not() -> None:
    """The share is measured and not assumed."""
    assert share_that_reaches(LOW, 0.5, 42) < 0.7


@pytest.mark.parametrize("start", [1.0, 20.0])
@pytest.mark.parametrize("noise", [LOW, MIXED], ids=["low", "mixed"])
def test_iterations_cost_at_most_twice_the_best(noise: Noise, start: float) -> None:
    def price(m: int) -> float:
        return (start + m) * noise.score_sd(m) ** 2

    rng, best = np.random.default_rng(43), min(map(price, range(1, 1001)))
    assert sum(price(proposed(piloted(rng, noise), start)) <= 2 * best for _ in range(N_CASES)) >= 0.9 * N_CASES
