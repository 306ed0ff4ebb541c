"""Timelines, traces of subtasks, and CPU time by CPU as they are drawn."""

from typing import Any

import pytest
from tests.kit import samples

from scalograph.protocol.figure import Figure, Plot
from scalograph.protocol.findings import DegradedRuns, Findings, TaskTrace, TimelineDoc
from scalograph.report.html import page
from scalograph.report.payload import busy, describe_trace, payload
from scalograph.report.payload import figures as trace_figures
from scalograph.report.timeline_chart import describe_timeline, drawable, figures, missing_timeline
from scalograph.text.axes import Factors

TREE: dict[str, Any] = {
    "source": "cpu.stat", "bin_ns": 1000, "cpus": [], "busy_ns": [], "waiting_ns": None, "tasks": [],
    "tree_busy_ns": [500, 2000, 1500],
}  # fmt: skip


def only(findings: Findings, timeline: dict[str, Any]) -> Plot:
    findings.timelines = [TimelineDoc(run="r1", configuration={"threads": 8}, timeline=timeline)]
    ((view,),) = [figure.views for figure in figures(findings, Factors(findings))]
    (plot,) = view.plots
    return plot


def test_a_run_with_too_many_switches_is_drawn_as_a_whole_and_what_was_not_measured_is_shaded() -> None:
    plot = only(samples.small(), TREE)
    (band,) = plot.data
    assert band["y"] == [50, 200, 150, 150] and "CPU all busy" in band["hovertemplate"]
    assert "yaxis2" not in plot.layout
    assert plot.note.startswith("On average 1.33 tasks are on a CPU; for 33% of the time about one or none.")
    assert plot.note.endswith("too many switches to record each. The tasks of this run were not recorded.")
    findings = samples.small()
    timeline = {**TREE, "cpus": [0], "busy_ns": [[1000] * 10], "waiting_ns": [0] * 10}
    findings.timelines = [TimelineDoc(run="r", configuration={}, timeline=timeline, window_ns=(2000, 90_000))]
    (plot,) = figures(findings, Factors(findings))[0].views[0].plots
    (before,) = [shape for shape in plot.layout["shapes"] if shape["type"] == "rect"]
    assert (before["x0"], before["x1"]) == (0, 2) and "measured window" in plot.note


def test_bands_stack_and_many_cpus_are_a_map() -> None:
    busy = [[1000, 500, 0], [0, 1000, 250]]
    plot = only(samples.small(), {**TREE, "cpus": [0, 1], "busy_ns": busy, "waiting_ns": [0, 3000, 0]})
    first, second, waiting = plot.data
    assert (first["y"], second["y"]) == ([100, 50, 0, 0], [0, 100, 25, 25])
    assert first["stackgroup"] == second["stackgroup"] and first["dx"] == 1
    assert (waiting["y"], waiting["yaxis"]) == ([0, 3, 0, 0], "y2")
    (table,) = plot.details[0].tables
    assert table.head[1:] == ["on a CPU", "CPU 0 (%)", "CPU 1 (%)", "waiting"]
    assert table.rows[1] == ["1.00", "1.50", "50", "100", "3.00"]
    rows = [[10 * cpu, 1000] for cpu in range(12)]
    plot = only(samples.small(), {**TREE, "cpus": list(range(12)), "busy_ns": rows, "waiting_ns": [0, 0]})
    assert plot.data[0]["type"] == "heatmap" and plot.data[0]["z"][11] == [11, 100]
    assert drawable({**TREE, "tree_busy_ns": None}) is None
    assert drawable({**TREE, "tree_busy_ns": ["x"]}) is None
    assert drawable({**TREE, "cpus": [0], "busy_ns": [[1, 2]]}) is None
    whole = {**TREE, "cpus": [0], "busy_ns": [[1, 2]], "waiting_ns": [0, 0]}
    assert drawable(whole) == whole


def test_the_words_of_a_parallel_run_and_the_reason_where_none_was_recorded() -> None:
    told = describe_timeline([[1.0] * 10, [1.0] * 9 + [0.0]], [6.0] * 10)
    assert (
        told
        == "On average 1.9 tasks are on a CPU; for 10% of the time about one or none. On average 6 wait, at most 6."
    )
    findings = samples.small()
    assert missing_timeline(findings) == ""
    findings.timelines = []
    findings.degraded = [DegradedRuns(what="switch records", why="EACCES", fix="run as root", n_runs=3)]
    assert missing_timeline(findings) == "No timeline of tasks on CPUs (switch records: EACCES; run as root)."
    findings.degraded = []
    assert missing_timeline(findings) == "No timeline of tasks on CPUs (no run has one)."
    findings.runs.n_done = 0
    assert missing_timeline(findings) == ""


def share(findings: Findings) -> Figure:
    (family,) = payload(findings)["families"]
    found = family["share"]
    assert isinstance(found, Figure)
    return found


def test_each_bar_is_split_over_the_cpus() -> None:
    figure = share(samples.small())
    plots = [plot for view in figure.views for plot in view.plots]
    first, second = plots[0].data
    assert all(a + b == 100 for a, b in zip(first["y"], second["y"], strict=True))
    assert (first["type"], plots[0].layout["barmode"]) == ("bar", "stack")
    assert [shape["y0"] for shape in plots[0].layout["shapes"]] == [50]
    assert "on CPU no. 2 of 2" in second["hovertemplate"]


def test_one_level_of_the_lines_or_each_of_too_many_curves_is_seen_at_a_time() -> None:
    figure = share(samples.full(n=2, levels=(1, 2)))
    assert figure.choice == "Lock" and len(figure.views) > 1
    assert len({view.name for view in figure.views}) == len(figure.views)
    tables = figure.details[0].tables
    assert len(tables) == sum(len(view.plots) for view in figure.views)
    findings = samples.small()
    first = findings.curves[0]
    findings.curves = [first.model_copy(update={"group": {"a": i % 2, "b": i}}) for i in range(40)]
    figure = share(findings)
    assert figure.choice == "Configuration" and {len(view.plots) for view in figure.views} == {1}
    assert len(figure.views) == 40


def test_many_cpus_are_a_map_and_runs_held_on_one_have_nothing_to_show() -> None:
    findings = samples.small()
    for point in findings.curves[0].points:
        point.per_cpu_share = [1 / 16] * 16
    figure = share(findings)
    wide = [plot for view in figure.views for plot in view.plots if plot.data[0]["type"] == "heatmap"]
    assert len(wide[0].data[0]["z"]) == 16 and wide[0].data[0]["y0"] == 1
    assert figure.caption.startswith("Rows: CPUs")
    findings = samples.small()
    for curve in findings.curves:
        for point in curve.points:
            point.per_cpu_share = [0.995, 0.005]
    (family,) = payload(findings)["families"]
    assert family["share"] is None


WHOLE: dict[str, Any] = {"start_us": [0, 1, 6], "end_us": [5, 10, 9], "worker": [0, 3, 0]}


def with_trace(**changes: Any) -> Findings:
    found = samples.two_factors()
    found.traces = [TaskTrace(run="r7", configuration={"workers": 2}, **(WHOLE | changes))]
    return found


def plots(findings: Findings) -> list[Plot]:
    return [plot for figure in trace_figures(findings, Factors(findings)) for plot in figure.views[0].plots]


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
    assert one.note.startswith("3 subtasks of 5.67 \N{MICRO SIGN}s on average by 2 workers, who were busy for 85% of")
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
