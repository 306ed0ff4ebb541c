"""Comparisons: the word, the p value, the noise floor, and families."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from scalograph.analysis.comparisons import compare, holm, minimum_detectable_effect
from scalograph.analysis.ratios import ratio

FAST, SLOW = [10.0, 10.1, 9.9], [12.0, 12.1, 11.8]
samples = st.lists(st.floats(0.01, 100.0), min_size=2, max_size=8)
p_lists = st.lists(st.one_of(st.none(), st.floats(0.0, 1.0)), max_size=8)


def test_the_word_depends_on_which_way_is_better() -> None:
    assert compare(FAST, SLOW).label == "faster"
    assert compare(SLOW, FAST).label == "slower"
    assert compare(FAST, SLOW, better="higher").label == "slower"
    assert compare(SLOW, FAST, better="higher").label == "faster"


def test_within_the_margin_is_equivalent_and_else_uncertain() -> None:
    close = [10.0, 10.01, 9.99, 10.0]
    assert compare(close, close[::-1]).label == "equivalent"
    assert compare(close, close, margin=0.0).label == "uncertain"
    assert compare(FAST, [10.2, 9.8, 10.1]).label == "uncertain"


def test_a_difference_below_the_margin_is_not_called_one() -> None:
    a, b = [1.000, 1.001, 0.999], [1.005, 1.006, 1.004]
    assert compare(a, b, margin=0.0).label == "faster"
    assert compare(a, b, margin=0.01).label == "equivalent"
    assert (compare(a, b).p_value or 1.0) < 0.05
    assert compare(a, b).margin == 0.01


def test_p_values_against_scipy() -> None:
    a, b = np.log(FAST), np.log(SLOW)
    assert compare(FAST, SLOW).p_value == pytest.approx(stats.ttest_ind(a, b, equal_var=False).pvalue)
    assert compare(FAST, SLOW, paired=True).p_value == pytest.approx(stats.ttest_rel(a, b).pvalue)


def test_the_ratio_is_that_of_ratio() -> None:
    assert compare(FAST, SLOW).ratio == ratio(FAST, SLOW)
    assert compare(FAST, SLOW, confidence=0.9).ratio == ratio(FAST, SLOW, 0.9)


def test_want_of_data_is_uncertain_and_says_why() -> None:
    for a, b in (([], []), ([1.0], [1.0, 2.0]), ([None], [math.nan])):
        found = compare(a, b)
        assert (found.label, found.p_value, found.minimum_detectable_effect) == ("uncertain", None, None)
        assert found.ratio.warnings


def test_zeros_have_no_p_but_may_have_a_word() -> None:
    found = compare([0.0, 0.1, 0.1], [5.0, 5.1, 4.9])
    assert found.label == "faster"
    assert found.p_value is None
    assert compare([0.0, 0.0], [0.0, 0.0]).label == "uncertain"


def test_without_any_spread_it_is_decided_and_warned() -> None:
    assert compare([1.0] * 3, [1.0] * 3, margin=0.0).label == "equivalent"
    assert compare([1.0] * 3, [1.0] * 3).p_value == 1.0
    found = compare([1.0] * 3, [2.0] * 3)
    assert (found.label, found.p_value) == ("faster", 0.0)
    assert any("identical" in w for w in found.ratio.warnings)


WRONG = [{"margin": -0.1}, {"margin": math.nan}, {"better": "faster"}, {"confidence": 2.0}]


@pytest.mark.parametrize("wrong", WRONG)
def test_meaningless_arguments_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="found"):
        compare(FAST, SLOW, **wrong)  # type: ignore[arg-type]


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


def test_minimum_detectable_effects_of_the_design() -> None:
    found = [minimum_detectable_effect(0.03, n) or 0.0 for n in (3, 5, 10, 20)]
    assert [round(100 * x, 1) for x in found] == [9.1, 6.1, 4.0, 2.7]


def test_its_true_power_is_what_the_docstring_says() -> None:
    for n, power in ((3, 0.791), (5, 0.7985), (10, 0.800), (20, 0.800)):
        effect = minimum_detectable_effect(1.0, n) or 0.0
        df = 2 * n - 2
        found = stats.nct.sf(stats.t.ppf(0.975, df), df, effect * math.sqrt(n / 2))
        assert found == pytest.approx(power, abs=1e-3)


def test_effects_without_noise_or_runs() -> None:
    assert minimum_detectable_effect(0.0, 5) == 0.0
    assert minimum_detectable_effect(0.03, 1) is None
    assert minimum_detectable_effect(0.03, 0) is None
    for wrong in ({"sd_log": -1.0}, {"power": 0.0}, {"power": 1.0}, {"confidence": 1.0}):
        with pytest.raises(ValueError, match="found"):
            minimum_detectable_effect(**{"sd_log": 0.03, "n": 5, **wrong})  # type: ignore[arg-type]


def test_the_effect_of_a_comparison_is_that_of_its_runs() -> None:
    a, b = np.exp([0.0, 0.03, -0.03]), np.exp([0.03, 0.0, -0.03])  # equal spreads: Welch has 2n - 2 degrees
    assert compare(a, b).minimum_detectable_effect == pytest.approx(minimum_detectable_effect(0.03, 3))


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []
    assert holm([None, 0.5]) == [None, 0.5]
    assert holm([0.0, 0.9]) == [0.0, 0.9]


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
