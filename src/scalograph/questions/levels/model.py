"""Compare all pairs of configurations that differ in one factor, corrected for their number."""

from collections.abc import Iterator, Sequence
from itertools import combinations, islice
from math import log
from typing import NamedTuple

import numpy as np

from scalograph.analysis.comparisons import holm
from scalograph.analysis.contrast import Contrast, paired_contrast, welch_contrast
from scalograph.analysis.estimate import Estimate
from scalograph.analysis.speedup_points import PLAY
from scalograph.analysis.variance_moderation import moderate_variances
from scalograph.findings.answer import SampleMap
from scalograph.findings.sample import Sample, group_samples
from scalograph.findings.table import Table

# Pairs beyond these are too many to compare each with each.
MOST_PAIRS = 5000


class LevelDifference(NamedTuple):
    """Two configurations that differ in one factor.

    Attributes:
        factor: in which.
        less: the sample with the smaller response.
        more: the other one.
        contrast: log ratio of the larger response to the smaller.
        is_sure: whether it holds beside all other pairs of the study, and is above 2%.
    """

    factor: str
    less: Sample
    more: Sample
    contrast: Contrast
    is_sure: bool = False

    @property
    def samples(self) -> tuple[Sample, Sample]:
        return self.less, self.more

    def ratio(self, confidence: float) -> Estimate:
        """Estimate the larger response over the smaller."""
        return self.contrast.estimate(confidence)

    @property
    def certain(self) -> float:
        """Return the near end of the log difference, to rank by."""
        return self.contrast.delta - 2 * self.contrast.se if self.contrast.df > 0 else 0.0


def differences(table: Table, samples: SampleMap, response: str) -> list[LevelDifference]:
    """Compare all pairs, the largest certain difference first."""
    every = (pair for name in table.view.varying for pair in _pairs(samples, name, response))
    compared = list(islice(every, MOST_PAIRS))
    lent = moderate_variances([pair.contrast for pair in compared])
    p_values = holm([contrast.p_value(log(1 + PLAY)) for contrast in lent])
    alpha = 1 - table.view.confidence
    pairs = [
        pair._replace(contrast=contrast, is_sure=p is not None and p <= alpha)
        for pair, contrast, p in zip(compared, lent, p_values, strict=True)
    ]
    return sorted(pairs, key=lambda pair: (pair.is_sure, pair.certain), reverse=True)


def farthest(pairs: Sequence[LevelDifference], confidence: float) -> float | None:
    """Return the largest possible difference of any two, as a share; None where that is not known."""
    ratios = [pair.ratio(confidence) for pair in pairs]
    ends = [(ratio.low, ratio.high) for ratio in ratios]
    if not ends or any(low is None or high is None for low, high in ends):
        return None
    return max(max(high or 1, 1 / (low or 1)) for low, high in ends) - 1


def _pairs(samples: SampleMap, factor: str, response: str) -> Iterator[LevelDifference]:
    usable = [s for s in samples.values() if s.values(response).size and s.values(response).min() > 0]
    for members in group_samples(usable, factor).values():
        for first, second in combinations(members, 2):
            if (response in first.whole) != (response in second.whole):
                continue  # a whole run and a median of iterations are not of one kind
            contrast = contrast_samples(first, second, response)
            if contrast.delta < 0:
                yield LevelDifference(factor, first, second, contrast.invert())
            else:
                yield LevelDifference(factor, second, first, contrast)


def contrast_samples(first: Sample, second: Sample, response: str) -> Contrast:
    """Contrast logs, paired within shared blocks, or as independent runs where fewer than two are shared."""
    a, b = first.block_logs(response), second.block_logs(response)
    shared = [block for block in a if block in b]
    if len(shared) > 1:
        return paired_contrast(np.array([a[k] for k in shared]), np.array([b[k] for k in shared]))
    return welch_contrast(np.log(first.values(response)), np.log(second.values(response)))
