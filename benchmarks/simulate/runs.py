"""Simulated scores and iterations of runs around a known time, and true speedup curves."""

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Literal

import numpy as np

from simulate.noise import LOW, FloatArray, Noise

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
    """Draw times of iterations, shape (n_runs, n_iterations); the first `warmup` take `warmup_factor` times as long."""
    logs = noise.run_logs(rng, (n_runs, 1)) + noise.iteration_logs(rng, (n_runs, n_iterations))
    logs[:, :warmup] += math.log(warmup_factor)
    return typical * np.exp(logs)


def run_scores(
    rng: np.random.Generator, shape: tuple[int, ...], noise: Noise = LOW, n_iterations: int = 20
) -> FloatArray:
    """Draw scores (medians of iterations) of runs whose undisturbed typical time is 1."""
    logs = noise.run_logs(rng, shape)
    return np.exp(logs + np.median(noise.iteration_logs(rng, (*shape, n_iterations)), axis=-1))


def drift(n_runs: int, total: float) -> FloatArray:
    """Return the factor of each run of a session, shape (n_runs,): evenly from 1 to 1 + total.

    >>> drift(3, 0.06)
    array([1.  , 1.03, 1.06])
    """
    return np.linspace(1.0, 1.0 + total, n_runs)


def aa_tests(
    rng: np.random.Generator,
    n_tests: int,
    n_pairs: int,
    *,
    order: Order = "randomized",
    drift_total: float = 0.06,
    noise: Noise = LOW,
    n_iterations: int = 20,
) -> tuple[FloatArray, FloatArray]:
    """Simulate A/A tests: the same configuration twice under a drift, each of shape (n_tests, n_pairs).

    `order` is `randomized` within pairs, `alternating` ABAB, or `blocked` AAABBB; times grow by `drift_total`.
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
    """Simulate a sweep of levels with typical times, in randomized blocks that hold every level once.

    Times grow by `drift_total` over all blocks. Returns level -> scores, and level -> the block of each.
    """
    levels, k = list(typical), len(typical)
    times = run_scores(rng, (n_blocks, k), noise, n_iterations)
    position = np.argsort(rng.random((n_blocks, k)), axis=1)  # where in its block each level ran
    times *= drift(n_blocks * k, drift_total).reshape(n_blocks, k)[np.arange(n_blocks)[:, None], position]
    scores = {n: typical[n] * times[:, i] for i, n in enumerate(levels)}
    return scores, {n: list(range(n_blocks)) for n in levels}


def linear(n: float) -> float:
    """Return the linear speedup, n."""
    return float(n)


def amdahl(n: float, serial: float) -> float:
    """Return the speedup with a share `serial` of the work, 0 to 1, that only one CPU can do.

    Source: G. M. Amdahl, AFIPS Spring Joint Computer Conference 1967.

    >>> amdahl(4, 0.0), amdahl(4, 1.0)
    (4.0, 1.0)
    """
    return 1 / (serial + (1 - serial) / n)


def usl(n: float, sigma: float, kappa: float) -> float:
    """Return the speedup with contention `sigma` and coherency `kappa`, both 0 or more.

    Source: N. J. Gunther, Guerrilla capacity planning, Springer 2007, universal scalability law.

    >>> usl(1, 0.1, 0.01)
    1.0
    """
    return n / (1 + sigma * (n - 1) + kappa * n * (n - 1))


def usl_peak(sigma: float, kappa: float) -> float:
    """Return the n at which `usl` is largest; infinite if kappa is 0."""
    return math.inf if kappa == 0 else math.sqrt((1 - sigma) / kappa)


def lock_collapse(n: float, at: float, left: float, before: Callable[[float], float] = linear) -> float:
    """Return a speedup that falls to `left` times the baseline's once `at` contenders meet at a lock.

    >>> lock_collapse(4, at=8, left=0.53), lock_collapse(8, at=8, left=0.53)
    (4.0, 0.53)
    """
    return left if n >= at else before(n)


def times(speedup: Callable[[float], float], levels: Iterable[int], first: float = 1.0) -> dict[int, float]:
    """Return the time of a fixed total work at each level; it takes `first` at n = 1.

    >>> times(linear, (1, 2, 4))
    {1: 1.0, 2: 0.5, 4: 0.25}
    """
    return {n: first / speedup(n) for n in levels}
