"""The short version of benchmarks/statistics_claims.py: what a claim says of curves is seldom false, and is said."""

from collections import Counter
from math import exp

import numpy as np
import pytest

from scalograph.analysis.comparisons import minimum_detectable_effect
from scalograph.questions.scaling.truth import NOISES, SHAPES, check_sentences, simulate_study

N_CURVES = 8
MIXED = [SHAPES[name] for name in ("flat", "linear", "amdahl", "cap", "cliff", "odd-even", "slower", "flat")]


@pytest.mark.parametrize("noise", NOISES)
def test_no_template_is_often_false(noise: str) -> None:
    divided = [[SHAPES["slower"], *[SHAPES["linear"]] * (N_CURVES - 1)], [SHAPES["linear"], SHAPES["cliff"]]]
    studies = [*([shape] * N_CURVES for shape in SHAPES.values()), MIXED, *divided]
    told: Counter[str] = Counter()
    rng = np.random.default_rng(3)
    for shapes in studies * 3:
        said = check_sentences(simulate_study(rng, shapes, *NOISES[noise]), shapes)
        told.update(name for name, is_false in said.items() if is_false)
    # Of 30 studies 5 % are 1.5; a template that errs in a quarter of them would be false in 8.
    assert max(told.values(), default=0) <= 5, told


def test_an_effect_of_twice_what_can_be_seen_is_told() -> None:
    effect = exp(2 * (minimum_detectable_effect(NOISES["normal"][0].score_sd(1), 5) or 0))
    shapes = [lambda n: effect if n >= 4 else 1.0, *[SHAPES["flat"]] * (N_CURVES - 1)]
    rng = np.random.default_rng(5)
    n_told = sum("faster" in check_sentences(simulate_study(rng, shapes, *NOISES["normal"]), shapes) for _ in range(20))
    assert n_told >= 14
