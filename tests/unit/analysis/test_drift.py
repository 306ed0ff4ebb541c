"""Blocks that resemble their neighbors, and steps between them."""

import tracemalloc
from math import nan

import numpy as np
import pytest

from scalograph.analysis import drift as module
from scalograph.analysis.change_points import FEWEST, change_points
from scalograph.analysis.drift import FEWEST_BLOCKS, Drift, drift


def study(
    seed: int, n_configurations: int = 6, n_blocks: int = 10, phi: float = 0.0, shared: float = 0.02
) -> np.ndarray:
    """Times with noise of 1%, and blocks that share an AR(1) of sd `shared`."""
    rng = np.random.default_rng(seed)
    steps = rng.normal(size=n_blocks)
    block = np.zeros(n_blocks)
    for i in range(n_blocks):
        block[i] = steps[i] if i == 0 else phi * block[i - 1] + np.sqrt(1 - phi**2) * steps[i]
    level = rng.uniform(1, 5, (n_configurations, 1))
    return level * np.exp(shared * block + 0.01 * rng.normal(size=(n_configurations, n_blocks)))


def judged(scores: np.ndarray, seed: int = 0) -> Drift:
    found = drift(scores.tolist(), seed)
    assert found is not None
    return found


@pytest.mark.parametrize("shared", [0.0, 0.02], ids=["still", "blocks differ at random"])
def test_false_alarms_are_as_rare_as_claimed(shared: float) -> None:
    found = [judged(study(i, shared=shared), i) for i in range(300)]
    # 5% of 300 is 15; 27 and more would happen once in 500 such tests.
    assert sum(f.p <= 0.05 for f in found) <= 27 and sum(f.p < 0.01 for f in found) <= 10


def test_a_slow_drift_is_found_and_sized_whatever_the_unit_and_missing_runs() -> None:
    # A configuration's own runs correlate by phi times the share of the blocks in its variance: 0.9 x 0.8.
    found = [judged(study(i, n_blocks=30, phi=0.9), i) for i in range(40)]
    assert sum(f.p < 0.01 for f in found) >= 34
    assert np.median([f.correlation for f in found]) == pytest.approx(0.6, abs=0.15)
    assert np.median([f.interval_factor for f in found]) > 1.6
    scores = study(1, shared=0.0) * np.exp(0.01 * np.arange(10))
    assert judged(scores).p < 0.01
    scores = study(3, phi=0.9)
    assert judged(scores * 1e6).p == judged(scores).p
    scores[0, 2:5] = nan
    assert judged(scores).p == pytest.approx(judged(study(3, phi=0.9)).p, abs=0.1)
    assert drift([[1.0] * 8] * 3) is None and drift(study(1, n_blocks=FEWEST_BLOCKS - 1).tolist()) is None
    assert drift([[nan] * 8, [1.0, *[nan] * 7]]) is None


@pytest.mark.parametrize("phi", [0.0, 0.9], ids=["still", "drifting"])
def test_many_blocks_are_judged_as_by_random_orders(monkeypatch: pytest.MonkeyPatch, phi: float) -> None:
    scores = study(6, n_configurations=3, n_blocks=400, phi=phi, shared=0.004)
    drawn = judged(scores)
    monkeypatch.setattr(module, "MOST_DRAWN", 100)
    reckoned = judged(scores)
    assert reckoned.p == pytest.approx(drawn.p, abs=0.04) and (reckoned.p < 0.01) == (phi > 0)
    assert reckoned.correlation == pytest.approx(drawn.correlation, abs=0.005)


def test_memory_grows_with_the_runs_and_not_with_their_square() -> None:
    """A cell for each two of 20,000 blocks would be 3 GB."""
    scores = study(1, n_configurations=2, n_blocks=20_000)
    tracemalloc.start()
    try:
        assert drift(scores) is not None and tracemalloc.get_traced_memory()[1] < 20e6
    finally:
        tracemalloc.stop()


def series(rng: np.random.Generator, *levels: tuple[int, float], sd: float = 0.01) -> list[float]:
    return [float(level + sd * rng.standard_normal()) for n, level in levels for _ in range(n)]


@pytest.mark.parametrize("n", [FEWEST, 12, 30])
def test_a_series_without_a_change_seldom_has_one(n: int) -> None:
    rng = np.random.default_rng([31, n])
    found = sum(bool(change_points(series(rng, (n, 0.0)), seed=i)) for i in range(60))
    assert found <= 8  # of 60 at 5%: more once in a hundred


def test_steps_are_found_where_they_are_and_few_or_equal_values_have_none() -> None:
    rng = np.random.default_rng(32)
    for i in range(6):
        found = change_points(series(rng, (8, 0.0), (8, 0.05), (8, 0.0)), seed=i)
        assert [change.place for change in found] == pytest.approx([8, 16], abs=1)
    assert change_points([0.0, 0.0, 1.0, 1.0, 1.0]) == change_points([1.0] * 20) == []
