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
from tests.kit import samples
from tests.kit.pages import SPEEDUP, WALL, Visit

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


def test_a_run_is_a_dot_a_ring_or_an_x(page: Visit) -> None:
    page.find(WALL).scroll_into_view_if_needed()  # its plot is made when it is seen
    page.find(f"{WALL} .plot svg.main-svg").first.wait_for()
    marks = "p => p.data.filter(t => Array.isArray(t.marker?.symbol)).flatMap(t => t.marker.symbol)"
    symbols = page.find(f"{WALL} .plot").first.evaluate(marks)
    assert (symbols.count("x-thin-open"), symbols.count("circle-open")) == (1, 1) and "circle" in symbols
    assert all(page.each(".run-marks a", "!!document.querySelector(p.hash)"))
    assert "unverified, or disturbed and counted" in page.text(".run-marks")


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
