"""The workload of the machine's ceiling, alone and by the real path."""

import os
import resource
import shutil
import signal
import subprocess
from functools import partial
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
from tests.kit.workloads import Said, built, said

KINDS = [str(kind) for kind in load_workload(shipped_workload("ceiling")).parameters["kind"].choices or ()]
MEMORY = 1 << 30


@pytest.fixture
def program(builds: Path) -> Path:
    return Path(built("ceiling", builds) or "") / "main"


@pytest.fixture
def ceiling(builds: Path) -> "partial[Said]":
    """Run it: it says whole numbers, and of each iteration the CPU time."""

    def ran(**values: object) -> Said:
        found = said("ceiling", builds, **values)
        assert [len(iteration) for iteration in found.iterations] == [5, 5]
        assert all(number >= 0 and number.is_integer() for numbers in found.values.values() for number in numbers)
        return found

    return partial(ran)


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
    for _, start, end, _, cpu in ceiling(kind="wait", threads=1, units=20).iterations:
        assert end - start >= 20_000_000 and cpu < end - start  # off the CPU for a millisecond each


def test_memory_is_bounded_told_and_the_same_for_all_workers(ceiling: Any) -> None:
    one, two = (ceiling(kind="memory", threads=n, units=10) for n in (1, 2))
    assert all(0 < found.value("memory_bytes") <= MEMORY for found in (one, two))
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
