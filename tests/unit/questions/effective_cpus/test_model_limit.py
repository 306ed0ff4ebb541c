"""CPUs used, tasks at once, and the sentence that names the limit."""

import pytest

from scalograph.questions.effective_cpus.model import Limit, name_limit
from scalograph.questions.effective_cpus.model_programs import busy_distribution, concurrency

MS = 1_000_000


def test_shares_of_bins_that_are_all_or_nothing() -> None:
    found = concurrency(4 * MS, MS, [[MS, MS, MS, 0], [MS, MS, 0, MS]])
    assert (found.shares, found.exact) == ((0.0, 0.5, 0.5), 1.0)


def test_half_a_bin_on_two_cpus_may_be_together_or_in_turns() -> None:
    found = concurrency(2 * MS, MS, [[MS // 2] * 2, [MS // 2] * 2])
    assert found.shares == (0.25, 0.5, 0.25)
    assert found.exact == 0.0


def test_the_mean_of_the_histogram_is_the_cpus_used() -> None:
    rows = [[300_000, 900_000, 100_000], [0, 1_000_000, 250_000], [700_000, 0, 0]]
    wall, cpu = 2_500_000, sum(map(sum, rows))
    found = concurrency(wall, MS, rows)
    assert sum(found.shares) == pytest.approx(1)
    assert sum(n * share for n, share in enumerate(found.shares)) == pytest.approx(cpu / wall)


def test_the_last_bin_ends_with_the_run_and_later_ones_do_not_count() -> None:
    found = concurrency(1_500_000, MS, [[MS, 500_000, 0, 0]])
    assert found.shares == (0.0, 1.0)


@pytest.mark.parametrize(("wall", "rows"), [(None, [[5]]), (0, [[5]]), (10, []), (10, [[]])])
def test_what_was_not_measured_is_not_made_up(wall: int | None, rows: list[list[int]]) -> None:
    assert concurrency(wall, 10, rows).shares == ()


def test_rows_may_be_of_unequal_length() -> None:
    assert concurrency(20, 10, [[10, 10], [10]]).shares == (0.0, 0.5, 0.5)


def test_at_once_with_many_cpus_sums_to_one() -> None:
    import numpy as np

    found = busy_distribution(np.random.default_rng(0).random((64, 5)))
    assert found.sum(axis=0) == pytest.approx(np.ones(5))
    assert found.shape == (65, 5)


BASE = {"probability": 0.97, "machine": 12, "mask": 12}


@pytest.mark.parametrize(
    ("seen", "limit"),
    [
        (name_limit(2, **BASE, used=1.97), "pool of fixed size"),
        (name_limit(1, **BASE, used=0.99), "pool of fixed size"),
        (name_limit(2, **BASE, used=1.95, quota=2.0), "quota"),
        (name_limit(4, 0.99, 12, 4, used=3.9), "mask"),
        (name_limit(12, **BASE, used=11.8), "none"),
        (name_limit(4, **BASE, used=3.9, workers=4), "more CPUs than work"),
        (name_limit(4, **BASE, used=3.9, believed=4), "believes in another number"),
        (name_limit(6, **BASE, used=2.5, serial=(0.2, 0.3)), "lock or serial share"),
        (name_limit(2, **BASE, used=11.9, serial=(0.0, 0.01)), "busy without help"),
        (name_limit(2, 0.6, 12, 12, used=2.0), "improbable"),
        (name_limit(6, **BASE, used=3.0, serial=(0.0, 0.3)), "unknown"),
        (name_limit(6, **BASE), "unknown"),
    ],
)
def test_the_limit_that_is_named(seen: Limit, limit: Limit) -> None:
    assert seen == limit


def test_one_that_merely_believes_in_another_number_is_told_apart() -> None:
    assert name_limit(2, **BASE, used=1.97, believed=24) == "pool of fixed size"
    assert name_limit(2, **BASE, used=1.97, believed=2) == "believes in another number"


def test_a_quota_that_is_not_used_is_no_limit() -> None:
    assert name_limit(2, **BASE, used=1.97, quota=8.0) == "pool of fixed size"


def test_a_quota_comes_before_the_mask_and_the_program() -> None:
    assert name_limit(3, 0.99, 12, 4, used=2.45, quota=2.5, believed=4) == "quota"


def test_what_is_set_is_not_blamed_where_it_is_not_reached() -> None:
    assert name_limit(5, **BASE, used=4.9, workers=8) == "pool of fixed size"
