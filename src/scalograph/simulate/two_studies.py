"""One sweep before and after a change, each a study of its own: the truth for what is said of two results."""

from typing import Literal

import numpy as np

from scalograph.simulate.noise import LOW, FloatArray, Noise
from scalograph.simulate.versions import Kind, session

# What the change is in: all times, the share that is serial, or the cost of coherency.
Place = Literal["level", "sigma", "kappa"]
SIZES = (1, 2, 4, 8, 16, 32)
SIGMA, KAPPA = 0.05, 0.0005


def times(effect: float = 0.0, place: Place = "level") -> FloatArray:
    """Return the typical time at each of SIZES, by the universal scalability law; 1 at the first.

    Args:
        effect: by how much more time the largest size takes, as a share; at least the negative of its time.
        place: what changes.

    >>> times()[0], round(float(times(0.05, "kappa")[-1] / times()[-1]), 9)
    (np.float64(1.0), 1.05)
    """
    n = np.array(SIZES, dtype=np.float64)
    base = 1 / n + SIGMA * (n - 1) / n + KAPPA * (n - 1)
    if place == "level":
        return np.asarray(base * (1 + effect))
    grows = (n - 1) / n if place == "sigma" else n - 1
    changed: FloatArray = base + effect * base[-1] / grows[-1] * grows
    return changed


def study(rng: np.random.Generator, typical: FloatArray, n_blocks: int, noise: Noise | Kind = LOW) -> FloatArray:
    """Return the scores of a sweep in randomized blocks, shape (n_blocks, n_sizes).

    Args:
        rng: source of randomness.
        typical: time at each size.
        n_blocks: runs of each.
        noise: of the runs, or a kind of session.
    """
    shape = (n_blocks, typical.size)
    if isinstance(noise, Noise):
        logs = noise.run_logs(rng, shape) + np.median(noise.iteration_logs(rng, (*shape, 20)), axis=-1)
        return typical * np.exp(logs)
    place = np.argsort(rng.random(shape), axis=1)
    made = session(rng, noise, typical.size * n_blocks, np.log(typical)[place].ravel()).reshape(shape)
    found = np.empty(shape)
    np.put_along_axis(found, place, made, axis=1)
    return found
