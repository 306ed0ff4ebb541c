"""The report in a real browser: drawn, quiet, readable at any width, in both schemes and on paper."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from tests.kit import samples
from tests.kit.pages import CONTRAST, FIRST, NARROW, SPEEDUP, WALL, WIDTH, Shown, write_page
from tests.unit.report.test_html import MB, unpacked

pytestmark = pytest.mark.xdist_group("browser")
WIDEST = "Math.max(...[...document.querySelectorAll('.main-svg')].map((s) => s.clientWidth))"
DRAWN, BY_SPEEDUP = ".plot:has(svg.main-svg)", "figure:has(h3:text-is('Speedup'))"
FIRST_PANELS = f"{FIRST} .panel"
X_END = "(plot) => plot._fullLayout.xaxis.range[1]"


@pytest.mark.parametrize("width", [NARROW, WIDTH])
def test_a_whole_study_is_drawn_at_any_width(sample: Shown, width: int) -> None:
    full = sample("full", width)
    assert full.count(".plot svg.main-svg") >= 20
    assert full.count(".plot:has(.plot-container path)") == full.count(".plot")
    assert full.count(".scatterlayer .trace path.js-line") >= 100
    assert full.count(".scatterlayer path.point") >= 2240
    assert full.find("#figures h3").all_text_contents()[1:4] == ["Wall time (ms)", "Speedup", "Efficiency"]
    assert max(full.each("caption > span", "p.getBoundingClientRect().right")) <= width
    assert full.is_within()


@pytest.mark.parametrize("width", [420, 800, 1300, WIDTH])
def test_letters_of_the_first_screen_are_12_pixels_high_or_more(sample: Shown, width: int) -> None:
    heights = sample("small", width).run(
        "[...document.querySelectorAll('#answer svg text')].filter((t) => t.getClientRects().length).map((t) =>"
        " t.getAttribute('font-size') * t.ownerSVGElement.clientWidth / t.ownerSVGElement.viewBox.baseVal.width)"
    )
    assert len(heights) > 8 and min(heights) >= 12 and max(heights) < 20


def test_tables_are_readable_and_sort_by_keyboard(sample: Shown) -> None:
    full = sample("full")
    table, cell = full.find("table.sortable").first, "tbody tr:first-child td:nth-child(4)"
    assert table.locator("tbody tr").count() == 224
    assert full.run("parseFloat(getComputedStyle(document.querySelector('td')).fontSize)") >= 12
    before = table.locator(cell).inner_text()
    table.locator("th button").nth(3).focus()
    for _ in range(2):
        full.page.keyboard.press("Enter")
    assert table.locator("th").nth(3).get_attribute("aria-sort") == "descending"
    assert table.locator(cell).inner_text() == "512"
    full.page.keyboard.press("Enter")
    assert table.locator(cell).inner_text() == before
    assert full.is_quiet()


def test_cells_say_on_hover_what_they_rest_on_and_a_column_is_sorted_as_it_shows(sample: Shown) -> None:
    small = sample("small")
    table = small.find("#tables table").first
    titles = table.locator("td.e").evaluate_all("cells => cells.map((cell) => cell.title)")
    assert titles and all("runs" in title for title in titles)
    assert small.text("#tables td.e b").strip() != ""
    table = small.find("table.sortable").first
    table.locator("th.e button").first.click()
    shown = [float(text.replace(",", "")) for text in table.locator("td.e:nth-child(5) b").all_inner_texts()]
    assert len(set(shown)) > 3 and shown == sorted(shown)


def test_a_wide_interval_does_not_squeeze_the_others(visit: Shown) -> None:
    findings = samples.small()
    point = findings.curves[0].points[1]
    assert point.speedup is not None
    point.speedup = replace(point.speedup, low=0.001, high=4000.0)
    page = visit(findings, in_view=f"{WALL}, {SPEEDUP}")
    page.chooser("Vertical scale").select_option("linear")
    assert 2 < page.find(f"{BY_SPEEDUP} .plot").evaluate("(plot) => plot._fullLayout.yaxis.range[1]") < 10
    assert "beyond the chart" in page.text(f"{BY_SPEEDUP} .key")
    assert "beyond the chart" not in page.text("figure .key")


def test_ticks_are_whole_numbers(sample: Shown, visit: Shown) -> None:
    """Those of a logarithmic scale, and those of a timeline, which count CPUs."""
    page = visit(samples.brief(), in_view=FIRST)
    page.chooser("Vertical scale").select_option("log")
    ticks = page.find(".family .plot").first.locator(".ytick").all_text_contents()
    values = [float(tick.replace(",", "")) for tick in ticks]
    assert len(values) >= 2 and values == sorted(set(values))
    for plot in sample("small").find(".timelines .plot").all():
        ticks = plot.locator(".ytick").all_text_contents()
        assert "0" in ticks and len(ticks) == len(set(ticks)) and all(tick.isdigit() for tick in ticks)


def test_text_has_contrast_in_both_schemes_and_a_change_draws_the_figures_again(sample: Shown) -> None:
    stroke, strokes = "getComputedStyle(document.querySelector('path.js-line')).stroke", dict[str, str]()
    for scheme in ("light", "dark"):
        small = sample("small", scheme=scheme)
        assert small.run(CONTRAST) == []
        paper = small.run("getComputedStyle(document.body).backgroundColor")
        assert (int(re.findall(r"\d+", paper)[0]) < 60) == (scheme == "dark")
        strokes[scheme] = small.run(stroke)
    assert strokes["dark"] != strokes["light"]


def test_paper_shows_figures_and_no_controls(visit: Shown, tmp_path: Path) -> None:
    shown = visit(samples.small(), in_view=None, color_scheme="dark").print()
    for chrome in ("nav", ".controls", ".family-head", "details.as-table", ".chrome"):
        assert not shown.find(chrome).first.is_visible()
    assert shown.find(".plot svg.main-svg").first.is_visible() and shown.find(".key-lines").first.is_visible()
    assert shown.run(WIDEST) <= 700 and shown.run(CONTRAST) == []
    shown.page.set_viewport_size({"width": 794, "height": 1100})
    assert max(shown.each("#tables table", "p.clientWidth - p.parentElement.clientWidth")) <= 0
    shown.page.emulate_media(media="screen")
    shown.page.wait_for_selector("html:not(.printing)", state="attached")
    shown.page.pdf(path=tmp_path / "report.pdf", prefer_css_page_size=True)
    assert (tmp_path / "report.pdf").stat().st_size > 100_000
    assert shown.count("html.printing") == 0
    assert shown.is_quiet()


@pytest.mark.parametrize("width", [NARROW, WIDTH])
def test_hostile_names_show_literally_and_do_nothing(sample: Shown, width: int) -> None:
    hostile = sample("hostile", width)
    for summary in hostile.find("summary").all():
        if not summary.evaluate("summary => summary.parentElement.open"):
            summary.click()
    assert hostile.count("img") == 0
    assert samples.HOSTILE in hostile.text("h1") and samples.HOSTILE in hostile.text(".legend")
    title = hostile.find(".xtitle").first
    assert title.text_content().startswith(samples.HOSTILE[: 30 if width == NARROW else 60])
    assert max(hostile.each(".xtitle", "p.getBoundingClientRect().right - innerWidth")) <= 0
    assert title.evaluate(
        "(t) => t.getBBox().x >= 0 && t.getBBox().x + t.getBBox().width <= t.closest('.plot').clientWidth"
    )
    hostile.run(
        "Plotly.Fx.hover(document.querySelector('.plot'), [{curveNumber: document.querySelector('.plot').data"
        ".findIndex(t => t.mode === 'lines+markers'), pointNumber: 1}])"
    )
    assert samples.HOSTILE in hostile.find(".hoverlayer").first.text_content()
    assert hostile.text("#sample-list tbody th").startswith("=cmd")
    assert hostile.is_within()


def test_csv_holds_every_run_and_no_formula(sample: Shown) -> None:
    hostile, small = (
        page.download(page.find("button.action")).decode().replace("\r\n", "\n")
        for page in map(sample, ("hostile", "small"))
    )
    assert "\n\"'=cmd" in hostile and not re.search(r"(^|,)\"?=", hostile, re.MULTILINE)
    head, one, *others = small.split("\n")
    assert head == "run,verdict,cpus,lock,quantum,threads,wall_s,cpu_s" and len(others) == 18
    first = samples.small().curves[0].points[0].responses["wall"]
    assert (one.split(",")[0], float(one.split(",")[6])) == (first.runs[0], first.scores[0])


def test_factors_can_trade_places(visit: Shown) -> None:
    page = visit(samples.brief(), in_view=FIRST)
    assert page.count(FIRST_PANELS) == 4
    page.chooser("Lines").select_option("cpus")
    assert page.count(FIRST_PANELS) == 7 and page.count(".legend:not(.laws) button") == 2
    page.chooser("Panels").select_option("lock")
    assert page.count(FIRST_PANELS) == 7
    page.chooser("Work between locks").select_option(label="large")
    button = page.find(".legend button").first
    button.press("Enter")
    assert button.get_attribute("aria-pressed") == "false"
    assert page.count(f"{FIRST} path.js-line") == 7
    page.chooser("Vertical scale").select_option("log")
    page.unfold(FIRST, "table")
    assert page.count(f"{FIRST} table") == 7
    assert page.is_quiet()


def test_laws_stand_under_the_speedup_and_can_be_hidden(visit: Shown) -> None:
    page = visit(samples.lawful(), in_view=SPEEDUP)
    marks = "(plot) => plot.data.map((t) => t.text?.[0] ?? t.hovertext?.[0]).filter((t) => t?.startsWith('N*'))"
    laws, plot, lines = page.find(".legend.laws button"), page.find(f"{BY_SPEEDUP} .plot"), f"{BY_SPEEDUP} path.js-line"
    assert laws.all_inner_texts() == ["fitted law", "Amdahl\u2019s law", "ideal"]
    assert [law.get_attribute("aria-pressed") for law in laws.all()] == ["true", "false", "true"]
    assert plot.evaluate(marks) == ["N* = 6.9 [5.5, 9.0]", "N* &gt; 24"]
    whole, n_lines = plot.evaluate(X_END), page.count(lines)
    laws.nth(1).press("Enter")
    assert page.count(lines) == n_lines + 1
    laws.nth(0).press("Enter")
    laws.nth(1).press("Enter")
    assert plot.evaluate(marks) == [] and plot.evaluate(X_END) < whole
    assert page.is_quiet()


def test_factors_of_many_levels_are_held_until_they_are_chosen(visit: Shown) -> None:
    page = visit(samples.many(), in_view=FIRST)
    assert page.count(FIRST_PANELS) == 2
    panels = page.chooser("Panels")
    assert panels.locator("option").all_inner_texts() == ["Work between locks", "none: one at a time"]
    page.chooser("CPUs").select_option(label="2")
    panels.select_option("none")
    assert page.count(FIRST_PANELS) == 1
    page.chooser("Lines").select_option("cpus")
    page.page.wait_for_function("document.querySelector('.family .plot').data?.length >= 64")
    looks = page.find(f"{FIRST} .plot").first.evaluate(
        "(p) => p.data.filter((t) => t.error_y && t.mode !== 'markers')"
        ".map((t) => [t.line.color, t.line.dash, t.marker.symbol].join())"
    )
    assert len(looks) == 64 == len(set(looks))
    assert page.is_quiet()


def test_lines_of_a_single_level_stand_inside_the_frame(visit: Shown) -> None:
    findings = samples.small()
    for one in findings.curves:
        del one.points[1:]
    for plot in visit(findings, in_view=".family").find(".family .plot").all():
        places = plot.evaluate("(p) => p.data.filter((t) => t.error_y).flatMap((t) => t.x)")
        low, high = plot.evaluate("(p) => p._fullLayout.xaxis.range")
        assert places and all(low < x < high for x in places)


def test_shares_of_cpus_and_a_timeline_stand_in_tables_too(sample: Shown) -> None:
    small, figure = sample("small"), "figure:has(h3:text-is('CPU time by CPU'))"
    small.unfold(figure, "table")
    table = small.find(f"{figure} table")
    assert table.count() == 2
    assert table.first.locator("th[scope=col]").all_inner_texts()[1:] == ["CPU no. 1 (%)", "CPU no. 2 (%)"]
    assert small.find(f"{figure} tbody tr").first.locator("td").all_inner_texts() == ["100.0", "0.0"]
    panel = small.find(".timelines .panel").first
    for words in (panel.locator("p.note").first.inner_text(), panel.locator(".plot").get_attribute("aria-label")):
        assert "tasks are on a CPU" in str(words)
    panel.locator("summary").nth(1).press("Enter")
    details = panel.locator("details").nth(1)
    details.locator("tbody tr").first.wait_for()
    assert details.locator("thead th").all_inner_texts() == [
        "from (ms)", "on a CPU", "CPU 0 (%)", "CPU 1 (%)", "waiting",
    ]  # fmt: skip
    assert 10 <= details.locator("tbody tr").count() <= 20
    assert small.is_quiet()


def test_a_timeline_without_records_of_switches_and_none_at_all(visit: Shown) -> None:
    findings = samples.small()
    tree = {"bin_ns": 100_000_000, "cpus": [], "busy_ns": [], "waiting_ns": None, "tree_busy_ns": [10**8, 2 * 10**8]}
    findings.timelines[0].timeline = tree
    page = visit(findings, in_view=".timelines")
    assert "too many switches" in page.text(".timelines p.note")
    assert page.count(".timelines .y2title") == 0
    assert page.is_quiet()
    findings.timelines = []
    page = visit(findings, in_view=None)
    assert "No timeline of tasks on CPUs" in page.text("#drawn")
    assert page.is_quiet()


def test_timelines_can_be_chosen_and_list_their_tasks(sample: Shown) -> None:
    full = sample("full")
    configurations = full.chooser("Configuration")
    configurations.select_option(index=30)
    assert full.text(".timelines h4") == configurations.locator("option").nth(30).text_content()
    full.unfold(".timelines", "table")
    assert "worker-0" in full.text(".timelines table")
    assert full.is_quiet()


@pytest.mark.parametrize("name", ["bare", "one_point", "all_failed", "many_points", "wide_machine"])
def test_the_edges_are_drawn_quietly_at_any_width(sample: Shown, name: str) -> None:
    for width in (NARROW, WIDTH):
        page = sample(name, width)
        assert page.is_within() and page.find("h1").is_visible()
        assert name != "all_failed" or "nothing to draw" in page.text("#drawing")


def test_100_000_runs_are_drawn_rounded_and_few_of_them(visit: Shown, tmp_path: Path) -> None:
    path = write_page(tmp_path, samples.full(n=446))  # how long that takes: benchmarks/command_scale.py
    assert path.stat().st_size < 3 * MB
    assert unpacked(path.read_text())["samples"]["digits"] == 5
    page = visit(path, in_view=FIRST)
    assert "26 of up to 446 runs a point" in page.text(".key")
    assert page.is_quiet()


def test_a_figure_is_drawn_when_it_comes_into_view_and_all_are_on_paper(visit: Shown) -> None:
    page, timelines = visit(samples.small(), in_view=None), ".timelines .plot svg.main-svg"
    assert page.count(timelines) == 0
    page.find(".timelines").first.scroll_into_view_if_needed()
    page.find(timelines).first.wait_for()
    assert page.count(DRAWN) < page.count(".plot")
    page.print()
    assert page.count(DRAWN) == page.count(".plot")
    assert page.run(WIDEST) <= 700
    assert page.is_quiet()


def test_without_script_the_tables_and_a_sentence_remain(visit: Shown) -> None:
    page = visit(samples.full(), java_script_enabled=False)
    assert "switched off here" in page.text("noscript")
    assert page.count("tbody tr") > 224
    assert page.is_within()


def test_motion_is_reduced_where_asked(sample: Shown) -> None:
    small = sample("small")
    for asked, expected in (("reduce", "auto"), ("no-preference", "smooth")):
        small.page.emulate_media(reduced_motion=asked)
        assert small.run("getComputedStyle(document.documentElement).scrollBehavior") == expected
