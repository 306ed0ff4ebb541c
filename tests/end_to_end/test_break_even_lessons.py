"""The two lessons on break-even: their workloads alone, one run by the real path, and their study files."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from scalograph.run.build import build
from scalograph.study.processes import fill
from scalograph.study.shipped import shipped_study, shipped_workload
from scalograph.study.workload import load_workload
from tests.end_to_end.test_workloads import Said, through_pipes
from tests.kit.results import complete

needs_cc = pytest.mark.skipif(shutil.which("cc") is None, reason="needs cc: apt install gcc libc6-dev")
NAMES = (pytest.param("openmp-sum", marks=needs_cc), "process-pool")
STUDIES = ("openmp-break-even", "process-pool-break-even")
MASK = (1 << 64) - 1
PRIME = 2**31 - 1
SMALL = """\
version = 1
name = "small"
title = "Small"
work = "total"
seed = 1

[workload]
use = "{name}"
parameters = {{ size = 100, cost = 3, prerun = 1 }}

[factors.version]
levels = ["sequential", "parallel"]

[baseline]
version = "sequential"

[protocol]
runs = 2
iterations = 3
max_reruns = 0
think = "1ms"
"""


@cache
def built(name: str, builds: Path) -> str:
    """Where its program is, built once; empty where there is nothing to build."""
    return str(build(shipped_workload(name), load_workload(shipped_workload(name)), where=builds) or "")


def command(name: str, builds: Path, **values: object) -> list[str]:
    workload = load_workload(shipped_workload(name))
    known = {parameter: each.default for parameter, each in workload.parameters.items()}
    host = {
        "build": built(name, builds),
        "here": shipped_workload(name),
        "python": sys.executable,
    }
    own = {key: str(value) for key, value in host.items()}
    return fill(workload.argv, {**known, **own, "iterations": 2, "think_ns": 0, "prerun": 1, **values})


def run(argv: list[str], **env: str) -> "subprocess.CompletedProcess[str]":
    env = {"PATH": os.environ["PATH"], **env}
    return subprocess.run(argv, env=env, capture_output=True, text=True, timeout=120, check=False)


def openmp_total(size: int, cost: int) -> int:
    """By the definition: the ends of all elements, one by one, exclusive or."""
    total = 0
    for i in range(1, size + 1):
        x = 0x9E3779B97F4A7C15 * i & MASK
        for _ in range(cost):
            x ^= x << 13 & MASK
            x ^= x >> 7
            x ^= x << 17 & MASK
        total ^= x
    return total & (1 << 48) - 1


def pool_total(size: int, cost: int) -> int:
    """By the definition: the ends of all elements, one by one, added."""
    total = 0
    for x in range(1, size + 1):
        for _ in range(cost):
            x = x * 48271 % PRIME
        total += x
    return total % PRIME


@pytest.mark.parametrize("size", [1, 2, 997])
@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("openmp-sum", {"version": "sequential"}),
        *(("openmp-sum", {"version": "parallel", "threads": n, "wait": "passive"}) for n in (1, 2, 5)),
        ("openmp-sum", {"version": "parallel", "threads": 2, "wait": "active"}),
        ("process-pool", {"version": "sequential"}),
        *(("process-pool", {"version": "parallel", "workers": n, "pool": "once"}) for n in (1, 2, 5)),
        ("process-pool", {"version": "parallel", "workers": 3, "pool": "each"}),
    ],
)
def test_both_versions_do_the_same_work(builds: Path, name: str, values: dict[str, object], size: int) -> None:
    if name == "openmp-sum" and shutil.which("cc") is None:
        pytest.skip("needs cc")
    said = Said(run(command(name, builds, size=size, cost=4, **values)))
    assert [work for _, _, _, work, _ in said.iterations] == [size, size]
    assert all(cpu > 0 for *_, cpu in said.iterations)
    total = openmp_total if name == "openmp-sum" else pool_total
    assert said.values["checksum"] == [total(size, 4)]


@pytest.mark.parametrize("name", NAMES)
def test_think_time_lies_between_iterations(builds: Path, name: str) -> None:
    said = Said(run(command(name, builds, version="parallel", think_ns=20_000_000)))
    (_, _, end, *_), (_, start, *_) = said.iterations
    assert start - end >= 20_000_000


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("version", ["sequential", "parallel"])
def test_waits_for_the_gate(builds: Path, name: str, version: str) -> None:
    ready, early, late = through_pipes(command(name, builds, version=version))
    assert (ready, early) == (b"ready\n", b"")
    assert late.startswith(b"iteration 0 ") and b"\niteration 1 " in late and late.endswith(b"\n")


@pytest.mark.parametrize(
    ("name", "values", "told"),
    [
        ("openmp-sum", {"version": "both"}, "version: found both, expected sequential or parallel"),
        ("openmp-sum", {"wait": ""}, "wait: found , expected passive or active"),
        ("openmp-sum", {"threads": 0}, "threads: found 0, expected an integer from 1 to 1024"),
        ("openmp-sum", {"size": "1e5"}, "size: found 1e5, expected an integer"),
        ("openmp-sum", {"cost": -1}, "cost: found -1, expected an integer"),
        ("process-pool", {"version": "both"}, "version: found both, expected sequential or parallel"),
        ("process-pool", {"pool": "never"}, "pool: found never, expected once or each"),
        ("process-pool", {"workers": 257}, "workers: found 257, expected an integer from 1 to 256"),
        ("process-pool", {"size": "²"}, "size: found ²"),
        ("process-pool", {"iterations": 0}, "iterations: found 0, expected an integer from 1 to 1000000"),
    ],
)
def test_wrong_arguments_are_named(builds: Path, name: str, values: dict[str, object], told: str) -> None:
    if name == "openmp-sum" and shutil.which("cc") is None:
        pytest.skip("needs cc")
    done = run(command(name, builds, **values), LC_ALL="C.UTF-8")
    assert done.returncode == 64 and done.stdout == ""
    assert done.stderr.startswith(told) and done.stderr.count("\n") == 1


@needs_cc
def test_threads_that_are_not_given_are_refused(builds: Path) -> None:
    argv = command("openmp-sum", builds, version="parallel", threads=2)
    done = run(argv, OMP_THREAD_LIMIT="1")
    assert done.returncode == 69 and "threads: the OpenMP runtime gives fewer" in done.stderr
    # Memory for the stacks of two threads, not of 64; the runtime then ends the program by itself.
    argv = command("openmp-sum", builds, version="parallel", threads=64)
    done = run(["sh", "-c", 'ulimit -v 200000; exec "$@"', "sh", *argv])
    assert done.returncode == 69 and done.stdout == "" and done.stderr != ""


@needs_cc
@pytest.mark.parametrize("wait", ["passive", "active"])
def test_how_threads_wait_is_what_was_asked_for(builds: Path, wait: str) -> None:
    argv = command("openmp-sum", builds, version="parallel", wait=wait)
    other = "active" if wait == "passive" else "passive"
    done = run(argv, OMP_DISPLAY_ENV="true", OMP_WAIT_POLICY=other, GOMP_SPINCOUNT="5")
    assert done.returncode == 0
    # The runtime tells its settings at each start; the last start is the one that works.
    policies = [line.partition("=")[2].strip() for line in done.stderr.splitlines() if "OMP_WAIT_POLICY" in line]
    assert policies[-1:] == [f"'{wait.upper()}'"]


@pytest.mark.parametrize("name", NAMES)
def test_a_study_measures_it(name: str, tmp_path: Path) -> None:
    file = tmp_path / "study.toml"
    file.write_text(SMALL.format(name=name))
    env = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    complete("run", file, "-o", tmp_path / "out", cwd=tmp_path, env=env)
    journal = (tmp_path / "out/journal.jsonl").read_text().splitlines()
    events: list[dict[str, Any]] = [json.loads(line) for line in journal]
    records = [event["record"] for event in events if event["event"] == "run"]
    assert len(records) >= 4
    for record in records:
        assert record["run"]["status"] == "ok", record["run"]["reason"]
        assert [part["work"] for part in record["iterations"]] == [[100, 100, 100]]


@pytest.mark.parametrize("name", STUDIES)
@pytest.mark.parametrize("file", ["study.toml", "naive.toml"])
def test_the_files_of_a_lesson_are_valid(name: str, file: str, tmp_path: Path) -> None:
    complete("check", shipped_study(name) / file, cwd=tmp_path, codes=(0,))


def test_a_pool_whose_process_is_killed_ends_and_says_so(builds: Path) -> None:
    values = {"version": "parallel", "workers": 2, "pool": "once", "size": 2_000_000, "cost": 100}
    words = command("process-pool", builds, **values)
    with subprocess.Popen(words, stdout=-1, stderr=-1, text=True, env={"PATH": os.environ["PATH"]}) as program:
        children = Path(f"/proc/{program.pid}/task/{program.pid}/children")
        while len(found := children.read_text().split()) < 2:
            time.sleep(0.01)
        time.sleep(0.5)  # both are at work
        os.kill(int(found[0]), signal.SIGKILL)
        _, said = program.communicate(timeout=60)
    assert (program.returncode, said) == (69, "workers: a process of the pool was killed\n")
