"""Two versions of one study, in pairs: a block that is slow slows both."""

from dataclasses import replace

from scalograph.exchange.compare.compare_claim import compare_claim
from scalograph.exchange.compare.measured_source import MeasuredSource
from scalograph.exchange.compare.paired_versions import paired_versions
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
    (sentence,) = compare_claim(said(0.957)).sentences
    assert sentence.startswith("new is faster: it takes 4.2") and sentence.endswith("].")
    assert (said(0.957).answer, said(1.05).answer) == ("faster", "slower")
    assert said(1.01).answer == said(1.03, margin=0.05).answer == "equivalent"
    assert "x the time of old" in compare_claim(said(3.0)).sentences[0]
    found = said(2.0, refused="9 of 16 runs were disturbed")
    assert found.answer == "inconclusive" and "9 of 16" in found.results[0].why
