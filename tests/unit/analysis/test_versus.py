"""Two versions on noise of known truth (long form: benchmarks/statistics_ab.py); words, p values, and families."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from simulate.two_studies import KINDS, Kind, blocks, session

from scalograph.analysis.comparisons import compare, holm, minimum_detectable_effect
from scalograph.analysis.contenders import contenders
from scalograph.analysis.modes import common_step, find_modes, rounding
from scalograph.analysis.ratios import ratio
from scalograph.analysis.versus import classify_ratio, versus
from tests.kit.refusals import refuses

CASES = 120


def told(kind: Kind, n: int, effect: float) -> list[str]:
    rng = np.random.default_rng([11, n, KINDS.index(kind)])
    return [classify_ratio(versus(*blocks(rng, kind, n, effect))) for _ in range(CASES)]


@pytest.mark.parametrize("n", [5, 10])
@pytest.mark.parametrize("kind", KINDS)
def test_no_version_is_better_than_itself_and_none_of_4_percent_the_same(kind: Kind, n: int) -> None:
    alike, faster = told(kind, n, 0.0), told(kind, n, 0.04)
    assert alike.count("less") + alike.count("more") <= 18  # 5% are 6: a true share of 5% fails once in 10,000
    assert faster.count("equivalent") + faster.count("more") <= 12


@pytest.mark.parametrize("kind", ["normal", "autocorrelated", "step", "drift"])
def test_four_percent_are_told_and_equals_are_called_so(kind: Kind) -> None:
    assert told(kind, 10, 0.04).count("less") > 0.8 * CASES
    assert told(kind, 20, 0.0).count("equivalent") > 0.7 * CASES


def test_one_slow_run_in_twenty_hides_no_effect_and_the_kept_example_is_told() -> None:
    assert told("outliers", 10, 0.04).count("less") > 0.6 * CASES
    rng = np.random.default_rng(1)
    found = versus(96.05 * np.exp(rng.normal(0, 0.003, 10)), 100.11 * np.exp(rng.normal(0, 0.003, 10)))
    assert classify_ratio(found) == "less" and found.value == pytest.approx(0.959, abs=0.004)


def test_beside_others_slow_runs_hide_no_effect_and_equals_are_not_told_apart() -> None:
    """One run in seven is slower by up to a third: too few for a mode of their own."""
    rng, halves, wrong = np.random.default_rng(5), {False: [], True: []}, 0
    for _ in range(300):
        a, b = (np.exp(0.005 * rng.standard_normal(15)) * (1 + (rng.random(15) < 0.15) * rng.uniform(0.1, 0.35, 15))
                for _ in range(2))  # fmt: skip
        for is_shared, widths in halves.items():
            ratio = versus(a, b, is_shared=is_shared)
            assert ratio.low is not None and ratio.high is not None
            widths.append(ratio.high - ratio.low)
            wrong += is_shared and not ratio.contains(1.0)
    assert np.median(halves[True]) < 0.5 * np.median(halves[False])
    assert wrong <= 25  # of 300: 15 are expected at most


def test_a_coarse_clock_hides_differences_below_its_step_only() -> None:
    assert told("ticks", 10, 0.02).count("inconclusive") == CASES
    constant = versus([120.0] * 8, [120.0] * 8)
    assert (constant.low, classify_ratio(constant)) == (None, "inconclusive")
    assert classify_ratio(versus([120.0] * 8, [130.0] * 8)) == "inconclusive"  # one step apart
    assert classify_ratio(versus([120.0] * 8, [200.0] * 8)) == "less"
    scores = 10 * np.round(np.random.default_rng(2).normal(12, 2, 50))
    assert common_step(scores) == 10.0 and rounding(scores, 10.0) == 0 and rounding([120, 120, 130], 10.0) == 0.0
    assert rounding([120] * 9 + [130], 10.0) == pytest.approx(5 / 121)


def test_few_runs_against_two_modes_say_nothing_and_modes_have_places() -> None:
    one, two = [100, 77, 100, 101, 77.0], [77.1, 101, 100.2, 100, 76.8]
    found = versus(one, two)
    assert found.low is None and "two modes" in found.warnings[-1]
    # Of five runs all are of one mode in one of six cases, and their spread says nothing of the other.
    rng = np.random.default_rng(4)
    pairs = [(session(rng, "modes", 5), session(rng, "modes", 50)) for _ in range(CASES)]
    assert sum(compare(few, many).label in ("faster", "slower") for few, many in pairs) <= 12
    rng = np.random.default_rng(3)
    times = np.where(rng.random(100) < 0.3, 77, 100) * np.exp(rng.normal(0, 0.01, 100))
    found = find_modes(times)
    assert found is not None and found.low == pytest.approx(77, rel=0.02) and found.high == pytest.approx(100, rel=0.02)
    assert 0.15 < found.share_low < 0.45
    assert find_modes(np.sort(times)) is None  # one after the other: a machine that changed once
    assert find_modes([0.0] * 20) is None and find_modes(times[:7]) is None


@pytest.mark.parametrize("kind", KINDS)
def test_modes_are_found_where_they_are(kind: Kind) -> None:
    rng = np.random.default_rng([5, KINDS.index(kind)])
    n = sum(find_modes(session(rng, kind, 20)) is not None for _ in range(CASES))
    assert n > 0.7 * CASES if kind == "modes" else n <= 18


FAST, SLOW = [10.0, 10.1, 9.9], [12.0, 12.1, 11.8]
samples = st.lists(st.floats(0.01, 100.0), min_size=2, max_size=8)
p_lists = st.lists(st.one_of(st.none(), st.floats(0.0, 1.0)), max_size=8)
WRONG = [{"margin": -0.1}, {"margin": math.nan}, {"better": "faster"}, {"confidence": 2.0}]


def test_the_word_depends_on_the_direction_and_on_the_margin() -> None:
    assert compare(FAST, SLOW).label == "faster" and compare(SLOW, FAST).label == "slower"
    assert compare(FAST, SLOW, better="higher").label == "slower"
    assert compare(SLOW, FAST, better="higher").label == "faster"
    close = [10.0, 10.01, 9.99, 10.0]
    assert compare(close, close[::-1]).label == "equivalent"
    assert compare(close, close, margin=0.0).label == "uncertain"
    assert compare(FAST, [10.2, 9.8, 10.1]).label == "uncertain"
    a, b = [1.000, 1.001, 0.999], [1.005, 1.006, 1.004]
    assert compare(a, b, margin=0.0).label == "faster" and compare(a, b, margin=0.01).label == "equivalent"
    assert (compare(a, b).p_value or 1.0) < 0.05 and compare(a, b).margin == 0.01


def test_p_values_are_those_of_scipy_and_of_holm_by_hand() -> None:
    a, b = np.log(FAST), np.log(SLOW)
    assert compare(FAST, SLOW).p_value == pytest.approx(stats.ttest_ind(a, b, equal_var=False).pvalue)
    assert compare(FAST, SLOW, paired=True).p_value == pytest.approx(stats.ttest_rel(a, b).pvalue)
    assert compare(FAST, SLOW).ratio == ratio(FAST, SLOW)
    assert compare(FAST, SLOW, confidence=0.9).ratio == ratio(FAST, SLOW, 0.9)
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02]) and holm([]) == []
    assert holm([None, 0.5]) == [None, 0.5] and holm([0.0, 0.9]) == [0.0, 0.9]


def test_want_of_data_or_of_spread_is_told_and_zeros_have_no_p() -> None:
    for a, b in (([], []), ([1.0], [1.0, 2.0]), ([None], [math.nan])):
        found = compare(a, b)
        assert (found.label, found.p_value, found.minimum_detectable_effect) == ("uncertain", None, None)
        assert found.ratio.warnings
    found = compare([0.0, 0.1, 0.1], [5.0, 5.1, 4.9])
    assert found.label == "faster" and found.p_value is None
    assert compare([0.0, 0.0], [0.0, 0.0]).label == "uncertain"
    assert compare([1.0] * 3, [1.0] * 3, margin=0.0).label == "equivalent"
    assert compare([1.0] * 3, [1.0] * 3).p_value == 1.0
    found = compare([1.0] * 3, [2.0] * 3)
    assert (found.label, found.p_value) == ("faster", 0.0) and any("identical" in w for w in found.ratio.warnings)


@pytest.mark.parametrize("wrong", WRONG)
def test_meaningless_arguments_are_refused(wrong: dict[str, object]) -> None:
    refuses(ValueError, "found", compare, FAST, SLOW, **wrong)  # type: ignore[arg-type]


@given(samples, samples)
def test_exchanged_sides_exchange_the_word(a: list[float], b: list[float]) -> None:
    other = {"faster": "slower", "slower": "faster", "equivalent": "equivalent", "uncertain": "uncertain"}
    one, two = compare(a, b), compare(b, a)
    if all(abs(x - 1.01) > 1e-9 and abs(x - 1 / 1.01) > 1e-9 for x in (one.ratio.low or 0, one.ratio.high or 0)):
        assert two.label == other[one.label]
    assert two.p_value == pytest.approx(one.p_value)


@given(samples, st.floats(0.01, 100.0))
def test_the_noise_floor_has_no_unit(a: list[float], k: float) -> None:
    one = compare(a, FAST).minimum_detectable_effect
    two = compare([k * x for x in a], [k * x for x in FAST]).minimum_detectable_effect
    assert one == pytest.approx(two, rel=1e-5)


def test_minimum_detectable_effects_and_their_true_power() -> None:
    found = [minimum_detectable_effect(0.03, n) or 0.0 for n in (3, 5, 10, 20)]
    assert [round(100 * x, 1) for x in found] == [9.1, 6.1, 4.0, 2.7]
    for n, power in ((3, 0.791), (5, 0.7985), (10, 0.800), (20, 0.800)):
        effect = minimum_detectable_effect(1.0, n) or 0.0
        df = 2 * n - 2
        reached = stats.nct.sf(stats.t.ppf(0.975, df), df, effect * math.sqrt(n / 2))
        assert reached == pytest.approx(power, abs=1e-3)
    a, b = np.exp([0.0, 0.03, -0.03]), np.exp([0.03, 0.0, -0.03])  # equal spreads: Welch has 2n - 2 degrees
    assert compare(a, b).minimum_detectable_effect == pytest.approx(minimum_detectable_effect(0.03, 3))
    assert minimum_detectable_effect(0.0, 5) == 0.0 and minimum_detectable_effect(0.03, 1) is None
    assert minimum_detectable_effect(0.03, 0) is None
    for wrong in ({"sd_log": -1.0}, {"power": 0.0}, {"power": 1.0}, {"confidence": 1.0}):
        with pytest.raises(ValueError, match="found"):
            minimum_detectable_effect(**{"sd_log": 0.03, "n": 5, **wrong})  # type: ignore[arg-type]


@given(p_lists, st.randoms())
def test_holm_lies_between_raw_and_bonferroni_in_any_order(p: list[float | None], random: object) -> None:
    family = sum(x is not None for x in p)
    for raw, adjusted in zip(p, holm(p), strict=True):
        assert (raw is None) == (adjusted is None)
        if raw is not None and adjusted is not None:
            assert raw <= adjusted <= min(1.0, raw * family) + 1e-15
    order = list(range(len(p)))
    random.shuffle(order)  # type: ignore[attr-defined]
    assert holm([p[i] for i in order]) == [holm(p)[i] for i in order]


def in_blocks(samples: dict[float, list[float]]) -> dict[float, dict[int, float]]:
    return {level: dict(enumerate(scores)) for level, scores in samples.items()}


def test_the_only_best_and_those_that_cannot_be_told_apart() -> None:
    runs = in_blocks({1: [20, 20.1, 19.9], 2: [10, 10.05, 9.95], 4: [15, 14.9, 15.1]})
    found = {c.level: c for c in contenders(runs)}
    assert [found[level].may_be_best for level in (1, 2, 4)] == [False, True, False]
    best = found[2].over_best
    assert best.high == 1 and best.low is not None and best.low < 0.7
    assert found[1].over_best.low == 1 and found[1].over_best.contains(2.0)
    alike = contenders(in_blocks({2: [10.0, 10.4, 9.7], 4: [10.1, 10.3, 9.8], 8: [9.9, 10.5, 9.6]}))
    assert all(c.may_be_best and c.over_best.contains(1.0) for c in alike)
    coarse = contenders(in_blocks({1: [20.0, 20.0, 20.0], 2: [10.0, 10.0, 10.0], 4: [10.0, 10.1, 10.0]}))
    assert [c.may_be_best for c in coarse] == [False, True, True]
    assert coarse[0].over_best.warnings or coarse[1].over_best.warnings


@pytest.mark.parametrize("samples", [{1: [1.0, 2.0]}, {1: [1.0], 2: [1.0, 2.0]}, {1: [0.0, 1.0], 2: [1.0, 2.0]}])
def test_nothing_can_be_said(samples: dict[float, list[float]]) -> None:
    assert contenders(in_blocks(samples)) == []


def test_what_a_block_shares_hides_nothing() -> None:
    """Each block is half as slow again as the one before; the levels differ by 10%."""
    slow = [1.5**block for block in range(5)]
    told = contenders(
        in_blocks({1: [x * (11 + 0.01 * (-1) ** i) for i, x in enumerate(slow)], 2: [10 * x for x in slow]})
    )
    assert [c.may_be_best for c in told] == [False, True] and max(c.visible for c in told) < 0.1
    assert contenders({1: {0: 1.0, 1: 1.0}, 2: {2: 1.0, 3: 1.0}}) == [], "no block has both"
