"""Jobs of a block that share a configuration are compared by it; others stay as they are."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from scalograph.design.ladder import anchor_runs, anchors
from scalograph.findings.job_joins import join_jobs
from scalograph.findings.row import Row
from scalograph.study.levels import Run
from scalograph.study.load import parse
from tests.kit.studies import a_study

RESPONSES = {"wall": {"from": "window.wall", "unit": "s"}, "peak": {"from": "value.peak", "better": "none"}}


def cluster_study(**factors: Any) -> Any:
    nodes = {"control": "cluster:nodes", "levels": [1, 2, 4, 8]}
    return parse(a_study({"nodes": nodes, **factors}, baseline={"nodes": 1}, responses=RESPONSES))


def row(block: int, job: str, n: int, wall_s: float, **more: Any) -> Row:
    usual = {"status": "ok", "verdict": "unverified", "warmup": False, **more}
    return Row(
        run=f"b{block}-{job}-{n}", block=block, replicate=block, configuration={"nodes": n}, reason=None, causes=(),
        observations={"wall": (wall_s,)}, scores={"wall": wall_s, "peak": 7.0}, job=job, **usual,
    )  # fmt: skip


def walls(rows: Sequence[Row]) -> list[float]:
    return [round(each.scores["wall"], 6) for each in join_jobs(cluster_study(), [*rows])]


def test_values_of_a_job_on_slower_nodes_are_brought_to_the_speed_of_the_first() -> None:
    # The second job is 10% slower, and the third one 20% faster than the second.
    rows = [
        row(0, "7", 1, 8.0), row(0, "7", 2, 4.0), row(0, "8", 2, 4.4), row(0, "8", 4, 2.2),
        row(0, "9", 4, 1.76), row(0, "9", 8, 0.88),
    ]  # fmt: skip
    assert walls(rows) == [8.0, 4.0, 4.0, 2.0, 2.0, 1.0]
    (*_, last) = join_jobs(cluster_study(), rows)
    assert last.observations["wall"] == pytest.approx((1.0,)) and last.scores["peak"] == 7.0


@pytest.mark.parametrize("anchor", [
    row(0, "8", 2, 4.4, status="failed"), row(0, "8", 2, 4.4, verdict="disturbed"), row(1, "8", 2, 4.4),
    row(0, "8", 2, 4.4, warmup=True), row(0, "", 2, 4.4),
], ids=["failed", "disturbed", "another block", "warm-up", "no job"])  # fmt: skip
def test_without_a_value_that_counts_in_both_jobs_nothing_is_joined(anchor: Row) -> None:
    rows = [row(0, "7", 1, 8.0), row(0, "7", 2, 4.0), anchor, row(0, "8", 4, 2.2)]
    assert walls(rows) == [8.0, 4.0, 4.4, 2.2]


def test_each_pair_of_neighboring_jobs_makes_one_configuration_twice() -> None:
    study = cluster_study(mode=["a", "b"])
    grid = [{"nodes": n, "mode": mode} for n in (8, 4, 2, 1) for mode in "ab"]
    assert [*anchors(study, grid)] == [{"nodes": 2, "mode": "a"}]  # {1, 2}, {4, 8}
    block = [Run(f"b{i}", 0, levels, 0) for i, levels in enumerate([*grid, {"nodes": 2, "mode": "a"}])]
    assert anchor_runs(study, block) == {"b8"}
    assert [*anchors(parse(a_study({"threads": [1, 2, 64]})), [{"threads": 1}])] == []


def test_partitions_have_anchors_of_their_own(tmp_path: Path) -> None:
    study = cluster_study(partition={"control": "cluster:partition", "levels": ["x", "y"]})
    grid = [{"nodes": n, "partition": name} for n in (1, 2, 4, 8) for name in "xy"]
    assert [*anchors(study, grid)] == [{"nodes": 2, "partition": "x"}, {"nodes": 2, "partition": "y"}]
