"""How much do runs differ, how well is that known, and what can be seen through it?"""

import math
from collections.abc import Sequence

import numpy as np
from scipy.special import chdtri

from scalograph.analysis.comparisons import minimum_detectable_effect
from scalograph.protocol.noise_floor import FloorSpread

# A variance of fewer runs than this has no kurtosis worth the name.
MIN_RUNS = 5


def spread(groups: Sequence[Sequence[float]], confidence: float = 0.95) -> FloorSpread | None:
    """Standard deviation of log scores within groups, pooled, with its chi-square interval.

    A few slow runs make a variance less sure than normal theory says: the interval and `df` allow for it.

    Args:
        groups: scores above zero, any unit; a group of one says nothing.
        confidence: of the interval.

    Returns:
        None where fewer than five runs are left, or all are identical (the clock is too coarse).

    >>> found = spread([[1.00, 1.02, 0.98, 1.01, 0.99], [2.0, 2.02, 1.98, 2.04, 1.96]])
    >>> round(found.sd_log_percent, 2), round(found.df, 1)
    (1.58, 8.0)
    """
    logs = [np.log(group) for group in groups if len(group) > 1]
    away = np.concatenate([log - log.mean() for log in logs]) if logs else np.empty(0)
    n, freedom, squares = away.size, away.size - len(logs), float(np.square(away).sum())
    if n < MIN_RUNS or squares == 0:
        return None
    kurtosis = max(1.0, float(n * (away**4).sum() / squares**2))
    df = effective_df(freedom + 1, kurtosis)
    sd = math.sqrt(squares / freedom)
    tail = (1 - confidence) / 2
    low, high = (sd * math.sqrt(df / chdtri(df, p)) for p in (tail, 1 - tail))
    return FloorSpread(
        sd_log_percent=100 * sd, low=100 * low, high=100 * high if math.isfinite(high) else None,
        confidence=confidence, df=df, kurtosis=kurtosis,
    )  # fmt: skip


def effective_df(n: int, kurtosis: float) -> float:
    """Degrees of freedom that the variance of n scores is worth; n - 1 for normal ones, and never more.

    2n / (kurtosis - (n - 3)/(n - 1)): the chi-square that varies as much as such a sample variance does.

    Source: L. H. Shoemaker, Fixing the F test for equal variances, Am. Statistician 57 (2003), test F1; after
    G. E. P. Box, Non-normality and tests on variances, Biometrika 40 (1953).

    >>> effective_df(10, 3.0), round(effective_df(10, 9.0), 2)
    (9.0, 2.43)
    """
    if n < 2:
        return 0.0
    return min(n - 1.0, 2 * n / (kurtosis - (n - 3) / (n - 1)))


def detectable(sd_log_percent: float, counts: Sequence[int] = (3, 5, 10, 20)) -> dict[int, float]:
    """Smallest effect that so many runs of each treatment detect at 80 % power, in percent.

    >>> {n: round(effect, 1) for n, effect in detectable(3.0).items()}
    {3: 9.5, 5: 6.2, 10: 4.1, 20: 2.8}
    """
    effects = {n: minimum_detectable_effect(sd_log_percent / 100, n) for n in counts}
    return {n: 100 * math.expm1(effect) for n, effect in effects.items() if effect is not None}
