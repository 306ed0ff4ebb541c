"""The short version of benchmarks/statistics_published_claims.py: a claim of a paper is seldom decided wrongly."""

from collections.abc import Iterator
from math import exp

import numpy as np
import pytest

from scalograph.analysis.comparisons import minimum_detectable_effect
from scalograph.questions.scaling.truth import CLAIMS, NOISES, WAYS, decide_claim
from tests.calibration.sequential import is_share


def decisions(way: str, alone: bool, high: float = 1.0) -> Iterator[str]:
    """Each kind of claim in its turn, of three runs."""
    rng, kinds = np.random.default_rng(11), [*CLAIMS]
    for turn in range(2000):
        yield decide_claim(rng, kinds[turn % len(kinds)], way, 3, alone, high)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("alone", "wrong"), [(True, "holds"), (False, "does not hold")])
def test_at_the_end_of_its_range_a_claim_is_seldom_decided_wrongly(way: str, alone: bool, wrong: str) -> None:
    assert is_share((found != wrong for found in decisions(way, alone)), 0.97, rather_than=0.9)


def test_where_the_truth_is_well_inside_three_runs_suffice() -> None:
    seen = minimum_detectable_effect(NOISES["normal"][0].score_sd(1), 3) or 0
    assert is_share((found == "holds" for found in decisions("normal", False, exp(2 * seen))), 0.85, rather_than=0.7)
