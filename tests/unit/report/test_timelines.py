"""Timelines as the page gets them: also those of runs whose switches were too many to record."""

from types import ModuleType
from typing import Any

from scalograph.protocol.findings import Degraded, Findings, TimelineDoc
from scalograph.report.axis import Factors
from scalograph.report.timelines import (
    drawable,
    in_words,
    timelines,
    untimed,
)

TREE: dict[str, Any] = {
    "source": "cpu.stat", "bin_ns": 1000, "cpus": [], "busy_ns": [], "waiting_ns": None, "tasks": [],
    "tree_busy_ns": [500, 2000, 1500],
}  # fmt: skip


def only(findings: Findings, timeline: dict[str, Any]) -> list[dict[str, Any]]:
    findings.timelines = [TimelineDoc(run="r1", treatment={"threads": 8}, timeline=timeline)]
    return timelines(findings, Factors(findings))


def test_a_run_with_too_many_switches_is_drawn_as_a_whole(sample: ModuleType) -> None:
    (found,) = only(sample.small(), TREE)
    assert found["cpus"] == ["all"] and found["busy"] == [[50, 200, 150]] and found["waiting"] == []
    assert found["words"].startswith("On average 1.33 tasks are on a CPU; for 33 % of the time about one or none.")
    assert found["words"].endswith("too many switches to record each.")


def test_what_disagrees_is_not_drawn() -> None:
    assert drawable({**TREE, "tree_busy_ns": None}) is None
    assert drawable({**TREE, "tree_busy_ns": ["x"]}) is None
    assert drawable({**TREE, "cpus": [0], "busy_ns": [[1, 2]]}) is None
    whole = {**TREE, "cpus": [0], "busy_ns": [[1, 2]], "waiting_ns": [0, 0]}
    assert drawable(whole) == whole


def test_the_words_of_a_parallel_run() -> None:
    told = in_words([[1.0] * 10, [1.0] * 9 + [0.0]], [6.0] * 10)
    assert (
        told
        == "On average 1.9 tasks are on a CPU; for 10 % of the time about one or none. On average 6 wait, at most 6."
    )


def test_where_none_was_recorded_the_reason_is_told(sample: ModuleType) -> None:
    findings = sample.small()
    assert untimed(findings) == ""
    findings.timelines = []
    findings.degraded = [Degraded(what="switch records", why="EACCES", fix="run as root", n_runs=3)]
    assert untimed(findings) == "No timeline of tasks on CPUs (switch records: EACCES; run as root)."
    findings.degraded = []
    assert untimed(findings) == "No timeline of tasks on CPUs (no run has one)."
    findings.runs.n_done = 0
    assert untimed(findings) == ""
