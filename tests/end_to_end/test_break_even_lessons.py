"""The two lessons on break-even: their workloads alone, one run by the real path, and their study files."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from scalograph.study.shipped import shipped_study
from tests.kit.results import complete, records_in
from tests.kit.studies import a_study, write_study
from tests.kit.workloads import built, said, start, words, xor_of_ends

NAMES = ("openmp-sum", "process-pool")


def pool_total(size: int, cost: int) -> int:
    """By the definition: the ends of all elements, one by one, added."""
    prime = 2**31 - 1
    return sum(x * pow(48271, cost, prime) for x in range(1, size + 1)) % prime


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
    found = said(name, builds, size=size, cost=4, prerun=1, **values)
    assert found.work == [size, size] and all(cpu > 0 for *_, cpu in found.iterations)
    total = xor_of_ends if name == "openmp-sum" else pool_total
    assert found.values["checksum"] == [total(size, 4)]


def test_threads_that_are_not_given_are_refused(builds: Path) -> None:
    two, many = (words("openmp-sum", builds, version="parallel", threads=n, prerun=1) for n in (2, 64))
    done = start(two, OMP_THREAD_LIMIT="1")
    assert done.returncode == 69 and "threads: the OpenMP runtime gives fewer" in done.stderr
    # Memory for the stacks of two threads, not of 64; the runtime then ends the program by itself.
    done = start(["sh", "-c", 'ulimit -v 200000; exec "$@"', "sh", *many])
    assert done.returncode == 69 and done.stdout == "" and done.stderr != ""


@pytest.mark.parametrize(("wait", "other"), [("passive", "active"), ("active", "passive")])
def test_how_threads_wait_is_what_was_asked_for(builds: Path, wait: str, other: str) -> None:
    argv = words("openmp-sum", builds, version="parallel", wait=wait, prerun=1)
    done = start(argv, OMP_DISPLAY_ENV="true", OMP_WAIT_POLICY=other, GOMP_SPINCOUNT="5")
    assert done.returncode == 0
    # The runtime tells its settings at each start; the last start is the one that works.
    policies = [line.partition("=")[2].strip() for line in done.stderr.splitlines() if "OMP_WAIT_POLICY" in line]
    assert policies[-1:] == [f"'{wait.upper()}'"]


@pytest.mark.parametrize("name", NAMES)
def test_a_study_measures_it(builds: Path, name: str, tmp_path: Path) -> None:
    built(name, builds)  # skips without a compiler
    text = a_study(
        {"version": ["sequential", "parallel"]}, baseline={"version": "sequential"},
        workload={"use": name, "parameters": {"size": 100, "cost": 3, "prerun": 1}},
        protocol={"runs": 2, "iterations": 3, "max_reruns": 0, "think": "1ms"},
    )  # fmt: skip
    env = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    complete("run", write_study(tmp_path, text), "-o", tmp_path / "out", cwd=tmp_path, env=env)
    records = records_in(tmp_path / "out")
    assert len(records) >= 4
    for record in records:
        assert record["run"]["status"] == "ok", record["run"]["reason"]
        assert [part["work"] for part in record["iterations"]] == [[100, 100, 100]]


@pytest.mark.parametrize("name", ["openmp-break-even", "process-pool-break-even"])
@pytest.mark.parametrize("file", ["study.toml", "naive.toml"])
def test_the_files_of_a_lesson_are_valid(name: str, file: str, tmp_path: Path) -> None:
    complete("check", shipped_study(name) / file, cwd=tmp_path, codes=(0,))


def test_a_pool_whose_process_is_killed_ends_and_says_so(builds: Path) -> None:
    much = {"version": "parallel", "workers": 2, "pool": "once", "size": 2_000_000, "cost": 100, "prerun": 1}
    argv = words("process-pool", builds, **much)
    with subprocess.Popen(argv, stdout=-1, stderr=-1, text=True, env={"PATH": os.environ["PATH"]}) as program:
        children = Path(f"/proc/{program.pid}/task/{program.pid}/children")
        while len(found := children.read_text().split()) < 2:
            time.sleep(0.01)
        time.sleep(0.5)  # both are at work
        os.kill(int(found[0]), signal.SIGKILL)
        _, told = program.communicate(timeout=60)
    assert (program.returncode, told) == (69, "workers: a process of the pool was killed\n")
