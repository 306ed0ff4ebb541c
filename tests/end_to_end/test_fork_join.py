"""The workload fork-join, alone and measured: every element once, subtasks that add up, windows of several clients."""

import os
import re
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.kit.results import complete, records_in
from tests.kit.studies import a_study, write_study
from tests.kit.workloads import Said, said, start, words, xor_of_ends

SMALL = {"n": 100, "q": 3, "prerun": 20, "iterations": 3}
VERSIONS = pytest.mark.parametrize("version", ["sequential", "stream", "pool"])


def leaves(n: int, size: int) -> int:
    """Parts of n elements that are halved until they are no larger than `size`."""
    return 1 if n <= size else leaves(n // 2, size) + leaves(n - n // 2, size)


@pytest.fixture
def fork_join(builds: Path) -> "partial[Said]":
    return partial(said, "fork-join", builds)


@VERSIONS
@pytest.mark.parametrize(("n", "q", "p"), [(1, 0, 2), (1, 5, 1), (1001, 7, 3), (3000, 20, 128), (40, 1, 1024)])
def test_every_element_counts_once(fork_join: Any, version: str, n: int, q: int, p: int) -> None:
    found = fork_join(**{**SMALL, "version": version, "n": n, "q": q, "p": p})
    assert found.work == [n] * 3
    assert found.values["checksum"] == [xor_of_ends(n, q)]
    assert found.values["subtasks"] == [1 if version == "sequential" else leaves(n, max(1, n // (4 * p)))]


@pytest.mark.parametrize(
    ("version", "p"), [("sequential", 8), ("stream", 1), ("stream", 16), ("pool", 16), ("pool", 128)]
)
def test_the_trace_shows_each_subtask_on_a_worker(fork_join: Any, version: str, p: int) -> None:
    found = fork_join(**{**SMALL, "version": version, "n": 3000, "p": p}).values
    lists = (found[f"trace_{name}"] for name in ("start_ns", "end_ns", "worker"))
    trace = list(zip(*lists, strict=True))
    assert len(trace) == min(512, found["subtasks"][0])
    assert all(0 <= start <= end for start, end, _ in trace)
    assert trace == sorted(trace, key=lambda subtask: subtask[0])
    workers = {worker for *_, worker in trace}
    assert workers == set(range(len(workers))) and len(workers) <= (1 if version == "sequential" else p)
    for worker in workers:  # one thing at a time
        own = [subtask for subtask in trace if subtask[2] == worker]
        assert all(before[1] <= after[0] for before, after in pairwise(own))
    if len(trace) == found["subtasks"][0]:
        mean_us = sum(end - start for start, end, _ in trace) / len(trace) / 1e3
        assert found["subtask_us"][0] == pytest.approx(mean_us, abs=0.001)
        assert found["subtasks_us"][0] == pytest.approx(mean_us * len(trace), abs=0.001)


def test_a_pool_tells_its_workers_and_what_they_took_and_the_jvm_what_it_believes(fork_join: Any) -> None:
    n_cpus = len(os.sched_getaffinity(0))
    found = fork_join(**{**SMALL, "version": "stream", "n": 100_000, "q": 50, "p": 4 * n_cpus, "prerun": 30})
    # How many it starts is the scheduler's affair. A task that a client submits is counted as taken from its queue.
    assert 0 < found.value("workers") <= 4 * n_cpus
    assert found.value("steals") > 0
    alone = fork_join(**SMALL, version="sequential", p=4 * n_cpus).values
    assert alone["workers"] == alone["steals"] == [0]
    assert alone["believed_cpus"] == [n_cpus] and alone["unit_ns"][0] > 0 and {"gc_ms", "jit_ms"} <= set(alone)


@VERSIONS
def test_shots_of_all_clients_together_in_order_of_completion(fork_join: Any, version: str) -> None:
    found = fork_join(**{**SMALL, "version": version, "p": 2, "clients": 5, "iterations": 40, "think_ns": 100_000})
    assert len(found.iterations) == sum(found.values["client_shots"]) == 40
    ends = [end for _, _, end, _ in found.iterations]
    assert ends == sorted(ends)
    took_us = [(end - start) / 1e3 for _, start, end, _ in found.iterations]
    assert len(found.values["client_worst_us"]) == 5
    assert max(found.values["client_worst_us"]) == pytest.approx(max(took_us), abs=0.001)
    assert found.values["mean_us"] == [pytest.approx(sum(took_us) / 40, abs=0.001)]


def test_too_few_threads_are_one_sentence(builds: Path) -> None:
    many = {**SMALL, "version": "pool", "n": 100_000, "p": 1024, "jvm_options": ["-Xmx64m", "-Xss512m"]}
    done = start(["sh", "-c", 'ulimit -v 12000000; exec "$@"', "sh", *words("fork-join", builds, **many)])
    assert done.returncode == 69
    assert re.fullmatch(r"p, clients: the system gave too few threads [^\n]+\n", done.stderr)


def test_overlapping_windows_reach_the_journal(builds: Path, tmp_path: Path) -> None:
    words("fork-join", builds)  # skips without a compiler
    parameters = {"version": "pool", "n": 50, "q": 1, "p": 2, "prerun": 10}
    workload = {"use": "fork-join", "parameters": parameters}
    protocol = {"runs": 1, "iterations": 12, "max_reruns": 0}
    write_study(tmp_path, a_study({"clients": [1, 4]}, workload=workload, protocol=protocol, name="clients"))
    complete("run", "study.toml", "-o", "results", cwd=tmp_path)
    parts = [record["iterations"] for record in records_in(tmp_path / "results")]
    assert [[iterations["index"] for iterations in part] for part in parts] == [[list(range(12))]] * 2
    assert [iterations["work"] for part in parts for iterations in part] == [[50] * 12] * 2
