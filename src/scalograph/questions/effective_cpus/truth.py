"""Searches for effective CPUs on programs with a known truth: as the planner makes them, and by bisection alone."""

from collections.abc import Sequence

import numpy as np

from scalograph.questions.effective_cpus.model import Effective, effective_cpus
from scalograph.questions.effective_cpus.model_programs import GAIN
from scalograph.questions.effective_cpus.model_search import Searched, search
from scalograph.questions.effective_cpus.search_state import EffectiveCourse
from scalograph.simulate.noise import FloatArray, Noise
from scalograph.simulate.runs import amdahl, run_scores

# A search that is not over by then is none.
MOST = 48
# The answer, None where it was not decided; and runs.
Answer = tuple[int | None, int]


def capped(rng: np.random.Generator, levels: Sequence[int]) -> FloatArray:
    """Times on 1, 2, ... CPUs of a program that uses m of them at most, with a serial share up to 5 %."""
    cap, serial = int(rng.integers(1, levels[-1] + 1)), rng.uniform(0, 0.05)
    return with_share(cap, serial, levels)


def any_share(rng: np.random.Generator, levels: Sequence[int], capped: bool) -> FloatArray:
    """The same with any serial share, up to all, with or without a cap."""
    return with_share(int(rng.integers(1, levels[-1] + 1)) if capped else levels[-1], rng.uniform(), levels)


def with_share(cap: int, serial: float, levels: Sequence[int]) -> FloatArray:
    """Times of a program with this cap and this serial share."""
    return np.array([1 / amdahl(min(k, cap), serial) for k in levels])


def least_level(times: FloatArray, answer: int | None) -> bool:
    """Whether the answer is the least CPU count at most 2 % above the shortest time."""
    return answer == 1 + int(np.argmax(times <= (1 + GAIN) * times.min()))


def with_model(times: FloatArray, rng: np.random.Generator, noise: Noise, rounds: bool = False) -> Answer:
    """The search as the planner does it.

    Args:
        times: of the same work on 1, 2, ... CPUs.
        rng: of noise and seed.
        noise: of the scores.
        rounds: the levels count equal pieces of work (`analysis.effective_model.programs`).
    """
    course = EffectiveCourse(range(1, times.size + 1), int(rng.integers(1 << 30)), rounds)
    while (k := course.next_level) is not None and len(course.k) < MOST:
        course.add(k, times[k - 1] * _factor(rng, noise))
    return (course.found.k_eff if course.found and course.found.sure else None), len(course.k)


def stated(times: FloatArray, rng: np.random.Generator, noise: Noise) -> Effective:
    """What the model says when it is over or has had its chance; a probability that counts unless it is a misfit."""
    levels = range(1, times.size + 1)
    course = EffectiveCourse(levels, int(rng.integers(1 << 30)), False)
    while (k := course.next_level) is not None and not isinstance(course.found, Searched):
        course.add(k, times[k - 1] * _factor(rng, noise))
    return effective_cpus(course.k, course.times, levels)


def without_model(times: FloatArray, rng: np.random.Generator, noise: Noise) -> Answer:
    """Bisection alone, from the first run on; arguments as of `with_model`."""
    levels, k, scores = range(1, times.size + 1), list[int](), list[float]()
    while (wanted := (found := search(k, scores, levels)).next_level) is not None:
        k.append(wanted)
        scores.append(times[wanted - 1] * _factor(rng, noise))
    return found.k_eff, len(k)


def _factor(rng: np.random.Generator, noise: Noise) -> float:
    return float(run_scores(rng, (1,), noise)[0])
