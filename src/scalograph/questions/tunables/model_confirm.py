"""Fresh runs of the chosen settings, alone and together, each paired with the default in its block."""

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from scalograph.analysis.center import trim_note
from scalograph.analysis.contrast import PAIRED, paired
from scalograph.analysis.estimate import Estimate, unknown
from scalograph.questions.tunables.model_array import Settings
from scalograph.questions.tunables.model_fit import SettingFit

# Pairs of each treatment; the share of them that is set aside at each end, since some runs are slowed.
PAIRS, TRIM = 10, 0.1
# Factors whose settings are confirmed: with three there are seven treatments beside the default.
MOST_CONFIRMED = 3


def chosen(
    fit: SettingFit, selected: Sequence[int], margin: float, left_out: set[tuple[int, int]]
) -> list[tuple[int, int]]:
    """Choose the best setting of each factor that matters, where it promises a gain; the most promising first.

    Args:
        fit: of all settings.
        selected: factors that matter.
        margin: gain that counts as none, as a share.
        left_out: settings that fail.
    """
    best = dict[int, tuple[float, int]]()
    for (factor, level), gain in zip(fit.names, fit.gains.tolist(), strict=True):
        is_better = gain > max(margin, best.get(factor, (0.0, 0))[0])
        if factor in selected and is_better and (factor, level) not in left_out:
            best[factor] = gain, level
    found = sorted(((gain, (factor, level)) for factor, (gain, level) in best.items()), reverse=True)
    return [setting for _, setting in found[:MOST_CONFIRMED]]


def factorial(settings: Sequence[tuple[int, int]], n_factors: int) -> list[Settings]:
    """Return the treatments with one of these settings or more, all other factors at their defaults.

    >>> factorial([(0, 2), (2, 1)], 3)
    [(2, 0, 0), (0, 0, 1), (2, 0, 1)]
    """
    groups = (group for k in range(1, len(settings) + 1) for group in combinations(settings, k))
    return [tuple(dict(group).get(j, 0) for j in range(n_factors)) for group in groups]


def confirmed(blocks: Sequence[Mapping[Settings, float | None]], treatment: Settings, confidence: float) -> Estimate:
    """Return the performance of a treatment over that of the default, from the blocks that have both.

    Args:
        blocks: log performance of each treatment in each block; None where its run failed.
        treatment: which is confirmed.
        confidence: of the interval.
    """
    default = tuple(0 for _ in treatment)
    both = [(block.get(treatment), block.get(default)) for block in blocks]
    known = [(a, b) for a, b in both if a is not None and b is not None]
    if not known:
        return unknown(PAIRED, confidence, 0, "no block has a run of both")
    own, beside = np.array(known).T
    return paired(own, beside, TRIM).estimate(confidence).warned(*trim_note(len(known), TRIM))
