"""The workload fork-join, alone and measured: every element once, subtasks that add up, windows of several clients."""

import json
import os
import re
import subprocess
from itertools import pairwise
from pathlib import Path

import pytest

from scalograph.errors import HostError
from scalograph.run.build import build
from scalograph.study.processes import fill
from scalograph.study.shipped import shipped_workload
from scalograph.study.workload import load_workload
from tests.end_to_end.test_workloads import JVMS, MASK, QUICK, Said, through_pipes
from tests.kit.results import complete

HERE = shipped_workload("fork-join")
START = 0x9E3779B97F4A7C15
SMALL = {"n": 100, "q": 3, "prerun": 20, "iterations": 3, "think_ns": 0, "jvm_options": QUICK}
STUDY = """\
version = 1
name = "clients"
title = "Several clients"
work = "total"
seed = 1
[workload]
use = "fork-join"
parameters = { version = "pool", n = 50, q = 1, p = 2, prerun = 10 }
[factors.clients]
levels = [1, 4]
[protocol]
runs = 1
iterations = 12
max_reruns = 0
"""


@pytest.fixture(scope="module")
def built(builds: Path) -> Path:
    try:
        folder = build(HERE, load_workload(HERE), JVMS, builds)
    except HostError as error:
        pytest.skip(f"needs a compiler: {error}")
    assert folder is not None
    return folder


def words(built: Path, **values: object) -> list[str]:
    workload = load_workload(HERE)
    known = {parameter: each.default for parameter, each in workload.parameters.items()}
    return fill(workload.argv, {**known, **SMALL, **values, "build": str(built), "java": JVMS[0].java})


def run(argv: list[str]) -> "subprocess.CompletedProcess[str]":
    env = {"PATH": os.environ["PATH"]}
    return subprocess.run(argv, env=env, capture_output=True, text=True, timeout=120, check=False)


def said(built: Path, **values: object) -> Said:
    return Said(run(words(built, **values)))


def checksum(n: int, q: int) -> int:
    """The result by its definition, step by step."""
    total = 0
    for i in range(n):
        x = (i + 1) * START & MASK
        for _ in range(q):
            x ^= x << 13 & MASK
            x ^= x >> 7
            x ^= x << 17 & MASK
        total ^= x
    return total & (1 << 48) - 1


def leaves(n: int, size: int) -> int:
    """Parts of n elements that are halved until they are no larger than `size`."""
    return 1 if n <= size else leaves(n // 2, size) + leaves(n - n // 2, size)


@pytest.mark.parametrize("version", ["sequential", "stream", "pool"])
@pytest.mark.parametrize(("n", "q", "p"), [(1, 0, 2), (1, 5, 1), (1001, 7, 3), (3000, 20, 128), (40, 1, 1024)])
def test_every_element_counts_once(built: Path, version: str, n: int, q: int, p: int) -> None:
    found = said(built, version=version, n=n, q=q, p=p)
    assert [work for *_, work in found.iterations] == [n] * 3
    assert found.values["checksum"] == [checksum(n, q)]
    assert found.values["subtasks"] == [1 if version == "sequential" else leaves(n, max(1, n // (4 * p)))]


@pytest.mark.parametrize(
    ("version", "p"), [("sequential", 8), ("stream", 1), ("stream", 16), ("pool", 16), ("pool", 128)]
)
def test_the_trace_shows_each_subtask_on_a_worker(built: Path, version: str, p: int) -> None:
    found = said(built, version=version, n=3000, p=p).values
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


def test_a_pool_tells_its_workers_and_what_they_took(built: Path) -> None:
    p = 4 * len(os.sched_getaffinity(0))
    found = said(built, version="stream", n=100_000, q=50, p=p, prerun=30)
    # How many it starts is the scheduler's affair. A task that a client submits is counted as taken from its queue.
    assert 0 < found.values["workers"][0] <= p
    assert found.values["steals"][0] > 0
    alone = said(built, version="sequential", p=p).values
    assert alone["workers"] == alone["steals"] == [0]


@pytest.mark.parametrize("version", ["sequential", "stream", "pool"])
def test_shots_of_all_clients_together_in_order_of_completion(built: Path, version: str) -> None:
    found = said(built, version=version, p=2, clients=5, iterations=40, think_ns=100_000)
    assert len(found.iterations) == sum(found.values["client_shots"]) == 40
    assert [end for _, _, end, _ in found.iterations] == sorted(end for _, _, end, _ in found.iterations)
    slowest = max(end - start for _, start, end, _ in found.iterations)
    assert len(found.values["client_worst_us"]) == 5
    assert max(found.values["client_worst_us"]) == pytest.approx(slowest / 1e3, abs=0.001)
    mean = sum(end - start for _, start, end, _ in found.iterations) / 40
    assert found.values["mean_us"] == [pytest.approx(mean / 1e3, abs=0.001)]


def test_a_client_thinks_between_its_shots(built: Path) -> None:
    found = said(built, version="stream", think_ns=20_000_000)
    assert all(after[1] - before[2] >= 20_000_000 for before, after in pairwise(found.iterations))


def test_what_the_jvm_tells(built: Path) -> None:
    found = said(built).values
    assert found["believed_cpus"] == [len(os.sched_getaffinity(0))]
    assert found["unit_ns"][0] > 0
    assert {"gc_ms", "jit_ms"} <= set(found)


def test_waits_for_the_gate(built: Path) -> None:
    ready, early, late = through_pipes(words(built, version="pool", clients=2))
    assert (ready, early) == (b"ready\n", b"")
    assert re.match(rb"iteration 0 ", late) and late.endswith(b"\n")


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"version": "parallel"}, "version: found parallel, expected sequential, stream, pool"),
        ({"n": 0}, "n: found 0, expected an integer from 1 to 16777216"),
        ({"p": 1025}, "p: found 1025"),
        ({"clients": 257}, "clients: found 257"),
        ({"q": "x"}, "q: found x"),
        ({"clients": 5, "iterations": 4}, "iterations: found 4 for 5 clients, expected at least one for each"),
    ],
)
def test_wrong_arguments_are_named(built: Path, values: dict[str, object], told: str) -> None:
    done = run(words(built, **values))
    assert done.returncode == 64
    assert done.stderr.startswith(told) and done.stderr.count("\n") == 1


def test_too_few_threads_are_one_sentence(built: Path) -> None:
    argv = words(built, version="pool", n=100_000, p=1024, jvm_options=["-Xmx64m", "-Xss512m"])
    done = run(["sh", "-c", 'ulimit -v 12000000; exec "$@"', "sh", *argv])
    assert done.returncode == 69
    assert re.fullmatch(r"p, clients: the system gave too few threads [^\n]+\n", done.stderr)


def test_overlapping_windows_reach_the_journal(built: Path, tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(STUDY)
    complete("run", "study.toml", "-o", "results", cwd=tmp_path)
    lines = [json.loads(line) for line in (tmp_path / "results" / "journal.jsonl").read_text().splitlines()]
    parts = [line["record"]["iterations"] for line in lines if line["event"] == "run"]
    assert [[iterations["index"] for iterations in part] for part in parts] == [[list(range(12))]] * 2
    assert [iterations["work"] for part in parts for iterations in part] == [[50] * 12] * 2
