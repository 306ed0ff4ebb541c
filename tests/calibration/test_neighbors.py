"""Levels that are said to be slower than both neighbors: seldom where none is, and mostly where one is."""

from collections.abc import Iterator, Sequence
from math import exp

import numpy as np
import pytest

from scalograph.analysis.comparisons import minimum_detectable_effect
from scalograph.findings.curves import make_curves
from scalograph.findings.sample import samples_by_configuration
from scalograph.questions.scaling.answer import compare_levels
from scalograph.questions.scaling.document import SweptCurve
from scalograph.questions.scaling.truth import NOISES, SHAPES, Shape, simulate_study
from tests.calibration.sequential import is_share

N_CURVES = 8


def told(noise: str, shapes: Sequence[Shape]) -> Iterator[list[SweptCurve]]:
    rng = np.random.default_rng(3)
    while True:
        table = simulate_study(rng, shapes, *NOISES[noise])
        taken = samples_by_configuration(table)
        found = compare_levels(table, taken, make_curves(table, taken))
        assert found is not None
        yield found.curves


def none_is_shown(found: list[SweptCurve]) -> bool:
    return not any(bump.shown for curve in found for bump in curve.bumps)


@pytest.mark.parametrize(("noise", "shape"), [*((noise, "flat") for noise in NOISES), ("normal", "cap")])
def test_where_there_is_none_hardly_any_is_told(noise: str, shape: str) -> None:
    studies = told(noise, [SHAPES[shape]] * N_CURVES)
    assert is_share(map(none_is_shown, studies), 0.97, rather_than=0.85)


def test_one_of_three_times_what_can_be_seen_is_told_with_its_size() -> None:
    slower = exp(3 * (minimum_detectable_effect(NOISES["normal"][0].score_sd(1), 5) or 0))
    shapes: list[Shape] = [lambda n: 1 / slower if n == 4 else 1.0, *[SHAPES["flat"]] * (N_CURVES - 1)]

    def seen(found: list[SweptCurve]) -> bool:
        (bump,) = [bump for bump in found[0].bumps if bump.level == 4]
        return bump.shown and bump.slower.contains(slower)

    assert is_share(map(seen, told("normal", shapes)), 0.9, rather_than=0.7)
