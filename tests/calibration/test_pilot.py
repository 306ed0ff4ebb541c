"""The short version of benchmarks/statistics_{pilot,stopping}.py: studies reach their precision at a good price."""

import numpy as np
import pytest
from simulate.noise import HIGH, LOW, Noise
from simulate.runs import run_iterations, run_scores

from scalograph.analysis.allocate import iterations_per_run
from scalograph.analysis.stopping import Stopping, half_width
from scalograph.questions.pilot.model import SURE, Pilot, pilot, runs_for

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


def sequential(rule: Stopping, noise: Noise, n_cases: int, seed: int) -> tuple[float, float]:
    """Runs on average, and the share of intervals that hold the median."""
    samples = run_scores(np.random.default_rng([31, seed]), (n_cases, 200), noise)
    truth, runs, held = noise.truth("median"), [], 0
    for sample in samples:
        n = next(n for n in range(rule.first_look + 1, 201) if n == 200 or rule.is_precise(sample[:n]))
        runs.append(n)
        held += rule.estimate(sample[:n]).contains(truth)
    return float(np.mean(runs)), held / n_cases


@pytest.mark.parametrize(("noise", "planned", "at_most"), [(LOW, 40, 41), (HIGH, 70, 70)], ids=["low", "high"])
def test_one_percent(noise: Noise, planned: int, at_most: int) -> None:
    n_cases = 400
    runs, share = sequential(Stopping(0.01, planned), noise, n_cases, planned)
    assert runs <= at_most
    assert share >= 0.94 - 2 * np.sqrt(0.05 * 0.95 / n_cases)


def test_the_share_is_measured_and_not_assumed() -> None:
    """Against another truth the same intervals fail: the check can."""
    rule = Stopping(0.02, 16)
    samples = run_scores(np.random.default_rng(33), (100, 60), LOW)
    ends = (next(n for n in range(9, 61) if n == 60 or rule.is_precise(s[:n])) for s in samples)
    assert sum(rule.estimate(s[:n]).contains(1.05) for s, n in zip(samples, ends, strict=True)) < 20
