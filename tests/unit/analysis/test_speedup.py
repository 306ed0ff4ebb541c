"""Speedup tables: definitions, want of data, flags, and what must not change them."""

import math
from dataclasses import replace
from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scalograph.analysis.center import Center
from scalograph.analysis.estimate import Estimate
from scalograph.analysis.ratios import ratio
from scalograph.analysis.simultaneous import paired_level, shared_correlation, welch_level
from scalograph.analysis.speedup_points import SpeedupPoint, karp_flatt, speedup
from tests.kit.refusals import refuses

TIMES = {1: [10.0, 10.3, 9.8], 2: [5.1, 5.0, 5.3], 4: [3.0, 3.1, 2.9]}
BLOCKS = {1: [1, 2, 3], 2: [1, 2, 3], 4: [3, 2, 1]}
times = st.dictionaries(st.sampled_from([2, 3, 4, 8, 64]), st.lists(st.floats(0.01, 100.0), max_size=4), max_size=3)


def at(points: list[SpeedupPoint], n: int) -> SpeedupPoint:
    return next(p for p in points if p.n == n)


def test_efficiency_counts_cpus_of_each_baseline_which_is_one() -> None:
    one = at(speedup(TIMES), 1)
    for e in (one.speedup, one.simultaneous, one.efficiency):
        assert (e.value, e.low, e.high) == (1.0, 1.0, 1.0)
    assert one.serial_fraction.value is None
    assert "need more CPUs than the baseline uses" in one.serial_fraction.warnings[0]
    points = speedup({1: [8.0, 8.1], 64: [4.0, 4.1]}, cpus=2)
    assert at(points, 64).efficiency.value == pytest.approx((points[1].speedup.value or 0) / 2)
    assert at(points, 64).n_cpus == 2 and at(speedup({1: [8.0, 8.1], 64: [4.0, 4.1]}), 64).n_cpus == 64
    points = speedup({2: [6.0, 6.1], 4: [3.0, 3.1], 1: [12.0, 12.1]}, baseline=2, cpus=4)
    assert [p.n for p in points] == [1, 2, 4]
    assert at(points, 4).efficiency.value == pytest.approx((at(points, 4).speedup.value or 0) / 2)
    assert at(points, 1).speedup.value == pytest.approx(0.5, rel=0.02)
    assert at(points, 1).efficiency.value == pytest.approx(1.0, rel=0.02)
    assert at(points, 1).serial_fraction.value is None


def test_total_work_is_as_published_and_more_than_the_cpus_give_is_flagged() -> None:
    point = at(speedup({1: [64.9386], 2: [21.8330]}, cpus=2), 2)
    assert point.speedup.value == pytest.approx(2.97, abs=0.005)
    assert point.warnings[0].startswith("speedup 2.97 (no interval) above 2, the growth of the CPUs")
    several = at(speedup({1: [65.0, 64.0, 66.0], 2: [21.8, 21.9, 21.7]}, cpus=2), 2)
    assert "with its whole interval" in several.warnings[0]
    noisy = at(speedup({1: [10.0, 11.0, 9.0], 2: [4.9, 5.4, 4.4]}, cpus=2), 2)
    assert noisy.speedup.value is not None and noisy.speedup.value > 2 and noisy.warnings == ()
    assert at(speedup({1: [10.0], 2: [5.0]}), 2).warnings == ()


def test_per_worker_work_is_a_rate() -> None:
    points = speedup({1: [4.0, 4.1], 2: [8.0, 8.1], 8: [32.1, 32.0]}, work="per-worker", cpus=1)
    for p in points[1:]:
        assert p.speedup.value == pytest.approx(1.0, rel=0.02)
        assert p.efficiency.value == pytest.approx(1.0, rel=0.02) and p.n_cpus == 1
    total = at(speedup({1: [4.0, 4.1], 8: [32.1, 32.0]}), 8).speedup
    rate = at(speedup({1: [4.0, 4.1], 8: [32.1, 32.0]}, work="per-worker"), 8).speedup
    assert rate == total.rescale(8)


def test_the_serial_fraction_is_amdahl_s_with_its_ends_exchanged() -> None:
    for share in (0.0, 0.1, 0.5, 1.0):
        point = at(speedup({1: [1.0, 1.0], 8: [share + (1 - share) / 8] * 2}), 8)
        assert point.serial_fraction.value == pytest.approx(share, abs=1e-12)
    e = karp_flatt(Estimate(4.0, 3.0, 5.0, 0.95, 9, "t"), 8.0)
    assert e.low is not None and e.value is not None and e.high is not None
    assert e.low < e.value < e.high and karp_flatt(Estimate(-1.0, None, 0.0, 0.95, 9, "t"), 8.0).value is None


def test_single_intervals_are_those_of_ratio_and_one_column_needs_no_wider_band() -> None:
    assert at(speedup(TIMES), 4).speedup == ratio(TIMES[1], TIMES[4])
    point = at(speedup({1: TIMES[1], 2: TIMES[2]}), 2)
    assert width(point.simultaneous) == pytest.approx(width(point.speedup))
    assert all("correlated" in p.note for p in speedup(TIMES))


@pytest.mark.parametrize("blocks", [None, BLOCKS])
def test_simultaneous_intervals_are_wider_but_not_past_bonferroni(blocks: dict[int, list[int]] | None) -> None:
    points, bonferroni = speedup(TIMES, blocks=blocks), speedup(TIMES, blocks=blocks, confidence=0.975)
    for n in (2, 4):
        p = at(points, n)
        assert p.simultaneous.value == p.speedup.value and p.simultaneous.confidence == 0.95
        assert "simultaneous" in p.simultaneous.method
        limit = width(at(bonferroni, n).speedup) * (1 + 1e-9)
        assert width(p.speedup) < width(p.simultaneous) <= limit


def test_blocks_pair_runs_whatever_their_order_and_each_once() -> None:
    shuffled = {1: [9.8, 10.0, 10.3], 2: TIMES[2], 4: [2.9, 3.1, 3.0]}
    blocks = {1: [3, 1, 2], 2: [1, 2, 3], 4: [1, 2, 3]}
    for one, two in zip(speedup(TIMES, blocks=BLOCKS), speedup(shuffled, blocks=blocks), strict=True):
        assert one == replace(two, note=one.note)
        assert one.n == 1 or "paired" in one.speedup.method
    twice = {1: [10.0, 10.0, 8.0, 12.5], 2: [5.0, 5.5]}
    point = at(speedup(twice, blocks={1: ["a", "a", "b", "b"], 2: ["a", "b"]}), 2)
    assert point.speedup.n == 2 and point.speedup.value == pytest.approx(10.0 / math.sqrt(5.0 * 5.5))
    (_, two) = speedup({1: [10.0], 2: [5.0]}, blocks={1: [1], 2: [1]})
    assert (two.speedup.value, two.speedup.low, two.simultaneous.low) == (pytest.approx(2.0), None, None)


@pytest.mark.parametrize(("of_four", "n_shared"), [([7, 8, 9], 0), ([1, 8, 9], 1)])
def test_a_level_of_fewer_than_two_pairs_is_not_paired_and_the_others_are(of_four: list[int], n_shared: int) -> None:
    points = speedup(TIMES, blocks=BLOCKS | {4: of_four})
    assert "paired" in at(points, 2).speedup.method
    one = at(points, 4).speedup
    assert replace(one, warnings=()) == replace(ratio(TIMES[1], TIMES[4]), warnings=())
    reason = "need >= 2 blocks that hold the baseline and this level to pair runs"
    assert one.warnings == (f"{reason}, have {n_shared}: not paired",) and at(points, 4).simultaneous.low is None


@pytest.mark.parametrize("work", ["total", "per-worker"])
def test_rates_gain_as_the_times_that_they_are_one_over(work: Literal["total", "per-worker"]) -> None:
    rates = {n: [1 / x for x in found] for n, found in TIMES.items()}
    for blocks in (None, BLOCKS):
        by_time = speedup(TIMES, blocks=blocks, work=work)
        by_rate = speedup(rates, blocks=blocks, work=work, better="higher")
        for one, two in zip(by_time, by_rate, strict=True):
            for name in ("speedup", "efficiency", "serial_fraction", "simultaneous"):
                same(getattr(one, name), getattr(two, name))


def test_want_of_data_is_said_and_blocks_name_every_run() -> None:
    (one,) = speedup({})
    assert one.speedup.warnings == ("need runs of the baseline level 1, have 0",)
    points = speedup({1: [], 2: [3.0, 3.1]})
    assert at(points, 2).speedup.warnings == ("need runs of the baseline level 1, have 0",)
    points = speedup({1: [6.0, 6.1], 2: [3.0], 4: [None]})
    assert at(points, 2).speedup.value == pytest.approx(2.0, rel=0.02)
    assert "need >= 2 runs each for an interval, have 2 and 1" in at(points, 2).speedup.warnings
    assert at(points, 4).speedup.value is None and at(points, 4).warnings == ("1 of 1 scores is missing",)
    refuses(ValueError, "level 4: found 1, expected one for each of 3", speedup, TIMES, blocks=BLOCKS | {4: [1]})


def test_zeros_have_a_ratio_but_no_band() -> None:
    point = at(speedup({1: [0.0, 1.0, 1.1], 2: [0.5, 0.6, 0.5]}), 2)
    assert point.speedup.value is not None and point.simultaneous.low is None and "Fieller" in point.speedup.method
    point = at(speedup({1: [2.0, 2.1, 1.9], 2: [0.0, 4.0, 4.1, 3.9]}, better="higher"), 2)
    assert point.speedup.value == pytest.approx(1.5) and "Fieller" in point.speedup.method


@pytest.mark.parametrize(("arguments", "found"), [
    ({"work": "shared"}, "work"),
    ({"better": "none"}, "better"),
    ({"cpus": 0}, "cpus"),
    ({"baseline": 0}, "level"),
    ({"confidence": 0.0}, "confidence"),
])  # fmt: skip
def test_meaningless_arguments_are_refused(arguments: dict[str, object], found: str) -> None:
    refuses(ValueError, f"{found}: found", speedup, TIMES, **arguments)  # type: ignore[arg-type]


def test_levels_are_those_of_dunnett_and_correlated_as_far_as_blocks_show_it() -> None:
    rng = np.random.default_rng(5)
    own, shared = rng.standard_normal((400, 4)), rng.standard_normal((400, 1))
    assert shared_correlation(own) < 0.06 and 0.4 < shared_correlation(own + shared) <= 0.5
    assert shared_correlation(own + 9 * shared) == 0.5 and shared_correlation(own[:2]) == 0.0
    assert shared_correlation(np.ones((5, 3))) == 0.0
    # 4 columns, equal spreads, many degrees of freedom: two-sided 2.44, so a level of 0.9853
    many = Center(0.0, 1.0, 10_000)
    assert welch_level(many, [many] * 4, 0.95) == pytest.approx(0.9853, abs=0.0012)
    assert paired_level([200] * 4, 0.5, 0.95, draws=32_768) == pytest.approx(0.9853, abs=0.0015)
    assert paired_level([5, 8], 0.32, 0.95) == paired_level([8, 5], 0.34, 0.95) != paired_level([5, 8], 0.36, 0.95)
    assert paired_level([32, 32], 0.3, 0.95) == paired_level([10_000, 500], 0.3, 0.95)


@settings(max_examples=25)
@given(times, st.floats(0.01, 100.0))
def test_another_unit_changes_nothing(others: dict[int, list[float]], k: float) -> None:
    table = {1: [2.0, 2.2, 1.9], **others}
    scaled = {n: [k * x for x in found] for n, found in table.items()}
    for one, two in zip(speedup(table, cpus=4), speedup(scaled, cpus=4), strict=True):
        for name in ("speedup", "efficiency", "serial_fraction", "simultaneous"):
            same(getattr(one, name), getattr(two, name))


@settings(max_examples=25)
@given(times)
def test_order_of_runs_and_levels_changes_nothing(others: dict[int, list[float]]) -> None:
    table = {1: [2.0, 2.2, 1.9], **others}
    turned = {n: found[::-1] for n, found in reversed(table.items())}
    assert speedup(table) == speedup(turned)


def same(one: Estimate, two: Estimate) -> None:
    for a, b in ((one.value, two.value), (one.low, two.low), (one.high, two.high)):
        assert (a is None and b is None) or a == pytest.approx(b, rel=1e-6, abs=1e-9)


def width(e: Estimate) -> float:
    assert e.low is not None and e.high is not None
    return math.log(e.high / e.low)
