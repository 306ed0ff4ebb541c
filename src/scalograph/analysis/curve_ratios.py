"""Ratios of the configurations of two studies that ran at different times.

Runs are not paired across studies, so configurations are compared by Welch's t on log scores. Runs of a block err
together: errors of means over configurations are taken from whole blocks. Intervals are widened for drift where
successive blocks resemble each other.

All intervals hold at once (max-t). Configurations of two studies share no baseline, so the largest of their t
statistics is that of independent ones, with a closed-form quantile; what blocks share makes it a little too wide.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scalograph.analysis.center import Center, FloatArray, center, n_trimmed
from scalograph.analysis.contrast import Contrast, welch_contrast
from scalograph.analysis.drift import drift
from scalograph.analysis.modes import FEWEST, MODES_OF_FEW, find_modes
from scalograph.analysis.quantiles import satterthwaite
from scalograph.analysis.variance_moderation import moderate_variances

# A tenth is trimmed at each end where some run lies so many standard deviations off, by the median deviation.
TRIM, OUTLYING = 0.1, 5.0
RARE = 0.01  # p value of drift from which intervals are widened
IntArray = NDArray[np.int64]
MOST_CELLS = 1_000_000  # of a table of blocks and configurations
_MAD = 1.4826  # standard deviations in a median absolute deviation of normal values
MEAN = "mean over configurations, errors of whole blocks"


class BlockedLogs(NamedTuple):
    """Logs of the scores of one configuration, one or more, the block of each, and the given spread of a single one."""

    logs: FloatArray
    blocks: Sequence[int]
    spread: float = 0.0


@dataclass(frozen=True, slots=True)
class CurveRatios:
    """Contrasts log(b / a) of two studies.

    Attributes:
        configurations: one for each configuration.
        shift: their mean: the difference in level of the whole curve.
        upper: the mean of the upper levels, weighted by rank; None without any.
        shape: each configuration less the mean; empty where there are fewer than two.
        single: confidence of each interval of `configurations`, `shift` and `upper` with which all hold at once.
        single_shape: the same of `shape`.
    """

    configurations: list[Contrast]
    shift: Contrast
    upper: Contrast | None
    shape: list[Contrast]
    single: float
    single_shape: float


def curve_ratios(
    a: Sequence[BlockedLogs], b: Sequence[BlockedLogs], confidence: float = 0.95, upper: Sequence[int] = ()
) -> CurveRatios:
    """Compare configuration i of `b` with configuration i of the reference `a`.

    `upper` is the rank of each configuration among the upper levels of a curve, 0 below them, or empty: their mean,
    weighted by rank, is compared too, since what grows with the level shows there first. Contrasts have no interval
    where there are too few runs. Raises ValueError if the lengths differ, or there is no configuration.

    Source: B. L. Welch, Biometrika 34 (1947); the quantile, Z. Sidak, J. Am. Statist. Assoc. 62 (1967); errors of
    blocks, K.-Y. Liang and S. L. Zeger, Longitudinal data analysis using generalized linear models, Biometrika 73
    (1986).

    >>> old = [BlockedLogs(np.log([10.0, 10.1, 9.9, 10.0]) + i, range(4)) for i in range(3)]
    >>> new = [BlockedLogs(runs.logs + math.log(1.1), runs.blocks) for runs in old]
    >>> ratios = curve_ratios(old, new)
    >>> round(math.exp(ratios.shift.delta), 3), all(abs(c.delta) < 1e-9 for c in ratios.shape)
    (1.1, True)
    """
    if len(a) != len(b) or not a:
        raise ValueError(f"configurations: found {len(a)} and {len(b)}, expected as many of each, one or more")
    wider = (_drift_factor(a), _drift_factor(b))
    trim = TRIM if _has_outliers([*a, *b]) else 0.0
    configurations = moderate_variances([_contrast(x, y, trim, wider) for x, y in zip(a, b, strict=True)])
    k, sides = len(a), (_study_means(a), _study_means(b))
    shift = _weighted_contrast(sides, np.full(k, 1 / k), wider) if k > 1 else configurations[0]
    above = _weighted_contrast(sides, np.asarray(upper) / sum(upper), wider) if any(upper) else None
    shape = _shape(sides, wider) if k > 1 else []
    if reason := _too_few(a, b):
        configurations, shape = (
            [_drop_interval(c, reason) for c in contrasts] for contrasts in (configurations, shape)
        )
        shift, above = _drop_interval(shift, reason), above and _drop_interval(above, reason)
    family = [*configurations, *([shift] if k > 1 else []), *([above] if above else [])]
    single, single_shape = _single_confidence(family, confidence), _single_confidence(shape, confidence)
    return CurveRatios(configurations, shift, above, shape, single, single_shape)


def _contrast(a: BlockedLogs, b: BlockedLogs, trim: float, wider: tuple[float, float]) -> Contrast:
    trim = trim if n_trimmed(min(a.logs.size, b.logs.size), trim) else 0.0
    contrast = welch_contrast(b.logs, a.logs, trim, (b.spread, a.spread))
    if max(wider) == 1 or contrast.df <= 0:
        return contrast
    se = math.hypot(wider[0] * center(a.logs, trim, a.spread).se, wider[1] * center(b.logs, trim, b.spread).se)
    return replace(contrast, se=se)


class _Means(NamedTuple):
    """Mean of each configuration of a study; of each run its block, configuration and share of the error."""

    means: FloatArray
    blocks: IntArray
    configurations: IntArray
    errors: FloatArray


def _study_means(runs: Sequence[BlockedLogs]) -> _Means:
    means, sizes = np.array([sample.logs.mean() for sample in runs]), np.array([sample.logs.size for sample in runs])
    of = np.repeat(np.arange(len(runs)), sizes)
    _, blocks = np.unique(np.concatenate([np.asarray(sample.blocks) for sample in runs]), return_inverse=True)
    return _Means(means, blocks, of, (np.concatenate([sample.logs for sample in runs]) - means[of]) / sizes[of])


def _weighted_contrast(sides: tuple[_Means, _Means], weights: FloatArray, wider: tuple[float, float]) -> Contrast:
    x, y = (_weighted_sum(side, weights) for side in sides)
    return _contrast_of_means(x, y, sum(side.errors.size for side in sides), wider)


def _contrast_of_means(x: Center, y: Center, n: int, wider: tuple[float, float]) -> Contrast:
    x, y = (replace(c, se=factor * c.se) for c, factor in zip((x, y), wider, strict=True))
    if min(x.df, y.df) < 1:
        return Contrast(y.value - x.value, math.nan, 0.0, n, MEAN, ("need >= 2 blocks of each for an interval",))
    return Contrast(y.value - x.value, math.hypot(x.se, y.se), satterthwaite(x, y), n, MEAN)


def _shape(sides: tuple[_Means, _Means], wider: tuple[float, float]) -> list[Contrast]:
    """Return the contrast of each configuration less the mean of all."""
    n = sum(side.errors.size for side in sides)
    return [_contrast_of_means(x, y, n, wider) for x, y in zip(*map(_deviations, sides), strict=True)]


def _deviations(side: _Means) -> list[Center]:
    """Return each configuration less the mean of all; a block without the configuration has the mean's error alone."""
    values, k = side.means - side.means.mean(), side.means.size
    common = np.bincount(side.blocks, side.errors) / k
    n = common.size
    if n < 2:
        return [Center(float(value), math.nan, 0) for value in values]
    cells, inverse = np.unique(side.configurations * n + side.blocks, return_inverse=True)
    of, blocks = np.divmod(cells, n)
    apart = np.square(np.bincount(inverse, side.errors) - common[blocks]) - np.square(common[blocks])
    squares = np.maximum(common @ common + np.bincount(of, apart, k), 0.0)
    return [Center(float(x), math.sqrt(s * n / (n - 1)), n - 1) for x, s in zip(values, squares, strict=True)]


def _weighted_sum(side: _Means, weights: FloatArray) -> Center:
    value = float(side.means @ weights)
    errors = np.bincount(side.blocks, side.errors * weights[side.configurations])
    n = errors.size
    if n < 2:
        return Center(value, math.nan, 0)
    return Center(value, math.sqrt(float(errors @ errors) * n / (n - 1)), n - 1)


def _has_outliers(runs: Sequence[BlockedLogs]) -> bool:
    """Tell whether single runs lie far off, judged on all configurations together, since each has few runs."""
    apart = np.abs(np.concatenate([sample.logs - np.median(sample.logs) for sample in runs]))
    return bool(apart.max() > OUTLYING * _MAD * np.median(apart))


def _drift_factor(runs: Sequence[BlockedLogs]) -> float:
    blocks = np.unique(np.concatenate([np.asarray(sample.blocks) for sample in runs]))
    if blocks.size * len(runs) > MOST_CELLS:  # where few have most of the blocks, a table is mostly empty
        runs = [sample for sample in runs if 2 * sample.logs.size >= blocks.size]
    scores = np.full((len(runs), blocks.size), np.nan)
    for i, sample in enumerate(runs):
        scores[i, np.searchsorted(blocks, sample.blocks)] = np.exp(sample.logs - sample.logs.mean())
    result = drift(scores) if len(runs) else None
    return result.interval_factor if result and result.p < RARE else 1.0


def _too_few(a: Sequence[BlockedLogs], b: Sequence[BlockedLogs]) -> str:
    """Return the reason for no intervals where few runs stand against two modes of a study; empty otherwise."""
    fewest = min(runs.logs.size for runs in (*a, *b))
    return MODES_OF_FEW.format(fewest) if fewest < FEWEST and (_bimodal(a) or _bimodal(b)) else ""


def _drop_interval(contrast: Contrast, reason: str) -> Contrast:
    return replace(contrast, se=math.nan, df=0.0, warnings=(*contrast.warnings, reason))


def _bimodal(runs: Sequence[BlockedLogs]) -> bool:
    blocks = np.concatenate([np.asarray(sample.blocks) for sample in runs])
    apart = np.concatenate([np.exp(sample.logs - np.median(sample.logs)) for sample in runs])
    return find_modes(apart[np.argsort(blocks, kind="stable")]) is not None


def _single_confidence(contrasts: Sequence[Contrast], confidence: float) -> float:
    """Return the confidence of each interval with which all hold at once (Sidak)."""
    return float(confidence ** (1 / max(1, sum(c.df > 0 for c in contrasts))))
