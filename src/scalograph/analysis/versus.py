"""Robust ratio of paired runs, some of them slowed, in two modes, or coarsely timed; and what it shows."""

import math
from bisect import bisect_left
from typing import Literal, NamedTuple

import numpy as np

from scalograph.analysis.center import FloatArray, Scores, has_logs, n_trimmed
from scalograph.analysis.contrast import speed_adjusted_contrast
from scalograph.analysis.estimate import Estimate, finite
from scalograph.analysis.modes import FEWEST, MODES_OF_FEW, find_modes, widen_for_rounding
from scalograph.analysis.quantiles import t_quantile
from scalograph.analysis.ratios import paired_ratio, pairs

# Share of pairs trimmed at each end, also where runs have two modes: chosen among Student's t, trimmed t and signed
# ranks for the most effects found at 5% false ones (benchmarks/statistics_ab.py).
TRIM, TRIM_OF_MODES = 0.1, 0.25
SAME = 0.02  # distance from 1 within which the interval of a ratio of equals lies

RatioClass = Literal["less", "more", "equivalent", "inconclusive"]
CorrectionClass = Literal["checked", "unchecked", "withdrawn"]


def versus(
    a: Scores, b: Scores, confidence: float = 0.95, speeds: tuple[Scores, Scores] | None = None, is_shared: bool = False
) -> Estimate:
    """Return the typical score of `a` over that of `b`; a[i] and b[i] ran in block i.

    The interval is robust to slowed runs, widened for a coarse clock, and missing where too few runs stand against two
    modes. It is adjusted for `speeds`, logs of the loop times of both (`speed_adjusted_contrast`).
    Where a machine `is_shared`, a quarter is trimmed at each end: beside others some runs are slower by a third, too
    few to show as a mode.

    Raises ValueError if the lengths differ or `confidence` is no probability.

    Source: K. K. Yuen, The two-sample trimmed t for unequal population variances, Biometrika 61 (1974), of pairs.

    >>> ratio = versus([96.0, 96.1, 95.8, 96.3, 95.9], [100.1, 99.9, 100.2, 100.0, 100.3])
    >>> classify_ratio(ratio), round(ratio.value, 3)
    ('less', 0.959)
    """
    x, y, _ = pairs(a, b)
    if speeds is not None and x.size == len(speeds[0]) == len(speeds[1]) and has_logs(x, y):
        trim = _trim(x.size, TRIM_OF_MODES if is_shared else TRIM)
        loops = [np.asarray(speed, dtype=np.float64) for speed in speeds]
        adjusted = speed_adjusted_contrast(np.log(x), np.log(y), loops[0], loops[1], trim)
        if adjusted.slope:
            return widen_for_rounding(adjusted.contrast.estimate(confidence), x, y)
    bimodal = _bimodal(x, y)
    trim = TRIM_OF_MODES if is_shared or (bimodal and x.size >= FEWEST) else TRIM
    estimate = paired_ratio(a, b, confidence, trim=_trim(x.size, trim))
    if bimodal and x.size < FEWEST:
        warnings = (*estimate.warnings, MODES_OF_FEW.format(x.size))
        return Estimate(estimate.value, None, None, confidence, estimate.n, estimate.method, warnings)
    return widen_for_rounding(estimate, x, y)


def _trim(n: int, share: float) -> float:
    return share if n_trimmed(n, share) else 0.0


def classify_ratio(ratio: Estimate, margin: float = SAME) -> RatioClass:
    """Return what a ratio shows; equivalent only if its whole interval lies within the margin, a share.

    >>> [classify_ratio(Estimate(1.0, *ends)) for ends in ((0.99, 1.01), (0.95, 1.01), (1.03, 1.04), (None, None))]
    ['equivalent', 'inconclusive', 'more', 'inconclusive']
    """
    if ratio.low is None or ratio.high is None:
        return "inconclusive"
    if 1 / (1 + margin) <= ratio.low and ratio.high <= 1 + margin:
        return "equivalent"
    return "less" if ratio.high < 1 else "more" if ratio.low > 1 else "inconclusive"


class CorrectionCheck(NamedTuple):
    """Ratio of corrected runs over that of clean runs, and what it shows about the correction."""

    ratio: Estimate
    word: CorrectionClass


CORRECTION = "corrected ratio over the ratio of clean runs, both independent"


def check_correction(clean: Estimate, corrected: Estimate, margin: float = SAME) -> CorrectionCheck:
    """Compare the ratio of corrected runs with that of clean runs of the same two configurations.

    The correction is checked if the interval of the quotient lies within the margin, a share. It is withdrawn if that
    interval lies beyond the margin. The two ratios are independent and have the same confidence.

    Source: G. Y. Zou and A. Donner, Construction of confidence limits about effect measures, Stat. Med. 27 (2008).

    >>> clean, corrected = Estimate(1.05, 1.045, 1.055, n=5), Estimate(1.051, 1.04, 1.062, n=8)
    >>> check_correction(clean, corrected).word, check_correction(clean, corrected, 0.01).word
    ('checked', 'unchecked')
    >>> check_correction(clean, Estimate(1.15, 1.13, 1.17, n=8)).word
    'withdrawn'
    """
    ends = (*clean, *corrected)
    confidence, n = min(clean.confidence, corrected.confidence), min(clean.n, corrected.n)
    known_ends = [end for end in ends if end is not None and end > 0]
    if len(known_ends) < len(ends):
        return CorrectionCheck(Estimate(confidence=confidence, n=n, method=CORRECTION), "unchecked")
    low_1, log_1, high_1, low_2, log_2, high_2 = map(math.log, known_ends)
    delta = log_2 - log_1
    below, above = math.hypot(log_2 - low_2, high_1 - log_1), math.hypot(high_2 - log_2, log_1 - low_1)
    value, low, high = (finite(math.exp(x)) for x in (delta, delta - below, delta + above))
    ratio, least = Estimate(value, low, high, confidence, n, CORRECTION), math.log1p(margin)
    if delta - below > least or delta + above < -least:
        return CorrectionCheck(ratio, "withdrawn")
    is_within = -least <= delta - below and delta + above <= least
    return CorrectionCheck(ratio, "checked" if is_within else "unchecked")


def pairs_needed(ratio: Estimate, margin: float = SAME) -> int | None:
    """Return how many pairs decide whether a ratio lies within the margin, a share; None without an interval.

    They make the interval of the log as wide as the margin: it then excludes 1, or lies within the margin, whatever the
    ratio is. The spread of the pairs is taken to stay as it is.

    >>> pairs_needed(Estimate(1.01, 0.98, 1.04, 0.95, 40), 0.02), pairs_needed(Estimate(1.3, 1.28, 1.32, 0.95, 9), 0.1)
    (341, 9)
    >>> pairs_needed(Estimate(1.0, 0.98, 1.0204, 0.95, 2), 0.02)
    3
    """
    if ratio.low is None or ratio.high is None or ratio.low <= 0 or ratio.n < 2 or margin <= 0:
        return None
    n, narrowing = ratio.n, math.log(ratio.high / ratio.low) / math.log1p(margin)
    if narrowing <= 1:
        return n
    # Enough, as the quantile falls with the number of pairs; a million times narrower is out of reach.
    most = math.ceil(n * min(narrowing, 1e6) ** 2)
    per_root = narrowing * math.sqrt(n) / t_quantile(ratio.confidence, n - 1)
    return bisect_left(range(most), per_root, n, key=lambda k: math.sqrt(k) / t_quantile(ratio.confidence, k - 1))


def _bimodal(x: FloatArray, y: FloatArray) -> bool:
    if x.size >= FEWEST or not x.size or not has_logs(x, y):
        return find_modes(x) is not None or find_modes(y) is not None
    return find_modes(np.column_stack([x / np.median(x), y / np.median(y)]).ravel()) is not None
