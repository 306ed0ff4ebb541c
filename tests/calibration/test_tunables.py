"""Which of many settings matter? On programs of which it is known what each setting does."""

from collections.abc import Iterator
from math import exp

import numpy as np

from scalograph.questions.tunables.course import TunablesCourse
from scalograph.questions.tunables.course_order import array_block
from scalograph.questions.tunables.model_confirm import confirmed, factorial
from scalograph.questions.tunables.model_fit import fit
from scalograph.questions.tunables.model_ranks import sensitivity_ranks
from scalograph.questions.tunables.truth import N_FACTORS, TunedProgram, program, search
from scalograph.simulate.noise import HIGH, LOW, Noise

from .sequential import is_share


def searched(noise: Noise, n_active: int) -> Iterator[tuple[TunedProgram, TunablesCourse]]:
    rng = np.random.default_rng(71)
    while True:
        made = program(rng, n_active)
        yield made, search(made, rng, noise)


def test_both_of_two_are_found_in_two_blocks_although_runs_are_noisy() -> None:
    found = (made.active <= {*course.looks[:2][-1]} for made, course in searched(LOW, 2))
    assert is_share(found, 0.98, rather_than=0.7)


def test_nothing_is_said_to_matter_where_nothing_does() -> None:
    silent = (not course.selected for _, course in searched(HIGH, 0))
    assert is_share(silent, 0.95, rather_than=0.7)


def test_what_fresh_runs_confirm_holds_the_truth() -> None:
    def held() -> Iterator[bool]:
        for made, course in searched(LOW, 1):
            for one in factorial(course.candidates, N_FACTORS) if course.candidates else []:
                yield confirmed(course.pairs, one, 0.95).contains(exp(made.log(one)))

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
            yield all(said.low[j] <= a and b <= said.high[j] for j, (a, b) in enumerate(may_be))

    assert is_share(held(), 0.95, rather_than=0.7)
