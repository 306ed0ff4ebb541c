"""All pairs of configurations that differ in one factor: which differ for sure, beside all the others."""

from collections.abc import Iterator, Sequence
from itertools import combinations, islice
from math import log
from typing import NamedTuple

import numpy as np

from scalograph.analysis.comparisons import holm
from scalograph.analysis.contrast import Contrast, paired, welch
from scalograph.analysis.estimate import Estimate
from scalograph.analysis.speedup_points import PLAY
from scalograph.analysis.variance_moderation import borrowed
from scalograph.findings.answer import Taken
from scalograph.findings.names import varied
from scalograph.findings.sample import Sample, grouped
from scalograph.findings.table import Table

# Pairs beyond these are too many to compare each with each.
MOST_PAIRS = 5000


class LevelDifference(NamedTuple):
    """Two configurations that differ in one factor.

    Attributes:
        factor: in which.
        less: that of the smaller figure.
        more: the other one.
        contrast: log ratio of the larger figure to the smaller.
        is_sure: whether it holds beside all other pairs of the study, and is above 2 %.
    """

    factor: str
    less: Sample
    more: Sample
    contrast: Contrast
    is_sure: bool = False

    def ratio(self, confidence: float) -> Estimate:
        """The larger figure over the smaller."""
        return self.contrast.estimate(confidence)

    @property
    def certain(self) -> float:
        """What is left of the difference at its near end, as a log: to rank by."""
        return self.contrast.delta - 2 * self.contrast.se if self.contrast.df > 0 else 0.0


def differences(table: Table, taken: Taken, response: str) -> list[LevelDifference]:
    """Compare all pairs, the largest certain difference first."""
    every = (found for name in varied(table) for found in _pairs(taken, name, response))
    pairs = list(islice(every, MOST_PAIRS))
    lent = borrowed([pair.contrast for pair in pairs])
    p_values = holm([contrast.p_value(log(1 + PLAY)) for contrast in lent])
    alpha = 1 - table.study.protocol.confidence
    found = [
        pair._replace(contrast=contrast, is_sure=p is not None and p <= alpha)
        for pair, contrast, p in zip(pairs, lent, p_values, strict=True)
    ]
    return sorted(found, key=lambda one: (one.is_sure, one.certain), reverse=True)


def farthest(found: Sequence[LevelDifference], confidence: float) -> float | None:
    """By how much any two may differ, as a share; None where that is not known."""
    ratios = [one.ratio(confidence) for one in found]
    ends = [(ratio.low, ratio.high) for ratio in ratios]
    if not ends or any(low is None or high is None for low, high in ends):
        return None
    return max(max(high or 1, 1 / (low or 1)) for low, high in ends) - 1


def _pairs(taken: Taken, factor: str, response: str) -> Iterator[LevelDifference]:
    usable = [s for s in taken.values() if s.values(response).size and s.values(response).min() > 0]
    for members in grouped(usable, factor).values():
        for one, other in combinations(members, 2):
            if (response in one.whole) != (response in other.whole):
                continue  # a whole run and a median of iterations are not of one kind
            contrast = _contrast(one, other, response)
            if contrast.delta < 0:
                yield LevelDifference(factor, one, other, contrast.flipped())
            else:
                yield LevelDifference(factor, other, one, contrast)


def _contrast(one: Sample, other: Sample, response: str) -> Contrast:
    """Log ratio, paired within the blocks that hold both; of independent runs where there are fewer than two."""
    a, b = one.block_logs(response), other.block_logs(response)
    shared = [block for block in a if block in b]
    if len(shared) > 1:
        return paired(np.array([a[k] for k in shared]), np.array([b[k] for k in shared]))
    return welch(np.log(one.values(response)), np.log(other.values(response)))
