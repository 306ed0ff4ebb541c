"""Simulated sessions and sweeps before and after a change, and the coverage of intervals."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from simulate.noise import LOW, FloatArray, Noise

Kind = Literal["normal", "lognormal", "outliers", "modes", "autocorrelated", "step", "drift", "ticks"]
KINDS: tuple[Kind, ...] = get_args(Kind)
# Typical time in ms, the tick of a coarse clock, and the spread of runs unless the kind says otherwise.
TYPICAL, TICK, SPREAD = 120.0, 10.0, 0.01

Array = NDArray[np.float64]


def session(rng: np.random.Generator, kind: Kind, n_runs: int, effects: Array | None = None) -> Array:
    """Draw the times of runs in the order of measurement, with the log effect of what each run measures.

    Kinds of noise: normal of 1%, lognormal of 30%, one run in twenty at three times, 30% of the runs at .77,
    correlated by .7 from run to run, one step of 10%, a drift of 6%, or a clock that ticks every 10 ms.
    """
    noise = rng.standard_normal(n_runs)
    logs = SPREAD * noise + (0.0 if effects is None else effects)
    if kind == "lognormal":
        logs += (0.3 - SPREAD) * noise
    elif kind == "outliers":
        logs += np.log(3) * (rng.random(n_runs) < 0.05)
    elif kind == "modes":
        logs += np.log(0.77) * (rng.random(n_runs) < 0.3)
    elif kind == "autocorrelated":
        logs += _correlated_noise(rng, n_runs) - SPREAD * noise
    elif kind == "step":
        logs += np.log(1.1) * (np.arange(n_runs) >= rng.integers(n_runs))
    elif kind == "drift":
        logs += np.linspace(0, np.log(1.06), n_runs)
    times = TYPICAL * np.exp(logs)
    return TICK * np.maximum(1.0, np.round(times / TICK)) if kind == "ticks" else times


def blocks(rng: np.random.Generator, kind: Kind, n: int, effect: float) -> tuple[Array, Array]:
    """Draw the times, by block, of a version that takes less by a share `effect`, and of its reference."""
    first = rng.random(n) < 0.5
    is_new = np.column_stack([first, ~first])
    times = session(rng, kind, 2 * n, np.log1p(-effect) * is_new.ravel()).reshape(n, 2)
    return times[is_new], times[~is_new]


def _correlated_noise(rng: np.random.Generator, n: int, spread: float = 0.02, rho: float = 0.7) -> Array:
    logs = spread * rng.standard_normal(n)
    for i in range(1, n):
        logs[i] = rho * logs[i - 1] + np.sqrt(1 - rho**2) * logs[i]
    return logs


# What the change is in: all times, the share that is serial, or the cost of coherency.
Place = Literal["level", "sigma", "kappa"]
SIZES = (1, 2, 4, 8, 16, 32)
SIGMA, KAPPA = 0.05, 0.0005


def times(effect: float = 0.0, change: Place = "level") -> FloatArray:
    """Return the typical time at each of SIZES, by the universal scalability law; 1 at the first.

    The largest size takes more by a share `effect`, at least the negative of its time.

    >>> times()[0], round(float(times(0.05, "kappa")[-1] / times()[-1]), 9)
    (np.float64(1.0), 1.05)
    """
    n = np.array(SIZES, dtype=np.float64)
    base = 1 / n + SIGMA * (n - 1) / n + KAPPA * (n - 1)
    if change == "level":
        return np.asarray(base * (1 + effect))
    grows = (n - 1) / n if change == "sigma" else n - 1
    changed: FloatArray = base + effect * base[-1] / grows[-1] * grows
    return changed


def study(rng: np.random.Generator, typical: FloatArray, n_blocks: int, noise: Noise | Kind = LOW) -> FloatArray:
    """Draw the scores of a sweep in randomized blocks, shape (n_blocks, n_sizes)."""
    shape = (n_blocks, typical.size)
    if isinstance(noise, Noise):
        logs = noise.run_logs(rng, shape) + np.median(noise.iteration_logs(rng, (*shape, 20)), axis=-1)
        return typical * np.exp(logs)
    position = np.argsort(rng.random(shape), axis=1)
    drawn = session(rng, noise, typical.size * n_blocks, np.log(typical)[position].ravel()).reshape(shape)
    scores = np.empty(shape)
    np.put_along_axis(scores, position, drawn, axis=1)
    return scores


class Interval(Protocol):
    """Anything with two ends; None if there is no interval."""

    @property
    def low(self) -> float | None: ...

    @property
    def high(self) -> float | None: ...


@dataclass(frozen=True, slots=True)
class Coverage:
    """Share of `n` intervals that contain the true value, and their median half-width over that value."""

    share: float
    n: int
    half_width: float

    @property
    def error(self) -> float:
        """Standard error of `share`, from the number of intervals alone."""
        return math.sqrt(self.share * (1 - self.share) / self.n)


def coverage(intervals: Iterable[Interval], truth: float) -> Coverage:
    """Return the coverage of `truth`, which is not zero. Raises ValueError without intervals."""
    ends = [(x.low, x.high) for x in intervals]
    if not ends:
        raise ValueError("coverage: found no intervals, expected at least one")
    bounded = [(low, high) for low, high in ends if low is not None and high is not None]
    held = sum(low <= truth <= high for low, high in bounded)
    half = float(np.median([high - low for low, high in bounded])) / 2 / abs(truth) if bounded else math.inf
    return Coverage(held / len(ends), len(ends), half)
