"""The workloads that ship, alone: they count their work exactly and follow protocol/workload.md."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import pytest

from scalograph.control.store import Store
from scalograph.control.tasks import find_tasks_refusal, limit_tasks
from scalograph.errors import HostError
from scalograph.protocol.facts import Jvm
from scalograph.run.build import build
from scalograph.study.processes import fill
from scalograph.study.shipped import shipped_workload
from scalograph.study.workload import load_workload
from scalograph.system.cgroups import TASKS, controller_tree
from scalograph.system.jvms import find_jvms

JVMS = find_jvms()
FORMS = re.compile(r"ready|iteration \d+ \d+ \d+ \d+( \d+)?|value [a-z][a-z0-9_]{0,63} -?\d+(\.\d+)?", re.ASCII)
MASK = (1 << 64) - 1
LOCKS = ("none", "method", "coarse", "object", "cas", "reentrant", "adder")
# What is counted is the same however it was compiled, and these JVMs end before the second compiler pays off.
QUICK = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]


@cache
def built(name: str, builds: Path) -> Path:
    """Built once: to ask a compiler for its version takes as long as most of the runs here."""
    try:
        folder = build(shipped_workload(name), load_workload(shipped_workload(name)), JVMS, builds)
    except HostError as error:
        pytest.skip(f"needs a compiler: {error}")
    assert folder is not None
    return folder


def jvm(wanted: range) -> Jvm:
    found = next((jvm for jvm in JVMS if jvm.release in wanted), None)
    if found is None:
        pytest.skip(f"needs a JVM of release {wanted.start} to {wanted.stop - 1}")
    return found


def run(name: str, builds: Path, java: Jvm | None = None, **values: object) -> subprocess.CompletedProcess[str]:
    workload = load_workload(shipped_workload(name))
    known = {parameter: each.default for parameter, each in workload.parameters.items()}
    own = {"build": str(built(name, builds)), "iterations": 2, "think_ns": 0, "jvm_options": QUICK}
    argv = fill(workload.argv, {**known, **own, **values, "java": java.java if java else "java"})
    env = {"PATH": os.environ["PATH"]}
    return subprocess.run(argv, env=env, capture_output=True, text=True, timeout=120, check=False)


class Said:
    """The lines of a run that went well."""

    def __init__(self, done: subprocess.CompletedProcess[str]) -> None:
        assert done.returncode == 0, done.stderr
        lines = done.stdout.splitlines()
        assert lines[0] == "ready"
        assert [line for line in lines if not FORMS.fullmatch(line) or len(line) > 511] == []
        self.iterations = [[int(word) for word in line.split()[1:]] for line in lines if line.startswith("iteration")]
        self.values: dict[str, list[float]] = {}
        for _, name, number in (line.split() for line in lines if line.startswith("value")):
            self.values.setdefault(name, []).append(float(number))
        assert [i for i, *_ in self.iterations] == list(range(len(self.iterations)))
        assert all(start < end for _, start, end, *_ in self.iterations)


def threads(builds: Path, java: Jvm | None = None, **values: object) -> Said:
    small = {"units": 10_007, "quantum": 10, "prerun": 3000}
    return Said(run("java-threads", builds, java or jvm(range(11, 1000)), **{**small, **values}))


@cache
def expected_sum(units: int, quantum: int) -> int:
    """The shared total, by the definition: after each quantum the state is added."""
    x, total, left = 0x9E3779B97F4A7C15, 0, units
    while left > 0:
        for _ in range(min(quantum, left)):
            x ^= x << 13 & MASK
            x ^= x >> 7
            x ^= x << 17 & MASK
        total += x
        left -= quantum
    return total & (1 << 48) - 1


@pytest.mark.parametrize("lock", LOCKS)
@pytest.mark.parametrize("n", [1, 3, 64])
def test_work_is_counted_exactly(builds: Path, lock: str, n: int) -> None:
    said = threads(builds, lock=lock, threads=n)
    assert [work for _, _, _, work, _ in said.iterations] == [10_007, 10_007]
    assert said.values["checksum"] == [expected_sum(10_007, 10)]
    assert said.values["n_takings"] == [1001]


@pytest.mark.parametrize("lock", LOCKS)
@pytest.mark.parametrize("held", [5, 9])
def test_how_long_a_lock_is_held_changes_no_work(builds: Path, lock: str, held: int) -> None:
    # The last of the 112 quanta is one unit: shorter than what is held of the others.
    said = threads(builds, lock=lock, threads=7, units=1000, quantum=9, held=held)
    assert [work for _, _, _, work, _ in said.iterations] == [1000, 1000]
    assert said.values["checksum"] == [expected_sum(1000, 9)]
    assert said.values["n_takings"] == [112]


@pytest.mark.parametrize(("units", "quantum"), [(1, 1), (1, 100), (100, 100), (101, 100), (5, 1)])
def test_more_threads_than_quanta(builds: Path, units: int, quantum: int) -> None:
    said = threads(builds, lock="object", threads=13, units=units, quantum=quantum)
    assert [work for _, _, _, work, _ in said.iterations] == [units] * 2
    assert said.values["checksum"] == [expected_sum(units, quantum)]


@pytest.mark.parametrize("start", ["free", "together"])
@pytest.mark.parametrize("prerun", [0, 1, 5000])
def test_neither_start_nor_prerun_changes_the_work(builds: Path, start: str, prerun: int) -> None:
    said = threads(builds, lock="cas", threads=5, start=start, prerun=prerun)
    assert said.values["checksum"] == [expected_sum(10_007, 10)]
    assert len(said.values["peak_threads"]) == 2
    assert all(1 <= peak <= 5 for peak in said.values["peak_threads"])


def test_threads_that_begin_together_are_at_work_at_once(builds: Path) -> None:
    """Each has more to do than a time slice, so that it is still at work when the others get a CPU."""
    said = threads(builds, threads=64, start="together", units=64 * 10_000_000, quantum=400, iterations=1)
    assert 1 < said.values["peak_threads"][0] <= 64


@pytest.mark.parametrize("lock", ["none", "method"])
def test_virtual_threads_do_the_same_work(builds: Path, lock: str) -> None:
    said = threads(builds, jvm(range(21, 1000)), kind="virtual", lock=lock, threads=33)
    assert [work for _, _, _, work, *_ in said.iterations] == [10_007, 10_007]
    assert said.values["checksum"] == [expected_sum(10_007, 10)]


def test_virtual_threads_on_an_old_jvm_are_refused_in_one_sentence(builds: Path) -> None:
    done = run("java-threads", builds, jvm(range(11, 21)), kind="virtual")
    assert done.returncode == 69
    assert done.stdout == ""
    assert re.fullmatch(r"kind: found virtual on Java \d+, expected Java 21 or later; [^\n]+\n", done.stderr)


@pytest.mark.xdist_group("machine")
@pytest.mark.skipif(find_tasks_refusal() is not None or os.geteuid() != 0, reason="no limit of tasks is granted here")
def test_threads_that_are_refused_leave_the_work_to_the_others(builds: Path, tmp_path: Path) -> None:
    java, alone = jvm(range(11, 1000)), {"threads": 200, "prerun": 0, "iterations": 1}
    built("java-threads", builds)
    with limit_tasks(100, store=Store(tmp_path / "state", None, tasks=controller_tree(TASKS))):
        said = threads(builds, java, refused="fewer", jvm_options=[*QUICK, "-Xlog:os+thread=off"], **alone)
        failed = run("java-threads", builds, java, **alone)
    (started,), (tasks,) = said.values["started"], said.values["tasks"]
    assert 0 < started < tasks == 100 and started > 50
    assert [work for _, _, _, work, _ in said.iterations] == [10_007]
    assert said.values["checksum"] == [expected_sum(10_007, 10)]
    # How many threads the JVM has of its own differs from start to start.
    told = re.match(r"threads: the system gave no more than (\d+) threads ", failed.stderr)
    assert failed.returncode == 69 and told and 50 < int(told[1]) < tasks


def test_the_jvm_tells_what_it_believes(builds: Path) -> None:
    said = threads(builds)
    assert said.values["believed_cpus"] == [len(os.sched_getaffinity(0))]
    assert set(said.values) >= {"gc_ms", "jit_ms"}


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("threads", 0, "threads: found 0, expected an integer from 1 to 100000"),
        ("threads", "x", "threads: found x"),
        ("lock", "spin", "lock: found spin, expected none, method"),
        ("units", -1, "units: found -1"),
        ("quantum", 1 << 31, "quantum: found 2147483648"),
        ("held", 401, "held: found 401, expected an integer from 0 to 400"),
    ],
)
def test_wrong_arguments_are_named(builds: Path, name: str, value: object, said: str) -> None:
    done = run("java-threads", builds, jvm(range(11, 1000)), **{name: value})
    assert done.returncode == 64
    assert done.stderr.startswith(said)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (
            {"share": "each", "units": 1000, "threads": 2},
            "units: found 1000 for each thread, expected whole quanta of 400",
        ),
        ({"share": "each", "units": 400, "threads": 99_990, "iterations": 20}, "iterations: found 100010 figures"),
        ({"iterations": 100_000}, "iterations: found 100000 figures"),
        ({"refused": "fewer", "start": "free"}, "refused: found fewer, whose threads share a total"),
        ({"refused": "fewer", "share": "each"}, "refused: found fewer, whose threads share a total"),
    ],
)
def test_what_could_not_be_told_is_refused_before_it_is_done(
    builds: Path, values: dict[str, object], said: str
) -> None:
    done = run("java-threads", builds, jvm(range(11, 1000)), **values)
    assert done.returncode == 64
    assert done.stderr.startswith(said)


def test_think_time_lies_between_iterations(builds: Path) -> None:
    said = threads(builds, think_ns=20_000_000)
    (_, _, end, *_), (_, start, *_) = said.iterations
    assert start - end >= 20_000_000


def through_pipes(argv: Sequence[str]) -> Iterator[bytes]:
    """Starts a program as the probe does: yields what it says before it may go, then all the rest."""
    events, said = os.pipe()
    wait, go = os.pipe()
    ends = {"SCALOGRAPH_EVENTS": f"/dev/fd/{said}", "SCALOGRAPH_GO": f"/dev/fd/{wait}"}
    env = {"PATH": os.environ["PATH"], **ends}
    program = subprocess.Popen(argv, env=env, pass_fds=(said, wait), stdout=subprocess.PIPE)
    os.close(said)
    os.close(wait)
    with os.fdopen(events, "rb") as stream:
        yield stream.readline()
        os.set_blocking(events, False)
        yield stream.read() or b""
        os.set_blocking(events, True)
        os.write(go, b"x")
        os.close(go)
        yield stream.read()
    assert program.wait(60) == 0
    assert program.stdout is not None and program.stdout.read() == b""
    program.stdout.close()


@pytest.mark.parametrize("name", ["java-threads", "java-priorities", "affinity", "fixed-work"])
def test_waits_for_the_gate(builds: Path, name: str) -> None:
    workload = load_workload(shipped_workload(name))
    values = {parameter: each.default for parameter, each in workload.parameters.items()}
    values |= {"units": 1000, "prerun": 1000, "window_ms": 10, "iterations": 1, "think_ns": 0, "jvm_options": QUICK}
    java = jvm(range(11, 1000)).java if "{java}" in workload.argv else ""
    ready, early, late = through_pipes(fill(workload.argv, {**values, "java": java, "build": str(built(name, builds))}))
    assert (ready, early) == (b"ready\n", b"")
    assert re.match(rb"iteration 0 ", late)
    assert late.endswith(b"\n")


def test_priorities_tell_what_the_kernel_has(builds: Path) -> None:
    java = jvm(range(11, 1000))
    said = Said(run("java-priorities", builds, java, priority=10, rivals="1,5", window_ms=30, iterations=1))
    assert [work for _, _, _, work, _ in said.iterations] == [1]
    # Without -XX:ThreadPriorityPolicy a Java priority is nothing to the kernel; a thread has its starter's nice value.
    assert {*said.values["nice"], *said.values["rival_nice"]} == {os.getpriority(os.PRIO_PROCESS, 0)}
    assert len(said.values["rival_policy"]) == 2
    shares = said.values["share_percent"] + said.values["rival_share_percent"]
    assert sum(shares) == pytest.approx(100, abs=0.001)


def test_priorities_alone_and_wrong(builds: Path) -> None:
    java = jvm(range(11, 1000))
    alone = Said(run("java-priorities", builds, java, rivals="none", window_ms=10, iterations=1))
    assert alone.values["share_percent"] == [100]
    for name, value in (("priority", 11), ("rivals", "5,,5"), ("rivals", "0"), ("window_ms", "x")):
        done = run("java-priorities", builds, java, **{name: value})
        assert done.returncode == 64
        assert done.stderr.startswith(f"{name}: found ")
    done = run("java-priorities", builds, java, rivals="1,2,3,4", iterations=7000)
    assert done.returncode == 64 and "expected at most 6600" in done.stderr


@pytest.mark.parametrize("who", ["self", "child"])
def test_affinity_counts_and_sees_the_mask(builds: Path, who: str) -> None:
    said = Said(run("affinity", builds, who=who, threads=3, units=100_001))
    assert [work for _, _, _, work, _ in said.iterations] == [300_003, 300_003]
    assert said.values["visible_cpus"] == [len(os.sched_getaffinity(0))] * 2
    assert said.values["online_cpus"] == [os.sysconf("SC_NPROCESSORS_ONLN")] * 2
    assert all(1 <= seen <= len(os.sched_getaffinity(0)) for seen in said.values["seen_cpus"])


@pytest.mark.parametrize("who", ["self", "child"])
def test_affinity_inherits_a_mask(builds: Path, who: str) -> None:
    if shutil.which("taskset") is None:
        pytest.skip("needs taskset")
    cpu = min(os.sched_getaffinity(0))
    argv = ["taskset", "-c", str(cpu), f"{built('affinity', builds)}/main", f"who={who}", "threads=2", "units=1000"]
    said = Said(subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False))
    assert said.values["visible_cpus"] == [1]
    assert said.values["seen_cpus"] == [1]
    assert said.values["busiest_percent"] == [100]


@pytest.mark.parametrize("word", ["who=me", "threads=0", "units=-1", "units=1x", "units=", "nonsense"])
def test_affinity_refuses(builds: Path, word: str) -> None:
    done = subprocess.run([f"{built('affinity', builds)}/main", word], capture_output=True, text=True, check=False)
    assert done.returncode == 64
    assert "expected" in done.stderr


@pytest.mark.parametrize("n", [1, 300])
def test_descriptors_are_opened_and_counted(builds: Path, n: int) -> None:
    said = Said(run("descriptors", builds, descriptors=n, threads=2))
    ((_, start, end, work, _),) = said.iterations
    assert work == n
    (slowest,) = said.values["slowest_s"]
    assert 0 < slowest * 1e9 <= end - start + 1000


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"descriptors": 0}, "descriptors=0: found no such number"),
        ({"descriptors": 5, "threads": 65}, "threads=65: found no such number"),
    ],
)
def test_descriptors_refuse(builds: Path, values: dict[str, object], told: str) -> None:
    done = run("descriptors", builds, **values)
    assert done.returncode == 64 and told in done.stderr
