"""A study whose factors are a quota and a limit of tasks: set for real, said in the journal, and no disturbance."""

import os
from pathlib import Path

import pytest

from scalograph.control.capacity import find_quota_refusal
from scalograph.control.store import Store
from scalograph.control.tasks import find_tasks_refusal
from tests.kit.command import machine
from tests.kit.results import complete, events_in
from tests.kit.servers import ONCE
from tests.kit.studies import a_study, write_study

pytestmark = [
    machine,
    pytest.mark.skipif(find_quota_refusal() is not None or os.geteuid() != 0, reason="no quota is granted here"),
]
STUDY = a_study(
    {
        "quota": {"control": "quota", "levels": [0.05, "none"]},
        "tasks": {"control": "tasks", "levels": [60, "none"], "if_granted": [60]},
    },
    work="per-worker", workload={"use": "process-loop", "parameters": {"units": 100_000_000}}, protocol=ONCE,
    responses={"wall": {"from": "window.wall", "unit": "s"},
               "throttled": {"from": "run.throttled", "unit": "s", "better": "none"}},
)  # fmt: skip


def test_a_quota_is_in_force_and_told(tmp_path: Path) -> None:
    complete("run", write_study(tmp_path, STUDY), "-o", "out", cwd=tmp_path, store=Store.locate())
    made = [(event["configuration"], event["record"]["run"]) for event in events_in(tmp_path / "out", "run")]
    runs = {(configuration["quota"], configuration["tasks"]): figures for configuration, figures in made}
    assert runs[0.05, "none"]["quota_cpus"] == 0.05
    assert runs[0.05, "none"]["throttled_ns"] > 0
    assert runs["none", "none"]["quota_cpus"] is None
    assert (0.05, 60) not in runs, "one cgroup at a time"
    assert {figures["status"] for figures in runs.values()} == {"ok"}
    assert ("none", 60) in runs or find_tasks_refusal() is not None
    causes = [cause["cause"] for event in events_in(tmp_path / "out", "verdict") for cause in event["causes"]]
    assert "quota" not in causes
