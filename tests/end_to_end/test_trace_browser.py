"""Traces of subtasks in a real browser: a bar for each, on the row of its worker."""

from pathlib import Path
from typing import Any

import pytest

from scalograph.cli.last_stops import figures
from scalograph.protocol.findings import Findings, TaskTrace
from scalograph.protocol.plain import Level
from scalograph.report.html import write

from ..unit.report import even_sample as sample
from .test_report_browser import CONTRAST, Visit

pytestmark = pytest.mark.xdist_group("browser")
BARS = "figure.traces .barlayer .point path"


def trace(workers: int, n: int, treatment: dict[str, Level]) -> TaskTrace:
    """Subtasks of 9 µs, each 10 µs after the one before it on its worker."""
    start = [10.0 * (i // workers) for i in range(n)]
    return TaskTrace(
        run="r1", treatment=treatment, start_us=start, end_us=[x + 9 for x in start],
        worker=[i % workers for i in range(n)],
    )  # fmt: skip


def report(folder: Path, traces: list[TaskTrace]) -> Path:
    found: Findings = sample.two_factors()
    found.parts, found.traces = {}, traces
    write(found, figures(found), folder / "report.html")
    return folder / "report.html"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1600])
def test_each_subtask_is_a_bar(browser: Any, tmp_path: Path, scheme: str, width: int) -> None:
    path = report(tmp_path, [trace(2, 12, {"workers": 2}), trace(8, 512, {"workers": 8})])
    with Visit(browser, path, viewport={"width": width, "height": 900}, color_scheme=scheme) as visit:
        page = visit.page
        assert page.locator("figure.traces h4").all_inner_texts() == ["workers: 2", "workers: 8"]
        assert page.locator(BARS).count() == 12 + 512
        tops = page.locator(BARS).evaluate_all("all => all.slice(0, 12).map((p) => p.getBBox().y)")
        assert len(set(tops)) == 2
        assert visit.overflow() == 0
        assert page.evaluate(CONTRAST) == []
        assert visit.is_quiet()


def test_gaps_are_seen_and_neighbors_differ(browser: Any, tmp_path: Path) -> None:
    with Visit(browser, report(tmp_path, [trace(2, 12, {})])) as visit:
        boxes = visit.page.locator(BARS).evaluate_all(
            "all => all.map((p) => [p.getBBox().x, p.getBBox().width, getComputedStyle(p).fill])"
        )
        (first, length, fill), (second, _, other) = boxes[0], boxes[2]
        assert second > first + length + 1
        assert fill != other


def test_the_trace_stands_in_a_table_too(browser: Any, tmp_path: Path) -> None:
    with Visit(browser, report(tmp_path, [trace(2, 12, {"workers": sample.HOSTILE})])) as visit:
        visit.page.locator("figure.traces summary").click()
        visit.page.locator("figure.traces tbody tr").first.wait_for()
        assert visit.page.locator("figure.traces tbody tr").all_inner_texts() == ["0\t6\t92", "1\t6\t92"]
        assert visit.page.locator("img[src='x']").count() == 0
        assert visit.is_quiet()
