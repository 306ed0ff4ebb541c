"""How far are the treatments of one study from those of another, which ran at another time?

No run of one has a partner in the other: what both share is no more than the program and, perhaps, the machine. So
treatments are compared by Welch's t on log scores. Runs of one block err together: the error of what several treatments
have in common is read off whole blocks, never off single runs. Where successive blocks resemble each other, the machine
drifted, and intervals are widened by what that makes of them.

All intervals hold at once (max-t). Treatments of two studies share no baseline, so the largest of their t statistics is
that of independent ones, and its quantile has a closed form; what blocks share makes it a little too wide.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scalograph.analysis.center import Center, FloatArray, center, n_trimmed
from scalograph.analysis.contrast import Contrast, welch
from scalograph.analysis.drift import drift
from scalograph.analysis.modes import FEWEST, MODES_OF_FEW, modes
from scalograph.analysis.quantiles import satterthwaite
from scalograph.analysis.variance_moderation import borrowed

# A tenth at each end where some run of either study lies so many standard deviations off, by the median deviation.
TRIM, OUTLYING = 0.1, 5.0
# Chance finds such a drift once in a hundred studies.
RARE = 0.01
IntArray = NDArray[np.int64]
# Of a table of blocks and treatments.
MOST_CELLS = 1_000_000
_MAD = 1.4826  # standard deviations in a median absolute deviation of normal values
MEAN = "mean over treatments, errors of whole blocks"


class BlockedLogs(NamedTuple):
    """Runs of one treatment.

    Attributes:
        logs: of their scores, shape (n >= 1,).
        blocks: the block of each, n of them; runs of one block share what disturbs it.
    """

    logs: FloatArray
    blocks: Sequence[int]


@dataclass(frozen=True, slots=True)
class CurveRatios:
    """What is known of b against a; each contrast is log(b / a).

    Attributes:
        treatments: one for each.
        shift: their mean: by how much b as a whole is at another level.
        upper: the mean of those that were named, the more the later; None where none were.
        shape: each treatment less that mean; empty where there are fewer than two.
        single: confidence of each interval of `treatments`, `shift` and `upper` with which all hold at once.
        single_shape: the same of `shape`.
    """

    treatments: list[Contrast]
    shift: Contrast
    upper: Contrast | None
    shape: list[Contrast]
    single: float
    single_shape: float


def curve_ratios(
    a: Sequence[BlockedLogs], b: Sequence[BlockedLogs], confidence: float = 0.95, upper: Sequence[int] = ()
) -> CurveRatios:
    """Compare treatment i of `b` with treatment i of `a`.

    Args:
        a: the reference, one entry for each treatment.
        b: what is compared with it, in the same order.
        confidence: of all intervals at once.
        upper: the rank of each treatment among the upper levels of a curve, 0 below them; empty for none. Their mean,
            weighted by rank, is compared too: what grows with the level shows there first.

    Returns:
        Contrasts without an interval where there are too few runs.

    Raises:
        ValueError: the lengths differ, or there is no treatment.

    Source: B. L. Welch, Biometrika 34 (1947); the quantile, Z. Sidak, J. Am. Statist. Assoc. 62 (1967); errors of
    blocks, K.-Y. Liang and S. L. Zeger, Longitudinal data analysis using generalized linear models, Biometrika 73
    (1986).

    >>> old = [BlockedLogs(np.log([10.0, 10.1, 9.9, 10.0]) + i, range(4)) for i in range(3)]
    >>> new = [BlockedLogs(runs.logs + math.log(1.1), runs.blocks) for runs in old]
    >>> found = curve_ratios(old, new)
    >>> round(math.exp(found.shift.delta), 3), all(abs(c.delta) < 1e-9 for c in found.shape)
    (1.1, True)
    """
    if len(a) != len(b) or not a:
        raise ValueError(f"treatments: found {len(a)} and {len(b)}, expected as many of each, one or more")
    wider = (_wider(a), _wider(b))
    trim = TRIM if _outlying([*a, *b]) else 0.0
    treatments = borrowed([_treatment(x, y, trim, wider) for x, y in zip(a, b, strict=True)])
    k, sides = len(a), (_means(a), _means(b))
    shift = _mean(sides, np.full(k, 1 / k), wider) if k > 1 else treatments[0]
    above = _mean(sides, np.asarray(upper) / sum(upper), wider) if any(upper) else None
    shape = [_mean(sides, (np.arange(k) == i) - 1 / k, wider) for i in range(k)] if k > 1 else []
    if why := _too_few(a, b):
        treatments, shape = ([_open(c, why) for c in contrasts] for contrasts in (treatments, shape))
        shift, above = _open(shift, why), above and _open(above, why)
    family = [*treatments, *([shift] if k > 1 else []), *([above] if above else [])]
    single, single_shape = _single(family, confidence), _single(shape, confidence)
    return CurveRatios(treatments, shift, above, shape, single, single_shape)


def _treatment(a: BlockedLogs, b: BlockedLogs, trim: float, wider: tuple[float, float]) -> Contrast:
    trim = trim if n_trimmed(min(a.logs.size, b.logs.size), trim) else 0.0
    found = welch(b.logs, a.logs, trim)
    if max(wider) == 1 or found.df <= 0:
        return found
    se = math.hypot(wider[0] * center(a.logs, trim).se, wider[1] * center(b.logs, trim).se)
    return replace(found, se=se)


class _Means(NamedTuple):
    """The mean of each treatment of one study, and of each run its block, its treatment and its part of the error."""

    means: FloatArray
    blocks: IntArray
    treatments: IntArray
    errors: FloatArray


def _means(runs: Sequence[BlockedLogs]) -> _Means:
    means, sizes = np.array([one.logs.mean() for one in runs]), np.array([one.logs.size for one in runs])
    of = np.repeat(np.arange(len(runs)), sizes)
    _, blocks = np.unique(np.concatenate([np.asarray(one.blocks) for one in runs]), return_inverse=True)
    return _Means(means, blocks, of, (np.concatenate([one.logs for one in runs]) - means[of]) / sizes[of])


def _mean(sides: tuple[_Means, _Means], weights: FloatArray, wider: tuple[float, float]) -> Contrast:
    """A weighted sum over treatments."""
    one, two = (_weighted(side, weights) for side in sides)
    one, two = (replace(c, se=factor * c.se) for c, factor in zip((one, two), wider, strict=True))
    n = sum(side.errors.size for side in sides)
    if min(one.df, two.df) < 1:
        return Contrast(two.value - one.value, math.nan, 0.0, n, MEAN, ("need >= 2 blocks of each for an interval",))
    return Contrast(two.value - one.value, math.hypot(one.se, two.se), satterthwaite(one, two), n, MEAN)


def _weighted(side: _Means, weights: FloatArray) -> Center:
    """The weighted sum of the means of one study: blocks are what is independent in it."""
    value = float(side.means @ weights)
    errors = np.bincount(side.blocks, side.errors * weights[side.treatments])
    n = errors.size
    if n < 2:
        return Center(value, math.nan, 0)
    return Center(value, math.sqrt(float(errors @ errors) * n / (n - 1)), n - 1)


def _outlying(runs: Sequence[BlockedLogs]) -> bool:
    """Whether something slowed, or sped up, single runs: seen on all treatments together, for one has few runs."""
    apart = np.abs(np.concatenate([one.logs - np.median(one.logs) for one in runs]))
    return bool(apart.max() > OUTLYING * _MAD * np.median(apart))


def _wider(runs: Sequence[BlockedLogs]) -> float:
    """By how much intervals of a study that drifted are too narrow; 1 where no drift is seen."""
    blocks = np.unique(np.concatenate([np.asarray(one.blocks) for one in runs]))
    if blocks.size * len(runs) > MOST_CELLS:  # where few have most of the blocks, a table is mostly empty
        runs = [one for one in runs if 2 * one.logs.size >= blocks.size]
    scores = np.full((len(runs), blocks.size), np.nan)
    for i, one in enumerate(runs):
        scores[i, np.searchsorted(blocks, one.blocks)] = np.exp(one.logs - one.logs.mean())
    found = drift(scores) if len(runs) else None
    return found.too_narrow if found and found.p < RARE else 1.0


def _too_few(a: Sequence[BlockedLogs], b: Sequence[BlockedLogs]) -> str:
    """Why there are no intervals: few runs stand against two modes of one study; empty where there may be some."""
    fewest = min(runs.logs.size for runs in (*a, *b))
    return MODES_OF_FEW.format(fewest) if fewest < FEWEST and (_bimodal(a) or _bimodal(b)) else ""


def _open(contrast: Contrast, why: str) -> Contrast:
    return replace(contrast, se=math.nan, df=0.0, warnings=(*contrast.warnings, why))


def _bimodal(runs: Sequence[BlockedLogs]) -> bool:
    """Whether the runs of a study have two modes: all of them together, each over the median of its treatment."""
    blocks = np.concatenate([np.asarray(one.blocks) for one in runs])
    apart = np.concatenate([np.exp(one.logs - np.median(one.logs)) for one in runs])
    return modes(apart[np.argsort(blocks, kind="stable")]) is not None


def _single(contrasts: Sequence[Contrast], confidence: float) -> float:
    """Confidence of each single interval, by the quantile of the largest of independent t statistics (Sidak)."""
    return float(confidence ** (1 / max(1, sum(c.df > 0 for c in contrasts))))
