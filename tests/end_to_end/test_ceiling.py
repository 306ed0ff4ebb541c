"""The workload of the machine's ceiling, alone and by the real path."""

import os
import re
import resource
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from scalograph.control.store import lock_machine
from scalograph.errors import HostError
from scalograph.machine.ceiling.saved_ceiling import measure_ceiling
from scalograph.protocol.machine_ceiling import WORDS
from scalograph.run.build import build
from scalograph.run.hosts.host_names import connect
from scalograph.study.processes import fill
from scalograph.study.shipped import shipped_study, shipped_workload
from scalograph.study.workload import load_workload
from tests.kit.command import LONG_S, machine

WORKLOAD = load_workload(shipped_workload("ceiling"))
KINDS = [str(kind) for kind in WORKLOAD.parameters["kind"].choices or ()]
FORMS = re.compile(r"ready|iteration \d+ \d+ \d+ \d+ \d+|value [a-z][a-z0-9_]{0,63} \d+", re.ASCII)
MEMORY = 1 << 30


@pytest.fixture(scope="session")
def built(builds: Path) -> Path:
    try:
        folder = build(shipped_workload("ceiling"), WORKLOAD, (), builds)
    except HostError as error:
        pytest.skip(f"needs a compiler: {error}")
    assert folder is not None
    return folder


def run(built: Path, **values: object) -> subprocess.CompletedProcess[str]:
    known = {name: parameter.default for name, parameter in WORKLOAD.parameters.items()}
    argv = fill(WORKLOAD.argv, {**known, "build": str(built), "iterations": 2, **values})
    env = {"PATH": os.environ["PATH"]}
    return subprocess.run(argv, env=env, capture_output=True, text=True, timeout=60, check=False)


def told(done: subprocess.CompletedProcess[str]) -> tuple[list[list[int]], dict[str, int]]:
    """Numbers of the iterations, and the values."""
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "ready" and [line for line in lines if not FORMS.fullmatch(line)] == []
    iterations = [[int(word) for word in line.split()[1:]] for line in lines if line.startswith("iteration")]
    assert [number for number, *_ in iterations] == [0, 1] and all(start < end for _, start, end, *_ in iterations)
    return iterations, {line.split()[1]: int(line.split()[2]) for line in lines if line.startswith("value")}


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("kind", KINDS)
def test_the_total_is_counted_whatever_the_workers(built: Path, kind: str, threads: int) -> None:
    iterations, values = told(run(built, kind=kind, threads=threads, units=23))
    assert [work for *_, work, _ in iterations] == [23, 23]
    assert values["workers"] == threads


@pytest.mark.parametrize("kind", ["arithmetic", "faults"])
def test_as_many_workers_as_the_mask_has_cpus(built: Path, kind: str) -> None:
    argv = ["taskset", "-c", str(min(os.sched_getaffinity(0))), str(built / "main"), f"kind={kind}", "units=9"]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=True)
    assert "value workers 1\n" in done.stdout
    _, values = told(run(built, kind=kind, units=9))
    assert values["workers"] == len(os.sched_getaffinity(0))


def test_cpu_time_is_that_of_the_workers(built: Path) -> None:
    for kind in ("arithmetic", "fork"):
        for _, _, _, _, cpu in told(run(built, kind=kind, threads=2))[0]:
            assert cpu > 0
    for _, start, end, _, cpu in told(run(built, kind="wait", threads=1, units=20))[0]:
        assert end - start >= 20_000_000 and cpu < end - start  # off the CPU for a millisecond each


def test_memory_is_bounded_told_and_the_same_for_all_workers(built: Path) -> None:
    sizes = [told(run(built, kind="memory", threads=n, units=10))[1] for n in (1, 2)]
    assert all(0 < size["memory_bytes"] <= MEMORY for size in sizes)
    # Pages are divided over workers, and what does not divide evenly is left out.
    assert sizes[0]["memory_bytes"] - sizes[1]["memory_bytes"] < 2 * 3 * 4096
    assert sizes[0]["cache_bytes"] == sizes[1]["cache_bytes"]


def test_the_lock_lets_one_in(built: Path) -> None:
    """What is counted under it without atomic instructions would be less where it let two in."""
    iterations, _ = told(run(built, kind="lock", threads=4, units=200_000))
    assert [work for *_, work, _ in iterations] == [200_000] * 2


@pytest.mark.parametrize(
    "words", [["kind=none"], ["threads=x"], ["units=-1"], ["threads=5000"], ["iterations=0"], ["x"]]
)
def test_bad_arguments_are_refused_in_one_line(built: Path, words: list[str]) -> None:
    done = subprocess.run([built / "main", *words], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 64 and done.stdout == ""
    assert done.stderr.count("\n") == 1 and "expected" in done.stderr


def test_memory_that_is_not_granted_is_told(built: Path) -> None:
    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (40 << 20, 40 << 20))

    argv = [built / "main", "kind=memory", "threads=1", "units=1"]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False, preexec_fn=limited)
    assert (done.returncode, done.stderr) == (69, "memory: Cannot allocate memory\n")


def test_no_worker_outlives_its_program(built: Path) -> None:
    with subprocess.Popen([built / "main", "kind=faults", "threads=2", "units=1000000000"], stdout=-1) as program:
        assert program.stdout and program.stdout.readline() == b"ready\n"
        workers = Path(f"/proc/{program.pid}/task/{program.pid}/children").read_text().split()
        assert len(workers) == 2
        program.kill()
    deadline = time.monotonic() + 60
    while any(_runs(worker) for worker in workers) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert [worker for worker in workers if _runs(worker)] == []


def test_a_worker_that_is_killed_ends_the_program_and_says_so(built: Path) -> None:
    argv = [built / "main", "kind=faults", "threads=2", "units=1000000000"]
    with subprocess.Popen(argv, stdout=-1, stderr=-1) as program:
        assert program.stdout and program.stderr and program.stdout.readline() == b"ready\n"
        worker, *_ = Path(f"/proc/{program.pid}/task/{program.pid}/children").read_text().split()
        os.kill(int(worker), signal.SIGKILL)
        assert program.wait(timeout=30) == 69
        assert program.stderr.read().startswith(b"worker: one was killed")


def _runs(pid: str) -> bool:
    """Whether it is there and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@machine
def test_by_the_real_path(built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
