"""CPUs used, tasks at once, and the sentence that names the limit."""

import numpy as np
import pytest

from scalograph.questions.effective_cpus.model import Limit, name_limit
from scalograph.questions.effective_cpus.model_programs import busy_distribution, concurrency

MS = 1_000_000


# Half a bin on two CPUs may be together or in turns; the last bin ends with the run, and later ones do not count; rows
# may be of unequal length; what was not measured is not made up.
@pytest.mark.parametrize(("wall", "bin_ns", "rows", "shares"), [
    (4 * MS, MS, [[MS, MS, MS, 0], [MS, MS, 0, MS]], (0.0, 0.5, 0.5)),
    (2 * MS, MS, [[MS // 2] * 2, [MS // 2] * 2], (0.25, 0.5, 0.25)),
    (3 * MS // 2, MS, [[MS, MS // 2, 0, 0]], (0.0, 1.0)), (20, 10, [[10, 10], [10]], (0.0, 0.5, 0.5)),
    (None, 10, [[5]], ()), (0, 10, [[5]], ()), (10, 10, [], ()), (10, 10, [[]], ()),
])  # fmt: skip
def test_shares_of_bins(wall: int | None, bin_ns: int, rows: list[list[int]], shares: tuple[float, ...]) -> None:
    found = concurrency(wall, bin_ns, rows)
    assert found.shares == shares
    # Bins that are all or nothing say exactly how many there were.
    assert found.exact == (0.0 if 0.25 in shares else 1.0) or not shares


def test_the_mean_of_the_histogram_is_the_cpus_used() -> None:
    rows = [[300_000, 900_000, 100_000], [0, 1_000_000, 250_000], [700_000, 0, 0]]
    wall, cpu = 2_500_000, sum(map(sum, rows))
    found = concurrency(wall, MS, rows)
    assert sum(found.shares) == pytest.approx(1)
    assert sum(n * share for n, share in enumerate(found.shares)) == pytest.approx(cpu / wall)
    many = busy_distribution(np.random.default_rng(0).random((64, 5)))
    assert many.sum(axis=0) == pytest.approx(np.ones(5)) and many.shape == (65, 5)


BASE = {"probability": 0.97, "machine": 12, "mask": 12}


# One that merely believes in another number is told apart from one that uses it; a quota that is not used is no limit,
# and one that is comes before the mask and the program; what is set is not blamed where it is not reached.
@pytest.mark.parametrize(("seen", "limit"), [
    (name_limit(2, **BASE, used=1.97), "pool of fixed size"), (name_limit(1, **BASE, used=0.99), "pool of fixed size"),
    (name_limit(2, **BASE, used=1.95, quota=2.0), "quota"),
    (name_limit(2, **BASE, used=1.97, quota=8.0), "pool of fixed size"),
    (name_limit(3, 0.99, 12, 4, used=2.45, quota=2.5, believed=4), "quota"),
    (name_limit(4, 0.99, 12, 4, used=3.9), "mask"), (name_limit(12, **BASE, used=11.8), "none"),
    (name_limit(4, **BASE, used=3.9, workers=4), "more CPUs than work"),
    (name_limit(5, **BASE, used=4.9, workers=8), "pool of fixed size"),
    (name_limit(4, **BASE, used=3.9, believed=4), "believes in another number"),
    (name_limit(2, **BASE, used=1.97, believed=2), "believes in another number"),
    (name_limit(2, **BASE, used=1.97, believed=24), "pool of fixed size"),
    (name_limit(6, **BASE, used=2.5, serial=(0.2, 0.3)), "lock or serial share"),
    (name_limit(2, **BASE, used=11.9, serial=(0.0, 0.01)), "busy without help"),
    (name_limit(2, 0.6, 12, 12, used=2.0), "improbable"),
    (name_limit(6, **BASE, used=3.0, serial=(0.0, 0.3)), "unknown"),
    (name_limit(6, **BASE), "unknown"),
])  # fmt: skip
def test_the_limit_that_is_named(seen: Limit, limit: Limit) -> None:
    assert seen == limit
