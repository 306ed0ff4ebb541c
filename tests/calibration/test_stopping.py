"""The short version of benchmarks/statistics_stopping.py: +-1 % in few runs, and the interval still covers."""

import numpy as np
import pytest

from scalograph.analysis.stopping import Stopping
from scalograph.simulate.noise import HIGH, LOW, Noise
from scalograph.simulate.runs import run_scores


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
