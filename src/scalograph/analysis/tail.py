"""How slow are the slowest iterations? The iterations of many runs as one histogram, with its tail quantiles.

Values are counted in bins that grow by 1 %, so a quantile of any size is known within half of that. Histograms of runs
are merged by adding counts: quantiles of runs must not be averaged. Bins of constant relative width are an idea of
HdrHistogram (G. Tene).
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
    """Counts of values above 0 by size.

    Attributes:
        bins: numbers of the non-empty bins, in order; bin i is from exp(i WIDTH) to exp((i + 1) WIDTH).
        counts: values in each.
        largest: the largest value, exactly.
    """

    bins: "array[int]"
    counts: "array[int]"
    largest: float

    @property
    def n(self) -> int:
        """Values in all bins."""
        return sum(self.counts)

    def quantile(self, share: float) -> float:
        """Return the quantile within 0.5 %: a `share` of all values, above 0 and at most 1, is not above it."""
        if share >= 1:
            return self.largest
        at = bisect_left([*accumulate(self.counts)], share * self.n)
        return min(exp((self.bins[at] + 0.5) * WIDTH), self.largest)


def histogram(values: Sequence[float]) -> Histogram | None:
    """Return the finite values above 0 as a histogram; None if there is none."""
    counts = Counter(floor(log(x) / WIDTH) for x in values if 0 < x < inf)
    return _make_histogram(counts, max(x for x in values if x < inf)) if counts else None


def merge_histograms(parts: Iterable[Histogram]) -> Histogram | None:
    """Return all values of several histograms as one; None if there is none."""
    counts: Counter[int] = Counter()
    largest = 0.0
    for part in parts:
        counts.update(dict(zip(part.bins, part.counts, strict=True)))
        largest = max(largest, part.largest)
    return _make_histogram(counts, largest) if counts else None


def _make_histogram(counts: Counter[int], largest: float) -> Histogram:
    ordered = sorted(counts)
    return Histogram(array("i", ordered), array("q", [counts[i] for i in ordered]), largest)
