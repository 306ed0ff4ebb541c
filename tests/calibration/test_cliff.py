"""The short version of benchmarks/statistics_cliff.py: few runs, the place is right, and none where there is none."""

from collections.abc import Iterator
from functools import partial
from itertools import islice
from math import exp, log

import numpy as np
import pytest
from simulate.cliff import Draw, JumpingProgram, bend, curve, jump, line, moving, search
from simulate.noise import HIGH, LOW, Noise

from tests.calibration.sequential import is_share

TOP = 512


def is_right(program: JumpingProgram, place: float | None) -> bool:
    """Whether it is within 5% or between the same levels; none where there is none."""
    if program.place is None or place is None:
        return program.place is None and place is None
    return abs(log(place) - program.place) <= 0.05 or int(place) == int(exp(program.place))


def searched(draw: Draw, noise: Noise, runs: list[int]) -> Iterator[bool]:
    """Whether the place that a search tells is right, of one program after the other; `runs` gets what each took."""
    rng = np.random.default_rng(43)
    while True:
        program = draw(rng, TOP)
        found = search(program, rng, noise)
        runs.append(found.n)
        yield is_right(program, found.sure[0].location if found.sure else None)


def told_to_move(draw: Draw) -> Iterator[bool]:
    """Whether a search tells the place to move, of one program after the other."""
    rng = np.random.default_rng(47)
    while True:
        yield search(draw(rng, TOP), rng, HIGH).wandering is not None


@pytest.mark.parametrize("noise", [LOW, HIGH], ids=["low", "high"])
@pytest.mark.parametrize("factor", [1.3, 2.0])
def test_a_cliff_is_found(factor: float, noise: Noise) -> None:
    runs = list[int]()
    assert is_share(searched(partial(jump, factor=factor), noise, runs), 0.95, rather_than=0.7)
    # 23 on average over many programs (the benchmark); of a few, one may take twice as many.
    assert np.median(runs) <= 23 and np.mean(runs) <= 23 + 2 * np.std(runs) / len(runs) ** 0.5


@pytest.mark.parametrize("draw", [line, bend, curve])
def test_none_is_found_where_there_is_none(draw: Draw) -> None:
    assert is_share(searched(draw, HIGH, []), 0.95, rather_than=0.6)


def test_a_place_that_moves_is_told_and_one_that_stays_is_not() -> None:
    assert is_share(told_to_move(partial(moving, factor=2.0, sd=0.2)), 0.75, rather_than=0.3)
    assert is_share(told_to_move(partial(jump, factor=2.0)), 0.03, rather_than=0.35)


def test_a_wrong_answer_is_counted_as_one() -> None:
    assert not any(islice(searched(partial(jump, factor=1.0), LOW, []), 5))


@pytest.mark.parametrize("seed", range(4))
def test_odd_and_even_levels_that_differ_are_no_cliff(seed: int) -> None:
    levels = np.arange(1, TOP + 1)
    found = search(JumpingProgram(np.where(levels % 2, 1.3, 1.0), None), np.random.default_rng(seed), LOW)
    assert (found.sure, found.decided, found.n) == ([], True, 12)
