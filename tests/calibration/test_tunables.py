"""Which of many settings matter? On programs of which it is known what each setting does."""

from collections.abc import Iterator
from math import exp

import numpy as np
import pytest
from simulate.noise import HIGH, LOW, Noise
from simulate.tunables import N_FACTORS, TunedProgram, program, search

from scalograph.analysis.estimate import Estimate
from scalograph.questions.tunables.model_fit import confirm_gain, factorial, fit
from scalograph.questions.tunables.model_groups import GroupSpread, group_ratio, sensitivity_ranks
from scalograph.questions.tunables.search_state import TunablesState, array_block
from scalograph.study.model import ONE_AT_A_TIME
from tests.calibration.sequential import is_share


def searched(noise: Noise, n_active: int) -> Iterator[tuple[TunedProgram, TunablesState]]:
    rng = np.random.default_rng(71)
    while True:
        made = program(rng, n_active)
        yield made, search(made, rng, noise)


def test_two_of_many_are_found_in_two_blocks_and_none_where_nothing_matters() -> None:
    found = (made.active <= {*state.looks[:2][-1]} for made, state in searched(LOW, 2))
    assert is_share(found, 0.98, rather_than=0.7)
    silent = (not state.selected for _, state in searched(HIGH, 0))
    assert is_share(silent, 0.95, rather_than=0.7)


def test_what_fresh_runs_confirm_holds_the_truth() -> None:
    def held() -> Iterator[bool]:
        for made, state in searched(LOW, 1):
            for one in factorial(state.candidates, N_FACTORS) if state.candidates else []:
                yield confirm_gain(state.pairs, one, 0.95).contains(exp(made.log(one)))

    assert is_share(held(), 0.95, rather_than=0.7)


def test_ranks_of_factors_hold_where_some_tie() -> None:
    """Four factors of one effect, another one of half of it, and six of none."""
    big, small, none = (0.0, 0.06, 0.0), (0.0, 0.03, 0.0), (0.0, 0.0, 0.0)
    made = TunedProgram((big,) * 4 + (small,) + (none,) * 6)
    may_be = [(1, 4)] * 4 + [(5, 5)] + [(6, 11)] * 6
    draw = np.random.default_rng(72)

    def held() -> Iterator[bool]:
        while True:
            ordered = [run for k in range(2) for run in array_block(made.space, k, int(draw.integers(1 << 30)), set())]
            logs = np.array([made.log(run.settings) for run in ordered]) + 0.03 * draw.standard_normal(len(ordered))
            at = [run.settings for run in ordered], logs, [run.block for run in ordered]
            found = fit(*at, made.space.n_levels, matter=range(5))
            assert found is not None
            said = sensitivity_ranks(found, N_FACTORS)
            yield all(low <= a and b <= high for (low, _, high), (a, b) in zip(said, may_be, strict=True))

    assert is_share(held(), 0.95, rather_than=0.7)


def contrasts(first: float, second: float) -> Iterator[Estimate]:
    """Two factors of four settings over three of one, of these standard deviations, by five runs of each setting."""
    many, few = (0.0, first, -first, first, -first), (0.0, 2**0.5 * second)
    made, draw = TunedProgram((many,) * 2 + (few,) * 3), np.random.default_rng(73)
    while True:
        found = search(made, draw, LOW, ONE_AT_A_TIME, 5).fit_settings()
        assert found is not None
        yield group_ratio(GroupSpread(found, (0, 1)), GroupSpread(found, (2, 3, 4)), 0.95, len(made.gains))


def is_inside(ratio: Estimate, truth: float) -> bool:
    return (ratio.low or 0.0) <= truth and (ratio.high is None or truth <= ratio.high)


@pytest.mark.parametrize("spread", [0.0, 0.02, 0.08])
def test_groups_as_strong_as_each_other_are_not_told_apart(spread: float) -> None:
    assert is_share((is_inside(one, 1.0) for one in contrasts(spread, spread)), 0.95, rather_than=0.7)


@pytest.mark.parametrize(("first", "second"), [(0.08, 0.02), (0.02, 0.08)])
def test_the_interval_of_two_groups_holds_the_truth_and_tells_them_apart(first: float, second: float) -> None:
    said = (is_inside(one, first / second) and not is_inside(one, 1.0) for one in contrasts(first, second))
    assert is_share(said, 0.95, rather_than=0.7)
