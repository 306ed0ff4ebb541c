"""Traces of subtasks in a real browser: a bar for each, on the row of its worker."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scalograph.cli.analyze_steps import draw_charts
from scalograph.protocol.findings import Findings, TaskTrace
from scalograph.protocol.plain import Level
from scalograph.report.html import write
from tests.end_to_end.test_report_browser import CONTRAST, Visit
from tests.kit import samples

pytestmark = pytest.mark.xdist_group("browser")
BARS = "figure.traces .barlayer .point path"


def trace(workers: int, n: int, configuration: dict[str, Level]) -> TaskTrace:
    """Subtasks of 9 µs, each 10 µs after the one before it on its worker."""
    start = [10.0 * (i // workers) for i in range(n)]
    return TaskTrace(
        run="r1", configuration=configuration, start_us=start, end_us=[x + 9 for x in start],
        worker=[i % workers for i in range(n)],
    )  # fmt: skip


def report(folder: Path, traces: list[TaskTrace]) -> Path:
    found: Findings = samples.two_factors()
    found.parts, found.traces = {}, traces
    write(found, draw_charts(found), folder / "report.html")
    return folder / "report.html"


@pytest.fixture(scope="module")
def several(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visit]:
    path = report(tmp_path_factory.mktemp("traces"), [trace(2, 12, {"workers": 2}), trace(8, 512, {"workers": 8})])
    with Visit(browser, path, viewport={"width": 400, "height": 900}, color_scheme="dark") as visit:
        yield visit


@pytest.fixture(scope="module")
def one(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visit]:
    path = report(tmp_path_factory.mktemp("trace"), [trace(2, 12, {"workers": samples.HOSTILE})])
    with Visit(browser, path) as visit:
        yield visit


@pytest.mark.parametrize("scheme", ["dark", "light"])
@pytest.mark.parametrize("width", [400, 1600])
def test_each_subtask_is_a_bar(several: Visit, scheme: str, width: int) -> None:
    page = several.turn(width, scheme).page
    assert page.locator("figure.traces h4").all_inner_texts() == ["workers: 2", "workers: 8"]
    assert page.locator(BARS).count() == 12 + 512
    tops = page.locator(BARS).evaluate_all("all => all.slice(0, 12).map((p) => p.getBBox().y)")
    assert len(set(tops)) == 2
    assert several.overflow() == 0
    assert page.evaluate(CONTRAST) == []
    assert several.is_quiet()


def test_gaps_are_seen_and_neighbors_differ(one: Visit) -> None:
    boxes = one.page.locator(BARS).evaluate_all(
        "all => all.map((p) => [p.getBBox().x, p.getBBox().width, getComputedStyle(p).fill])"
    )
    (first, length, fill), (second, _, other) = boxes[0], boxes[2]
    assert second > first + length + 1
    assert fill != other


def test_the_trace_stands_in_a_table_too(one: Visit) -> None:
    one.page.locator("figure.traces summary").click()
    one.page.locator("figure.traces tbody tr").first.wait_for()
    assert one.page.locator("figure.traces tbody tr").all_inner_texts() == ["0\t6\t92", "1\t6\t92"]
    assert one.page.locator("img[src='x']").count() == 0
    assert one.is_quiet()
