"""Numbers: the digits an interval deserves, for any interval there can be."""

import math
import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from scalograph.analysis.estimate import Estimate, decimals
from scalograph.text.format import DASH, estimate, level_text, number, significant
from scalograph.text.scale import SECONDS, Scale, scale_for, shared_scales

SIZES = st.floats(min_value=1e-9, max_value=1e9)
VALUES = st.one_of(st.just(0.0), SIZES, SIZES.map(lambda x: -x))


MINUS = "\N{MINUS SIGN}"


def parsed(text: str) -> float:
    return float(text.replace(",", "").replace(MINUS, "-"))


@given(SIZES, st.floats(min_value=1e-6, max_value=2.0))
def test_an_interval_keeps_its_order_and_its_width(value: float, spread: float) -> None:
    low, high = value * math.exp(-spread), value * math.exp(spread)
    shown = estimate(Estimate(value=value, low=low, high=high))
    left, right = (parsed(x) for x in re.fullmatch(r"\[(\S+), (\S+)\]", shown.interval).groups())  # type: ignore[union-attr]
    assert left <= parsed(shown.value) <= right
    if value >= 1e-4 and spread >= 1e-5:
        assert right - left == pytest.approx(high - low, rel=0.35)


@given(VALUES)
def test_a_number_reads_back_to_six_digits_or_three_where_scientific(x: float) -> None:
    tolerance = 6e-3 if "e" in number(x) else 6e-6
    assert parsed(number(x)) == pytest.approx(x, rel=tolerance)


@given(VALUES, st.integers(min_value=1, max_value=6))
def test_significant_digits(x: float, digits: int) -> None:
    assert parsed(significant(x, digits)) == pytest.approx(x, rel=0.6 * 10 ** (1 - digits) if abs(x) > 1e-5 else 6e-3)


@given(st.one_of(VALUES, st.just(-0.0), st.floats(min_value=-1e-12, max_value=1e-12)))
def test_no_text_shows_a_negative_zero_or_no_number(x: float) -> None:
    for text in (number(x), significant(x), str(estimate(Estimate(value=x)))):
        assert text not in ("-0", "nan", "inf") and text


@given(st.sampled_from(sorted(SECONDS)), st.lists(SIZES, min_size=1, max_size=9))
def test_a_scale_changes_the_unit_and_not_the_quantity(unit: str, values: list[float]) -> None:
    scale = scale_for(unit, values)
    assume(scale.unit in SECONDS)
    assert scale.factor * SECONDS[scale.unit] == pytest.approx(SECONDS[unit])


@given(st.floats(min_value=1e-8, max_value=1e8))
def test_one_time_reads_between_1_and_1000_where_units_reach(seconds: float) -> None:
    scaled = seconds * scale_for("s", [seconds]).factor
    assert scaled >= 0.999
    assert scaled < 1000.6 or seconds >= 1000


MS = Scale(1000.0, "ms")


@pytest.mark.parametrize(("given", "shown"), [
    (Estimate(0.64, 0.0029, 142.0), "0.64 [0.0029, 142]"),
    (Estimate(0.99, 0.04, 17.2), "0.99 [0.040, 17]"),
    (Estimate(12.0, 0.0, 40.0), "12 [0, 40]"),
    (Estimate(0.012, -0.53, 0.55), f"0.0 [{MINUS}0.5, 0.6]"),
    (Estimate(0.0, -0.1, 0.1), f"0.00 [{MINUS}0.10, 0.10]"),
    (Estimate(2.0, None, 2.5), f"2.000 [{DASH}, 2.500]"),
    (Estimate(warnings=("need >= 1 run",)), DASH),
    (None, DASH),
])  # fmt: skip
def test_an_interval_is_shown_with_the_digits_that_it_deserves(given: Estimate | None, shown: str) -> None:
    assert str(estimate(given)) == shown


def test_digits_follow_the_width_zero_is_a_value_and_null_is_a_dash() -> None:
    assert (decimals(1.92, 1.88, 1.96), decimals(1.92, 1.915, 1.925), decimals(1920.0, 1000.0, 3000.0)) == (2, 3, 0)
    assert str(estimate(Estimate(value=0.512, low=0.506, high=0.518), MS)) == "512 [506, 518]"
    assert (number(0), number(0.0), number(None)) == ("0", "0", DASH)
    assert (level_text(0), level_text(False), level_text("")) == ("0", "false", "(empty)")


def test_units() -> None:
    units = [("bytes", [48234496]), ("s", []), ("s", [0.0]), ("ns", [5e8, 6e8])]
    assert [scale_for(*of).unit for of in units] == ["MiB", "s", "s", "ms"]
    assert (scale_for("percent", [3.0]), scale_for("ops/s", [3e6])) == (Scale(1.0, "%"), Scale(1.0, "ops/s"))
    assert scale_for("s", []) == scale_for("s", [0.0]) == Scale(1.0, "s")
    assert [s.unit for s in shared_scales([("s", [0.5]), ("bytes", [10.0]), ("s", [2.0])])] == ["s", "B", "s"]
