"""Figures and charts in a real browser: drawn when seen, linked and taken along; maps, curves and traces."""

import csv
import io
import math
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from scalograph.analysis.ratios import paired_ratio, ratio
from scalograph.protocol.findings import Findings, RunLog, TaskTrace
from scalograph.protocol.plain import Level
from scalograph.report.html import write
from tests.kit import samples
from tests.kit.pages import NARROW, SPEEDUP, WALL, WIDTH, Shown, Visit, brightest

pytestmark = pytest.mark.xdist_group("browser")
TOLD = "navigator.clipboard.readText()"


def findings() -> Any:
    """One point of runs in five blocks, of which one is left out and one unverified; a run that failed."""
    found = samples.small()
    for place, curve in enumerate(found.curves):
        for level, point in enumerate(curve.points):
            for response in point.responses.values():
                response.runs = [f"b{i:04d}-{place}{level}" for i in range(len(response.scores))]
    one = found.curves[0].points[0]
    for response in one.responses.values():
        response.verdicts = ["disturbed", "unverified", *["clean"] * (len(response.scores) - 2)]
        response.left_out = response.runs[:1]
    lost = {"threads": 1, **found.curves[0].group}
    found.log = RunLog(
        configurations=[lost], run=["b0009-99", *one.responses["wall"].runs[:1]], configuration=[0, 0],
        start_s=[0.5, 1.5],
        status=["failed", "ok"], verdict=["failed", "disturbed"], cause=["exit", "steal"], amount=[None, 0.25],
        counted=[False, False], relative=[None, 1.5],
    )  # fmt: skip
    return found


@pytest.fixture(scope="module")
def page(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visit]:
    path = tmp_path_factory.mktemp("figures") / "report.html"
    write(findings(), [], path)
    clipboard = ["clipboard-read", "clipboard-write"]
    with Visit(browser, path, None, {"width": 1600, "height": 300}, permissions=clipboard) as visit:
        yield visit


def test_nothing_is_unpacked_before_a_figure_is_seen_and_a_link_leads_to_it_as_it_was(page: Visit) -> None:
    assert page.run("'Plotly' in window") is False
    assert page.count("figure.later") > 3
    page.run(f"location.hash = '{SPEEDUP}?scale=log&hidden=0'")
    figure = page.find(SPEEDUP)
    figure.locator("svg.main-svg").first.wait_for()
    assert figure.evaluate("(f) => f.getBoundingClientRect().top < innerHeight")
    assert page.chooser("Vertical scale").input_value() == "log"
    assert page.count(".legend button[aria-pressed=false]") >= 1
    assert page.count(".timelines svg.main-svg") == 0
    page.find(".legend:not(.laws) button[aria-pressed=false]").first.click()
    assert page.page.url.endswith("?scale=log")
    page.run("location.hash = '#figure-along-0-speedup?lines=no&panels=%&views=x&hidden=999'")
    figure.locator("svg.main-svg").first.wait_for()
    assert page.is_quiet()


def test_a_figure_is_taken_along_as_a_link_a_drawing_and_pixels(page: Visit) -> None:
    figure = page.find(SPEEDUP)
    figure.scroll_into_view_if_needed()
    figure.get_by_role("button", name="Copy link").press("Enter")
    figure.locator(".told").first.wait_for()
    assert SPEEDUP in page.run(TOLD)
    for kind, head in (("SVG", b"<svg "), ("PNG", b"\x89PNG")):
        content = page.download(figure.get_by_role("button", name=kind))
        assert content.startswith(head) and len(content) > 5000
    assert page.is_quiet()


def test_arrow_keys_tell_every_line_at_a_level(page: Visit) -> None:
    figure = page.find(SPEEDUP)
    figure.scroll_into_view_if_needed()
    figure.locator(".plot").first.focus()
    for _ in range(2):
        page.page.keyboard.press("ArrowRight")
    told = figure.locator(".readout").first.inner_text()
    assert told.startswith("Threads: 2") and "[" in told
    page.page.keyboard.press("Escape")
    assert figure.locator(".readout:visible").count() == 0


def test_a_run_is_a_dot_or_an_x(page: Visit) -> None:
    page.find(WALL).scroll_into_view_if_needed()  # its plot is made when it is seen
    page.find(f"{WALL} .plot svg.main-svg").first.wait_for()
    marks = "p => p.data.filter(t => Array.isArray(t.marker?.symbol)).flatMap(t => t.marker.symbol)"
    symbols = page.find(f"{WALL} .plot").first.evaluate(marks)
    assert symbols.count("x-thin-open") == 1 and {*symbols} == {"x-thin-open", "circle"}
    assert all(page.each(".run-marks a", "!!document.querySelector(p.hash)"))
    assert "disturbed or excluded" in page.text(".run-marks")


def test_tables_are_copied_and_runs_are_listed_with_what_became_of_them(page: Visit) -> None:
    sheet = page.find("#tables .sheet").first
    for name, mark in (("Copy Markdown", "| --- |"), ("Copy CSV", " low,")):
        sheet.get_by_role("button", name=name).click()
        page.page.wait_for_function(f"{TOLD}.then(text => text.includes('{mark}'))")
    rows = list(csv.reader(io.StringIO(page.run(TOLD))))
    assert len({len(row) for row in rows}) == 1 and len(rows) == 1 + sheet.locator("tbody tr").count()
    first, second, *_ = csv.DictReader(page.download(page.find("button.action")).decode().splitlines())
    assert [first[name] for name in ("run", "status", "start_s", "cause", "counted")] == [
        "b0009-99", "failed", "0.5", "exit", "false",
    ]  # fmt: skip
    assert (second["amount"], second["verdict"]) == ("0.25", "disturbed")


@pytest.mark.parametrize("shared", [True, False])
def test_two_configurations_are_compared_as_the_analysis_does(page: Visit, shared: bool) -> None:
    scores = {"a": [1.0, 1.3, 1.1, 1.25], "b": [2.0, 2.5, 2.3, 2.4, 2.2]}
    first = {"a": 0, "b": 0 if shared else 10}
    runs = {side: [f"b{first[side] + i:04d}-0" for i in range(len(x))] for side, x in scores.items()}
    expected = paired_ratio(scores["a"], scores["b"][:4]) if shared else ratio(scores["a"], scores["b"])
    script = (Path(write.__code__.co_filename).parent / "page" / "js" / "compare.js").read_text()
    sides = [[{"run": r, "score": x} for r, x in zip(runs[s], scores[s], strict=True)] for s in ("a", "b")]
    with page.context.new_page() as blank:
        found = blank.evaluate(f"([a, b]) => {{ {script}; return [ratio(a, b), ratio(a.slice(2), b)]; }}", sides)
    assert [found[0][end] for end in ("value", "low", "high")] == pytest.approx(
        [expected.value, expected.low, expected.high], rel=1e-3
    )
    assert "cannot be said" in found[1] and math.isfinite(found[0]["low"])


def test_the_comparison_is_a_link_and_says_when_it_cannot_be_said(page: Visit) -> None:
    said = page.find("#compare .ratio")
    assert "cannot be said" in said.inner_text()
    page.find("#compare fieldset").last.locator("select").last.select_option(index=2)
    assert "paired within 3 blocks" in said.inner_text() and "[" in said.inner_text()
    assert "#compare?" in page.page.url
    assert page.is_quiet()


SHAPES = [*product((NARROW, WIDTH), ("dark", "light"))]
IN_ALL_SHAPES = pytest.mark.parametrize(("width", "scheme"), SHAPES)
FILL = "getComputedStyle(p).fill"
# Break-even: the line is wide, the band filled, a pair that was measured a point.
POINTS, BAND = "figure.even .scatterlayer path.point", "figure.even .scatterlayer path.js-fill"
WIDTHS = ("figure.even .scatterlayer path.js-line", "parseFloat(getComputedStyle(p).strokeWidth)")
# Of surfaces, the ridge; of traces, the bars.
RIDGE, BARS = "figure.surfaces .scatterlayer path.point", "figure.traces .barlayer .point path"
MAPS = ".heatmaplayer image"


def n_lines(page: Visit) -> int:
    return sum(width > 2.2 for width in page.each(*WIDTHS))


def words(page: Visit) -> str:
    return " ".join(page.find("figure.even .annotation-text").all_text_contents())


@IN_ALL_SHAPES
def test_a_map_has_its_line_the_band_and_the_pairs(sample: Shown, width: int, scheme: str) -> None:
    page = sample("two_factors", width, scheme)
    counts = [page.count(of) for of in (f"figure.even {MAPS}", BAND, "figure.even .main-svg pattern", POINTS)]
    assert (counts, n_lines(page)) == ([1, 1, 1, 4], 1)
    assert all(side in words(page) for side in ("never", "parallel", "sequential", "is faster"))
    assert page.is_readable()


def test_a_pair_that_was_faster_points_up_and_under_the_pointer_stand_levels_and_the_interval(sample: Shown) -> None:
    page = sample("two_factors")
    fills, sizes = page.each(POINTS, FILL), page.each(POINTS, "p.getBBox().width")
    assert len({*fills}) == 1 and sizes[2] > sizes[0] == sizes[1]
    ups = ["-" not in tip for tip in page.each(POINTS, r"p.getAttribute('d').match(/,-?[\d.]+/)[0]")]
    assert ups[0] == ups[3] != ups[1] == ups[2]  # the base of a triangle is drawn first
    plot = page.find("figure.even .plot")
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box()
    page.page.mouse.move(box["x"] + 0.3 * box["width"], box["y"] + 0.3 * box["height"])
    page.find(".hoverlayer text").first.wait_for()
    told = page.find(".hoverlayer").text_content()
    assert all(part in told for part in ("size: ", "workers: ", "speedup 0.", "sequential is faster"))


def test_several_maps_stand_side_by_side(sample: Shown) -> None:
    page = sample("three_factors")
    assert page.texts("figure.even h4") == ["cost: 1", "cost: 4", "cost: 16"]
    assert page.count(f"figure.even {MAPS}") == 3 == n_lines(page)
    assert page.is_quiet()


def test_what_is_not_decided_is_said(sample: Shown) -> None:
    page = sample("undecided", NARROW)
    assert "inconclusive" in words(page) and page.is_within()


@pytest.mark.parametrize("width", [NARROW, WIDTH])
def test_one_factor_is_a_curve_over_its_band(sample: Shown, width: int) -> None:
    page = sample("one_factor", width, "dark")
    # Even, where the crossing lies, and the interval of the curve are filled.
    assert [page.count(of) for of in (f"figure.even {MAPS}", BAND, POINTS)] == [0, 3, 4] and n_lines(page) == 1
    assert "parallel is faster" in words(page) and "sequential is faster" in words(page)
    assert page.is_readable()


@IN_ALL_SHAPES
def test_a_surface_is_a_map(sample: Shown, width: int, scheme: str) -> None:
    page = sample("two_cpus", width, scheme)
    assert page.count(f"figure.surfaces {MAPS}") == 1
    assert page.count("figure.surfaces .contourlayer .contourlines path") == 0  # two rows
    assert page.count(RIDGE) == 2  # 1 on 1, 2 on 2
    assert page.is_readable()


def test_of_several_surfaces_one_is_chosen(sample: Shown) -> None:
    page = sample("many_cpus")
    figure = page.find("figure.surfaces")
    assert figure.get_by_text("All with options: (empty).").count() == 1
    assert page.count("figure.surfaces .contourlines path") >= 5
    page.chooser("Surface").select_option(index=1)
    assert figure.get_by_text("All with options: -Xint.").count() == 1
    assert page.count(f"figure.surfaces {MAPS}") == 1
    assert page.is_quiet()


def test_the_numbers_of_a_surface_stand_in_a_table_too(sample: Shown) -> None:
    page = sample("two_cpus")
    page.unfold("figure.surfaces")
    assert page.count("figure.surfaces tbody tr") == 11
    assert page.texts("figure.surfaces thead th") == ["processes", "CPUs 1", "CPUs 2"]


def test_on_paper_charts_are_drawn_for_paper(visit: Shown) -> None:
    open_point = visit(samples.two_factors(), color_scheme="dark").print().each(POINTS, FILL)[1]
    ridge = visit(samples.two_cpus(), color_scheme="dark").print().each(RIDGE, FILL)
    assert all(brightest(fill) < 60 for fill in [open_point, *ridge])


@pytest.mark.parametrize("width", [NARROW, WIDTH])
@pytest.mark.parametrize("name", ["hostile_map", "hostile_surface"])
def test_hostile_names_stay_text(sample: Shown, name: str, width: int) -> None:
    page = sample(name, width)
    assert page.count("img[src='x']") == 0 and page.is_within()


def traced(*traces: tuple[dict[str, Level], int, int]) -> Findings:
    """Findings with traces (configuration, workers, subtasks): 9 µs each, 10 µs after the one before on its worker."""
    found: Findings = samples.two_factors()
    found.parts = {}
    for configuration, workers, n in traces:
        start = [10.0 * (i // workers) for i in range(n)]
        found.traces.append(
            TaskTrace(run="r1", configuration=configuration, start_us=start, end_us=[x + 9 for x in start],
                      worker=[i % workers for i in range(n)])
        )  # fmt: skip
    return found


def test_each_subtask_is_a_bar(visit: Shown) -> None:
    page = visit(traced(({"workers": 2}, 2, 12), ({"workers": 8}, 8, 512)))
    for width, scheme in SHAPES:
        page.turn(width, scheme)
        assert page.texts("figure.traces h4") == ["workers: 2", "workers: 8"]
        tops = page.each(BARS, "p.getBBox().y")
        assert len(tops) == 12 + 512 and len(set(tops[:12])) == 2
        assert page.is_readable()


def test_gaps_are_seen_neighbors_differ_and_a_trace_stands_in_a_table_too(visit: Shown) -> None:
    page = visit(traced(({"workers": samples.HOSTILE}, 2, 12)))
    boxes = page.each(BARS, "[p.getBBox().x, p.getBBox().width, getComputedStyle(p).fill]")
    (first, length, fill), (second, _, other) = boxes[0], boxes[2]
    assert second > first + length + 1 and fill != other
    page.unfold("figure.traces")
    assert page.texts("figure.traces tbody tr") == ["0\t6\t92", "1\t6\t92"]
    assert page.count("img[src='x']") == 0
    assert page.is_quiet()
