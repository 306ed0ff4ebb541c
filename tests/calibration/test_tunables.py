"""Which of many settings matter? On programs of which it is known what each setting does."""

from collections.abc import Iterator
from math import exp

import numpy as np

from scalograph.questions.tunables.course import TunablesCourse
from scalograph.questions.tunables.model_confirm import confirmed, factorial
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
