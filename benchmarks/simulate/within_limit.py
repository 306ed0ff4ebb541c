"""Queues with known response times, and simulated searches for the highest level within a limit."""

from collections.abc import Callable, Sequence
from math import log

import numpy as np

from scalograph.analysis.crossing import Crossing
from scalograph.questions.within_limit.search_state import MOST, LimitState
from simulate.noise import Noise

# Ends of a binary search that are as near to each other are close enough.
NEAR = 0.02
# Level of a load -> response over its limit.
Queue = Callable[[float], float]


def queue(rng: np.random.Generator, top: int) -> tuple[Queue, float]:
    """Draw a queue whose p90 crosses its limit somewhere in the range, with that level.

    The p90 of one server with exponential times is ln 10 / (mu - lambda); beyond mu it grows for as long as a run is.
    Several servers, and less variable times, are flat for longer: (1 - rho^k) in place of (1 - rho).
    """
    at, k = float(rng.uniform(log(0.05 * top), log(0.9 * top))), rng.uniform(1, 6)
    base = float(np.exp(rng.uniform(log(0.02), log(0.6))))  # response without load, over the limit
    crossing = float(np.exp(at))
    most = crossing / (1 - base) ** (1 / k)

    def response(level: float) -> float:
        return float(base / (1 - (level / most) ** k) if level < 0.999 * most else 1000 * base * (level / most))

    return response, crossing


def search(over: Queue, levels: Sequence[int], rng: np.random.Generator, noise: Noise) -> tuple[Crossing | None, int]:
    """Simulate a search on responses over the limit; return its posterior, and the number of runs."""
    state = LimitState(levels, 1.0)
    while (level := state.next_level) is not None and len(state.at) < MOST:
        state.observe(level, draw_run(over, level, rng, noise))
    return state.crossing, len(state.at)


def bisect(over: Queue, levels: Sequence[int], rng: np.random.Generator, noise: Noise) -> tuple[int, int]:
    """Simulate a binary search with one run a step; return the highest level that met the limit, and the runs.

    As people do it by hand with a load generator: whichever side a run is on is believed.
    """
    low, high, n = levels[0], levels[-1], 0
    while high - low > max(1, NEAR * low) and n < MOST:
        middle, n = (low + high) // 2, n + 1
        low, high = (middle, high) if draw_run(over, middle, rng, noise) <= 1 else (low, middle)
    return low, n


def draw_run(over: Queue, level: int, rng: np.random.Generator, noise: Noise) -> float:
    """Draw the response of a run: its noise grows to three times at the limit and beyond, as that of waits does."""
    here = over(level)
    log_off = float(noise.run_logs(rng, (1,))[0]) * (1 + 2 * min(1.0, here))
    return here * float(np.exp(log_off))
