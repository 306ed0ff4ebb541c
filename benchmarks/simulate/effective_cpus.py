"""Programs with known effective CPUs, and simulated searches: with a model, and by bisection alone."""

from collections.abc import Sequence

import numpy as np

from scalograph.questions.effective_cpus.model import Effective, effective_cpus
from scalograph.questions.effective_cpus.model_programs import GAIN
from scalograph.questions.effective_cpus.model_search import Bisection, search
from scalograph.questions.effective_cpus.search_state import EffectiveCpusState
from simulate.noise import FloatArray, Noise
from simulate.runs import amdahl, run_scores

# A search that is not over by then is none.
MOST = 48
# The answer, None where it was not decided; and runs.
Answer = tuple[int | None, int]


def capped_times(rng: np.random.Generator, levels: Sequence[int]) -> FloatArray:
    """Draw times on 1, 2, ... CPUs of a program that uses m of them at most, with a serial share up to 5%."""
    cap, serial = int(rng.integers(1, levels[-1] + 1)), rng.uniform(0, 0.05)
    return amdahl_times(cap, serial, levels)


def any_serial_times(rng: np.random.Generator, levels: Sequence[int], capped: bool) -> FloatArray:
    """Draw times with any serial share, with or without a cap."""
    return amdahl_times(int(rng.integers(1, levels[-1] + 1)) if capped else levels[-1], rng.uniform(), levels)


def amdahl_times(cap: int, serial: float, levels: Sequence[int]) -> FloatArray:
    """Return the times of a program with this cap and this serial share."""
    return np.array([1 / amdahl(min(k, cap), serial) for k in levels])


def is_least_level(times: FloatArray, answer: int | None) -> bool:
    """Tell whether the answer is the least CPU count at most 2% above the shortest time."""
    return answer == 1 + int(np.argmax(times <= (1 + GAIN) * times.min()))


def search_model(times: FloatArray, rng: np.random.Generator, noise: Noise, rounds: bool = False) -> Answer:
    """Simulate a search with a model, on times of the same work on 1, 2, ... CPUs."""
    state = EffectiveCpusState(range(1, times.size + 1), int(rng.integers(1 << 30)), rounds)
    while (k := state.next_level) is not None and len(state.k) < MOST:
        state.observe(k, times[k - 1] * _factor(rng, noise))
    return (state.result.k_eff if state.result and state.result.sure else None), len(state.k)


def model_result(times: FloatArray, rng: np.random.Generator, noise: Noise) -> Effective:
    """Return the posterior when the model has decided or has had its chance."""
    levels = range(1, times.size + 1)
    state = EffectiveCpusState(levels, int(rng.integers(1 << 30)), False)
    while (k := state.next_level) is not None and not isinstance(state.result, Bisection):
        state.observe(k, times[k - 1] * _factor(rng, noise))
    return effective_cpus(state.k, state.times, levels)


def search_bisection(times: FloatArray, rng: np.random.Generator, noise: Noise) -> Answer:
    """Simulate a bisection alone, from the first run on."""
    levels, k, scores = range(1, times.size + 1), list[int](), list[float]()
    while (wanted := (result := search(k, scores, levels)).next_level) is not None:
        k.append(wanted)
        scores.append(times[wanted - 1] * _factor(rng, noise))
    return result.k_eff, len(k)


def _factor(rng: np.random.Generator, noise: Noise) -> float:
    return float(run_scores(rng, (1,), noise)[0])
