"""A study whose factors are a quota and a limit of tasks: set for real, said in the journal, and no disturbance."""

import json
import os
from pathlib import Path

import pytest

from scalograph.control.capacity import find_quota_refusal
from scalograph.control.store import Store
from scalograph.control.tasks import find_tasks_refusal
from tests.kit.command import machine
from tests.kit.results import complete

pytestmark = [
    machine,
    pytest.mark.skipif(find_quota_refusal() is not None or os.geteuid() != 0, reason="no quota is granted here"),
]
STUDY = """\
version = 1
name = "quota"
title = "What does a quota take?"
work = "per-worker"
seed = 1

[workload]
use = "process-loop"
parameters = { units = 100000000 }

[factors.quota]
control = "quota"
levels = [0.05, "none"]

[factors.tasks]
control = "tasks"
levels = [60, "none"]
if_granted = [60]

[responses.wall]
from = "window.wall"
unit = "s"

[responses.throttled]
from = "run.throttled"
unit = "s"
better = "none"

[protocol]
runs = 1
max_reruns = 0
"""


def test_a_quota_is_in_force_and_told(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(STUDY)
    complete("run", "study.toml", "-o", "out", cwd=tmp_path, store=Store.locate())
    lines = [json.loads(line) for line in (tmp_path / "out/journal.jsonl").read_text().splitlines()]
    made = [(line["configuration"], line["record"]["run"]) for line in lines if line["event"] == "run"]
    runs = {(configuration["quota"], configuration["tasks"]): figures for configuration, figures in made}
    assert runs[0.05, "none"]["quota_cpus"] == 0.05
    assert runs[0.05, "none"]["throttled_ns"] > 0
    assert runs["none", "none"]["quota_cpus"] is None
    assert (0.05, 60) not in runs, "one cgroup at a time"
    assert {figures["status"] for figures in runs.values()} == {"ok"}
    assert ("none", 60) in runs or find_tasks_refusal() is not None
    causes = [cause["cause"] for line in lines if line["event"] == "verdict" for cause in line["causes"]]
    assert "quota" not in causes
