"""Parallelism from timelines that are made up."""

import pytest

from scalograph.questions.parallel_build.model_parallelism import parallelism

MS = 1_000_000


def test_two_cpus_and_a_tail() -> None:
    """Two tasks for 80 ms, then one for 20: the link step of a build."""
    busy = [[10 * MS] * 10, [10 * MS] * 8 + [0, 0]]
    found = parallelism(busy, 10 * MS, asked=8, n_cpus=2, begin_ns=0, end_ns=100 * MS)
    assert found is not None
    assert found.mean == pytest.approx(1.8)
    assert found.limit == 2
    assert found.below_s == found.tail_s == pytest.approx(0.02)
    assert found.lost_s == pytest.approx(0.02)


def test_fewer_jobs_than_cpus_are_no_loss() -> None:
    busy = [[5 * MS] * 4, [5 * MS] * 4]
    found = parallelism(busy, 10 * MS, asked=1, n_cpus=2, begin_ns=0, end_ns=40 * MS)
    assert found is not None
    assert (found.limit, found.below_s, found.lost_s) == (1, 0, 0)


def test_a_dip_in_the_middle_is_no_tail() -> None:
    found = parallelism([[10, 0, 10], [10, 10, 10]], 10, asked=2, n_cpus=2, begin_ns=0, end_ns=30)
    assert found is not None
    assert round(found.below_s * 1e9) == 10
    assert found.tail_s == 0


def test_what_lies_outside_the_window_does_not_count() -> None:
    """Set-up before it, and an end in the middle of a bin, which counts by its share."""
    busy = [[10, 10, 10, 5], [0, 10, 10, 5]]
    found = parallelism(busy, 10, asked=2, n_cpus=2, begin_ns=10, end_ns=35)
    assert found is not None
    assert found.mean == pytest.approx((20 + 20 + 5) / 25)
    assert len(found.tasks) == 3


def test_the_whole_tree_in_one_row() -> None:
    """`tree_busy_ns`, where switches were too many to keep each."""
    found = parallelism([[15, 15]], 10, asked=2, n_cpus=2, begin_ns=0, end_ns=20)
    assert found is not None
    assert found.mean == pytest.approx(1.5)


def test_nothing_to_see() -> None:
    assert parallelism([[10, 10]], 10, asked=2, n_cpus=2, begin_ns=40, end_ns=50) is None
    assert parallelism([[]], 10, asked=2, n_cpus=2, begin_ns=0, end_ns=50) is None


@pytest.mark.parametrize("wrong", [{"bin_ns": 0}, {"end_ns": 0}, {"asked": 0}])
def test_refuses(wrong: dict[str, int]) -> None:
    given = {"bin_ns": 10, "asked": 2, "n_cpus": 2, "begin_ns": 0, "end_ns": 20, **wrong}
    with pytest.raises(ValueError, match="parallelism: found"):
        parallelism([[10, 10]], **given)


def test_the_last_bin_ends_with_the_run() -> None:
    found = parallelism([[10, 10, 5], [10, 10, 5]], 10, asked=2, n_cpus=2, begin_ns=0, end_ns=25, last_ns=25)
    assert found is not None
    assert (found.mean, found.lost_s, found.below_s, found.tail_s) == (2.0, 0.0, 0.0, 0.0)
