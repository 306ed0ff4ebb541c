"""The short version of benchmarks/statistics_cliff.py: few runs, the place is right, and none where there is none."""

from functools import partial
from math import exp, log

import numpy as np
import pytest

from scalograph.questions.cliff.truth import (
    Draw,
    bend,
    curve,
    jump,
    line,
    moving,
    search,
)
from scalograph.simulate.noise import HIGH, LOW, Noise

TOP, N_CASES = 512, 10


def found_and_runs(draw: Draw, noise: Noise, n_cases: int = N_CASES) -> tuple[float, list[int]]:
    """Share of places within 5 % or between the same levels, none where there is none; and runs of each search."""
    rng, right, runs = np.random.default_rng(43), 0, list[int]()
    for _ in range(n_cases):
        program = draw(rng, TOP)
        found = search(program, rng, noise)
        place = found.sure[0].location if found.sure else None
        if program.place is None or place is None:
            right += program.place is None and place is None
        else:
            right += abs(log(place) - program.place) <= 0.05 or int(place) == int(exp(program.place))
        runs.append(found.n)
    return right / n_cases, runs


@pytest.mark.parametrize("noise", [LOW, HIGH], ids=["low", "high"])
@pytest.mark.parametrize("factor", [1.3, 2.0])
def test_a_cliff_is_found(factor: float, noise: Noise) -> None:
    share, runs = found_and_runs(partial(jump, factor=factor), noise, n_cases := 2 * N_CASES)
    # 23 on average over many programs (the benchmark); twenty of them vary, and one may take twice as many.
    assert np.median(runs) <= 23 and np.mean(runs) <= 25
    assert share >= 0.95 - 2 * np.sqrt(0.05 * 0.95 / n_cases)


@pytest.mark.parametrize("draw", [line, bend, curve])
def test_none_is_found_where_there_is_none(draw: Draw) -> None:
    share, _ = found_and_runs(draw, HIGH)
    assert share >= 0.95 - 2 * np.sqrt(0.05 * 0.95 / N_CASES)


def test_a_place_that_moves_is_told_and_one_that_stays_is_not() -> None:
    rng = np.random.default_rng(47)
    moves = [search(moving(rng, TOP, 2.0, 0.2), rng, HIGH) for _ in range(N_CASES)]
    stays = [search(jump(rng, TOP, 2.0), rng, HIGH) for _ in range(N_CASES)]
    assert sum(found.wandering is not None for found in moves) >= 6
    assert sum(found.wandering is not None for found in stays) <= 1


def test_a_wrong_answer_is_counted_as_one() -> None:
    share, _ = found_and_runs(lambda rng, top: jump(rng, top, factor=1.0), LOW, 5)
    assert share == 0
