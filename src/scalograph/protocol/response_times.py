"""Response times as counts by bucket: added up over copies, operations and runs, and read as quantiles.

Quantiles of runs cannot be averaged into that of all requests; counts can be added. Buckets are those of
protocol/workload.md: none is wider than 0.8% of its value.
"""

from collections import Counter
from collections.abc import Iterable, Mapping

from scalograph.protocol.record_processes import HistogramEvent

# Buckets in each doubling; below as many nanoseconds, a bucket is one.
FINE = 128
STEADY = "steady"
# Requests beyond a quantile without which it is not told.
FEWEST_BEYOND = 10

# Bucket -> requests.
Counts = Mapping[int, int]


def steady_counts(events: Iterable[HistogramEvent]) -> Counts:
    """Add up the answers of the steady phase, of all copies and operations; empty where none is told."""
    total: Counter[int] = Counter()
    for event in events:
        if event.phase == STEADY:
            total.update(dict(zip(event.index, event.count, strict=True)))
    return dict(total)


def sum_counts(parts: Iterable[Counts]) -> Counts:
    """Add up the counts of several runs."""
    total: Counter[int] = Counter()
    for counts in parts:
        total.update(counts)
    return dict(total)


def quantile(counts: Counts, share: float) -> float | None:
    """Find the time that so large a share of the requests do not exceed, in the middle of its bucket, s.

    `counts`: of buckets; `share`: 0.99 is p99.

    Returns None where fewer than ten requests took longer.

    >>> quantile({100: 90, 127: 10}, 0.9), quantile({100: 99, 127: 1}, 0.99)
    (1.005e-07, None)
    """
    n = sum(counts.values())
    if n * (1 - share) < FEWEST_BEYOND - 1e-6:
        return None
    beyond = 0
    for bucket in sorted(counts):
        beyond += counts[bucket]
        if beyond >= n * share - 1e-6:
            return middle_s(bucket)
    return None


def share_within(counts: Counts, limit_s: float) -> float | None:
    """Return the share of the requests that took at most so long, s; None without any.

    >>> share_within({100: 90, 127: 10}, 110e-9), share_within({}, 1.0)
    (0.9, None)
    """
    n = sum(counts.values())
    return sum(count for bucket, count in counts.items() if middle_s(bucket) <= limit_s) / n if n else None


def middle_s(bucket: int) -> float:
    """Return the middle of a bucket, s.

    >>> middle_s(3), middle_s(256)  # 3 ns; 256 and 257 ns
    (3.5e-09, 2.57e-07)
    """
    shift = max(bucket // FINE - 1, 0)
    return ((bucket - FINE * shift + 0.5) * 2.0**shift) / 1e9


def variation(counts: Counts) -> float:
    """Return the variance of buckets over the squared mean: 0 of times that are alike, or of none; 1 if exponential.

    >>> round(variation({3: 5}), 3), round(variation({256: 99, 7000: 1}), 1)
    (0.0, 99.0)
    """
    n = sum(counts.values())
    mean = sum(count * middle_s(bucket) for bucket, count in counts.items()) / max(n, 1)
    if not mean:
        return 0.0
    return sum(count * (middle_s(bucket) / mean - 1) ** 2 for bucket, count in counts.items()) / n
