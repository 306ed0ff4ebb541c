"""Matrices and first sentences of all studies: rows that are read at a glance, and the title answered or the reason."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from simulate.noise import QUIET
from simulate.scaling import SHAPES, simulate_study

from scalograph.analysis.estimate import Estimate
from scalograph.design.resolve import assumed_host
from scalograph.findings.sample import samples_by_configuration
from scalograph.findings.table import Table, load
from scalograph.protocol.findings import MatrixCell
from scalograph.protocol.plain import Level
from scalograph.questions.assemble import findings
from scalograph.questions.matrices import MOST_ROWS, Line, are_equivalent, matrix, mean_estimate, rows
from scalograph.run.plan import Plan, plan
from scalograph.study.declare import declare_shipped
from scalograph.study.load import parse
from scalograph.study.shipped import shipped_studies
from tests.kit.findings import check_claim, claim_of
from tests.kit.records import read, recorded
from tests.kit.studies import a_study

NAMES = ("lock", "held", "quantum")


def of(values: list[float], width: float = 0.05) -> tuple[list[str], list[list[float | None]]]:
    """Labels and values of locks that have these at 2 threads."""
    table = simulate_study(np.random.default_rng(0), [SHAPES["flat"]] * len(values), QUIET, n_blocks=2)
    cells = []
    for sample in samples_by_configuration(table).values():
        value = values[int(str(sample.configuration["lock"]))]
        cells.append((sample, MatrixCell(estimate=Estimate(value, value - width, value + width, n=2))))
    made = matrix(table, rows(table, "threads", [2], cells), ["2 threads"], title="t")
    return [row.label for row in made.rows], [[c.estimate and c.estimate.value for c in row.cells] for row in made.rows]


def test_alike_settings_share_a_row_unless_marked_and_its_number_is_a_mean() -> None:
    labels, values = of([1.0, 1.01, 2.0])
    assert labels == ["0, 1", "2"] and values[1] == [2.0]
    assert of([1.0, 1.0])[0] == ["all"]
    assert len(of([1.0, 1.09, 1.18, 1.27, 1.36])[0]) > 1, "a chain of neighbors is not one row"
    assert len(of([float(2**i) for i in range(12)], 0.01)[0]) == MOST_ROWS, "no more than are read at a glance"
    assert not are_equivalent(Estimate(1.0), Estimate(1.0, 0.99, 1.01))
    assert not are_equivalent(Estimate(1.0, 0.6, 1.4), Estimate(1.0, 0.6, 1.4))
    assert len(of([1.0, 1.0], width=0.4)[0]) == 2
    shown = mean_estimate([Estimate(1.0, 0.98, 1.02), Estimate(1.04, 1.02, 1.06)])
    assert shown.value == pytest.approx(1.0198, abs=1e-4) and shown.high is not None and shown.high < 1.04


def test_a_row_of_usual_levels_is_not_called_all() -> None:
    study = parse(a_study({name: ["x", "y"] for name in NAMES}, protocol={"runs": 1}))
    table = Table(study, "", {}, [dict.fromkeys(NAMES, level) for level in "xy"], [1, 1])
    both, x, y = ("x", "y"), ("x",), ("y",)
    sides: list[tuple[tuple[Level, ...], ...]] = [(both, x, x), (both, y, x), (both, x, y), (both, both, both)]
    lines = [Line(dict(zip(NAMES, levels, strict=True)), (MatrixCell(),)) for levels in sides]
    made = matrix(table, lines, ["2 threads"], title="t")
    assert [row.label for row in made.rows] == ["held x, quantum x", "held y", "quantum y", "all"]
    assert made.note == "otherwise held x, quantum x"


def test_configurations_that_an_answer_tells_apart_share_no_row() -> None:
    table = simulate_study(np.random.default_rng(0), [SHAPES["flat"]] * 3, QUIET, n_blocks=2)
    alike = MatrixCell(estimate=Estimate(1.0, 0.99, 1.01))
    cells = [(sample, alike) for sample in samples_by_configuration(table).values()]
    made = rows(table, "threads", [2], cells, lambda levels: levels["lock"] == "1")
    assert [line.levels for line in made] == [{"lock": ("0", "2")}, {"lock": ("1",)}]


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
