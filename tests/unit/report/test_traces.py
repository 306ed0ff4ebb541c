"""Traces of subtasks as they are drawn."""

from typing import Any

import pytest
from tests.kit import samples

from scalograph.protocol.figure import Plot
from scalograph.protocol.findings import Findings, TaskTrace
from scalograph.report.html import page
from scalograph.report.payload import busy, describe_trace, figures
from scalograph.text.axes import Factors

WHOLE: dict[str, Any] = {"start_us": [0, 1, 6], "end_us": [5, 10, 9], "worker": [0, 3, 0]}


def with_trace(**changes: Any) -> Findings:
    found = samples.two_factors()
    found.traces = [TaskTrace(run="r7", configuration={"workers": 2}, **(WHOLE | changes))]
    return found


def plots(findings: Findings) -> list[Plot]:
    return [plot for figure in figures(findings, Factors(findings)) for plot in figure.views[0].plots]


def rows(plot: Plot) -> list[list[str]]:
    return plot.details[0].tables[0].rows


def test_bars_stand_on_the_row_of_their_worker_under_their_words() -> None:
    (one,) = plots(with_trace())
    (bars,) = one.data
    assert (one.title, one.layout["yaxis"]["ticktext"], bars["y"]) == ("workers: 2", ["0", "3"], [0, 1, 0])
    assert (bars["base"], bars["x"], one.reach) == ([0, 1, 6], [5, 9, 3], 10)
    assert bars["marker"]["color"] == ["line-0", "line-0", "line-0~0.6"]
    assert bars["hovertext"][2].startswith("worker 0, its subtask 2: 3.00 ")
    assert rows(one) == [["0", "2", "80"], ["3", "1", "90"]]
    assert one.note.startswith("3 subtasks of 5.67 \N{MICRO SIGN}s on average by 2 workers, who were busy for 85 % of")
    assert one.note in one.label
    cut = TaskTrace(run="r", configuration={}, start_us=[0] * 512, end_us=[1] * 512, worker=[0] * 512)
    assert describe_trace(cut).endswith("Only the first 512 are recorded.")
    (one,) = plots(with_trace(start_us=[0], end_us=[0], worker=[0]))
    assert rows(one) == [["0", "1", "0"]]


def test_time_that_is_shared_counts_once_and_a_trace_alone_has_its_place() -> None:
    assert busy([(0, 10), (2, 3), (5, 12)]) == 12 and busy([(4, 5), (0, 1)]) == 2
    found = with_trace()
    found.parts.clear()
    assert 'id="drawn"' in page(found)
    found.traces = []
    assert 'id="drawn"' not in page(found)


@pytest.mark.parametrize("changes", [{"worker": [0, 1]}, {"end_us": [5, 0, 9]}, {"start_us": [-1, 1, 6]}])
def test_lists_that_disagree_are_not_drawn(changes: dict[str, Any]) -> None:
    assert plots(with_trace(**changes)) == []
