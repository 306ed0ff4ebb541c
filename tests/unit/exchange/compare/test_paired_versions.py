"""Two versions of one study, in pairs: a block that is slow slows both."""

import math
from dataclasses import replace

import pytest

from scalograph.analysis.estimate import Estimate
from scalograph.exchange.compare.compare_claim import compare_claim
from scalograph.exchange.compare.measured_source import MeasuredSource
from scalograph.exchange.compare.paired_versions import paired_versions, pairs_remedy
from scalograph.protocol.compared_results import ResultComparisons
from tests.unit.exchange.compare.made import source

# Blocks that differ by half, which single runs could not see through.
BLOCKS = (1.0, 1.5, 0.8, 1.2, 1.4, 0.9, 1.1, 1.3)
NAMES = {"./old": "old", "./new": "new"}


def study(new: float, refused: str = "") -> MeasuredSource:
    old = source("s", {1: 1.0}, BLOCKS, levels={"version": "./old"}, refused=refused)
    own = [score * new * (1 + 0.001 * (i % 3)) for i, score in enumerate(BLOCKS)]
    new_ones = source("s", {1: 1.0}, own, levels={"version": "./new"}).configurations
    return replace(old, configurations=(*old.configurations, *new_ones))


def said(new: float, margin: float | None = None, refused: str = "") -> ResultComparisons:
    return paired_versions(study(new, refused), "version", NAMES, margin)


def test_pairs_show_what_blocks_would_hide() -> None:
    (case,) = compare_claim(said(0.957)).cases
    assert case.case == "different" and case.values["gain"] == said(0.957).results[0].configurations[0].ratio
    assert (said(0.957).answer, said(1.05).answer) == ("faster", "slower")
    assert said(1.01).answer == said(1.03, margin=0.05).answer == "equivalent"


def test_a_busy_study_says_nothing() -> None:
    found = said(2.0, refused="9 of 16 runs were disturbed")
    assert found.answer == "inconclusive" and "9 of 16" in found.results[0].why


@pytest.mark.parametrize(
    ("half", "n", "margin", "precision", "options"),
    [
        (0.03, 40, 0.02, 0.01, "Add pairs: --pairs 348"),  # three times as wide as it may be: nine times as many
        (0.02, 40, 0.01, 0.01, "Add pairs: --pairs 610 --precision 0.5%"),  # at 1% the pairs would end too early
        (0.02, 9, 0.02, 0.01, "Add pairs: --pairs 29"),
    ],
)
def test_an_open_comparison_names_the_pairs_that_decide(
    half: float, n: int, margin: float, precision: float, options: str
) -> None:
    """Made-up intervals; with as many pairs their ends are no farther apart than the margin."""
    (result,) = said(1.0).results
    ratio = Estimate(1.0, math.exp(-half), math.exp(half), 0.95, n)
    row = result.configurations[0].model_copy(update={"ratio": ratio, "shown": "inconclusive"})
    update = {"configurations": [row], "margin": margin, "answer": "inconclusive", "case": "open"}
    assert pairs_remedy(result.model_copy(update=update), precision) == options
    assert pairs_remedy(result.model_copy(update={**update, "case": "refused"}), precision) == ""
