"""Which runs share a job, and the node-hours of it."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scalograph.errors import StudyError
from scalograph.run.hosts.slurm.job_plan import (
    JobKind,
    NodeHours,
    Request,
    count_hours,
    describe,
    describe_study,
    split_block,
)
from scalograph.study.levels import Run
from scalograph.study.model import Study


def runs_of(*sizes: int, block: int = 0, **levels: str) -> list[Run]:
    return [Run(f"r{block}-{n}", block, {"nodes": size, **levels}, 0) for n, size in enumerate(sizes)]


def request(run: Run) -> Request:
    return run.configuration


def sizes_of(runs: list[Run], max_idle: float = 0.3) -> list[tuple[int, list[int]]]:
    jobs = split_block(runs, request, max_idle)
    return [(job.n_nodes, [int(run.configuration["nodes"]) for run in job.runs]) for job in jobs]


def test_a_block_is_one_job_where_few_nodes_idle() -> None:
    assert sizes_of(runs_of(2, 1)) == [(2, [2, 1])], "a quarter of the node-hours idle"
    assert sizes_of(runs_of(4, 1, 2)) == [(2, [1, 2]), (4, [4])], "in one job 5 of 12 would"
    assert sizes_of(runs_of(4, 1, 2), max_idle=0.5) == [(4, [4, 1, 2])]
    assert sizes_of(runs_of(*(2**n for n in range(8)))) == [
        (2, [1, 2]), (8, [4, 8]), (32, [16, 32]), (128, [64, 128]),
    ]  # fmt: skip


def test_longer_small_runs_divide_a_block_and_shorter_ones_do_not() -> None:
    def seconds(run: Run) -> float:
        return 100.0 if run.configuration["nodes"] == 1 else 1.0

    assert len(split_block(runs_of(1, 2), request, seconds=seconds)) == 2
    assert len(split_block(runs_of(4, 1, 2), request, seconds=lambda run: float(int(run.configuration["nodes"])))) == 1


def test_other_partitions_and_features_are_other_jobs() -> None:
    runs = [*runs_of(1, partition="a"), *runs_of(1, partition="b"), *runs_of(1, partition="a", constraint="x")]
    jobs = split_block(runs, request)
    assert [job.kind for job in jobs] == [JobKind("a", ""), JobKind("b", ""), JobKind("a", "x")]


def test_node_hours_tell_idle_ones_apart() -> None:
    runs = [*runs_of(1, 2), *runs_of(2, 1, block=1)]
    hours = count_hours(runs, request, each_s=0.0, seconds=lambda run: 1800.0)
    assert (hours.n_jobs, hours.total, hours.idle_share) == (2, 4 * 3600.0, 0.25)
    assert describe(hours, is_timed=True) == "2 jobs (2 of 2 nodes), 4 node-hours, 25% of them idle"
    assert NodeHours().idle_share == 0


@given(st.lists(st.integers(1, 64), min_size=1, max_size=20), st.floats(0.05, 0.95))
@example([14, 21, 25], 0.2)
def test_every_run_is_in_one_job_of_enough_nodes_and_the_idle_share_is_kept(sizes: list[int], most: float) -> None:
    runs = runs_of(*sizes)
    jobs = split_block(runs, request, most)
    assert sorted(run.run for job in jobs for run in job.runs) == sorted(run.run for run in runs)
    for job in jobs:
        hours = NodeHours()
        hours.add(job, request, lambda run: 1.0)
        assert max(int(run.configuration["nodes"]) for run in job.runs) == job.n_nodes
        assert hours.idle_share < most


def limited(hours: float) -> Study:
    document = {
        "version": 1, "name": "s", "title": "t", "seed": 1, "work": "total", "workload": {"command": ["p"]},
        "factors": {"nodes": {"control": "cluster:nodes", "levels": [1, 2]}}, "baseline": {"nodes": 1},
        "protocol": {"max_node_hours": hours},
    }  # fmt: skip
    return Study.model_validate(document)


def test_a_plan_above_its_node_hours_is_refused_with_what_it_needs() -> None:
    runs = runs_of(1, 2)
    assert "2 node-hours" in describe_study(limited(2.1), runs, lambda run: 1797.5)
    with pytest.raises(StudyError, match=r"need 2 node-hours.*--max-node-hours 2, fewer runs"):
        describe_study(limited(1.9), runs, lambda run: 1797.5)
    # Nothing was timed: only the references of 5 s on two nodes are known.
    assert "1 job" in describe_study(limited(0.01), runs)
    with pytest.raises(StudyError, match="for their reference runs alone"):
        describe_study(limited(0.001), runs)
