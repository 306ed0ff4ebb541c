"""The report as readers move in it: links, tooltips, what is folded, and the first chart under the pointer."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from scalograph.cli.analyze_steps import draw_charts
from scalograph.report.html import write
from tests.kit import samples
from tests.kit.pages import Visit

pytestmark = pytest.mark.xdist_group("browser")
GAP = """
(id) => {
  const heading = document.querySelector(`#${id} h2`).getBoundingClientRect().top;
  const isEnd = scrollY + innerHeight >= document.documentElement.scrollHeight - 2;
  return isEnd ? 0 : heading - document.querySelector("nav.contents").getBoundingClientRect().bottom;
}
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("jumps") / "report.html"
    write(samples.full(), draw_charts(samples.full()), path)
    return path


@pytest.fixture(scope="module")
def visit(browser: Browser, file: Path) -> Iterator[Visit]:
    with Visit(browser, file, in_view=None) as opened:
        yield opened


class TestJumps:
    @pytest.mark.parametrize(("width", "target"), [(1600, "noise"), (1000, "tables"), (400, "machine")])
    def test_links_land_on_headings(
        self, browser: Browser, file: Path, tmp_path: Path, width: int, target: str
    ) -> None:
        with Visit(browser, file, in_view=None, viewport={"width": width, "height": 900}) as opened:
            opened.page.goto("about:blank")
            opened.page.goto(f"{file.as_uri()}#{target}")
            opened.page.wait_for_selector("html[data-drawn]")
            opened.page.wait_for_timeout(1500)  # in which charts above are built
            assert -1 <= opened.page.evaluate(GAP, target) <= 40
            assert opened.is_quiet()

    def test_a_link_of_the_contents_lands_on_its_heading_and_lets_the_reader_go(self, visit: Visit) -> None:
        page = visit.page
        page.locator("nav.contents a[href='#noise']").click()
        page.wait_for_timeout(1000)
        assert -1 <= page.evaluate(GAP, "noise") <= 40
        page.mouse.wheel(0, -5000)
        page.wait_for_timeout(1500)
        assert abs(page.evaluate(GAP, "noise")) > 1000
        assert page.locator("nav.contents").bounding_box()["height"] < 60


class TestFirstChart:
    def test_it_answers_the_pointer_and_zooms(self, visit: Visit) -> None:
        page = visit.page
        page.evaluate("scrollTo({ top: 0, behavior: 'instant' })")
        page.locator("#first-figure .picture").hover()
        page.locator("#first-figure .plot svg.main-svg").first.wait_for()
        plot = page.locator("#first-figure .plot")
        named = "(p) => Plotly.Fx.hover(p, [{ curveNumber: p.data.findIndex((t) => t.error_y), pointNumber: 1 }])"
        plot.evaluate(named)
        label = page.locator("#first-figure .hoverlayer").text_content()
        assert "Threads: 2" in label
        range_ = "(p) => p._fullLayout.xaxis.range.join()"
        before, box = plot.evaluate(range_), plot.locator(".nsewdrag").first.bounding_box()
        page.mouse.move(box["x"] + box["width"] * 0.3, box["y"] + box["height"] * 0.3)
        page.mouse.down()
        page.mouse.move(box["x"] + box["width"] * 0.7, box["y"] + box["height"] * 0.7, steps=5)
        page.mouse.up()
        assert plot.evaluate(range_) != before
        assert visit.is_quiet()


class TestCharts:
    def test_one_tooltip_shows_at_a_time_in_one_style(self, visit: Visit) -> None:
        page = visit.page
        page.evaluate("location.hash = '#figure-along-0-speedup'")
        figure = page.locator("#figure-along-0-speedup")
        figure.locator("svg.main-svg").first.wait_for()
        figure.locator(".plot").first.focus()
        page.keyboard.press("ArrowRight")
        assert figure.locator(".readout:visible").count() >= 1
        plot = figure.locator(".plot").first
        mark = plot.locator(".scatterlayer .trace:has(.errorbar) path.point").nth(1).bounding_box()
        page.mouse.move(mark["x"] + 20, mark["y"] + 2)
        page.mouse.move(mark["x"] + mark["width"] / 2, mark["y"] + mark["height"] / 2, steps=4)
        plot.locator(".hoverlayer .hovertext").first.wait_for()
        assert plot.evaluate("(p) => getComputedStyle(p.parentElement.querySelector('.readout')).display") == "none"
        paper = "(p) => getComputedStyle(p.querySelector('.hovertext path')).fill"
        assert plot.evaluate(paper) == page.evaluate("getComputedStyle(document.body).backgroundColor")

    def test_secondary_measures_are_folded_until_a_link_or_a_press_opens_them(self, visit: Visit) -> None:
        page, details = visit.page, visit.page.locator(".family details.secondary").first
        assert details.get_attribute("open") is None
        assert details.locator("figure h3").first.text_content() != ""
        page.evaluate("location.hash = '#figure-along-0-response-cpu'")
        page.locator("#figure-along-0-response-cpu svg.main-svg").first.wait_for()
        assert page.locator("details.secondary[open]").count() == 1
        assert visit.is_quiet()

    def test_an_inconclusive_point_is_hollow_and_its_interval_has_arrows(
        self, browser: Browser, tmp_path: Path
    ) -> None:
        findings = samples.small()
        point = findings.curves[0].points[1]
        assert point.speedup is not None
        point.speedup = replace(point.speedup, low=0.001, high=4000.0)
        write(findings, draw_charts(findings), tmp_path / "report.html")
        with Visit(browser, tmp_path / "report.html", in_view="#figure-along-0-speedup") as opened:
            plot = opened.page.locator("#figure-along-0-speedup .plot").first
            hollow = "(p) => p.data.filter((t) => t.mode === 'markers' && t.error_y)"
            marks = f"{hollow}.map((t) => [t.y.length, t.marker.color])"
            paper = "getComputedStyle(document.documentElement).getPropertyValue('--paper').trim()"
            ((n_hollow, fill),) = plot.evaluate(marks)
            red = int(opened.page.evaluate(paper)[1:3], 16)
            assert n_hollow == 1 and fill.startswith(f"rgb({red},")
            assert plot.evaluate("(p) => p.data.some((t) => t.error_y && t.mode !== 'markers' && t.y[1] === null)")
            arrows = "(p) => p.data.flatMap((t) => t.marker?.symbol ?? []).filter((s) => /^arrow/.test(s)).sort()"
            assert plot.evaluate(arrows) == ["arrow-down", "arrow-up"]
            assert "beyond the chart" in opened.page.locator("#figure-along-0-speedup .key").first.inner_text()
            assert opened.is_quiet()
