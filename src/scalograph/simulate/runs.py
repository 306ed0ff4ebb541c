"""Simulated records of a study: scores and iterations of runs around a known time."""

import math
from collections.abc import Mapping
from typing import Literal

import numpy as np

from scalograph.simulate.noise import LOW, FloatArray, Noise

Order = Literal["randomized", "alternating", "blocked"]


def run_iterations(
    rng: np.random.Generator,
    typical: float,
    n_runs: int,
    n_iterations: int,
    noise: Noise = LOW,
    warmup: int = 0,
    warmup_factor: float = 3.0,
) -> FloatArray:
    """Draw the times of the iterations of each run, shape (n_runs, n_iterations), in the unit of `typical`.

    The first `warmup` iterations take `warmup_factor` times as long.
    """
    logs = noise.run_logs(rng, (n_runs, 1)) + noise.iteration_logs(rng, (n_runs, n_iterations))
    logs[:, :warmup] += math.log(warmup_factor)
    return typical * np.exp(logs)


def run_scores(
    rng: np.random.Generator, shape: tuple[int, ...], noise: Noise = LOW, n_iterations: int = 20
) -> FloatArray:
    """Draw scores (medians of iterations) of runs whose undisturbed typical time is 1, of this shape."""
    logs = noise.run_logs(rng, shape)
    return np.exp(logs + np.median(noise.iteration_logs(rng, (*shape, n_iterations)), axis=-1))


def drift(n_runs: int, total: float) -> FloatArray:
    """Return the factor of each run of a session, shape (n_runs,): evenly from 1 to 1 + total.

    >>> drift(3, 0.06)
    array([1.  , 1.03, 1.06])
    """
    return np.linspace(1.0, 1.0 + total, n_runs)


def a_a(
    rng: np.random.Generator,
    n_tests: int,
    n_pairs: int,
    *,
    order: Order = "randomized",
    drift_total: float = 0.06,
    noise: Noise = LOW,
    n_iterations: int = 20,
) -> tuple[FloatArray, FloatArray]:
    """Simulate A/A tests: the same treatment twice under a drift, each of shape (n_tests, n_pairs).

    Args:
        rng: source of randomness.
        n_tests: sessions.
        n_pairs: runs of each of the two in a session.
        order: `randomized` within pairs, `alternating` ABAB, or `blocked` AAABBB.
        drift_total: growth of times over the session.
        noise: of the runs.
        n_iterations: per score.

    Returns:
        Scores of A and of B; column i holds the i-th run of each.
    """
    session = run_scores(rng, (n_tests, 2 * n_pairs), noise, n_iterations) * drift(2 * n_pairs, drift_total)
    if order == "blocked":
        return session[:, :n_pairs], session[:, n_pairs:]
    pairs = session.reshape(n_tests, n_pairs, 2)
    swapped = rng.random((n_tests, n_pairs)) < (0.5 if order == "randomized" else 0.0)
    a = np.where(swapped, pairs[..., 1], pairs[..., 0])
    return a, pairs.sum(axis=2) - a


def sweep(
    rng: np.random.Generator,
    typical: Mapping[int, float],
    n_blocks: int,
    *,
    noise: Noise = LOW,
    drift_total: float = 0.0,
    n_iterations: int = 20,
) -> tuple[dict[int, FloatArray], dict[int, list[int]]]:
    """Simulate a sweep in randomized blocks, each of which holds every level once.

    Args:
        rng: source of randomness.
        typical: level -> undisturbed typical time.
        n_blocks: number of blocks, and so of runs of each level.
        noise: of the runs.
        drift_total: growth of times over the session.
        n_iterations: per score.

    Returns:
        Level -> scores, shape (n_blocks,), and level -> the block of each.
    """
    levels, k = list(typical), len(typical)
    times = run_scores(rng, (n_blocks, k), noise, n_iterations)
    place = np.argsort(rng.random((n_blocks, k)), axis=1)  # where in its block each level ran
    times *= drift(n_blocks * k, drift_total).reshape(n_blocks, k)[np.arange(n_blocks)[:, None], place]
    scores = {n: typical[n] * times[:, i] for i, n in enumerate(levels)}
    return scores, {n: list(range(n_blocks)) for n in levels}
