"""Surfaces in a real browser: a map and lines of equal time, in both schemes and on paper."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scalograph.cli.analyze_steps import draw_charts
from scalograph.report.html import write
from tests.end_to_end.test_report_browser import CONTRAST, Visit, chooser
from tests.kit import samples

pytestmark = pytest.mark.xdist_group("browser")
RIDGE = "figure.surfaces .scatterlayer path.point"


def report(folder: Path, findings: Any) -> Path:
    write(findings, draw_charts(findings), folder / "report.html")
    return folder / "report.html"


@pytest.fixture(scope="module")
def opened(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visit]:
    """A page for all who read it, narrow and dark at first."""
    path, narrow = report(tmp_path_factory.mktemp("surface"), samples.two_cpus()), {"width": 400, "height": 900}
    with Visit(browser, path, viewport=narrow, color_scheme="dark") as visit:
        yield visit


@pytest.fixture
def shown(opened: Visit) -> Visit:
    return opened.turn()


@pytest.mark.parametrize("scheme", ["dark", "light"])
@pytest.mark.parametrize("width", [400, 1600])
def test_the_map_is_drawn(opened: Visit, scheme: str, width: int) -> None:
    page = opened.turn(width, scheme).page
    assert page.locator("figure.surfaces .heatmaplayer image").count() == 1
    assert page.locator("figure.surfaces .contourlayer .contourlines path").count() == 0  # two rows
    assert page.locator(RIDGE).count() == 2  # 1 on 1, 2 on 2
    assert opened.overflow() == 0
    assert page.evaluate(CONTRAST) == []
    assert opened.is_quiet()


def test_of_several_surfaces_one_is_chosen(browser: Any, tmp_path: Path) -> None:
    with Visit(browser, report(tmp_path, samples.many_cpus())) as visit:
        assert visit.page.locator("figure.surfaces").get_by_text("All with options: (empty).").count() == 1
        assert visit.page.locator("figure.surfaces .contourlines path").count() >= 5
        chooser(visit.page, "Surface").select_option(index=1)
        assert visit.page.locator("figure.surfaces").get_by_text("All with options: -Xint.").count() == 1
        assert visit.page.locator("figure.surfaces .heatmaplayer image").count() == 1
        assert visit.is_quiet()


def test_the_numbers_stand_in_a_table_too(shown: Visit) -> None:
    shown.page.locator("figure.surfaces summary").click()
    shown.page.locator("figure.surfaces tbody tr").first.wait_for()
    assert shown.page.locator("figure.surfaces tbody tr").count() == 11
    assert shown.page.locator("figure.surfaces thead th").all_inner_texts() == ["processes", "CPUs 1", "CPUs 2"]


def test_on_paper_it_is_drawn_for_paper(browser: Any, tmp_path: Path) -> None:
    with Visit(browser, report(tmp_path, samples.two_cpus()), color_scheme="dark") as visit:
        visit.page.emulate_media(media="print")
        visit.page.wait_for_selector("html.printing")
        fills = visit.page.locator(RIDGE).evaluate_all("all => all.map((point) => getComputedStyle(point).fill)")
        assert all(max(map(int, fill[4:-1].split(","))) < 60 for fill in fills)


def test_a_hostile_title_stays_text(browser: Any, tmp_path: Path) -> None:
    with Visit(browser, report(tmp_path, samples.hostile_surface())) as visit:
        assert visit.page.locator("img[src='x']").count() == 0
        assert visit.is_quiet()
