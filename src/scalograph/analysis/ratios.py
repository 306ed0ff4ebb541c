"""Ratios of two samples, independent or paired within blocks, with intervals."""

import math

import numpy as np

from scalograph.analysis.center import FloatArray, Scores, center, finite_scores, has_logs, score_array, trim_note
from scalograph.analysis.contrast import PAIRED, WELCH, paired_contrast, welch_contrast
from scalograph.analysis.estimate import Estimate, check_confidence, finite, need_runs, unknown_estimate
from scalograph.analysis.quantiles import t_quantile

FIELLER = "ratio of means, Fieller interval"


def ratio(
    a: Scores, b: Scores, confidence: float = 0.95, *, trim: float = 0.0, spreads: tuple[float, float] = (0.0, 0.0)
) -> Estimate:
    """Return the typical score of `a` over that of `b`, from independent runs: Welch t on logs.

    Nominal 95% covers 95-96%, and up to 97.3% if a few runs are much slower than the rest (too wide, on
    the safe side); from 10 runs on, `trim=0.1` then covers 95-96% and is narrower.

    If a score <= 0 has no log: ratio of means with a Fieller interval.

    `trim` is the share of the runs trimmed at each end; `spreads` are the given standard deviations of the log of a
    single score of each, 0 where unknown. Raises ValueError if an argument is out of range.

    Source: E. C. Fieller, Some problems in interval estimation, J. R. Statist. Soc. B 16 (1954).

    >>> e = ratio([20.0, 20.4, 19.6], [10.0, 10.2, 9.8])
    >>> round(e.value, 3), round(e.low, 2), round(e.high, 2)
    (2.0, 1.91, 2.09)
    >>> e = ratio([15.0], [8.0], spreads=(0.1, 0.1))  # 1.875 times or over exp(1.96 * sqrt(2) * 0.1)
    >>> round(e.low, 3), round(e.high, 3)
    (1.421, 2.474)
    """
    check_confidence(confidence)
    (x, notes_x), (y, notes_y) = finite_scores(a), finite_scores(b)
    notes = (*notes_x, *notes_y)
    if min(x.size, y.size) == 0:
        return unknown_estimate(WELCH, confidence, x.size + y.size, *notes, need_runs(1, (x.size, y.size), "a ratio"))
    if not has_logs(x, y):
        return _fieller(x, y, 0.0, confidence, x.size + y.size).add_warnings(*notes)
    estimate = welch_contrast(np.log(x), np.log(y), trim, spreads).estimate(confidence)
    return estimate.add_warnings(*notes, *trim_note(min(x.size, y.size), trim))


def paired_ratio(a: Scores, b: Scores, confidence: float = 0.95, *, trim: float = 0.0) -> Estimate:
    """Return the typical score of `a` over that of `b`, from runs interleaved in blocks: paired t on logs.

    What a block shares (a warm machine, interference, drift) cancels within its pair. `n` counts pairs; a pair without
    both scores is excluded, with a warning.

    a[i] and b[i] ran in block i. Raises ValueError if the lengths differ or an argument is out of range.

    >>> paired_ratio([2.0, 4.0], [1.0, 2.0]).value
    2.0
    """
    check_confidence(confidence)
    x, y, notes = pairs(a, b)
    if x.size == 0:
        return unknown_estimate(PAIRED, confidence, 0, *notes, "no pair of runs that count")
    if not has_logs(x, y):
        covariance = float(np.cov(x, y)[0, 1]) / x.size if x.size > 1 else 0.0
        return _fieller(x, y, covariance, confidence, x.size).add_warnings(*notes)
    return (
        paired_contrast(np.log(x), np.log(y), trim).estimate(confidence).add_warnings(*notes, *trim_note(x.size, trim))
    )


def divide_estimates(top: Estimate, bottom: Estimate, method: str) -> Estimate:
    """Return the ratio of two independent estimates above zero; half-widths of their logs add up in squares.

    >>> e = divide_estimates(Estimate(2.0, 1.0, 4.0), Estimate(1.0, 1.0, 1.0), "")
    >>> e.value, round(e.low, 3), round(e.high, 3)
    (2.0, 1.0, 4.0)
    """
    n, ends = max(top.n, bottom.n), (top.low, top.high, bottom.low, bottom.high)
    if not top.value or not bottom.value or min(top.value, bottom.value) <= 0:
        return Estimate(n=n, method=method)
    value = math.log(top.value) - math.log(bottom.value)
    if any(end is None or end <= 0 for end in ends):
        return Estimate(math.exp(value), confidence=top.confidence, n=n, method=method)
    low_top, high_top, low_bottom, high_bottom = (math.log(end) for end in ends if end)
    below = math.hypot(math.log(top.value) - low_top, high_bottom - math.log(bottom.value))
    above = math.hypot(high_top - math.log(top.value), math.log(bottom.value) - low_bottom)
    return Estimate(math.exp(value), math.exp(value - below), math.exp(value + above), top.confidence, n, method)


def pairs(a: Scores, b: Scores) -> tuple[FloatArray, FloatArray, tuple[str, ...]]:
    """Return the complete pairs as two arrays, and a warning that counts the others.

    Raises ValueError if the lengths differ.
    """
    x, y = score_array(a), score_array(b)
    if x.size != y.size:
        raise ValueError(f"pairs: found {x.size} and {y.size} scores, expected one of each for every block")
    both = np.isfinite(x) & np.isfinite(y)
    n_lost = x.size - int(both.sum())
    notes = (f"{n_lost} of {x.size} pairs miss a score",) if n_lost else ()
    return x[both], y[both], notes


def _fieller(x: FloatArray, y: FloatArray, covariance: float, confidence: float, n: int) -> Estimate:
    """Return the ratio of arithmetic means; `covariance` is that of the means, 0 for independent samples."""
    warning = "a score <= 0 has no log: ratio of means instead"
    above, below = center(x), center(y)
    if below.value == 0:
        return unknown_estimate(FIELLER, confidence, n, warning, "the denominator is zero: no ratio")
    value = above.value / below.value
    point = Estimate(finite(value), None, None, confidence, n, FIELLER, (warning,))
    if min(above.df, below.df) < 1:
        return point.add_warnings(need_runs(2, (x.size, y.size)))
    t = t_quantile(confidence, min(above.df, below.df))  # the smaller one is the safe side; logs are the rule
    square = below.value**2 - (t * below.se) ** 2
    if square <= 0:
        return point.add_warnings("the denominator may be zero: the ratio has no bounded interval")
    middle = above.value * below.value - t**2 * covariance
    rest = above.value**2 - (t * above.se) ** 2
    root = math.sqrt(max(0.0, middle**2 - square * rest))
    low, high = finite((middle - root) / square), finite((middle + root) / square)
    return Estimate(finite(value), low, high, confidence, n, FIELLER, (warning,))
