"""The report in a real browser: drawn, quiet, readable at any width, in both schemes and on paper."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from scalograph.cli.analyze_steps import draw_charts
from scalograph.protocol.findings import Findings
from scalograph.report.html import write
from tests.kit import samples
from tests.unit.report.test_html import MB, unpacked

pytestmark = pytest.mark.xdist_group("browser")
WIDTH = 1600
WIDE = {"width": WIDTH, "height": 900}

CONTRAST = """
() => {
  const parse = (color) => (color.match(/[\\d.]+/g) ?? []).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((x) => x / 255)
    .map((x) => (x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4))
    .reduce((sum, x, i) => sum + x * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = (node) => {
    for (; node; node = node.parentElement) {
      const color = parse(getComputedStyle(node).backgroundColor);
      if (color.length === 3 || color[3] > 0.99) return color;
    }
    return [255, 255, 255];
  };
  const texts = [...document.querySelectorAll("h1,h2,h3,h4,p,li,td,th,dt,dd,caption,summary,button,label,a,svg text")];
  const low = [];
  for (const node of texts) {
    const style = getComputedStyle(node);
    if (!node.textContent.trim() || !node.getClientRects().length) continue;
    const ink = parse(node.namespaceURI.endsWith("svg") ? style.fill : style.color);
    const [a, b] = [light(ink), light(ground(node))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) low.push(`${node.tagName} ${node.textContent.trim().slice(0, 30)} ${ratio.toFixed(2)}`);
  }
  return low;
}
"""

# As if the whole page were in view, or what a selector names: most tests are about what is drawn, not when. A page of
# which one figure is looked at draws one: each takes a tenth of a second of the CPU.
IN_VIEW = """
window.IntersectionObserver = class {
  constructor(see) { this.see = see; }
  observe(target) {
    const named = () => [...document.querySelectorAll("%s")].some((one) => one.contains(target));
    queueMicrotask(() => named() && this.see([{ target, isIntersecting: true }]));
  }
  unobserve() {}
};
"""
FIRST = ".family figure:first-of-type"
WALL, SPEEDUP = "#figure-along-0-response-wall", "#figure-along-0-speedup"

# Whether every figure is as wide as its place, in the colors of now.
AS_NOW = """
() => {
  const text = getComputedStyle(document.documentElement).getPropertyValue("--muted").trim();
  const color = `rgb(${[1, 3, 5].map((i) => parseInt(text.slice(i, i + 2), 16)).join()})`;
  const isNow = (p) => p.layout?.width === p.clientWidth && p.layout.font.color === color;
  return [...document.querySelectorAll(".plot")].every(isNow);
}
"""

WIDEST = "Math.max(...[...document.querySelectorAll('.main-svg')].map((s) => s.clientWidth))"


@cache
def shared(browser: Any) -> Any:
    """The context of all pages that need no other: to make one takes longer than to open a page."""
    return browser.new_context()


class Visit:
    """One report, opened; whatever the page complained about or asked for is kept."""

    def __init__(
        self,
        browser: Any,
        path: Path,
        in_view: str | None = "html",
        viewport: Mapping[str, int] = WIDE,
        color_scheme: str = "light",
        **options: Any,
    ) -> None:
        self.shape = (viewport["width"], color_scheme)
        self.own = browser.new_context(**options) if options else None
        self.context = self.own or shared(browser)
        self.page = self.context.new_page()
        self.page.set_viewport_size(viewport)
        self.page.emulate_media(color_scheme=color_scheme)
        if in_view:
            self.page.add_init_script(IN_VIEW % in_view)
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda m: self.complaints.append(m.text) if m.type in ("error", "warning") else None)
        self.page.on("pageerror", lambda e: self.complaints.append(str(e)))
        self.page.on("dialog", self._refuse)
        self.page.on("request", lambda r: self.requests.append(r.url))
        self.page.goto(path.as_uri())
        if options.get("java_script_enabled", True):
            self.page.wait_for_selector("html[data-drawn]", timeout=120_000)

    def _refuse(self, dialog: Any) -> None:
        self.complaints.append(f"dialog {dialog.message}")
        dialog.dismiss()

    def __enter__(self) -> "Visit":
        return self

    def __exit__(self, *_: object) -> None:
        (self.own or self.page).close()

    def turn(self, width: int = WIDTH, scheme: str = "light") -> "Visit":
        """The same page at this width and in this scheme, with all its figures drawn again."""
        if (width, scheme) != self.shape:
            self.shape = (width, scheme)
            self.page.emulate_media(color_scheme=scheme)
            self.page.set_viewport_size({"width": width, "height": 900})
            self.page.wait_for_function(AS_NOW)
        return self

    def is_quiet(self) -> bool:
        outside = [url for url in self.requests if not url.startswith(("file:", "data:", "blob:"))]
        assert self.complaints == []
        assert outside == []
        return True

    def overflow(self) -> int:
        return int(self.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))


def chooser(page: Any, label: str) -> Any:
    """The first select with this label."""
    return page.locator(f"label.choice:has(> span:text-is('{label}')) > select").first


@pytest.fixture
def report(tmp_path: Path) -> Any:
    def made(findings: Findings) -> Path:
        path = tmp_path / "report.html"
        write(findings, draw_charts(findings), path)
        return path

    return made


def downloaded(page: Any) -> str:
    """The runs as the page gives them to other tools."""
    with page.expect_download() as download:
        page.locator("button.action").click()
    return Path(download.value.path()).read_text()


@pytest.fixture(scope="module")
def full_report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    write(samples.full(), [], path)
    return path


# Pages for all who read them, or open what is closed.


@pytest.fixture(scope="module")
def opened_full(browser: Any, full_report: Path) -> Iterator[Visit]:
    with Visit(browser, full_report, viewport={"width": 400, "height": 900}) as visit:
        yield visit


@pytest.fixture(scope="module")
def opened_small(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visit]:
    path = tmp_path_factory.mktemp("report") / "report.html"
    write(samples.small(), draw_charts(samples.small()), path)
    with Visit(browser, path) as visit:
        yield visit


@pytest.fixture(scope="module")
def hostile(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visit]:
    path = tmp_path_factory.mktemp("report") / "report.html"
    write(samples.hostile(), draw_charts(samples.hostile()), path)
    with Visit(browser, path, viewport={"width": 400, "height": 900}) as visit:
        yield visit


@pytest.fixture
def full(opened_full: Visit) -> Visit:
    return opened_full.turn()


@pytest.fixture
def small(opened_small: Visit) -> Visit:
    return opened_small.turn()


@pytest.mark.parametrize("width", [400, 1600])
def test_a_whole_study_is_drawn_at_any_width(opened_full: Visit, width: int) -> None:
    page = opened_full.turn(width).page
    assert page.locator(".plot svg.main-svg").count() >= 20
    plots = page.locator(".plot").count()
    assert page.locator(".plot:has(.plot-container path)").count() == plots
    assert page.locator(".scatterlayer .trace path.js-line").count() >= 100
    assert page.locator(".scatterlayer path.point").count() >= 2240
    assert page.locator("#figures h3").all_text_contents()[1:4] == ["Wall time (ms)", "Speedup", "Efficiency"]
    assert opened_full.overflow() <= 0
    spans = "[...document.querySelectorAll('caption > span')].map((s) => s.getBoundingClientRect().right)"
    assert max(page.evaluate(spans)) <= width
    assert opened_full.is_quiet()


@pytest.mark.parametrize("width", [420, 800, 1300, 1600])
def test_letters_of_the_first_screen_are_12_pixels_high_or_more(opened_small: Visit, width: int) -> None:
    heights = opened_small.turn(width).page.evaluate(
        "[...document.querySelectorAll('#answer svg text')].filter((t) => t.getClientRects().length).map((t) =>"
        " t.getAttribute('font-size') * t.ownerSVGElement.clientWidth / t.ownerSVGElement.viewBox.baseVal.width)"
    )
    assert len(heights) > 8 and min(heights) >= 12 and max(heights) < 20


def test_tables_are_readable_and_sort_by_keyboard(full: Visit) -> None:
    page = full.page
    table = page.locator("table.sortable").first
    assert table.locator("tbody tr").count() == 224
    size = page.evaluate("parseFloat(getComputedStyle(document.querySelector('td')).fontSize)")
    assert size >= 12
    before = table.locator("tbody tr:first-child td:nth-child(4)").inner_text()
    button = table.locator("th button").nth(3)
    button.focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    assert table.locator("th").nth(3).get_attribute("aria-sort") == "descending"
    assert table.locator("tbody tr:first-child td:nth-child(4)").inner_text() == "512"
    page.keyboard.press("Enter")
    assert table.locator("tbody tr:first-child td:nth-child(4)").inner_text() == before
    assert full.is_quiet()


def test_cells_say_on_hover_what_they_rest_on(small: Visit) -> None:
    titles = (
        small.page.locator("#tables table")
        .first.locator("td.e")
        .evaluate_all("cells => cells.map((cell) => cell.title)")
    )
    assert titles
    assert all("runs" in title for title in titles)
    assert small.page.locator("#tables td.e b").first.inner_text().strip() != ""


def test_a_sorted_column_is_in_the_order_that_it_shows(small: Visit) -> None:
    table = small.page.locator("table.sortable").first
    table.locator("th.e button").first.click()
    shown = [float(text.replace(",", "")) for text in table.locator("td.e:nth-child(5) b").all_inner_texts()]
    assert len(set(shown)) > 3
    assert shown == sorted(shown)


def test_a_wide_interval_does_not_squeeze_the_others(browser: Any, report: Any) -> None:
    findings = samples.small()
    point = findings.curves[0].points[1]
    assert point.speedup is not None
    point.speedup = replace(point.speedup, low=0.001, high=4000.0)
    with Visit(browser, report(findings), in_view=f"{WALL}, {SPEEDUP}") as visit:
        chooser(visit.page, "Vertical scale").select_option("linear")
        figure = visit.page.locator("figure:has(h3:text-is('Speedup'))")
        assert 2 < figure.locator(".plot").evaluate("(plot) => plot._fullLayout.yaxis.range[1]") < 10
        assert "leave the frame" in figure.locator(".key").first.inner_text()
        assert "leave the frame" not in visit.page.locator("figure .key").first.inner_text()


def test_ticks_of_a_logarithmic_scale_are_whole_numbers(browser: Any, report: Any) -> None:
    with Visit(browser, report(samples.brief()), in_view=FIRST) as visit:
        chooser(visit.page, "Vertical scale").select_option("log")
        ticks = visit.page.locator(".family .plot").first.locator(".ytick").all_text_contents()
        values = [float(tick.replace(",", "")) for tick in ticks]
        assert len(values) >= 2
        assert values == sorted(set(values))


def test_ticks_of_a_timeline_count_whole_cpus(small: Visit) -> None:
    for plot in small.page.locator(".timelines .plot").all():
        ticks = plot.locator(".ytick").all_text_contents()
        assert "0" in ticks
        assert len(ticks) == len(set(ticks))
        assert all(tick.isdigit() for tick in ticks)


@pytest.mark.parametrize("scheme", ["dark", "light"])
def test_text_has_contrast(small: Visit, scheme: str) -> None:
    page = small.turn(scheme=scheme).page
    assert page.evaluate(CONTRAST) == []
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    red = int(re.findall(r"\d+", paper)[0])
    assert (red < 60) == (scheme == "dark")


def test_a_change_of_scheme_draws_the_figures_again(small: Visit) -> None:
    stroke = "getComputedStyle(document.querySelector('path.js-line')).stroke"
    light = small.page.evaluate(stroke)
    assert small.turn(scheme="dark").page.evaluate(stroke) != light
    assert small.page.evaluate(CONTRAST) == []


def test_paper_shows_figures_and_no_controls(browser: Any, report: Any, tmp_path: Path) -> None:
    with Visit(browser, report(samples.small()), in_view=None, color_scheme="dark") as visit:
        page = visit.page
        page.emulate_media(media="print", color_scheme="dark")
        page.wait_for_selector("html.printing", state="attached")
        for chrome in ("nav", ".controls", ".family-head", "details.as-table", ".chrome"):
            assert not page.locator(chrome).first.is_visible()
        assert page.locator(".plot svg.main-svg").first.is_visible()
        assert page.locator(".key-lines").first.is_visible()
        assert page.evaluate(WIDEST) <= 700
        assert page.evaluate(CONTRAST) == []
        page.set_viewport_size({"width": 794, "height": 1100})
        wide = "[...document.querySelectorAll('#tables table')].map((t) => t.clientWidth - t.parentElement.clientWidth)"
        assert max(page.evaluate(wide)) <= 0
        page.emulate_media(media="screen")
        page.wait_for_selector("html:not(.printing)", state="attached")
        page.pdf(path=tmp_path / "report.pdf", prefer_css_page_size=True)
        assert (tmp_path / "report.pdf").stat().st_size > 100_000
        assert page.locator("html.printing").count() == 0
        assert visit.is_quiet()


@pytest.mark.parametrize("width", [400, 1600])
def test_hostile_names_show_literally_and_do_nothing(hostile: Visit, width: int) -> None:
    page = hostile.turn(width).page
    for summary in page.locator("summary").all():
        if not summary.evaluate("summary => summary.parentElement.open"):
            summary.click()
    assert page.locator("img").count() == 0
    assert samples.HOSTILE in page.locator("h1").inner_text()
    assert samples.HOSTILE in page.locator(".legend").first.inner_text()
    assert page.locator(".xtitle").first.text_content().startswith(samples.HOSTILE[: 30 if width == 400 else 60])
    past = "[...document.querySelectorAll('.xtitle')].map((t) => t.getBoundingClientRect().right - innerWidth)"
    assert max(page.evaluate(past)) <= 0
    assert page.locator(".xtitle").first.evaluate(
        "(t) => t.getBBox().x >= 0 && t.getBBox().x + t.getBBox().width <= t.closest('.plot').clientWidth"
    )
    page.evaluate(
        "Plotly.Fx.hover(document.querySelector('.plot'), [{curveNumber: document.querySelector('.plot').data"
        ".findIndex(t => t.mode === 'lines+markers'), pointNumber: 1}])"
    )
    assert samples.HOSTILE in page.locator(".hoverlayer").first.text_content()
    assert page.locator("#sample-list tbody th").first.inner_text().startswith("=cmd")
    assert hostile.overflow() <= 0
    assert hostile.is_quiet()


def test_csv_holds_every_run_and_no_formula(hostile: Visit, small: Visit) -> None:
    text = downloaded(hostile.page)
    assert "\n\"'=cmd" in text
    assert not re.search(r"(^|,)\"?=", text, re.MULTILINE)
    lines = downloaded(small.page).split("\n")
    assert lines[0] == "run,verdict,cpus,lock,quantum,threads,wall_s,cpu_s"
    assert len(lines) == 18 + 2
    first = samples.small().curves[0].points[0].responses["wall"]
    assert lines[1].split(",")[0] == first.runs[0]
    assert float(lines[1].split(",")[6]) == first.scores[0]


def test_factors_can_trade_places(browser: Any, report: Any) -> None:
    with Visit(browser, report(samples.brief()), in_view=FIRST) as visit:
        page = visit.page
        assert page.locator(".family figure").first.locator(".panel").count() == 4
        chooser(page, "Lines").select_option("cpus")
        assert page.locator(".family figure").first.locator(".panel").count() == 7
        assert page.locator(".legend:not(.laws) button").count() == 2
        chooser(page, "Panels").select_option("lock")
        assert page.locator(".family figure").first.locator(".panel").count() == 7
        chooser(page, "Work between locks").select_option(label="large")
        page.locator(".legend button").first.press("Enter")
        assert page.locator(".legend button").first.get_attribute("aria-pressed") == "false"
        assert page.locator(".family figure").first.locator("path.js-line").count() == 7
        chooser(page, "Vertical scale").select_option("log")
        page.locator("summary").first.click()
        # A browser tells of what was opened later than it opens it.
        page.locator(".family figure").first.locator("table").first.wait_for()
        assert page.locator(".family figure").first.locator("table").count() == 7
        assert visit.is_quiet()


def test_laws_stand_under_the_speedup_and_can_be_hidden(browser: Any, report: Any) -> None:
    with Visit(browser, report(samples.lawful()), in_view=SPEEDUP) as visit:
        page = visit.page
        figure = page.locator("figure:has(h3:text-is('Speedup'))")
        marks = "(plot) => plot.data.map((t) => t.text?.[0] ?? t.hovertext?.[0]).filter((t) => t?.startsWith('N*'))"
        laws = page.locator(".legend.laws button")
        assert laws.all_inner_texts() == ["fitted law", "Amdahl\u2019s law", "ideal"]
        assert [laws.nth(i).get_attribute("aria-pressed") for i in range(3)] == ["true", "false", "true"]
        assert figure.locator(".plot").evaluate(marks) == ["N* = 6.9 [5.5, 9.0]", "N* &gt; 24"]
        whole = figure.locator(".plot").evaluate("(plot) => plot._fullLayout.xaxis.range[1]")
        lines = figure.locator("path.js-line").count()
        laws.nth(1).press("Enter")
        assert figure.locator("path.js-line").count() == lines + 1
        laws.nth(0).press("Enter")
        laws.nth(1).press("Enter")
        assert figure.locator(".plot").evaluate(marks) == []
        assert figure.locator(".plot").evaluate("(plot) => plot._fullLayout.xaxis.range[1]") < whole
        assert visit.is_quiet()


def test_factors_of_many_levels_are_held_until_they_are_chosen(browser: Any, report: Any) -> None:
    with Visit(browser, report(samples.many()), in_view=FIRST) as visit:
        page = visit.page
        figure = page.locator(".family figure").first
        assert figure.locator(".panel").count() == 2
        panels = chooser(page, "Panels")
        assert panels.locator("option").all_inner_texts() == ["Work between locks", "none: one at a time"]
        chooser(page, "CPUs").select_option(label="2")
        panels.select_option("none")
        assert figure.locator(".panel").count() == 1
        chooser(page, "Lines").select_option("cpus")
        page.wait_for_function("document.querySelector('.family .plot').data?.length >= 64")
        looks = figure.locator(".plot").first.evaluate(
            "(p) => p.data.filter((t) => t.error_y).map((t) => [t.line.color, t.line.dash, t.marker.symbol].join())"
        )
        assert len(looks) == 64 == len(set(looks))
        assert visit.is_quiet()


def test_lines_of_a_single_level_stand_inside_the_frame(browser: Any, report: Any) -> None:
    findings = samples.small()
    for one in findings.curves:
        del one.points[1:]
    with Visit(browser, report(findings), in_view=".family") as visit:
        for plot in visit.page.locator(".family .plot").all():
            places = plot.evaluate("(p) => p.data.filter((t) => t.error_y).flatMap((t) => t.x)")
            low, high = plot.evaluate("(p) => p._fullLayout.xaxis.range")
            assert places and all(low < x < high for x in places)


def test_shares_of_cpus_stand_in_a_table_too(small: Visit) -> None:
    figure = small.page.locator("figure:has(h3:text-is('CPU time by CPU'))")
    figure.locator("summary").click()
    figure.locator("table").first.wait_for()
    assert figure.locator("table").count() == 2
    assert figure.locator("table").first.locator("th[scope=col]").all_inner_texts()[1:] == [
        "CPU no. 1 (%)",
        "CPU no. 2 (%)",
    ]
    assert figure.locator("tbody tr").first.locator("td").all_inner_texts() == ["100.0", "0.0"]
    assert small.is_quiet()


def test_a_timeline_is_told_in_words_and_as_a_table(small: Visit) -> None:
    panel = small.page.locator(".timelines .panel").first
    assert "tasks are on a CPU" in panel.locator("p.note").first.inner_text()
    assert "tasks are on a CPU" in str(panel.locator(".plot").get_attribute("aria-label"))
    panel.locator("summary").nth(1).press("Enter")
    panel.locator("details").nth(1).locator("tbody tr").first.wait_for()
    heads = panel.locator("details").nth(1).locator("thead th").all_inner_texts()
    assert heads == ["from (ms)", "on a CPU", "CPU 0 (%)", "CPU 1 (%)", "waiting"]
    assert 10 <= panel.locator("details").nth(1).locator("tbody tr").count() <= 20
    assert small.is_quiet()


def test_a_timeline_without_records_of_switches_and_none_at_all(browser: Any, report: Any) -> None:
    findings = samples.small()
    tree = {"bin_ns": 100_000_000, "cpus": [], "busy_ns": [], "waiting_ns": None, "tree_busy_ns": [10**8, 2 * 10**8]}
    findings.timelines[0].timeline = tree
    with Visit(browser, report(findings), in_view=".timelines") as visit:
        assert "too many switches" in visit.page.locator(".timelines p.note").first.inner_text()
        assert visit.page.locator(".timelines .y2title").count() == 0
        assert visit.is_quiet()
    findings.timelines = []
    with Visit(browser, report(findings), in_view=None) as visit:
        assert "No timeline of tasks on CPUs" in visit.page.locator("#drawn").inner_text()
        assert visit.is_quiet()


def test_timelines_can_be_chosen_and_list_their_tasks(full: Visit) -> None:
    configurations = chooser(full.page, "Configuration")
    configurations.select_option(index=30)
    title = full.page.locator(".timelines h4").first.inner_text()
    assert title == configurations.locator("option").nth(30).text_content()
    full.page.locator(".timelines summary").first.click()
    full.page.locator(".timelines table").first.wait_for()
    assert "worker-0" in full.page.locator(".timelines table").first.inner_text()
    assert full.is_quiet()


@pytest.mark.parametrize("name", ["bare", "one_point", "all_failed", "many_points", "wide_machine"])
def test_the_edges_are_drawn_quietly_at_any_width(browser: Any, report: Any, name: str) -> None:
    with Visit(browser, report(getattr(samples, name)()), viewport={"width": 400, "height": 900}) as visit:
        for width in (400, WIDTH):
            visit.turn(width)
            assert visit.is_quiet()
            assert visit.overflow() <= 0
            assert visit.page.locator("h1").is_visible()
            if name == "all_failed":
                assert "nothing to draw" in visit.page.locator("#drawing").inner_text()


def test_100_000_runs_are_drawn_rounded_and_few_of_them(browser: Any, report: Any) -> None:
    path = report(samples.full(n=446))  # how long that takes: benchmarks/command_scale.py
    assert path.stat().st_size < 3 * MB
    assert unpacked(path.read_text())["samples"]["digits"] == 5
    with Visit(browser, path, in_view=FIRST) as visit:
        assert "26 of up to 446 runs a point" in visit.page.locator(".key").first.inner_text()
        assert visit.is_quiet()


def test_a_figure_is_drawn_when_it_comes_into_view_and_all_are_on_paper(browser: Any, report: Any) -> None:
    with Visit(browser, report(samples.small()), in_view=None) as visit:
        drawn, plots = visit.page.locator(".plot:has(svg.main-svg)"), visit.page.locator(".plot")
        assert visit.page.locator(".timelines .plot svg.main-svg").count() == 0
        visit.page.locator(".timelines").first.scroll_into_view_if_needed()
        visit.page.locator(".timelines .plot svg.main-svg").first.wait_for()
        assert drawn.count() < plots.count()
        visit.page.emulate_media(media="print")
        visit.page.wait_for_selector("html.printing", state="attached")
        assert drawn.count() == plots.count()
        assert visit.page.evaluate(WIDEST) <= 700
        assert visit.is_quiet()


def test_without_script_the_tables_and_a_sentence_remain(browser: Any, full_report: Path) -> None:
    with Visit(browser, full_report, java_script_enabled=False) as visit:
        assert "switched off here" in visit.page.locator("noscript").first.inner_text()
        assert visit.page.locator("tbody tr").count() > 224
        assert visit.overflow() <= 0


def test_motion_is_reduced_where_asked(small: Visit) -> None:
    behavior = "getComputedStyle(document.documentElement).scrollBehavior"
    for asked, expected in (("reduce", "auto"), ("no-preference", "smooth")):
        small.page.emulate_media(reduced_motion=asked)
        assert small.page.evaluate(behavior) == expected
