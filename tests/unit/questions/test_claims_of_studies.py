"""Every study that ships answers its title in the first sentence, or says why that cannot be said."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scalograph.design.resolve import assumed_host
from scalograph.findings.table import load
from scalograph.questions.assemble import findings
from scalograph.run.plan import Plan, plan
from scalograph.study.declare import declare_shipped
from scalograph.study.shipped import shipped_studies
from tests.kit.findings import check_claim, claim_of
from tests.kit.records import read, recorded

N_CPUS = 4
MOST_RUNS = 800
NUMBERS = {
    "threads": 2, "believed_cpus": 4, "jit_ms": 0, "gc_ms": 0, "peak_threads": 2, "workers": 2, "subtasks": 8,
    "unit_ns": 2, "steals": 1, "mean_us": 100, "client_worst_us": 200, "subtask_us": 20, "count_ns": 1.5, "objects": 9,
    "subtasks_us": 160, "p99_over_median": 2,
    "memory_bytes": 1e6, "tree_peak_bytes": 1e8, "visible_cpus": 2, "seen_cpus": 2, "slowest_s": 0.01, "policy": 0,
    "cycles": 2, "online_cpus": 2,
}  # fmt: skip


def seconds(levels: Mapping[str, Any], per_worker: bool) -> float:
    """Work that divides over the CPUs; a lock, a pool and the 256th file cost extra."""
    cpus = next((n for name, n in levels.items() if name == "cpus" and isinstance(n, int)), N_CPUS)
    names = ("threads", "processes", "jobs", "p", "cpus")
    n = next((int(levels[name]) for name in names if isinstance(levels.get(name), int)), 1)
    used = 1 if levels.get("lock") == "method" or levels.get("version") == "sequential" else min(n, cpus)
    time = 0.2 * (n / used if per_worker else 1 / used) * int(levels.get("n", levels.get("size", 3000))) / 3000
    time += 0.02 * (levels.get("version") in ("stream", "parallel"))
    return time * (5 if int(levels.get("descriptors", 0)) >= 256 else 1)


def journal_of(planned: Plan, file: Path) -> Path:
    """What a run of the study would have left, on a machine that is quiet and knows no surprises."""
    study, planner, rng = planned.design.study, planned.runs.planner(), np.random.default_rng(1)
    lines: list[dict[str, Any]] = [{"event": "study", **planned.first_event("0.1.0")}]
    while (run := planner.ask()) and len(lines) < MOST_RUNS:
        wall = seconds(run.configuration, study.work == "per-worker") * float(np.exp(0.005 * rng.standard_normal()))
        priority = float(run.configuration.get("priority", 5))
        values = {**NUMBERS, "share_percent": 45 * wall * priority, "rival_share_percent": 90 - 9 * priority}
        values = {**values, "nice": 5 - priority}
        n, cpus = study.protocol.iterations, tuple(range(N_CPUS))
        told = {name: [value] for name, value in values.items()}
        made = recorded(wall * n + 0.1, wall, cpus=cpus, iterations=[(wall, wall, 1)] * n, values=told)
        lines.append({"event": "run", "run": run.run, "block": run.block, "configuration": dict(run.configuration),
                      "replicate": run.replicate, "warmup": run.warmup, "record": made})  # fmt: skip
        planner.tell(run, read(made), "clean")
    file.write_text("".join(json.dumps({"at": "2026-01-01T00:00:00.000Z", **line}) + "\n" for line in lines))
    return file


@pytest.mark.parametrize("name", shipped_studies())
def test_the_first_sentence_answers_or_says_why_not(name: str, tmp_path: Path) -> None:
    declared = declare_shipped(name, quick=True)
    planned = plan(declared, assumed_host(declared.study, N_CPUS), starts=False)
    found = findings(load(journal_of(planned, tmp_path / "journal.jsonl"), keep_observations=False))
    check_claim(claim_of(found))
