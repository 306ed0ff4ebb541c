"""Timelines as they are drawn: also those of runs whose switches were too many to record."""

from typing import Any

from tests.kit import samples

from scalograph.protocol.figure import Plot
from scalograph.protocol.findings import DegradedRuns, Findings, TimelineDoc
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


def test_a_run_with_too_many_switches_is_drawn_as_a_whole() -> None:
    plot = only(samples.small(), TREE)
    (band,) = plot.data
    assert band["y"] == [50, 200, 150, 150] and "CPU all busy" in band["hovertemplate"]
    assert "yaxis2" not in plot.layout
    assert plot.note.startswith("On average 1.33 tasks are on a CPU; for 33 % of the time about one or none.")
    assert plot.note.endswith("too many switches to record each. The tasks of this run were not recorded.")


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
        == "On average 1.9 tasks are on a CPU; for 10 % of the time about one or none. On average 6 wait, at most 6."
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


def test_what_was_not_measured_is_shaded() -> None:
    findings = samples.small()
    timeline = {**TREE, "cpus": [0], "busy_ns": [[1000] * 10], "waiting_ns": [0] * 10}
    findings.timelines = [TimelineDoc(run="r", configuration={}, timeline=timeline, window_ns=(2000, 90_000))]
    (plot,) = figures(findings, Factors(findings))[0].views[0].plots
    (before,) = [shape for shape in plot.layout["shapes"] if shape["type"] == "rect"]
    assert (before["x0"], before["x1"]) == (0, 2) and "measured window" in plot.note
