"""Tables laid out: footnotes, falsy values, ragged rows, cells of the wrong kind."""

import random
import string
from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.kit import samples

from scalograph.analysis.estimate import Estimate
from scalograph.protocol.findings import Column, Findings, TableDoc
from scalograph.report.cells import TableLayout, table_layout
from scalograph.text.axes import level_key, scale
from scalograph.text.escape import encodable, escape_controls, one_line


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


def test_levels_that_differ_are_kept_apart() -> None:
    assert len({level_key(x) for x in (1, True, "1", 0, False, "", "true")}) == 7
    assert level_key(1) == level_key(1.0)


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
