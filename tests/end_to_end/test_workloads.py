"""The workloads that ship, alone: they count their work exactly and follow protocol/workload.md."""

import os
import re
import shutil
from functools import cache, partial
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import pytest

from scalograph.control.store import Store
from scalograph.control.tasks import find_tasks_refusal, limit_tasks
from scalograph.system.cgroups import TASKS, controller_tree
from tests.kit.results import complete, records_in
from tests.kit.studies import a_study, write_study
from tests.kit.workloads import (
    MASK,
    QUICK,
    START,
    Said,
    built,
    jvm,
    said,
    scrambled,
    start,
    through_pipes,
    words,
    xor_of_ends,
)

LOCKS = ("none", "method", "coarse", "object", "cas", "reentrant", "adder")
SMALL = {"units": 10_007, "quantum": 10, "prerun": 3000}
N_CPUS = len(os.sched_getaffinity(0))

GATED = [
    *((name, {"units": 1000, "prerun": 1000, "window_ms": 10})
      for name in ("java-threads", "java-priorities", "affinity", "fixed-work")),
    *((name, {"version": version, "prerun": 1})
      for name, version in product(("openmp-sum", "process-pool"), ("sequential", "parallel"))),
    ("fork-join", {"version": "pool", "clients": 2, "n": 100, "q": 3, "prerun": 20}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "values"), GATED)
def test_waits_for_the_gate(builds: Path, name: str, values: dict[str, object]) -> None:
    ready, early, late = through_pipes(words(name, builds, **values))
    assert (ready, early) == (b"ready\n", b"")
    assert late.startswith(b"iteration 0 ") and b"\niteration 1 " in late and late.endswith(b"\n")


@pytest.mark.parametrize(("name", "values"), [
    ("java-threads", SMALL), ("openmp-sum", {"version": "parallel", "prerun": 1}),
    ("process-pool", {"version": "parallel", "prerun": 1}),
    ("fork-join", {"version": "stream", "n": 100, "q": 3, "prerun": 20, "iterations": 3}),
])  # fmt: skip
def test_think_time_lies_between_iterations(builds: Path, name: str, values: dict[str, object]) -> None:
    iterations = said(name, builds, think_ns=20_000_000, **values).iterations
    assert len(iterations) > 1
    assert all(after[1] - before[2] >= 20_000_000 for before, after in pairwise(iterations))


# A workload, what it is given, and how its one line begins.
REFUSED = [
    ("java-threads", {"threads": 0}, "threads: found 0, expected an integer from 1 to 100000"),
    ("java-threads", {"threads": "x"}, "threads: found x"),
    ("java-threads", {"lock": "spin"}, "lock: found spin, expected none, method"),
    ("java-threads", {"units": -1}, "units: found -1"),
    ("java-threads", {"quantum": 1 << 31}, "quantum: found 2147483648"),
    ("java-threads", {"held": 401}, "held: found 401, expected an integer from 0 to 400"),
    ("java-threads", {"share": "each", "units": 1000, "threads": 2},
     "units: found 1000 for each thread, expected whole quanta of 400"),
    ("java-threads", {"share": "each", "units": 400, "threads": 99_990, "iterations": 20},
     "iterations: found 100010 figures"),
    ("java-threads", {"iterations": 100_000}, "iterations: found 100000 figures"),
    ("java-threads", {"refused": "fewer", "start": "free"}, "refused: found fewer, whose threads share a total"),
    ("java-threads", {"refused": "fewer", "share": "each"}, "refused: found fewer, whose threads share a total"),
    ("java-priorities", {"priority": 11}, "priority: found "),
    ("java-priorities", {"rivals": "5,,5"}, "rivals: found "),
    ("java-priorities", {"rivals": "0"}, "rivals: found "),
    ("java-priorities", {"window_ms": "x"}, "window_ms: found "),
    ("java-priorities", {"rivals": "1,2,3,4", "iterations": 7000}, r".*expected at most 6600"),
    ("descriptors", {"descriptors": 0}, ".*descriptors=0: found no such number"),
    ("descriptors", {"descriptors": 5, "threads": 65}, ".*threads=65: found no such number"),
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
    ("fork-join", {"version": "parallel"}, "version: found parallel, expected sequential, stream, pool"),
    ("fork-join", {"n": 0}, "n: found 0, expected an integer from 1 to 16777216"),
    ("fork-join", {"p": 1025}, "p: found 1025"),
    ("fork-join", {"clients": 257}, "clients: found 257"),
    ("fork-join", {"q": "x"}, "q: found x"),
    ("fork-join", {"clients": 5, "iterations": 4},
     "iterations: found 4 for 5 clients, expected at least one for each"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "values", "told"), REFUSED)
def test_wrong_arguments_are_named_in_one_line(builds: Path, name: str, values: dict[str, object], told: str) -> None:
    done = start(words(name, builds, **values), LC_ALL="C.UTF-8")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (64, "", 1), done.stderr
    assert re.match(told, done.stderr)


@pytest.mark.parametrize(("name", "word"), [
    *(("affinity", word) for word in ("who=me", "threads=0", "units=-1", "units=1×", "units=", "nonsense")),
    *(("ceiling", word) for word in ("kind=none", "threads=x", "units=-1", "threads=5000", "iterations=0", "x")),
])  # fmt: skip
def test_a_word_that_is_no_argument_is_refused_in_one_line(builds: Path, name: str, word: str) -> None:
    done = start([f"{built(name, builds)}/main", word])
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (64, "", 1)
    assert "expected" in done.stderr


@cache
def expected_sum(units: int, quantum: int) -> int:
    """The shared total, by the definition: after each quantum the state is added."""
    x, total = START, 0
    for left in range(units, 0, -quantum):
        x = scrambled(x, min(quantum, left))
        total += x & MASK
    return total & (1 << 48) - 1


@pytest.mark.parametrize("values", [
    *({"lock": lock, "threads": n} for n, lock in product((1, 3, 64), LOCKS)),
    # The last of the 112 quanta is one unit: shorter than what is held of the others.
    *({"lock": lock, "threads": 7, "units": 1000, "quantum": 9, "held": held} for held in (5, 9) for lock in LOCKS),
    # More threads than quanta.
    *({"lock": "object", "threads": 13, "units": units, "quantum": quantum}
      for units, quantum in ((1, 1), (1, 100), (100, 100), (101, 100), (5, 1))),
    *({"lock": "cas", "threads": 5, "start": start, "prerun": prerun}
      for prerun, start in product((0, 1, 5000), ("free", "together"))),
    *({"kind": "virtual", "lock": lock, "threads": 33} for lock in ("none", "method")),
])  # fmt: skip
def test_work_is_counted_exactly(builds: Path, values: dict[str, int | str]) -> None:
    given = {**SMALL, **values}
    java = jvm(range(21, 1000)) if "kind" in values else jvm()
    found, (units, quantum) = said("java-threads", builds, java=java.java, **given), (given["units"], given["quantum"])
    assert found.work == [units, units] and found.values["checksum"] == [expected_sum(units, quantum)]
    assert found.values["n_takings"] == [-(-units // quantum)]
    peaks = found.values["peak_threads"]
    assert len(peaks) == 2 and all(1 <= peak <= given["threads"] for peak in peaks)


def test_threads_that_begin_together_are_at_work_at_once_and_the_jvm_tells_what_it_believes(builds: Path) -> None:
    """Each has more to do than a time slice, so that it is still at work when the others get a CPU."""
    much = {"units": 64 * 10_000_000, "quantum": 400, "prerun": 3000}
    found = said("java-threads", builds, threads=64, start="together", iterations=1, **much).values
    assert 1 < found["peak_threads"][0] <= 64
    assert found["believed_cpus"] == [N_CPUS] and {"gc_ms", "jit_ms"} <= set(found)


def test_virtual_threads_on_an_old_jvm_are_refused_in_one_sentence(builds: Path) -> None:
    done = start(words("java-threads", builds, java=jvm(range(11, 21)).java, kind="virtual"))
    assert (done.returncode, done.stdout) == (69, "")
    assert re.fullmatch(r"kind: found virtual on Java \d+, expected Java 21 or later; [^\n]+\n", done.stderr)


@pytest.mark.xdist_group("machine")
@pytest.mark.skipif(find_tasks_refusal() is not None or os.geteuid() != 0, reason="no limit of tasks is granted here")
def test_threads_that_are_refused_leave_the_work_to_the_others(builds: Path, tmp_path: Path) -> None:
    asked = {**SMALL, "threads": 200, "prerun": 0, "iterations": 1}
    fewer = words("java-threads", builds, refused="fewer", jvm_options=[*QUICK, "-Xlog:os+thread=off"], **asked)
    with limit_tasks(100, store=Store(tmp_path / "state", None, tasks=controller_tree(TASKS))):
        found = Said(start(fewer))
        failed = start(words("java-threads", builds, **asked))
    started, tasks = found.value("started"), found.value("tasks")
    assert 0 < started < tasks == 100 and started > 50
    assert found.work == [10_007] and found.values["checksum"] == [expected_sum(10_007, 10)]
    # How many threads the JVM has of its own differs from start to start.
    told = re.match(r"threads: the system gave no more than (\d+) threads ", failed.stderr)
    assert failed.returncode == 69 and told and 50 < int(told[1]) < tasks


def test_priorities_tell_what_the_kernel_has(builds: Path) -> None:
    found = said("java-priorities", builds, priority=10, rivals="1,5", window_ms=30, iterations=1)
    assert found.work == [1]
    # Without -XX:ThreadPriorityPolicy a Java priority is nothing to the kernel; a thread has its starter's nice value.
    assert {*found.values["nice"], *found.values["rival_nice"]} == {os.getpriority(os.PRIO_PROCESS, 0)}
    assert len(found.values["rival_policy"]) == 2
    shares = found.values["share_percent"] + found.values["rival_share_percent"]
    assert sum(shares) == pytest.approx(100, abs=0.001)
    alone = said("java-priorities", builds, rivals="none", window_ms=10, iterations=1)
    assert alone.values["share_percent"] == [100]


@pytest.mark.parametrize("who", ["self", "child"])
def test_affinity_counts_sees_the_mask_and_inherits_it(builds: Path, who: str) -> None:
    found = said("affinity", builds, who=who, threads=3, units=100_001)
    assert found.work == [300_003, 300_003]
    assert found.values["visible_cpus"] == [N_CPUS] * 2
    assert found.values["online_cpus"] == [os.sysconf("SC_NPROCESSORS_ONLN")] * 2
    assert all(1 <= seen <= N_CPUS for seen in found.values["seen_cpus"])
    if shutil.which("taskset") is None:
        pytest.skip("needs taskset")
    cpu = min(os.sched_getaffinity(0))
    argv = ["taskset", "-c", cpu, f"{built('affinity', builds)}/main", f"who={who}", "threads=2", "units=1000"]
    inherited = Said(start(argv)).values
    assert [inherited[name] for name in ("visible_cpus", "seen_cpus", "busiest_percent")] == [[1], [1], [100]]


@pytest.mark.parametrize("n", [1, 300])
def test_descriptors_are_opened_and_counted(builds: Path, n: int) -> None:
    found = said("descriptors", builds, descriptors=n, threads=2)
    ((_, begin, end, work, _),) = found.iterations
    assert work == n and 0 < found.value("slowest_s") * 1e9 <= end - begin + 1000


ELEMENTS = {"n": 100, "q": 3, "prerun": 20, "iterations": 3}
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
    found = fork_join(**{**ELEMENTS, "version": version, "n": n, "q": q, "p": p})
    assert found.work == [n] * 3
    assert found.values["checksum"] == [xor_of_ends(n, q)]
    assert found.values["subtasks"] == [1 if version == "sequential" else leaves(n, max(1, n // (4 * p)))]


@pytest.mark.parametrize(
    ("version", "p"), [("sequential", 8), ("stream", 1), ("stream", 16), ("pool", 16), ("pool", 128)]
)
def test_the_trace_shows_each_subtask_on_a_worker(fork_join: Any, version: str, p: int) -> None:
    found = fork_join(**{**ELEMENTS, "version": version, "n": 3000, "p": p}).values
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
    found = fork_join(**{**ELEMENTS, "version": "stream", "n": 100_000, "q": 50, "p": 4 * n_cpus, "prerun": 30})
    # How many it starts is the scheduler's affair. A task that a client submits is counted as taken from its queue.
    assert 0 < found.value("workers") <= 4 * n_cpus
    assert found.value("steals") > 0
    alone = fork_join(**ELEMENTS, version="sequential", p=4 * n_cpus).values
    assert alone["workers"] == alone["steals"] == [0]
    assert alone["believed_cpus"] == [n_cpus] and alone["unit_ns"][0] > 0 and {"gc_ms", "jit_ms"} <= set(alone)


@VERSIONS
def test_shots_of_all_clients_together_in_order_of_completion(fork_join: Any, version: str) -> None:
    found = fork_join(**{**ELEMENTS, "version": version, "p": 2, "clients": 5, "iterations": 40, "think_ns": 100_000})
    assert len(found.iterations) == sum(found.values["client_shots"]) == 40
    ends = [end for _, _, end, _ in found.iterations]
    assert ends == sorted(ends)
    took_us = [(end - start) / 1e3 for _, start, end, _ in found.iterations]
    assert len(found.values["client_worst_us"]) == 5
    assert max(found.values["client_worst_us"]) == pytest.approx(max(took_us), abs=0.001)
    assert found.values["mean_us"] == [pytest.approx(sum(took_us) / 40, abs=0.001)]


def test_too_few_threads_are_one_sentence(builds: Path) -> None:
    many = {**ELEMENTS, "version": "pool", "n": 100_000, "p": 1024, "jvm_options": ["-Xmx64m", "-Xss512m"]}
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
