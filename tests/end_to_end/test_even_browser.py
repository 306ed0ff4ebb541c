"""Break-even in a real browser: map or curve, the line, what nobody knows, the pairs, and words for each side."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scalograph.cli.analyze_steps import draw_charts
from scalograph.protocol.findings import Findings
from scalograph.report.html import write
from tests.end_to_end.test_report_browser import CONTRAST, Visit
from tests.kit import samples

pytestmark = pytest.mark.xdist_group("browser")
LINES = "figure.even .scatterlayer path.js-line"
BOLD = 2.2
WIDE_LINES = f"all => all.filter((p) => parseFloat(getComputedStyle(p).strokeWidth) > {BOLD}).length"
POINTS = "figure.even .scatterlayer path.point"
FILLS = "all => all.map((point) => getComputedStyle(point).fill)"


def report(folder: Path, findings: Findings) -> Path:
    write(findings, draw_charts(findings), folder / "report.html")
    return folder / "report.html"


@pytest.fixture(scope="module")
def opened(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visit]:
    """A page for all who only read it, narrow and dark at first."""
    narrow = {"width": 400, "height": 900}
    path = report(tmp_path_factory.mktemp("even"), samples.two_factors())
    with Visit(browser, path, viewport=narrow, color_scheme="dark") as visit:
        yield visit


@pytest.fixture
def shown(opened: Visit) -> Visit:
    return opened.turn()


def words(page: Any) -> str:
    """What stands beside and on the maps."""
    return " ".join(page.locator("figure.even .annotation-text").all_text_contents())


@pytest.mark.parametrize("scheme", ["dark", "light"])
@pytest.mark.parametrize("width", [400, 1600])
def test_a_map_has_its_line_the_band_and_the_pairs(opened: Visit, scheme: str, width: int) -> None:
    page = opened.turn(width, scheme).page
    assert page.locator("figure.even .heatmaplayer image").count() == 1
    assert page.locator(LINES).evaluate_all(WIDE_LINES) == 1
    assert page.locator("figure.even .scatterlayer path.js-fill").count() == 1
    assert page.locator("figure.even .main-svg pattern").count() == 1
    assert page.locator(POINTS).count() == 4
    told = words(page)
    assert all(side in told for side in ("never", "parallel", "sequential", "is faster"))
    assert opened.overflow() == 0
    assert page.evaluate(CONTRAST) == []
    assert opened.is_quiet()


def test_a_pair_that_was_faster_is_full_and_another_open(shown: Visit) -> None:
    fills = shown.page.locator(POINTS).evaluate_all(FILLS)
    assert fills[0] == fills[3] != fills[1] == fills[2]
    sizes = shown.page.locator(POINTS).evaluate_all("all => all.map((p) => p.getBBox().width)")
    assert sizes[2] > sizes[0] == sizes[1]


def test_under_the_pointer_stand_levels_and_the_interval(shown: Visit) -> None:
    plot = shown.page.locator("figure.even .plot")
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box()
    shown.page.mouse.move(box["x"] + 0.3 * box["width"], box["y"] + 0.3 * box["height"])
    shown.page.locator(".hoverlayer text").first.wait_for()
    told = shown.page.locator(".hoverlayer").text_content()
    assert "size: " in told and "workers: " in told and "speedup 0." in told and "sequential is faster" in told


def test_several_maps_stand_side_by_side(browser: Any, tmp_path: Path) -> None:
    with Visit(browser, report(tmp_path, samples.three_factors())) as visit:
        assert visit.page.locator("figure.even h4").all_inner_texts() == ["cost: 1", "cost: 4", "cost: 16"]
        assert visit.page.locator("figure.even .heatmaplayer image").count() == 3
        assert visit.page.locator(LINES).evaluate_all(WIDE_LINES) == 3
        assert visit.is_quiet()


def test_what_is_not_decided_is_said(browser: Any, tmp_path: Path) -> None:
    with Visit(browser, report(tmp_path, samples.undecided()), viewport={"width": 400, "height": 900}) as visit:
        assert "not decided" in words(visit.page)
        assert visit.overflow() == 0


def test_one_factor_is_a_curve_over_its_band(browser: Any, tmp_path: Path) -> None:
    narrow = {"width": 400, "height": 900}
    with Visit(browser, report(tmp_path, samples.one_factor()), viewport=narrow, color_scheme="dark") as visit:
        for width in (400, 1600):
            page = visit.turn(width, "dark").page
            assert page.locator("figure.even .heatmaplayer image").count() == 0
            # Even, where the crossing lies, and the interval of the curve.
            assert page.locator("figure.even .scatterlayer path.js-fill").count() == 3
            assert page.locator(LINES).evaluate_all(WIDE_LINES) == 1
            assert page.locator(POINTS).count() == 4
            assert "parallel is faster" in words(page) and "sequential is faster" in words(page)
            assert visit.overflow() == 0
            assert page.evaluate(CONTRAST) == []
            assert visit.is_quiet()


def test_on_paper_it_is_drawn_for_paper(browser: Any, tmp_path: Path) -> None:
    with Visit(browser, report(tmp_path, samples.two_factors()), color_scheme="dark") as visit:
        visit.page.emulate_media(media="print")
        visit.page.wait_for_selector("html.printing")
        full = visit.page.locator(POINTS).evaluate_all(FILLS)[1]
        assert max(map(int, full[4:-1].split(","))) < 60


def test_hostile_names_stay_text(browser: Any, tmp_path: Path) -> None:
    path = report(tmp_path, samples.hostile_map())
    with Visit(browser, path, viewport={"width": 400, "height": 900}) as visit:
        for width in (400, 1600):
            assert visit.turn(width).page.locator("img[src='x']").count() == 0
            assert visit.overflow() == 0
            assert visit.is_quiet()
