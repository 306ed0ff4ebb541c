"""Figures in a real browser: drawn when seen, linked as they are, taken along, read by pointer and keyboard."""

import csv
import io
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scalograph.analysis.ratios import paired_ratio, ratio
from scalograph.protocol.findings import RunLog
from scalograph.report.html import write
from tests.end_to_end.test_report_browser import SPEEDUP, Visit, chooser
from tests.kit import samples

pytestmark = pytest.mark.xdist_group("browser")
TOLD = "navigator.clipboard.readText()"


@pytest.fixture(scope="module")
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
def visit(browser: Any, findings: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visit]:
    path = tmp_path_factory.mktemp("figures") / "report.html"
    write(findings, [], path)
    size = {"width": 1600, "height": 300}
    with Visit(browser, path, in_view=None, viewport=size, permissions=["clipboard-read", "clipboard-write"]) as visit:
        yield visit


def test_nothing_is_unpacked_before_a_figure_is_seen_and_a_link_leads_to_it_as_it_was(visit: Visit) -> None:
    page = visit.page
    assert page.evaluate("'Plotly' in window") is False
    assert page.locator("figure.later").count() > 3
    page.evaluate(f"location.hash = '{SPEEDUP}?scale=log&hidden=0'")
    figure = page.locator(SPEEDUP)
    figure.locator("svg.main-svg").first.wait_for()
    assert figure.evaluate("(f) => f.getBoundingClientRect().top < innerHeight")
    assert chooser(page, "Vertical scale").input_value() == "log"
    assert page.locator(".legend button[aria-pressed=false]").count() >= 1
    assert page.locator(".timelines svg.main-svg").count() == 0
    page.locator(".legend:not(.laws) button[aria-pressed=false]").first.click()
    assert page.url.endswith("?scale=log")
    page.evaluate("location.hash = '#figure-along-0-speedup?lines=no&panels=%&views=x&hidden=999'")
    figure.locator("svg.main-svg").first.wait_for()
    assert visit.is_quiet()


def test_a_figure_is_taken_along_as_a_link_a_drawing_and_pixels(visit: Visit) -> None:
    figure = visit.page.locator(SPEEDUP)
    figure.scroll_into_view_if_needed()
    figure.get_by_role("button", name="Copy link").press("Enter")
    figure.locator(".told").first.wait_for()
    assert SPEEDUP in visit.page.evaluate(TOLD)
    for kind, head in (("SVG", b"<svg "), ("PNG", b"\x89PNG")):
        with visit.page.expect_download() as download:
            figure.get_by_role("button", name=kind).press("Enter")
        content = Path(download.value.path()).read_bytes()
        assert content.startswith(head) and len(content) > 5000
    assert visit.is_quiet()


def test_arrow_keys_tell_every_line_at_a_level(visit: Visit, findings: Any) -> None:
    figure = visit.page.locator(SPEEDUP)
    figure.scroll_into_view_if_needed()
    figure.locator(".plot").first.focus()
    for key in ("ArrowRight", "ArrowRight"):
        visit.page.keyboard.press(key)
    told = figure.locator(".readout").first.inner_text()
    assert told.startswith("Threads: 2") and "[" in told
    visit.page.keyboard.press("Escape")
    assert figure.locator(".readout:visible").count() == 0


def test_a_run_is_a_dot_a_ring_or_an_x(visit: Visit) -> None:
    place = "#figure-along-0-response-wall .plot"
    visit.page.locator("#figure-along-0-response-wall").scroll_into_view_if_needed()  # its plot is made when it is seen
    visit.page.locator(f"{place} svg.main-svg").first.wait_for()
    marks = "p => p.data.filter(t => Array.isArray(t.marker?.symbol)).flatMap(t => t.marker.symbol)"
    symbols = visit.page.locator(place).first.evaluate(marks)
    assert (symbols.count("x-thin-open"), symbols.count("circle-open")) == (1, 1) and "circle" in symbols
    assert visit.page.locator(".run-marks a").evaluate_all("a => a.every(one => document.querySelector(one.hash))")
    assert "unverified, or disturbed and counted" in visit.page.locator(".run-marks").first.inner_text()


def test_tables_are_copied_and_runs_are_listed_with_what_became_of_them(visit: Visit) -> None:
    page, sheet = visit.page, visit.page.locator("#tables .sheet").first
    for name, mark in (("Copy Markdown", "| --- |"), ("Copy CSV", " low,")):
        sheet.get_by_role("button", name=name).click()
        page.wait_for_function(f"{TOLD}.then(text => text.includes('{mark}'))")
    rows = list(csv.reader(io.StringIO(page.evaluate(TOLD))))
    assert len({len(row) for row in rows}) == 1 and len(rows) == 1 + sheet.locator("tbody tr").count()
    with page.expect_download() as download:
        page.locator("button.action").click()
    runs = list(csv.DictReader(Path(download.value.path()).read_text().splitlines()))
    assert [runs[0][name] for name in ("run", "status", "start_s", "cause", "counted")] == [
        "b0009-99", "failed", "0.5", "exit", "false",
    ]  # fmt: skip
    assert (runs[1]["amount"], runs[1]["verdict"]) == ("0.25", "disturbed")


@pytest.mark.parametrize("shared", [True, False])
def test_two_configurations_are_compared_as_the_analysis_does(visit: Visit, shared: bool) -> None:
    scores = {"a": [1.0, 1.3, 1.1, 1.25], "b": [2.0, 2.5, 2.3, 2.4, 2.2]}
    first = {"a": 0, "b": 0 if shared else 10}
    runs = {side: [f"b{first[side] + i:04d}-0" for i in range(len(x))] for side, x in scores.items()}
    expected = paired_ratio(scores["a"], scores["b"][:4]) if shared else ratio(scores["a"], scores["b"])
    script = (Path(write.__code__.co_filename).parent / "page" / "js" / "compare.js").read_text()
    sides = [[{"run": r, "score": x} for r, x in zip(runs[s], scores[s], strict=True)] for s in ("a", "b")]
    blank = visit.context.new_page()
    found = blank.evaluate(f"([a, b]) => {{ {script}; return [ratio(a, b), ratio(a.slice(2), b)]; }}", sides)
    blank.close()
    assert [found[0][end] for end in ("value", "low", "high")] == pytest.approx(
        [expected.value, expected.low, expected.high], rel=1e-3
    )
    assert "cannot be said" in found[1] and math.isfinite(found[0]["low"])


def test_the_comparison_is_a_link_and_says_when_it_cannot_be_said(visit: Visit) -> None:
    page = visit.page
    said = page.locator("#compare .ratio")
    assert "cannot be said" in said.inner_text()
    page.locator("#compare fieldset").last.locator("select").last.select_option(index=2)
    assert "paired within 3 blocks" in said.inner_text() and "[" in said.inner_text()
    assert "#compare?" in page.url
    assert visit.is_quiet()
