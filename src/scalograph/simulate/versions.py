"""Two versions in randomized blocks, under noise of a kind: the truth for what is said of them."""

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

Kind = Literal["normal", "lognormal", "outliers", "modes", "autocorrelated", "step", "drift", "ticks"]
KINDS: tuple[Kind, ...] = get_args(Kind)
# Typical time in ms, the tick of a coarse clock, and the spread of runs unless the kind says otherwise.
TYPICAL, TICK, SPREAD = 120.0, 10.0, 0.01

FloatArray = NDArray[np.float64]


def session(rng: np.random.Generator, kind: Kind, n_runs: int, effects: FloatArray | None = None) -> FloatArray:
    """Return the times of runs in the order in which they were made, shape (n_runs,).

    Args:
        rng: source of randomness.
        kind: of noise: normal of 1 %, lognormal of 30 %, one run in twenty at three times, 30 % of the runs at .77,
            correlated by .7 from run to run, one step of 10 %, a drift of 6 %, or a clock that ticks every 10 ms.
        n_runs: in all.
        effects: log effect of what each run measures; None for none.
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
        logs += _autocorrelated(rng, n_runs) - SPREAD * noise
    elif kind == "step":
        logs += np.log(1.1) * (np.arange(n_runs) >= rng.integers(n_runs))
    elif kind == "drift":
        logs += np.linspace(0, np.log(1.06), n_runs)
    times = TYPICAL * np.exp(logs)
    return TICK * np.maximum(1.0, np.round(times / TICK)) if kind == "ticks" else times


def blocks(rng: np.random.Generator, kind: Kind, n: int, effect: float) -> tuple[FloatArray, FloatArray]:
    """Return the times of a version that takes so much less, as a share, and of its reference; [i] ran in block i."""
    first = rng.random(n) < 0.5
    is_new = np.column_stack([first, ~first])
    times = session(rng, kind, 2 * n, np.log1p(-effect) * is_new.ravel()).reshape(n, 2)
    return times[is_new], times[~is_new]


def _autocorrelated(rng: np.random.Generator, n: int, spread: float = 0.02, rho: float = 0.7) -> FloatArray:
    logs = spread * rng.standard_normal(n)
    for i in range(1, n):
        logs[i] = rho * logs[i - 1] + np.sqrt(1 - rho**2) * logs[i]
    return logs
