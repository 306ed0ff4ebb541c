"""The workloads of break-even and of the machine's ceiling, alone and by the real path."""

import os
import resource
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scalograph.control.store import lock_machine
from scalograph.machine.ceiling.saved_ceiling import measure_ceiling
from scalograph.protocol.machine_ceiling import WORDS
from scalograph.run.hosts.host_names import connect
from scalograph.study.shipped import shipped_study, shipped_workload
from scalograph.study.workload import load_workload
from tests.kit.command import LONG_S, machine
from tests.kit.processes import wait_for_end
from tests.kit.results import complete, records_in
from tests.kit.studies import a_study, write_study
from tests.kit.workloads import Said, built, said, start, words, xor_of_ends


def pool_total(size: int, cost: int) -> int:
    """By the definition: the ends of all elements, one by one, added."""
    prime = 2**31 - 1
    return sum(x * pow(48271, cost, prime) for x in range(1, size + 1)) % prime


@pytest.mark.parametrize("size", [1, 2, 997])
@pytest.mark.parametrize(("name", "values"), [
    ("openmp-sum", {"version": "sequential"}),
    *(("openmp-sum", {"version": "parallel", "threads": n, "wait": "passive"}) for n in (1, 2, 5)),
    ("openmp-sum", {"version": "parallel", "threads": 2, "wait": "active"}),
    ("process-pool", {"version": "sequential"}),
    *(("process-pool", {"version": "parallel", "workers": n, "pool": "once"}) for n in (1, 2, 5)),
    ("process-pool", {"version": "parallel", "workers": 3, "pool": "each"}),
])  # fmt: skip
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


@pytest.mark.parametrize("name", ["openmp-sum", "process-pool"])
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
    # Where the machine is busy the interpreter adds words of its own as it ends.
    assert (program.returncode, told.partition("\n")[0]) == (69, "workers: a process of the pool was killed")


KINDS = [str(kind) for kind in load_workload(shipped_workload("ceiling")).parameters["kind"].choices or ()]


@pytest.fixture
def program(builds: Path) -> Path:
    return Path(built("ceiling", builds) or "") / "main"


@pytest.fixture
def ceiling(builds: Path) -> Callable[..., Said]:
    """Run it: it says whole numbers, and of each iteration the CPU time."""

    def ran(**values: object) -> Said:
        found = said("ceiling", builds, **values)
        assert [len(iteration) for iteration in found.iterations] == [5, 5]
        assert all(number >= 0 and number.is_integer() for numbers in found.values.values() for number in numbers)
        return found

    return ran


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("kind", KINDS)
def test_the_total_is_counted_whatever_the_workers(ceiling: Any, kind: str, threads: int) -> None:
    found = ceiling(kind=kind, threads=threads, units=23)
    assert (found.work, found.value("workers")) == ([23, 23], threads)


@pytest.mark.parametrize("kind", ["arithmetic", "faults"])
def test_as_many_workers_as_the_mask_has_cpus(ceiling: Any, program: Path, kind: str) -> None:
    argv = ["taskset", "-c", str(min(os.sched_getaffinity(0))), str(program), f"kind={kind}", "units=9"]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=True)
    assert "value workers 1\n" in done.stdout
    assert ceiling(kind=kind, units=9).value("workers") == len(os.sched_getaffinity(0))


def test_cpu_time_is_that_of_the_workers(ceiling: Any) -> None:
    for kind in ("arithmetic", "fork"):
        assert all(cpu > 0 for *_, cpu in ceiling(kind=kind, threads=2).iterations)
    for _, begin, end, _, cpu in ceiling(kind="wait", threads=1, units=20).iterations:
        assert end - begin >= 20_000_000 and cpu < end - begin  # off the CPU for a millisecond each


def test_memory_is_bounded_told_and_the_same_for_all_workers(ceiling: Any) -> None:
    one, two = (ceiling(kind="memory", threads=n, units=10) for n in (1, 2))
    assert all(0 < found.value("memory_bytes") <= 2**30 for found in (one, two))
    # Pages are divided over workers, and what does not divide evenly is left out.
    assert one.value("memory_bytes") - two.value("memory_bytes") < 2 * 3 * 4096
    assert one.value("cache_bytes") == two.value("cache_bytes")


def test_the_lock_lets_one_in(ceiling: Any) -> None:
    """What is counted under it without atomic instructions would be less where it let two in."""
    assert ceiling(kind="lock", threads=4, units=200_000).work == [200_000] * 2


def test_memory_that_is_not_granted_is_told(program: Path) -> None:
    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (40 << 20, 40 << 20))

    argv = [program, "kind=memory", "threads=1", "units=1"]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False, preexec_fn=limited)
    assert (done.returncode, done.stderr) == (69, "memory: Cannot allocate memory\n")


@pytest.mark.parametrize("victim", ["the program", "a worker"])
def test_no_worker_outlives_its_program_which_ends_with_the_first(program: Path, victim: str) -> None:
    argv = [program, "kind=faults", "threads=2", "units=1000000000"]
    with subprocess.Popen(argv, stdout=-1, stderr=-1) as started:
        assert started.stdout and started.stderr and started.stdout.readline() == b"ready\n"
        workers = [*map(int, Path(f"/proc/{started.pid}/task/{started.pid}/children").read_text().split())]
        assert len(workers) == 2
        os.kill(started.pid if victim == "the program" else workers[0], signal.SIGKILL)
        assert started.wait(timeout=30) == (-signal.SIGKILL if victim == "the program" else 69)
        told = b"" if victim == "the program" else b"worker: one was killed"
        assert started.stderr.read().startswith(told)
    wait_for_end(*workers)


@machine
def test_by_the_real_path(program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run of each kind, of little work, on one CPU and on all: how far it scales is the machine's own affair."""
    folder, use = shutil.copytree(shipped_study("ceiling"), tmp_path / "ceiling"), 'use = "ceiling"\n'
    declared = (folder / "study.toml").read_text()
    assert use in declared
    (folder / "study.toml").write_text(declared.replace(use, f"{use}parameters = {{ units = 100 }}\n"))
    monkeypatch.setattr("scalograph.study.declare.shipped_study", lambda name: folder)
    host = connect()
    n_cpus = host.facts().n_cpus
    with lock_machine(LONG_S):
        found = measure_ceiling(host, [n_cpus], runs=1)
    assert set(found.kinds) == set(WORDS)
    for parts in found.kinds.values():
        assert [part.n_cpus for part in parts] == sorted({1, n_cpus})
        assert all(part.n_failed == 0 and len(part.scores) >= 1 for part in parts)
