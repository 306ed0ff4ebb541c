"""Questions as they are drawn: maps of break-even, surfaces over CPUs, and the band of a cliff."""

from math import log10
from pathlib import Path
from typing import Any

import pytest
from tests.kit import samples
from tests.kit.samples import full

from scalograph.analysis.estimate import Estimate
from scalograph.protocol.figure import Plot
from scalograph.protocol.findings import Claim, Findings, Matrix, MatrixCell, MatrixRow, Part
from scalograph.questions.break_even.chart import figures
from scalograph.questions.break_even.chart_panels import MOST_MAPS, MOST_ROWS, BreakEvenChart, break_even_chart
from scalograph.questions.break_even.document import BreakEvenLine, BreakEvenMap, BreakEvenPair
from scalograph.questions.cliff.chart import CAPTION
from scalograph.questions.cliff.chart import figures as cliff_figures
from scalograph.questions.cliff.document import CliffDoc, Cliffs
from scalograph.questions.surface.chart import figures as surface_figures
from scalograph.report.html import page, write
from scalograph.report.payload import payload
from scalograph.text.axes import Factors
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
    assert never.summary == "parallel is never faster by more than 10%" and two.location == log_place(2000)
    assert two.band == tuple(pytest.approx(log_place(end), abs=1e-5) for end in (2000 / 1.1, 2200))
    assert two.summary.startswith("parallel is faster from size 2,000 [1,820\N{EN DASH}2,200] on")
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


def test_a_surface_is_drawn_in_one_unit_with_its_evidence_and_its_ridge() -> None:
    (one,) = surface_figures(samples.two_cpus())
    assert one.unit == "ms"
    for plot in one.views[0].plots:
        z, text = plot.data[0]["z"], plot.data[0]["text"]
        assert z[0][0] == 100.0 and z[-1][-1] is None and text[-1][-1] == ""
    assert one.views[0].plots[0].data[0]["text"][1][2].split("<br>") == [
        "processes: 3, CPUs: 2", "173.2 [171.5, 174.9] ms", "expected 150 ms", "over expected 1.155 [1.143, 1.166]",
        "fairness of finish times 0.9992 [0.9982, 1.0002]", "CPUs busy: 100%, 100%", "longer than the CPUs need",
    ]  # fmt: skip
    ((table,),) = [details.tables for details in surface_figures(samples.two_cpus())[0].views[0].details]
    assert table.head == ["processes", "CPUs 1", "CPUs 2"] and len(table.rows) == 11
    assert table.rows[-1][-1] == "\N{EN DASH}"
    assert surface_figures(samples.with_surfaces(samples.surface([1, 2, 3, 4], [1]))) == []
    assert samples.HOSTILE not in page(samples.hostile_surface(), surface_figures(samples.hostile_surface()))
    assert samples.HOSTILE not in surface_figures(samples.hostile_surface())[0].views[0].plots[0].data[0]["text"][0][0]
    (flat,) = surface_figures(samples.two_cpus())[0].views[0].plots
    lines = surface_figures(samples.many_cpus())[0].views[0].plots[1]
    assert list(zip(flat.data[1]["x"], flat.data[1]["y"], strict=True)) == [(0, 0), (1, 1)]
    assert flat.layout["shapes"][0]["path"] == "M-0.5,-0.5L0.5,-0.5L0.5,0.5L1.5,0.5L1.5,1.5L-0.5,1.5Z"
    assert [shape["type"] for shape in lines.layout["shapes"]] == ["path", "line"]


def test_surfaces_of_a_large_machine_fit(tmp_path: Path) -> None:
    """Four of them: each adds as much to a page, for what is packed is not looked back at that far."""
    sizes = []
    for n_cpus in (2, 256):
        found = samples.with_surfaces(samples.surface(range(1, 25), range(1, n_cpus + 1)))
        write(found, surface_figures(found), tmp_path / "report.html")
        sizes.append((tmp_path / "report.html").stat().st_size)
    small, large = sizes
    assert small + 4 * (large - small) < 3_000_000


def sample() -> Findings:
    return full(2, (1, 2, 8, 512), 1)


def searched(**cliff: float) -> Findings:
    found = sample()
    factor = found.curves[0].factor
    told = CliffDoc(
        location=3.5, factor=(1.8, 2.0, 2.2), probability=0.99, gradual=0.0, **{"low": 3, "high": 4, **cliff}
    )
    one = Cliffs(factor=factor, decided=True, cliffs=[told], probability=0.99, n=17, least=1.2)
    return found.model_copy(update={"parts": {"cliff": Part(decided=True, data=one.model_dump(mode="json"))}})


def test_a_band_where_it_begins_and_is_over() -> None:
    found = searched()
    (family,) = payload(found, cliff_figures(found))["families"]
    (mark,) = family["shapes"]
    assert (mark["x0"], mark["x1"]) == (pytest.approx(log10(3), abs=1e-4), pytest.approx(log10(4), abs=1e-4))
    assert (mark["type"], mark["yref"]) == ("rect", "paper")
    assert all(measure["key"].endswith(CAPTION) for measure in family["measures"])
    (overlay,) = cliff_figures(searched(low=0))
    assert (overlay.shapes, overlay.caption) == ([], "") and cliff_figures(sample()) == []
    assert all(family["shapes"] == [] for family in payload(sample())["families"])


def test_only_curves_along_the_factor_that_was_searched_have_it() -> None:
    found = searched()
    factor = found.curves[0].factor
    axis = Factors(found, [factor])[factor].axis()
    assert axis["scale"] == "log" and axis["labels"] == ["1", "2", "8", "512"]
    some = [curve.model_copy(update={"points": curve.points[:3]}) for curve in found.curves]
    assert Factors(found.model_copy(update={"curves": some}), [factor])[factor].axis()["labels"] == ["1", "2", "8"]
    data = found.parts["cliff"].data
    assert data is not None
    data["factor"] = "another"
    assert all(family["shapes"] == [] for family in payload(found, cliff_figures(found))["families"])


def test_figure_and_matrix_have_one_unit() -> None:
    """By all its levels the figure would be in milliseconds; the matrix of the claim is in microseconds."""
    found = searched()
    (name, *_) = found.curves[0].points[0].responses
    unit = next(response.unit for response in found.study.responses if response.name == name)
    cells = [MatrixCell(estimate=Estimate(2e-6, 1.9e-6, 2.1e-6))]
    matrix = Matrix(title="t", unit=unit, columns=["below"], rows=[MatrixRow(label="3", cells=cells)])
    for claim, wanted in (
        (None, "ms"),
        (Claim(sentences=["So."], matrix=matrix, figure=f"response {name}"), "\N{MICRO SIGN}s"),
    ):
        (family,) = payload(found.model_copy(update={"claim": claim}), cliff_figures(found))["families"]
        assert next(m for m in family["measures"] if m.get("response") == name)["unit"] == wanted
