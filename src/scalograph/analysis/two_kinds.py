"""Do runs of one configuration come in two kinds, the slower ones far from the faster ones?

Each configuration is split where its two parts are tightest, and the parts are held against one normal distribution by
the ratio of their likelihoods, in the typical configuration: a few odd ones are not the study. How large that becomes
by chance follows from normal scores of the same numbers.

Source: L. Engelman and J. A. Hartigan, Percentage points of a test for clusters, JASA 64 (1969).
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

DEALS = 499
MOST_GROUPS, MOST_RUNS = 64, 40  # of more, evenly spread ones tell as much
_TIGHT = 1e-6  # scores that are equal make parts of no width

T = TypeVar("T")
Splits = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class TwoKinds:
    """How unlike one kind runs are.

    Attributes:
        p: share of studies of one kind whose runs look as much like two, 0 to 1.
        slow: share of the runs in the slower part.
        apart: typical difference of the parts, as a log.
    """

    p: float
    slow: float
    apart: float


def two_kinds(logs: Sequence[Sequence[float]], seed: int = 0) -> TwoKinds | None:
    """Test logs of scores, a list for each configuration; None where none has three that differ.

    >>> two_kinds([[0.0, 0.01, 0.3, 0.31, 0.005]] * 4).slow
    0.4
    """
    differing = [one for one in logs if len(one) > 2 and max(one) > min(one)]
    groups = [np.sort(np.asarray(_some(one, MOST_RUNS), dtype=float)) for one in _some(differing, MOST_GROUPS)]
    groups = [group for group in groups if group[-1] > group[0]]
    if not groups:
        return None
    rng, sizes = np.random.default_rng(seed), Counter(len(group) for group in groups)
    dealt = [np.sort(rng.standard_normal((DEALS, times, n)), axis=-1) for n, times in sizes.items()]
    by_chance = np.median(np.concatenate([_split(scores)[0] for scores in dealt], axis=-1), axis=-1)
    found = [_split(group) for group in groups]
    seen = float(np.median([float(ratio) for ratio, _, _ in found]))
    n_slow = sum(int(slow) for _, slow, _ in found)
    apart = float(np.median([float(gap) for _, _, gap in found]))
    p = (1 + int((by_chance >= seen).sum())) / (1 + DEALS)
    return TwoKinds(p, n_slow / sum(len(group) for group in groups), apart)


def _some(every: Sequence[T], most: int) -> Sequence[T]:
    return every[:: max(1, -(-len(every) // most))]


def _split(scores: Splits) -> tuple[Splits, Splits, Splits]:
    """Of sorted scores, along the last axis: the log of the ratio, how many are in the upper part, and its distance."""
    n = scores.shape[-1]
    low = np.arange(1, n)
    sums = scores.cumsum(axis=-1)
    gaps = (sums[..., -1:] - sums[..., :-1]) / (n - low) - sums[..., :-1] / low
    between = gaps**2 * low * (n - low) / n
    best = between.argmax(axis=-1)[..., None]
    share = np.take_along_axis(between, best, -1)[..., 0] / (n * scores.var(axis=-1))
    ratio = -n * np.log(np.maximum(1 - share, _TIGHT))
    return ratio, n - 1 - best[..., 0], np.take_along_axis(gaps, best, -1)[..., 0]
