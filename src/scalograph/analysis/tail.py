"""Histograms of iterations with bins that grow by 1 % (as HdrHistogram, G. Tene), for tail quantiles within 0.5 %.

Histograms of runs are merged by adding counts: quantiles of runs must not be averaged.
"""

from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import exp, floor, inf, log

WIDTH = log(1.01)


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
        """Return the quantile of a share above 0 and at most 1, within 0.5 %."""
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
