"""The short version of benchmarks/statistics_effective_cpus.py: few runs, and the answer is right."""

from collections.abc import Callable, Iterator
from itertools import count

import numpy as np
import pytest
from simulate.effective_cpus import (
    Answer,
    amdahl_times,
    any_serial_times,
    capped_times,
    is_least_level,
    model_result,
    search_bisection,
    search_model,
)
from simulate.noise import HIGH, LOW, FloatArray, Noise

from tests.calibration.sequential import is_share

CPUS = range(1, 13)


def share_and_runs(
    method: Callable[[FloatArray, np.random.Generator, Noise], Answer], noise: Noise, within: float, n_cases: int
) -> tuple[float, float]:
    """Share of answers that cost at most `within` over the shortest time, and runs on average."""
    rng, right, runs = np.random.default_rng(41), 0, 0
    for _ in range(n_cases):
        times = capped_times(rng, CPUS)
        answer, n = method(times, rng, noise)
        near = answer is not None and times[answer - 1] <= within * times.min()
        right, runs = right + bool(near), runs + n
    return right / n_cases, runs / n_cases


def with_model_right(noise: Noise, runs: list[int]) -> Iterator[bool]:
    """Whether an answer is the least CPU count of the shortest time, of one program after the other.

    A search weighs thousands of programs after each run; `runs` gets how many each took.
    """
    rng = np.random.default_rng(41)
    while True:
        times = capped_times(rng, CPUS)
        answer, n = search_model(times, rng, noise)
        runs.append(n)
        yield is_least_level(times, answer)


@pytest.mark.parametrize("noise", [LOW, HIGH], ids=["low", "high"])
def test_with_the_model(noise: Noise) -> None:
    runs = list[int]()
    assert is_share(with_model_right(noise, runs), 0.95, rather_than=0.7)
    assert np.mean(runs) <= 15


@pytest.mark.parametrize("noise", [LOW, HIGH], ids=["low", "high"])
def test_without_the_model(noise: Noise) -> None:
    share, runs = share_and_runs(search_bisection, noise, 1.07, 150)
    assert runs <= 25
    assert share >= 0.93 - 2 * np.sqrt(0.07 * 0.93 / 150)


def test_a_wrong_answer_is_counted_as_one() -> None:
    share, _ = share_and_runs(lambda times, rng, noise: (None, 0), LOW, 1.07, 20)
    assert share == 0


def test_a_probability_that_is_stated_is_the_share_that_is_right() -> None:
    rng, levels, found = np.random.default_rng(12), range(1, 5), []
    for case in range(120):
        times = any_serial_times(rng, levels, capped=bool(case % 2))
        told = model_result(times, rng, LOW)
        found.append((told.probability, is_least_level(times, told.k_eff), told.misfit))
    said, right, misfit = np.array(found).T
    assert misfit.mean() <= 0.1
    for counted in (misfit >= 0, misfit == 0):
        assert abs(said[counted].mean() - right[counted].mean()) <= 0.1
        assert right[counted & (said >= 0.95)].mean() >= 0.9


def test_no_sure_answer_is_wrong_of_a_program_that_is_almost_serial() -> None:
    rng, times = np.random.default_rng(13), amdahl_times(2, 0.9, range(1, 3))
    told = (model_result(times, rng, LOW) for _ in count())
    assert is_share((one.probability < 0.95 or is_least_level(times, one.k_eff) for one in told), 0.95, rather_than=0.8)
