"""The short version of benchmarks/statistics_effective_cpus.py: few runs, and the answer is right."""

from collections.abc import Callable, Iterator
from itertools import islice

import numpy as np
import pytest

from scalograph.questions.effective_cpus.truth import (
    Answer,
    any_share,
    capped,
    least_level,
    stated,
    with_model,
    with_share,
    without_model,
)
from scalograph.simulate.noise import HIGH, LOW, FloatArray, Noise

from .sequential import is_share

CPUS = range(1, 13)


def answers(
    method: Callable[[FloatArray, np.random.Generator, Noise], Answer],
    is_right: Callable[[FloatArray, int | None], bool],
    noise: Noise,
    runs: list[int],
) -> Iterator[bool]:
    """Whether the answer is right, of one program after the other; `runs` gets what each took."""
    rng = np.random.default_rng(41)
    while True:
        times = capped(rng, CPUS)
        answer, n = method(times, rng, noise)
        runs.append(n)
        yield is_right(times, answer)


def nearly_shortest(times: FloatArray, answer: int | None) -> bool:
    return answer is not None and bool(times[answer - 1] <= 1.07 * times.min())


@pytest.mark.parametrize("noise", [LOW, HIGH], ids=["low", "high"])
def test_with_the_model(noise: Noise) -> None:
    runs = list[int]()
    assert is_share(answers(with_model, least_level, noise, runs), 0.95, rather_than=0.7)
    assert np.mean(runs) <= 15


@pytest.mark.parametrize("noise", [LOW, HIGH], ids=["low", "high"])
def test_without_the_model(noise: Noise) -> None:
    runs = list[int]()
    assert is_share(answers(without_model, nearly_shortest, noise, runs), 0.95, rather_than=0.8)
    assert np.mean(runs) <= 25


def test_a_wrong_answer_is_counted_as_one() -> None:
    assert not any(islice(answers(lambda times, rng, noise: (None, 0), least_level, LOW, []), 20))


def test_a_probability_that_is_stated_is_the_share_that_is_right() -> None:
    rng, levels, found = np.random.default_rng(12), range(1, 5), []
    for case in range(60):
        times = any_share(rng, levels, capped=bool(case % 2))
        answer, probability = stated(times, rng, LOW)
        found.append((probability, least_level(times, answer)))
    said, right = np.array(found).T
    assert abs(said.mean() - right.mean()) <= 0.1
    assert right[said >= 0.95].mean() >= 0.9


def sure_and_wrong() -> Iterator[bool]:
    """Whether a sure answer is wrong, of one program that is almost serial after the other."""
    rng, times = np.random.default_rng(13), with_share(2, 0.9, range(1, 3))
    while True:
        answer, probability = stated(times, rng, LOW)
        yield probability >= 0.95 and not least_level(times, answer)


def test_no_sure_answer_is_wrong_of_a_program_that_is_almost_serial() -> None:
    assert is_share(sure_and_wrong(), 0.05, rather_than=0.25)
