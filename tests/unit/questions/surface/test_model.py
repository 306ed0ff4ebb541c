"""Workers over CPUs: slope, fairness and deviation against what is known by construction."""

import math

import numpy as np
import pytest

from scalograph.questions.surface.model import deviation, fairness, jain, pinned_time, shared_time, slope


@pytest.mark.parametrize(("workers", "cpus"), [(1, 1), (3, 2), (24, 1), (24, 7), (5, 64)])
def test_the_two_bounds_agree_where_workers_divide_evenly_and_never_cross(workers: int, cpus: int) -> None:
    assert shared_time(workers, cpus) <= pinned_time(workers, cpus) < shared_time(workers, cpus) + 1
    assert shared_time(workers * cpus, cpus) == pinned_time(workers * cpus, cpus) == workers


def test_the_slope_is_that_of_the_line_beyond_the_flat_part_whatever_a_quarter_of_the_runs_do() -> None:
    points = [(n, 0.1 * n / 2) for n in range(2, 25) for _ in range(4)]
    broken = [(n, time * 9 if index % 4 == 0 else time) for index, (n, time) in enumerate(points)]
    assert slope(points, 2).value == pytest.approx(0.05)
    assert slope(broken, 2).value == pytest.approx(0.05, rel=0.02)
    flat, rising = [(n, 1.0) for n in range(1, 9)], [(n, n / 8) for n in range(8, 25)]
    assert slope(flat + rising, 8).value == pytest.approx(1 / 8)


def test_of_too_few_sizes_or_runs_there_is_no_slope_or_no_interval() -> None:
    found = slope([(1, 1.0), (2, 1.0), (3, 1.5)], 2)
    assert found.value is None
    assert found.warnings == ("need >= 3 counts of workers from 2 up for a slope, have 2",)
    found = slope([(1, 1.0), (2, 2.0), (3, 3.1), (4, 4.0)], 1)
    assert (found.value, found.low, found.high) == (pytest.approx(1.0, abs=0.05), None, None)
    assert "have 4" in found.warnings[0]


def test_the_slope_covers_the_truth_as_often_as_it_says() -> None:
    rng = np.random.default_rng(7)
    sizes = np.repeat([1, 2, 3, 4, 6, 8, 12, 16, 24], 5)
    hits = 0
    for _ in range(200):
        times = 0.1 * sizes * np.exp(rng.normal(0, 0.05, sizes.size))
        hits += slope(list(zip(sizes.tolist(), times.tolist(), strict=True)), 1).contains(0.1)
    assert hits >= 0.9 * 200


@pytest.mark.parametrize("times", [[], [0.0, 0.0], [1.0, -1.0]])
def test_jain_refuses_what_are_no_times(times: list[float]) -> None:
    with pytest.raises(ValueError, match="expected times of at least zero"):
        jain(times)


def test_jain_is_the_formula_in_any_unit() -> None:
    for n in (2, 5, 24):
        assert jain([float(i) for i in range(1, n + 1)]) == pytest.approx(3 * (n + 1) / (4 * n + 2))
    times = [0.3, 0.31, 0.29]
    assert jain([1000 * x for x in times]) == pytest.approx(jain(times))


def test_fairness_stays_between_zero_and_one_and_holds_the_index_of_equal_runs() -> None:
    found = fairness([[1.0, 2.0], [1.0, 2.1], [1.0, 1.9]])
    assert found.value == pytest.approx(jain([1.0, 2.0]), abs=0.01)
    assert found.low is not None and found.high is not None and found.value is not None
    assert 0 < found.low < found.value < found.high <= 1
    together = fairness([[2.0, 2.0, 2.0]] * 3)
    assert together.value == together.high == 1.0
    assert fairness([[1.0], []]).value is None and deviation([9.0], [1.0], 2, 2)[1] == ""


@pytest.mark.parametrize(("factor", "workers", "cpus", "flag"), [
    (1.0, 2, 2, ""), (1.5, 3, 2, ""), (2.0, 3, 2, "as if each worker stayed on one CPU"),
    (1.3, 2, 2, "longer than the CPUs need"), (1.2, 3, 2, "shorter than the CPUs allow"),
])  # fmt: skip
def test_a_deviation_is_flagged_by_its_whole_interval(factor: float, workers: int, cpus: int, flag: str) -> None:
    one = [0.1 * math.exp(x) for x in (-0.004, 0.0, 0.004)]
    found, said = deviation([factor * x for x in one], one, workers, cpus)
    assert said == flag
    assert found.value == pytest.approx(factor / shared_time(workers, cpus))
