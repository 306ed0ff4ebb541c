"""CPUs used, tasks at once, and the sentence that names the limit."""

import numpy as np
import pytest

from scalograph.questions.effective_cpus.model import Limit, name_limit
from scalograph.questions.effective_cpus.model_programs import busy_distribution, concurrency

MS = 1_000_000


# Half a bin on two CPUs may be together or in turns; the last bin ends with the run, and later ones do not count; rows
# may be of unequal length; what was not measured is not made up.
@pytest.mark.parametrize(
    ("wall", "cpu", "bin_ns", "rows", "used", "shares", "most"),
    [
        (4 * MS, 6 * MS, MS, [[MS, MS, MS, 0], [MS, MS, 0, MS]], 1.5, (0.0, 0.5, 0.5), 2),
        (2 * MS, 2 * MS, MS, [[MS // 2] * 2, [MS // 2] * 2], 1.0, (0.25, 0.5, 0.25), 2),
        (3 * MS // 2, 3 * MS // 2, MS, [[MS, MS // 2, 0, 0]], 1.0, (0.0, 1.0), 1),
        (20, 30, 10, [[10, 10], [10]], 1.5, (0.0, 0.5, 0.5), 2),
        (None, 5, 10, [[5]], None, (), 0),
        (0, 5, 10, [[5]], None, (), 0),
        (10, None, 10, [], None, (), 0),
        (10, 5, 10, [], 0.5, (), 0),
        (10, 5, 10, [[]], 0.5, (), 0),
    ],
)
def test_used_cpus_and_shares_of_bins(
    wall: int | None, cpu: int | None, bin_ns: int, rows: list[list[int]], used: float | None,
    shares: tuple[float, ...], most: int,
) -> None:  # fmt: skip
    found = concurrency(wall, cpu, bin_ns, rows)
    assert (found.used_cpus, found.shares, found.most) == (used, shares, most)
    # Bins that are all or nothing say exactly how many there were.
    assert found.exact == (0.0 if 0.25 in shares else 1.0) or not shares


def test_the_mean_of_the_histogram_is_the_cpus_used() -> None:
    rows = [[300_000, 900_000, 100_000], [0, 1_000_000, 250_000], [700_000, 0, 0]]
    found = concurrency(2_500_000, sum(map(sum, rows)), MS, rows)
    assert sum(found.shares) == pytest.approx(1)
    assert sum(n * share for n, share in enumerate(found.shares)) == pytest.approx(found.used_cpus)
    many = busy_distribution(np.random.default_rng(0).random((64, 5)))
    assert many.sum(axis=0) == pytest.approx(np.ones(5)) and many.shape == (65, 5)


BASE = {"probability": 0.97, "machine": 12, "mask": 12}


# One that merely believes in another number is told apart from one that uses it; a quota that is not used is no limit,
# and one that is comes before the mask and the program; what is set is not blamed where it is not reached.
@pytest.mark.parametrize(
    ("seen", "limit"),
    [
        (UsageEvidence(2, **BASE, used=1.97), "pool of fixed size"),
        (UsageEvidence(1, **BASE, used=0.99), "pool of fixed size"),
        (UsageEvidence(2, **BASE, used=1.95, quota=2.0), "quota"),
        (UsageEvidence(2, **BASE, used=1.97, quota=8.0), "pool of fixed size"),
        (UsageEvidence(3, 0.99, 12, 4, used=2.45, quota=2.5, believed=4), "quota"),
        (UsageEvidence(4, 0.99, 12, 4, used=3.9), "mask"),
        (UsageEvidence(12, **BASE, used=11.8), "none"),
        (UsageEvidence(4, **BASE, used=3.9, workers=4), "more CPUs than work"),
        (UsageEvidence(5, **BASE, used=4.9, workers=8), "pool of fixed size"),
        (UsageEvidence(4, **BASE, used=3.9, believed=4), "believes in another number"),
        (UsageEvidence(2, **BASE, used=1.97, believed=2), "believes in another number"),
        (UsageEvidence(2, **BASE, used=1.97, believed=24), "pool of fixed size"),
        (UsageEvidence(6, **BASE, used=2.5, serial=(0.2, 0.3)), "lock or serial share"),
        (UsageEvidence(2, **BASE, used=11.9, serial=(0.0, 0.01)), "busy without help"),
        (UsageEvidence(2, 0.6, 12, 12, used=2.0), "improbable"),
        (UsageEvidence(6, **BASE, used=3.0, serial=(0.0, 0.3)), "unknown"),
        (UsageEvidence(6, **BASE), "unknown"),
    ],
)
def test_the_limit_that_is_named(seen: UsageEvidence, limit: Limit) -> None:
    assert name_limit(seen) == limit
