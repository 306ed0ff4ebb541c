"""Numbers with the digits that an interval deserves, and tables of them: footnotes, falsy values, ragged rows."""

import math
import random
import re
import string
from dataclasses import asdict

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.kit import samples

from scalograph.analysis.estimate import Estimate, decimals
from scalograph.protocol.findings import Column, Findings, TableDoc
from scalograph.report.cells import TableLayout, table_layout
from scalograph.text.axes import level_key, scale
from scalograph.text.escape import encodable, escape_controls, one_line
from scalograph.text.format import DASH, estimate, level_text, number, significant
from scalograph.text.scale import SECONDS, Scale, scale_for, shared_scales


def laid(columns: list[Column], rows: list[list[object]]) -> TableLayout:
    return table_layout(TableDoc(id="t", title="T", columns=columns, rows=rows))


ESTIMATE = Column(name="x", kind="estimate")


def texts(columns: list[Column], rows: list[list[object]]) -> list[list[str]]:
    return [[str(c).strip() for c in row] for row in laid(columns, rows).rows]


def test_zero_false_and_null_are_three_things_and_estimates_come_as_models_or_as_json() -> None:
    columns = [Column(name="x"), Column(name="y", kind="label")]
    assert texts(columns, [[0, False], [None, ""], [0.0, None]]) == [["0", "false"], ["–", ""], ["0", "–"]]
    assert [len(row) for row in laid(columns, [[1], [1, 2, 3], []]).rows] == [2, 2, 2]
    doc = Estimate(value=1.92, low=1.88, high=1.96)
    first, second, third = texts([ESTIMATE], [[doc], [asdict(doc)], [{"value": "no number"}]])
    assert first == second == ["1.92 [1.88, 1.96]"] and "no number" in third[0]


def test_a_warning_is_said_once_and_marked() -> None:
    lonely = Estimate(value=2.0, warnings=("need >= 2 runs for an interval, have 1",))
    found = laid([ESTIMATE], [[lonely], [Estimate(value=1.0, low=0.9, high=1.1)], [lonely]])
    assert [row[0].marks for row in found.rows] == ["a", "", "a"] and found.headings[0].marks == ""
    assert found.footnotes == [("a", "need >= 2 runs for an interval, have 1")]
    assert found.rows[0][0].title.startswith("need >= 2 runs")
    all_alike = laid([ESTIMATE], [[lonely], [lonely]])
    assert (all_alike.headings[0].marks, [row[0].marks for row in all_alike.rows]) == ("a", ["", ""])
    many = laid([ESTIMATE], [[Estimate(value=1.0, warnings=(f"w{i}",))] for i in range(30)]).footnotes
    assert len(many) == 27 and many[-1] == ("*", "4 further warnings, in findings.json")


def test_columns_without_remarks_are_left_out_and_times_that_compare_share_a_unit() -> None:
    found = laid([Column(name="x"), Column(name="flags", kind="text")], [[1, ""], [2, None]])
    assert [h.name for h in found.headings] == ["x"]
    columns = [Column(name=name, unit="s") for name in ("wall", "cpu", "skew")]
    assert [h.unit for h in laid(columns, [[0.5, 0.9, 2e-5]]).headings] == ["ms", "ms", "µs"]
    found = laid([Column(name="quantum", unit="s", kind="label")], [[0.001], [0.002]])
    assert (found.headings[0].unit, found.rows[0][0].text.strip()) == ("s", "0.001")


@given(st.text(max_size=60))
def test_visible_text_holds_no_control_and_stays_itself_otherwise(text: str) -> None:
    assert not any(c in escape_controls(text) for c in ("\x1b", "\n", "\u2028", "\u202e", "\x7f", "\x9b"))
    letters = "".join(random.Random(len(text)).choices(string.printable[:95], k=8))
    assert escape_controls(letters) == letters and one_line(one_line(text)) == one_line(text)
    encodable(escape_controls(text), "ascii").encode("ascii")


def test_levels_digits_and_units_are_as_they_are_read() -> None:
    assert len({level_key(x) for x in (1, True, "1", 0, False, "", "true")}) == 7
    assert level_key(1) == level_key(1.0)
    assert (decimals(1.92, 1.88, 1.96), decimals(1.92, 1.915, 1.925), decimals(1920.0, 1000.0, 3000.0)) == (2, 3, 0)
    assert str(estimate(Estimate(value=0.512, low=0.506, high=0.518), MS)) == "512 [506, 518]"
    assert (number(0), number(0.0), number(None)) == ("0", "0", DASH)
    assert (level_text(0), level_text(False), level_text("")) == ("0", "false", "(empty)")
    units = [("bytes", [48234496]), ("s", []), ("s", [0.0]), ("ns", [5e8, 6e8])]
    assert [scale_for(*of).unit for of in units] == ["MiB", "s", "s", "ms"]
    assert (scale_for("percent", [3.0]), scale_for("ops/s", [3e6])) == (Scale(1.0, "%"), Scale(1.0, "ops/s"))
    assert scale_for("s", []) == scale_for("s", [0.0]) == Scale(1.0, "s")
    assert [s.unit for s in shared_scales([("s", [0.5]), ("bytes", [10.0]), ("s", [2.0])])] == ["s", "B", "s"]


@pytest.mark.parametrize(("expected", "every"), {
    "log": [[1, 2, 8, 32, 128, 220, 250, 512], [0.1, 1, 10]],
    "linear": [[1, 2, 3, 4, 5, 6, 7, 8, 9, 10], [0, 1, 2], [-1, 0, 1], [1]],
    "category": [[0, 1, 1000], [True, False], [1, "all"], []],
}.items())  # fmt: skip
def test_axis_follows_the_levels(expected: str, every: list[list[bool | int | float | str]]) -> None:
    assert [scale(levels) for levels in every] == [expected] * len(every)


@pytest.mark.parametrize("name", ["small", "one_point", "all_failed", "hostile"])
def test_findings_lay_out_the_same_after_their_own_json(name: str) -> None:
    findings = getattr(samples, name)()
    again = Findings.model_validate_json(findings.model_dump_json())
    assert [table_layout(t) for t in again.tables] == [table_layout(t) for t in findings.tables]


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
