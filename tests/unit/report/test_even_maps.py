"""Break-even as it is drawn: the speedup, the line, what nobody knows, the pairs, and words for each side."""

from math import log10
from pathlib import Path
from typing import Any

import pytest
from tests.kit import samples

from scalograph.protocol.figure import Plot
from scalograph.protocol.findings import Findings
from scalograph.questions.break_even.chart import figures
from scalograph.questions.break_even.chart_panels import MOST_MAPS, MOST_ROWS, BreakEvenChart, break_even_chart
from scalograph.questions.break_even.document import BreakEvenLine, BreakEvenMap, BreakEvenPair
from scalograph.report.html import page, write
from scalograph.text.plots import round_numbers


def log_place(level: float) -> float:
    """Return where a level stands on a logarithmic axis."""
    return round(log10(level), 6)


def drawn(findings: Findings) -> BreakEvenChart:
    found = break_even_chart(findings)
    assert found is not None
    return found


def plot(findings: Findings) -> Plot:
    (figure,) = figures(findings)
    return figure.views[0].plots[0]


def changed(**fields: Any) -> Findings:
    return samples.with_maps([BreakEvenMap.model_validate(samples.even_map().model_dump() | fields)])


def test_a_map_is_of_speedup_on_axes_of_ratios() -> None:
    even = drawn(samples.two_factors())
    (one,) = even.panels
    assert even.y is not None and (even.x.is_log, even.y.is_log) == (True, True)
    assert even.y.layout([0, 1])["ticktext"] == ["1", "2", "4", "8"]
    assert one.x == [log_place(n) for n in samples.SIZES]
    assert [row.at for row in one.rows] == [log_place(p) for p in (1, 2, 4, 8)]
    assert one.rows[2].speedup == samples.speedups(4)
    for row in drawn(samples.two_factors()).rows:
        assert all(low < value < high for low, value, high in zip(row.low, row.speedup, row.high, strict=True))
    first, _, third, _ = drawn(samples.two_factors()).panels[0].pairs
    assert (first.x, first.y) == (log_place(64), log_place(2)) and first.speedup < 1 < third.speedup
    assert (third.n, third.texts[0]) == (3, "size: 16,384, workers: 4")
    even = drawn(changed(pairs=[BreakEvenPair(x=131072, y=8, ratio=0.5, n=1)]))
    assert even.panels[0].pairs[0].x == even.x(even.x.high) == log_place(131072)


def test_a_row_has_its_line_and_the_band_that_holds_it() -> None:
    never, two, *_ = drawn(samples.two_factors()).rows
    assert (never.location, never.band) == (None, None)
    assert never.summary == "parallel is never faster by more than 10 %" and two.location == log_place(2000)
    assert two.band == tuple(pytest.approx(log_place(end), abs=1e-5) for end in (2000 / 1.1, 2200))
    assert two.summary.startswith("parallel is faster from size 2,000 [1,818.18, 2,200] on")
    even = drawn(samples.undecided())
    assert even.rows[0].band == (log_place(8192), even.x(even.x.high))
    both = [BreakEvenLine(level=1, kind="undecided"), *samples.even_map().lines[1:]]
    assert drawn(changed(lines=both)).rows[0].band == (even.x(even.x.low), even.x(even.x.high))


@pytest.mark.parametrize("kind", ["always", "never", "several"])
def test_rows_without_a_line_say_which(kind: str) -> None:
    lines = [{"level": 1, "kind": kind, "low": 20, "high": 30}, *samples.even_map().lines[1:]]
    found = changed(lines=lines)
    row = drawn(found).rows[0]
    assert (row.kind, row.band) == (kind, None) and kind in row.summary
    (word,) = (note for note in plot(found).layout["annotations"] if "room" not in note)
    assert word["text"] == kind


def test_colors_and_words_say_which_side_is_faster() -> None:
    colors = plot(samples.two_factors()).data[0]
    assert colors["colorscale"][0] == [0.0, "line-1~0.66"] and colors["colorscale"][-1] == [1.0, "line-0~0.66"]
    none = [at for at, color in colors["colorscale"] if color.endswith("~0")]
    assert len(none) == 2 and none[0] == pytest.approx(1 - none[1])
    assert "speedup 0." in colors["text"][0][0] and "sequential is faster" in colors["text"][0][0]
    found = plot(samples.two_factors())
    sides = [note for note in found.layout["annotations"] if "room" in note]
    assert {note["name"] for note in sides} == {"side True", "side False"}
    assert {note["text"].replace("<br>", " ") for note in sides} == {"parallel is faster", "sequential is faster"}
    rooms = [note["room"] for note in sides if note["name"] == "side True"]
    assert rooms == sorted(rooms, reverse=True)


def test_one_factor_alone_is_a_curve() -> None:
    even = drawn(samples.one_factor())
    assert even.y is None
    (row,) = even.rows
    assert row.speedup == samples.speedups(4) and even.panels[0].pairs[0].texts[0] == "size: 64"
    (curve,) = (trace for trace in plot(samples.one_factor()).data if trace.get("name") == "speedup")
    assert curve["y"] == row.speedup and row.summary in curve["hovertext"][0]


def test_axes_of_short_ranges_are_linear_and_many_levels_have_round_ticks() -> None:
    short = changed(x_levels=[10 + i / 4 for i in range(49)], pairs=[])
    assert drawn(short).x.is_log is False
    from_zero = drawn(changed(y_levels=[0, 2, 4, 8], pairs=[]))
    assert from_zero.y is not None and from_zero.y.is_log is False
    found = samples.two_factors()
    found.study.factors[1].levels = list(range(16, 4096))
    assert drawn(found).x.layout([0, 1])["ticktext"][:3] == ["20", "50", "100"]
    assert round_numbers(-3, 3, is_log=False) == [-3, -2, -1, 0, 1, 2, 3]
    assert round_numbers(5, 5, is_log=False) == [5]


def test_maps_are_titled_by_what_they_hold_fixed_and_the_first_has_a_line() -> None:
    assert [one.title for one in figures(samples.three_factors())[0].views[0].plots] == [
        "cost: 1",
        "cost: 4",
        "cost: 16",
    ]
    never = samples.even_map(1, group={"cost": 1})
    none = never.model_copy(update={"lines": [BreakEvenLine(level=one.level, kind="never") for one in never.lines]})
    found = samples.with_maps([none, samples.even_map(4, group={"cost": 4})])
    assert [one.title for one in figures(found)[0].views[0].plots] == ["cost: 4", "cost: 1"]


@pytest.mark.parametrize(
    "fields", [{"lines": []}, {"low": []}, {"high": [[1.0]] * 4}, {"ratio": [[0.0] * 49] * 4}, {"y_levels": [1, 2, 4]}]
)
def test_a_map_that_does_not_agree_with_itself_is_not_drawn(fields: dict[str, Any]) -> None:
    assert figures(changed(**fields)) == []


def test_names_enter_as_text_and_without_a_search_there_is_nothing() -> None:
    found = samples.two_factors()
    found.parts.clear()
    assert figures(found) == [] and 'id="drawn"' not in page(found)
    assert 'id="drawn"' in page(samples.two_factors(), figures(samples.two_factors()))
    assert samples.HOSTILE not in page(samples.hostile_map(), figures(samples.hostile_map()))
    assert samples.HOSTILE not in str([trace for trace in plot(samples.hostile_map()).data if "text" in trace])


def test_more_than_a_page_draws_is_left_out_and_the_rest_fits(tmp_path: Path) -> None:
    found = samples.with_maps(
        [
            samples.even_map(1 + i / 7, [2.0 + row for row in range(MOST_ROWS + 8)], {"cost": i})
            for i in range(MOST_MAPS + 2)
        ]
    )
    made = figures(found)
    plots = made[0].views[0].plots
    assert len(plots) == 16 and {len(one.data[0]["z"]) for one in plots} == {64}
    write(found, made, tmp_path / "report.html")
    assert (tmp_path / "report.html").stat().st_size < 3_000_000
