"""Ratios: textbook figures, want of data, symmetry, and spreads that contrasts lend each other."""

import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from scalograph.analysis import contrast
from scalograph.analysis.contrast import Contrast, paired_contrast
from scalograph.analysis.curve_ratios import BlockedLogs, curve_ratios
from scalograph.analysis.estimate import Estimate
from scalograph.analysis.ratios import paired_ratio, ratio
from scalograph.analysis.variance_moderation import moderate_variances
from tests.kit.refusals import refuses

A, B = [20.1, 19.5, 21.0, 20.4], [10.0, 10.4, 9.8]
positive = st.floats(1e-6, 1e6)
samples = st.lists(positive, min_size=2, max_size=10)
pair_lists = st.lists(st.tuples(positive, positive), min_size=2, max_size=10)


def test_welch_paired_and_trimmed_intervals_are_those_of_scipy() -> None:
    ends = stats.ttest_ind(np.log(A), np.log(B), equal_var=False).confidence_interval(0.95)
    e = ratio(A, B)
    assert (e.low, e.high) == pytest.approx((math.exp(ends.low), math.exp(ends.high)))
    assert e.value == pytest.approx(stats.gmean(A) / stats.gmean(B)) and e.n == 7
    a, b = [2.0, 2.2, 1.9, 2.1], [1.0, 1.15, 1.0, 1.02]
    ends = stats.ttest_rel(np.log(a), np.log(b)).confidence_interval(0.95)
    e = paired_ratio(a, b)
    assert (e.low, e.high) == pytest.approx((math.exp(ends.low), math.exp(ends.high))) and e.n == 4
    rng = np.random.default_rng(3)
    x, y = rng.lognormal(0.5, 0.3, 15), rng.lognormal(0.0, 0.6, 20)
    p = stats.ttest_ind(np.log(x), np.log(y), equal_var=False, trim=0.2).pvalue
    e = ratio(x, y, confidence=1 - p, trim=0.2)  # at this confidence the interval ends at no difference
    assert min(abs((e.low or 0) - 1), abs((e.high or 0) - 1)) < 1e-9
    drift = np.array([1.0, 1.5, 2.0, 2.5])
    noise = np.array([1.0, 1.01, 0.99, 1.0])
    pair, free = paired_ratio(2 * drift * noise, drift), ratio(2 * drift * noise, drift)
    assert width(pair) < 0.1 < width(free)


@pytest.mark.parametrize("function", [ratio, paired_ratio])
def test_want_of_data_is_said(function: object) -> None:
    none = function([], [])  # type: ignore[operator]
    assert none.value is None and none.warnings[0].startswith("no ")
    one = function([2.0], [1.0])  # type: ignore[operator]
    assert one.value == pytest.approx(2.0) and (one.low, one.high) == (None, None)
    assert any("need >= 2" in w and "have 1" in w for w in one.warnings)
    two = function([2.0, 2.1], [1.0, 1.0])  # type: ignore[operator]
    assert two.low is not None


def test_missing_runs_and_pairs_are_counted() -> None:
    assert ratio([1.0, 1.1, 1.2], [1.0]).warnings == ("need >= 2 runs each for an interval, have 3 and 1",)
    assert ratio([1.0, 1.1, 1.2], []).warnings == ("no run that counts",)
    e = paired_ratio([2.0, None, 2.2, 2.0], [1.0, 1.0, math.nan, 1.0])
    assert e.n == 2 and "2 of 4 pairs miss a score" in e.warnings
    refuses(ValueError, "3 and 2", paired_ratio, [1.0, 1.0, 1.0], [1.0, 1.0])


def test_zeros_give_a_ratio_of_means_and_a_denominator_of_zero_none() -> None:
    e = ratio([0.0, 0.2, 0.1, 0.1], [1.0, 1.1, 0.9])
    assert e.value == pytest.approx(0.1) and e.low is not None and e.high is not None
    assert e.low < 0.1 < e.high and any("no log" in w for w in e.warnings)
    assert ratio([1.0, 2.0], [0.0, 0.0]).value is None
    assert "zero" in " ".join(ratio([1.0, 2.0], [0.0, 0.0]).warnings)
    unbounded = ratio([1.0, 2.0], [0.0, 0.1])
    assert unbounded.value is not None and unbounded.low is None
    assert any("denominator may be zero" in w for w in unbounded.warnings)
    a = np.array([0.0, 1.0, 2.0, 3.0, 4.0]) + 10
    x, y = np.append(a, 0.0), np.append(a * 2, 0.0)
    e = paired_ratio(x, y)
    assert e.value == pytest.approx(0.5) and width(e) < 1e-6


def test_few_or_identical_runs_borrow_no_degrees_of_freedom_and_no_width() -> None:
    many = np.linspace(-0.03, 0.03, 20)
    assert contrast.welch_contrast(np.array([0.0, 0.0001]), many).df == 2.0, "Satterthwaite has 19"
    assert contrast.welch_contrast(np.array([0.0, 0.0001, 0.0002]), many).df == 3.0
    assert contrast.welch_contrast(np.array([0.0, 0.0001, 0.0002, 0.0003]), many).df > 18
    e = ratio([2.0] * 3, [1.0] * 3)
    assert (e.value, e.low, e.high) == pytest.approx((2.0, 2.0, 2.0)) and any("identical" in w for w in e.warnings)


@given(samples, samples)
def test_exchanged_sides_invert(a: list[float], b: list[float]) -> None:
    check_inverse(ratio(a, b), ratio(b, a))


@given(pair_lists)
def test_exchanged_sides_of_pairs_invert(pairs: list[tuple[float, float]]) -> None:
    a, b = [x for x, _ in pairs], [y for _, y in pairs]
    check_inverse(paired_ratio(a, b), paired_ratio(b, a))


@given(samples, samples, st.floats(1e-3, 1e3), st.floats(1e-3, 1e3))
def test_units_scale_the_ratio(a: list[float], b: list[float], j: float, k: float) -> None:
    before = ratio(a, b).rescale(j / k)
    after = ratio([j * x for x in a], [k * x for x in b])
    assert after.value == pytest.approx(before.value)
    if before.low and before.high and after.low and after.high:
        assert after.low == pytest.approx(before.low, rel=1e-5)
        assert after.high == pytest.approx(before.high, rel=1e-5)


@given(pair_lists, st.randoms())
def test_order_of_blocks_does_not_matter(pairs: list[tuple[float, float]], random: object) -> None:
    shuffled = list(pairs)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    one = paired_ratio([x for x, _ in pairs], [y for _, y in pairs])
    two = paired_ratio([x for x, _ in shuffled], [y for _, y in shuffled])
    assert one == two


def check_inverse(one: Estimate, two: Estimate) -> None:
    assert one.value is not None and two.value is not None and one.value * two.value == pytest.approx(1.0)
    if one.low and two.high:
        assert one.low * two.high == pytest.approx(1.0, rel=1e-6)


def width(e: Estimate) -> float:
    assert e.low is not None and e.high is not None
    return e.high - e.low


def drawn(rng: np.random.Generator, sds: list[float], n: int = 5, delta: float = 0.0) -> list[Contrast]:
    return [paired_contrast(sd * rng.standard_normal(n) + delta, np.zeros(n)) for sd in sds]


def test_contrasts_lend_each_other_their_spread_and_none_becomes_more_precise() -> None:
    found = moderate_variances(drawn(np.random.default_rng(1), [0.02] * 24))
    assert min(contrast.df for contrast in found) > 20
    before = drawn(np.random.default_rng(2), [0.01, 0.02, 0.5, 0.01, 0.03])
    after = moderate_variances(before)
    assert all(new.se >= old.se * (1 - 1e-12) and new.df >= old.df for old, new in zip(before, after, strict=True))
    assert [new.delta for new in after] == [old.delta for old in before]
    two = drawn(np.random.default_rng(3), [0.01, 0.02])
    assert moderate_variances(two) == two and moderate_variances([]) == []
    same = Contrast(0.001, 0.0, 4, 5, "")
    [*_, found] = moderate_variances([*drawn(np.random.default_rng(5), [0.02] * 6), same])
    assert found.se > 0 and (found.p_value() or 0) > 0.05


@pytest.mark.parametrize("sds", [[0.02] * 24, [0.005] * 12 + [0.1] * 12], ids=["alike", "unlike"])
def test_nothing_seems_to_differ_more_often_than_it_may(sds: list[float]) -> None:
    rng = np.random.default_rng(4)
    n_wrong = sum((c.p_value() or 0) < 0.05 for _ in range(40) for c in moderate_variances(drawn(rng, sds)))
    assert n_wrong / (40 * len(sds)) < 0.08


def test_memory_grows_with_the_runs_and_not_with_their_square() -> None:
    """Two files of another instrument, whose runs are blocks: one of many runs, many of few."""
    rng = np.random.default_rng(7)
    for sizes in ([20_000], [20_000, *[3] * 200]):
        a, b = ([BlockedLogs(0.03 * rng.standard_normal(n), range(n)) for n in sizes] for _ in range(2))
        tracemalloc.start()
        try:
            assert curve_ratios(a, b).configurations[0].df > 1000 and tracemalloc.get_traced_memory()[1] < 30e6
        finally:
            tracemalloc.stop()
