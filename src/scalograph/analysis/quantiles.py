"""Quantiles of Student's t and of chi-square in plain Python, and histograms of iterations with tail quantiles.

scipy takes a tenth of a second to import, longer than a short study takes to analyze; the two agree within 1e-11.
Source: M. Abramowitz and I. Stegun, Handbook of Mathematical Functions (1964), 26.7.3, 26.7.4, 6.5.29.
"""

import math
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from math import exp, floor, inf, log
from statistics import NormalDist

from scalograph.analysis.center import Center
from scalograph.analysis.estimate import check_confidence

MOST_DEGREES = 1000  # sums have half as many terms: past that scipy is quicker
# Bins of constant relative width, as HdrHistogram has (G. Tene). Histograms of runs are merged by adding counts:
# quantiles of runs must not be averaged.
WIDTH = log(1.01)


def student_t(p: float, df: float) -> float:
    """Return the quantile of Student's t for a probability within (0, 1) and degrees of freedom above zero.

    >>> round(student_t(0.975, 4), 4), round(student_t(0.2, 4), 4)
    (2.7764, -0.941)
    """
    if df == int(df) and df <= MOST_DEGREES:
        return _whole_student_t(p, int(df)) if p >= 0.5 else -_whole_student_t(1 - p, int(df))
    from scipy.special import stdtrit

    return float(stdtrit(df, p))


def chi_square_median(df: int) -> float:
    """Return the median of chi-square.

    >>> round(chi_square_median(2), 4)
    1.3863
    """
    if df <= MOST_DEGREES:
        return _chi_square_median(df)
    from scipy.special import chdtri

    return float(chdtri(df, 0.5))


@lru_cache(maxsize=4096)
def _whole_student_t(p: float, df: int) -> float:
    scale = math.exp(math.lgamma((df + 1) / 2) - math.lgamma(df / 2)) / math.sqrt(df * math.pi)

    def step(t: float) -> float:
        density = scale * math.pow(1 + t * t / df, -(df + 1) / 2)
        return (2 * p - 1 - _central_probability(t, df)) / (2 * density)

    # The normal quantile is the smaller one, and from below Newton's method never oversteps.
    return _newton(NormalDist().inv_cdf(p), step)


def _central_probability(t: float, df: int) -> float:
    """Return the probability between -t and t: a sum over powers of the cosine of atan(t / sqrt(df))."""
    angle = math.atan(t / math.sqrt(df))
    cosine, odd = math.cos(angle), df % 2
    term = total = cosine if odd else 1.0
    for power in range(2 + odd, df, 2):
        term *= cosine * cosine * (power - 1) / power
        total += term
    if not odd:
        return math.sin(angle) * total
    return 2 / math.pi * (angle + (math.sin(angle) * total if df > 1 else 0.0))


@lru_cache(maxsize=1024)
def _chi_square_median(df: int) -> float:
    a = df / 2
    log_gamma = math.lgamma(a)

    def step(x: float) -> float:
        density = math.exp((a - 1) * math.log(x) - x - log_gamma)
        return 0.5 / density - x * _gamma_series(a, x)

    return 2 * _newton(a * (1 - 1 / (9 * a)) ** 3, step)


def _gamma_series(a: float, x: float) -> float:
    term = total = 1 / a
    n = a
    while term > 1e-17 * total:
        n += 1
        term *= x / n
        total += term
    return total


def _newton(x: float, step: Callable[[float], float]) -> float:
    """Iterate until the steps end; the last one squares the remaining error, so it is below the last digit."""
    for _ in range(100):
        further = step(x)
        x += further
        if abs(further) <= 1e-9 * abs(x):
            break
    return x


def t_quantile(confidence: float, df: float) -> float:
    """Return the half-width, in standard errors, of a two-sided Student t interval.

    Raises ValueError if `confidence` is no probability.

    >>> round(t_quantile(0.95, 4), 3)
    2.776
    """
    check_confidence(confidence)
    return student_t(0.5 + confidence / 2, df)


def satterthwaite(x: Center, y: Center) -> float:
    """Return the degrees of freedom of the difference of two means with their own variances."""
    largest = max(x.se, y.se)
    if largest == 0:
        return float(x.df + y.df)
    # Scaled by the larger, because the fourth power of a small standard error underflows.
    u, v = (x.se / largest) ** 2, (y.se / largest) ** 2
    return (u + v) ** 2 / (u**2 / x.df + v**2 / y.df)


@dataclass(frozen=True, slots=True)
class Histogram:
    """Counts of values above 0 in the non-empty bins; bin i is from exp(i WIDTH) to exp((i + 1) WIDTH)."""

    bins: "array[int]"
    counts: "array[int]"
    largest: float

    @property
    def n(self) -> int:
        return sum(self.counts)

    def quantile(self, share: float) -> float:
        """Return the quantile of a share above 0 and at most 1, within 0.5%."""
        if share >= 1:
            return self.largest
        at = bisect_left([*accumulate(self.counts)], share * self.n)
        return min(exp((self.bins[at] + 0.5) * WIDTH), self.largest)


def histogram(values: Sequence[float]) -> Histogram | None:
    """Return the histogram of the finite values above 0; None without any."""
    counts = Counter(floor(log(x) / WIDTH) for x in values if 0 < x < inf)
    return _make_histogram(counts, max(x for x in values if x < inf)) if counts else None


def merge_histograms(parts: Iterable[Histogram]) -> Histogram | None:
    """Return the sum of histograms; None without any value."""
    counts: Counter[int] = Counter()
    largest = 0.0
    for part in parts:
        counts.update(dict(zip(part.bins, part.counts, strict=True)))
        largest = max(largest, part.largest)
    return _make_histogram(counts, largest) if counts else None


def _make_histogram(counts: Counter[int], largest: float) -> Histogram:
    ordered = sorted(counts)
    return Histogram(array("i", ordered), array("q", [counts[i] for i in ordered]), largest)
