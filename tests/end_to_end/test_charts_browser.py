"""Charts of answers in a real browser: maps of break-even and of surfaces, a curve, and traces of subtasks."""

from collections.abc import Callable
from itertools import product

import pytest

from scalograph.protocol.findings import Findings, TaskTrace
from scalograph.protocol.plain import Level
from tests.kit import samples
from tests.kit.pages import NARROW, WIDTH, Visit, brightest

pytestmark = pytest.mark.xdist_group("browser")
Shown = Callable[..., Visit]
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
    """Return how many wide lines there are."""
    return sum(width > 2.2 for width in page.each(*WIDTHS))


def words(page: Visit) -> str:
    """Return what stands beside and on the maps."""
    return " ".join(page.find("figure.even .annotation-text").all_text_contents())


@IN_ALL_SHAPES
def test_a_map_has_its_line_the_band_and_the_pairs(sample: Shown, width: int, scheme: str) -> None:
    page = sample("two_factors", width, scheme)
    counts = [page.count(of) for of in (f"figure.even {MAPS}", BAND, "figure.even .main-svg pattern", POINTS)]
    assert (counts, n_lines(page)) == ([1, 1, 1, 4], 1)
    assert all(side in words(page) for side in ("never", "parallel", "sequential", "is faster"))
    assert page.is_readable()


def test_a_pair_that_was_faster_is_full_and_under_the_pointer_stand_levels_and_the_interval(sample: Shown) -> None:
    page = sample("two_factors")
    fills, sizes = page.each(POINTS, FILL), page.each(POINTS, "p.getBBox().width")
    assert fills[0] == fills[3] != fills[1] == fills[2] and sizes[2] > sizes[0] == sizes[1]
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
    assert "not decided" in words(page) and page.is_within()


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
