"""Bimodality of runs, and the rounding of scores by a coarse clock.

Two modes are two groups of runs with empty space between them that is wide for the spread within them: in the runs of
one configuration, or in those of all configurations of a study where each has few.
"""

import math
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from scalograph.analysis.center import FloatArray, Scores, finite_scores, has_logs
from scalograph.analysis.estimate import MOST_LOG, Estimate

EXACT = 1e-9  # numbers this near to a multiple of a step, as a share of the largest, are multiples
MATTERS = 1e-4  # smaller shares are not reported
# Scores that spread by so many steps blur them: rounding then moves their mean by less than 1% of one.
BLURRED = 0.5
IDENTICAL_RUNS = "all runs have one score: the clock or counter is too coarse to show a difference"


def common_step(*samples: Scores) -> float | None:
    """Return the largest step of which all scores are multiples; None where they have one value or are zero.

    >>> common_step([120, 130, 120], [110]), common_step([5, 5]), round(common_step([0.12, 0.16]), 9)
    (10.0, None, 0.04)
    """
    values = np.sort(np.abs(np.concatenate([finite_scores(scores)[0] for scores in samples])))
    least, step = EXACT * float(values[-1]) if values.size else 0.0, 0.0
    gaps = [gap for gap in np.diff(values).tolist() if gap > least]
    for value in [*gaps, *values[:1].tolist()] if gaps else ():
        larger, smaller = max(value, step), min(value, step)
        while smaller > least:
            rest = math.fmod(larger, smaller)
            larger, smaller = smaller, min(rest, smaller - rest)  # a hair below a multiple is one
        step = larger
        if step <= 2 * least:
            break
    return step or None


def rounding(scores: Scores, step: float | None) -> float:
    """Return the share by which rounding to a step may have moved the mean of these scores."""
    values, _ = finite_scores(scores)
    if step is None or not values.size or not np.mean(values):
        return 0.0
    spread = float(values.std(ddof=1)) if values.size > 1 else 0.0
    return 0.0 if spread >= BLURRED * step else step / 2 / float(np.mean(np.abs(values)))


def widen_for_rounding(estimate: Estimate, *samples: Scores) -> Estimate:
    """Widen an interval by the rounding of its scores; without an interval if all scores have one value."""
    return bound_by_step(estimate, common_step(*samples), *samples)


def bound_by_step(estimate: Estimate, step: float | None, *samples: Scores) -> Estimate:
    """Widen an interval by the rounding of its scores to the step of all data; without an interval if that is None."""
    if step is None and estimate.low is not None and estimate.high is not None:
        return replace(estimate, low=None, high=None).add_warnings(IDENTICAL_RUNS)
    return widen_by_step(estimate, step, *samples)


def visible_step(samples: Sequence[FloatArray]) -> float | None:
    """Return the common step of samples where runs of one sample differ by it; None where none shows it.

    >>> visible_step([np.array([120.0, 130.0]), np.array([60.0, 60.0])])
    10.0
    >>> visible_step([np.array([2.0]), np.array([1.0])])
    """
    return common_step(*samples) if any(x.size and x.min() < x.max() for x in samples) else None


def widen_by_step(estimate: Estimate, step: float | None, *samples: Scores) -> Estimate:
    """Widen the interval of a ratio by the rounding of its scores to a step; as it is without one."""
    if step is None or estimate.low is None or estimate.high is None:
        return estimate
    hidden = min(sum(rounding(scores, step) for scores in samples), MOST_LOG)
    if hidden < (MATTERS if estimate.low < estimate.high else sys.float_info.epsilon):
        return estimate
    low, high = estimate.low * math.exp(-hidden), estimate.high * math.exp(hidden)
    warning = f"scores are multiples of {step:.3g}: the interval is wider by {100 * hidden:.2g}%"
    return replace(estimate, low=low, high=high).add_warnings(warning)


# Fewer runs show no modes, a mode has at least this share of them and three; fewer are outliers.
FEWEST, LEAST_SHARE, LEAST_RUNS = 8, 0.2, 3
MODES_OF_FEW = f"runs have two modes: an interval takes {FEWEST} runs or more, there are {{}}"
# Empty space between modes over the mean deviation within them: so much over the count of runs, but at least 2. Of
# normal, lognormal, slowed and drifting runs 4 to 5% have more (benchmarks/statistics_ab.py).
EMPTY, LEAST_EMPTY = 44.0, 2.0
CHANGES = 3  # fewer changes between the levels are one change of the machine, no modes
STEPS_APART = 1.5  # values on a grid are apart by more than their spread: modes by more steps than this
RARE, APART = 0.01, 0.10  # p value of the two modes of a study, and their least difference on logs
DEALS = 499
MOST_GROUPS, MOST_RUNS = 64, 40  # of more, evenly spread ones tell as much
_NO_WIDTH = 1e-9  # logs within rounding

T = TypeVar("T")
Counts = NDArray[np.int64]


class Bimodality(NamedTuple):
    """Medians of two groups of n runs, in the unit of the scores, and the share of the lower group."""

    low: float
    high: float
    share_low: float
    n: int


class CommonModes(NamedTuple):
    """Two groups of runs in a study: share of the runs in the higher group, typical log of the ratio."""

    share_high: float
    apart: float


def find_modes(scores: Scores) -> Bimodality | None:
    """Return the two modes of runs in the order of measurement; None without significant ones.

    >>> find_modes([100, 101, 77, 99, 100, 78, 101, 77, 100, 99])
    Bimodality(low=77.0, high=100.0, share_low=0.3, n=10)
    >>> find_modes(range(100, 120)) is None
    True
    """
    values, _ = finite_scores(scores)
    n = values.size
    if n < FEWEST or not has_logs(values):
        return None
    ordered = np.sort(values)
    empty, below = _split(np.log(ordered), LEAST_RUNS)
    n_low = int(below)
    if not empty > max(EMPTY / n, LEAST_EMPTY) or np.count_nonzero(np.diff(values < ordered[n_low])) < CHANGES:
        return None
    step = common_step(values)
    if step is not None and ordered[n_low] - ordered[n_low - 1] < STEPS_APART * step:
        return None
    return Bimodality(float(np.median(ordered[:n_low])), float(np.median(ordered[n_low:])), n_low / n, n)


def find_common_modes(logs: Sequence[Sequence[float]], seed: int = 0) -> CommonModes | None:
    """Return the two modes of the typical configuration of a study, from its logs; None without significant ones.

    The empty space that chance leaves is simulated: normal scores of the same numbers of runs.

    >>> find_common_modes([[0.0, 0.01, 0.3, 0.31, 0.005]] * 4)
    CommonModes(share_high=0.4, apart=0.3)
    """
    differing = [sample for sample in logs if len(sample) > 2 and max(sample) - min(sample) > _NO_WIDTH]
    groups = [
        np.sort(np.asarray(_thin_out(sample, MOST_RUNS), dtype=float)) for sample in _thin_out(differing, MOST_GROUPS)
    ]
    if not groups:
        return None
    splits = [_split(group) for group in groups]
    parts = [(group[: int(low)], group[int(low) :]) for group, (_, low) in zip(groups, splits, strict=True)]
    share = sum(high.size for _, high in parts) / sum(group.size for group in groups)
    apart = float(np.median([np.median(high) - np.median(low) for low, high in parts]))
    seen = float(np.median([float(empty) for empty, _ in splits]))
    is_shown = LEAST_SHARE <= share <= 1 - LEAST_SHARE and apart >= APART and _chance_share(groups, seen, seed) <= RARE
    return CommonModes(share, apart) if is_shown else None


def _chance_share(groups: Sequence[FloatArray], seen: float, seed: int) -> float:
    """Return the share of simulated studies with one mode that leave as much empty space."""
    rng, sizes = np.random.default_rng(seed), Counter(group.size for group in groups)
    dealt = [_split(np.sort(rng.standard_normal((DEALS, times, n)), axis=-1))[0] for n, times in sizes.items()]
    return (1 + int((np.median(np.concatenate(dealt, axis=-1), axis=-1) >= seen).sum())) / (1 + DEALS)


def _thin_out(every: Sequence[T], most: int) -> Sequence[T]:
    return every[:: max(1, -(-len(every) // most))]


def _split(logs: FloatArray, fewest: int = 1) -> tuple[FloatArray, Counts]:
    """Split sorted logs, along the last axis, at the widest space over the mean deviation within the parts.

    Returns:
        That ratio, and how many are below; 0 where there are too few.
    """
    n = logs.shape[-1]
    least = max(fewest, math.ceil(LEAST_SHARE * n))
    counts = np.arange(least, n - least + 1)
    if not counts.size:
        return np.zeros(logs.shape[:-1]), np.zeros(logs.shape[:-1], dtype=np.int64)
    sums = np.concatenate([np.zeros((*logs.shape[:-1], 1)), logs.cumsum(axis=-1)], axis=-1)
    spread = (_deviation(sums, np.zeros_like(counts), counts) + _deviation(sums, counts, np.full_like(counts, n))) / n
    wide = (logs[..., counts] - logs[..., counts - 1]) / np.maximum(spread, _NO_WIDTH)
    best = wide.argmax(axis=-1)
    return np.take_along_axis(wide, best[..., None], -1)[..., 0], counts[best]


def _deviation(sums: FloatArray, first: Counts, end: Counts) -> FloatArray:
    below, above = (first + end) // 2, (first + end + 1) // 2
    return np.asarray(sums[..., end] - sums[..., above] - sums[..., below] + sums[..., first])
