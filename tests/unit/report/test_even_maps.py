"""Break-even in the page's data: the speedup, the line, what nobody knows, and the pairs."""

from pathlib import Path
from typing import Any

import pytest

from scalograph.protocol.findings import (
    EvenLine,
    EvenMap,
    EvenPair,
    Findings,
)
from scalograph.questions.break_even.figure_axis import round_numbers
from scalograph.report.html import page, write
from scalograph.report.payload import payload

from . import even_sample as sample


def drawn(findings: Findings) -> dict[str, Any]:
    found = payload(findings)["even"]
    assert isinstance(found, dict)
    return found


def changed(**fields: Any) -> Findings:
    return sample.with_maps([EvenMap.model_validate(sample.even_map().model_dump() | fields)])


def test_a_map_is_of_speedup_on_axes_of_ratios() -> None:
    even = drawn(sample.two_factors())
    (one,) = even["maps"]
    assert (even["x"]["is_log"], even["y"]["is_log"]) == (True, True)
    assert even["y"]["labels"] == ["1", "2", "4", "8"]
    assert one["x"] == [sample.log_place(n) for n in sample.SIZES]
    assert [row["at"] for row in one["rows"]] == [sample.log_place(p) for p in (1, 2, 4, 8)]
    assert one["rows"][2]["speedup"] == sample.speedups(4)


def test_the_ends_of_a_speedup_are_those_of_the_time_turned_over() -> None:
    for row in drawn(sample.two_factors())["maps"][0]["rows"]:
        assert all(low < value < high for low, value, high in zip(row["low"], row["speedup"], row["high"], strict=True))


def test_a_row_has_its_line_and_the_band_that_holds_it() -> None:
    never, two, *_ = drawn(sample.two_factors())["maps"][0]["rows"]
    assert (never["location"], never["band"]) == (None, None)
    assert never["said"] == "parallel is never faster by more than 10 %"
    assert two["location"] == sample.log_place(2000)
    assert two["band"] == [pytest.approx(sample.log_place(end), abs=1e-5) for end in (2000 / 1.1, 2200)]
    assert two["said"].startswith("parallel is faster from size 2000 [1818.18")


def test_what_is_not_known_reaches_to_the_end_of_the_axis() -> None:
    even = drawn(sample.undecided())
    assert even["maps"][0]["rows"][0]["band"] == [sample.log_place(8192), even["x"]["ends"][1]]
    both = [EvenLine(level=1, kind="undecided"), *sample.even_map().lines[1:]]
    assert drawn(changed(lines=both))["maps"][0]["rows"][0]["band"] == even["x"]["ends"]


@pytest.mark.parametrize("kind", ["always", "never", "several"])
def test_rows_without_a_line_say_which(kind: str) -> None:
    lines = [{"level": 1, "kind": kind, "low": 20, "high": 30}, *sample.even_map().lines[1:]]
    row = drawn(changed(lines=lines))["maps"][0]["rows"][0]
    assert (row["kind"], row["band"]) == (kind, None)
    assert kind in row["said"]


def test_pairs_stand_where_they_were_measured() -> None:
    first, _, third, _ = drawn(sample.two_factors())["maps"][0]["pairs"]
    assert (first["x"], first["y"]) == (sample.log_place(64), sample.log_place(2))
    assert first["speedup"] < 1 < third["speedup"]
    assert (third["n"], third["text"]) == (3, "size: 16384, workers: 4")


def test_a_level_that_rounding_has_moved_past_the_end_is_inside() -> None:
    even = drawn(changed(pairs=[EvenPair(x=131072, y=8, ratio=0.5, n=1)]))
    assert even["maps"][0]["pairs"][0]["x"] == even["x"]["ends"][1] == sample.log_place(131072)


def test_one_factor_alone_is_a_curve() -> None:
    even = drawn(sample.one_factor())
    assert even["y"] is None
    ((row,),) = [one["rows"] for one in even["maps"]]
    assert row["speedup"] == sample.speedups(4)
    assert even["maps"][0]["pairs"][0]["text"] == "size: 64"


def test_a_short_range_or_one_with_zero_is_linear() -> None:
    short = changed(x_levels=[10 + i for i in range(49)], pairs=[])
    assert drawn(short)["x"]["is_log"] is False
    assert drawn(changed(y_levels=[0, 2, 4, 8], pairs=[]))["y"]["is_log"] is False


def test_many_declared_levels_get_round_numbers_as_ticks() -> None:
    found = sample.two_factors()
    found.study.factors[1].levels = list(range(16, 4096))
    assert drawn(found)["x"]["labels"][:3] == ["20", "50", "100"]
    assert round_numbers(-3, 3, is_log=False) == [-3, -2, -1, 0, 1, 2, 3]
    assert round_numbers(5, 5, is_log=False) == [5]


def test_maps_are_titled_by_what_they_hold_fixed() -> None:
    assert [one["title"] for one in drawn(sample.three_factors())["maps"]] == ["cost: 1", "cost: 4", "cost: 16"]


@pytest.mark.parametrize(
    "fields",
    [{"lines": []}, {"low": []}, {"high": [[1.0]] * 4}, {"ratio": [[0.0] * 49] * 4}, {"y_levels": [1, 2, 4]}],
)
def test_a_map_that_does_not_agree_with_itself_is_not_drawn(fields: dict[str, Any]) -> None:
    assert payload(changed(**fields))["even"] is None


def test_without_a_search_there_is_nothing() -> None:
    found = sample.two_factors()
    found.break_even = None
    assert payload(found)["even"] is None
    assert 'id="even"' not in page(found)
    assert 'id="even"' in page(sample.two_factors())


def test_the_largest_document_fits(tmp_path: Path) -> None:
    found = sample.largest()
    assert len(drawn(found)["maps"]) == 16
    assert {len(one["rows"]) for one in drawn(found)["maps"]} == {64}
    write(found, tmp_path / "report.html")
    assert (tmp_path / "report.html").stat().st_size < 3_000_000


def test_names_enter_as_text() -> None:
    assert sample.HOSTILE not in page(sample.hostile())
