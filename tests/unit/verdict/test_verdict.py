"""What is judged of a run, why, and in which words."""

import random
import re
from typing import Any

import pytest

from scalograph.verdict.judge import Judgment, Requirements, judge
from scalograph.verdict.preemption import n_cpus
from tests.kit.records import placed, read, recorded

TWO, FOUR, SIXTEEN = (0, 1), (0, 1, 2, 3), tuple(range(16))
MS, S = 10**6, 10**9


def verdict_on(found: dict[str, Any], asked: Requirements | None = None) -> Judgment:
    return judge(read(found), asked)


def neighbor(name: str | None, seconds: float, **more: bool) -> dict[str, Any]:
    return {"pid": None if name is None else 7, "name": name, "taken_ns": round(seconds * S), **more}


def elsewhere(hog_s: float) -> dict[str, Any]:
    return recorded(
        1.0, 15.4, neighbor_s=0.3 + hog_s, cpus=SIXTEEN, neighbor_per_cpu_ns=[round(hog_s * S), *[20 * MS] * 15],
        neighbors=[neighbor("hog", hog_s), neighbor("kworker", 0.3, kernel=True)],
    )  # fmt: skip


@pytest.mark.parametrize(("found", "verdict"), [
    (recorded(), "clean"),
    (recorded(cpu_s=0.98, neighbor_s=0.0199), "clean"),
    (recorded(cpu_s=0.98, neighbor_s=0.02), "disturbed"),
    (recorded(neighbor_s=0.03, cpus=FOUR), "disturbed"),  # one thread: the other CPUs do not make it less
    (recorded(cpu_s=4.0, neighbor_s=0.03, cpus=FOUR), "clean"),  # 0.7% of what four threads wanted
    (recorded(cpu_s=0.002, neighbor_s=0.001), "clean"),  # it slept: a third of what it wanted, 0.1% of its time
    (recorded(steal_s=0.01), "clean"),  # it may be two ticks: less than 2% all the same
    (recorded(steal_s=0.02), "unverified"),  # it may be three
    (recorded(wall_s=0.2, cpu_s=0.2, steal_s=0.01), "unverified"),
    (recorded(steal_s=0.03), "disturbed"),
    (recorded(neighbor_s=None), "unverified"),
    (recorded(1.0, 1.2), "invalid"),
    (recorded(1.0, 1.2, cpus=TWO), "clean"),
    (recorded(status="timeout", reason="still running"), "failed"),
    (recorded(0.001, 0.02), "clean"),  # CPU time is counted in ticks: a short run may show two too many
    (recorded(0.0, 0.0), "clean"),
    (recorded(0.0, 1.0), "invalid"),
    (recorded(0.1, 1.0), "invalid"),
    (recorded(0.1, 1.0, tree_wall_ns=S), "clean"),  # CPU time of a tree that lives on has the whole time
    (recorded(wall_ns=None, cpu_ns=None), "unverified"),  # without any figures nothing can tell
    (recorded(memory_stall_ns=2**62), "invalid"),  # no stall is longer than the run
    (recorded(cpu_s=0.98, neighbor_s=0.03), "disturbed"),
    (recorded(cpu_s=0.98, neighbor_s=0.03, observer_ns=15 * MS), "clean"),  # the probe is no neighbor
    # What the probe used while threads waited keeps nobody out.
    (recorded(3.0, 5.7, cpus=TWO, machine_busy_ns=6 * S, wait_ns=10**12, observer_ns=250 * MS), "clean"),
    # Without switch records, the busy time bounds what others had: nobody used the CPU for long enough to matter,
    (recorded(4.0, 4.0, neighbor_s=None, machine_busy_ns=4 * S), "clean"),
    (recorded(1.0, 1.0, neighbor_s=None, machine_busy_ns=1 * S), "unverified"),  # two ticks are 2% of a second
    (recorded(4.0, 7.5, neighbor_s=None, cpus=TWO, machine_busy_ns=8 * S), "disturbed"),  # half a second is gone
    (recorded(4.0, 4.0, neighbor_s=None, cpus=TWO, machine_busy_ns=6 * S), "unverified"),  # it may run where we did not
    (recorded(3.0, 3.0, neighbor_s=None, machine_busy_ns=3 * S), "clean"),
    (recorded(3.0, 3.0, neighbor_s=None, machine_busy_ns=3 * S, n_survivors=1), "unverified"),  # it is no bound then
    (recorded(5.0, 4.0, neighbor_s=None, machine_busy_ns=4020 * MS), "clean"),
    (recorded(5.0, 4.0, neighbor_s=None, machine_busy_ns=4020 * MS, machine_memory_stall_ns=4900 * MS,
              machine_io_stall_ns=4900 * MS, memory_stall_ns=None, io_stall_ns=None), "unverified"),
    # A gang is held up by the member that has it worst.
    (recorded(cpu_s=16.0, neighbor_s=0.03, cpus=SIXTEEN), "clean"),
    (recorded(cpu_s=16.0, neighbor_s=0.03, cpus=SIXTEEN, neighbor_per_cpu_ns=[1_900_000] * 16), "clean"),
])  # fmt: skip
def test_verdicts(found: dict[str, Any], verdict: str) -> None:
    assert verdict_on(found).verdict == verdict


@pytest.mark.parametrize(("found", "judgment", "amount", "text"), [
    (recorded(cpu_s=0.75, neighbor_s=0.25, steal_s=0.25), "disturbed: neighbor, steal", [0.25, 0.25],
     "preempted by someone else for 25.0% of the CPU time that it wanted"),
    # A neighbor that was seen is told once.
    (recorded(3.0, 3.0, neighbor_s=2.0, cpus=TWO, machine_busy_ns=6 * S, wait_ns=3 * S), "disturbed: neighbor", ...,
     "preempted by …"),
    # The bound of a wait is rounded up.
    (recorded(2.0, 1.752, cpus=TWO, machine_busy_ns=4 * S, n_tasks=1, n_switches=5), "unverified: neighbor", 0.124,
     "… for at most 13% of …"),
    # What the hypervisor took while a program slept is no share of what it wanted.
    (recorded(2.0, 0.002, steal_s=0.05), "disturbed: steal", ...,
     "the hypervisor took its CPUs for 50 ms; it used them for 2 ms"),
    # A tick of steal is told as what it may be of a run that works, that sleeps, and that is shorter than a tick.
    (recorded(0.12, 0.119, steal_s=0.01), "unverified: steal", 0.02 / 0.139,
     "the hypervisor took the CPU for less than 15% of the CPU time that it wanted"),
    (recorded(0.2, 0.002, steal_s=0.01), "unverified: steal", 0.1,
     "the hypervisor took the CPU for less than 10% of its time"),
    (recorded(0.001, 0.001, steal_s=0.01), "unverified: steal", 0.02 / 0.021,
     "the hypervisor took the CPU for an unknown part of its 1 ms: that is counted in 10 ms"),
    (recorded(neighbor_s=None, degraded=[{"what": "switch records", "why": "too many", "fix": ""}]),
     "unverified: no switch records", None, "too many"),
    (recorded(neighbor_s=None, cpus=TWO, machine_busy_ns=1100 * MS), "unverified: no switch records", 0.14 / 1.14,
     "…others used the CPUs for less than 13% of the CPU time that it wanted"),
    # A neighbor has a name, unless it is small; threads of the kernel are none, and leave it open.
    (recorded(cpu_s=0.75, neighbor_s=0.25, neighbors=[neighbor("cc1", 0.2), neighbor("ld", 0.03),
              neighbor("kswapd0", 0.01, kernel=True), neighbor(None, 0.01)]), "disturbed: neighbor", ...,
     "preempted by cc1 and ld for 24.2%…"),
    (recorded(cpu_s=0.8, neighbor_s=0.2, neighbors=[neighbor(None, 0.2), neighbor("cron", 0.001)]),
     "disturbed: neighbor", ..., "preempted by processes that have ended for…"),
    (recorded(cpu_s=0.9, neighbor_s=0.1, neighbors=[neighbor("kworker/0:1", 0.095, kernel=True)]),
     "unverified: kernel threads", ..., "kworker/0:1 had 9.5%…"),
    # Only what the probe itself took is not a neighbor's; a probe that is in the way says so.
    (recorded(cpu_s=0.94, neighbor_s=0.06, neighbors=[neighbor("cc1", 0.05), neighbor("probe", 0.01, observer=True)],
              observer_ns=60 * MS), "disturbed: neighbor", ..., "preempted by cc1 for 5.1%…"),
    (recorded(cpu_s=0.9, neighbor_s=0.1, neighbors=[neighbor("probe", 0.1, observer=True)]), "disturbed: observer",
     ..., "…"),
    (recorded(4.0, 2.0, neighbor_s=None, steal_s=0.3, machine_busy_ns=3700 * MS), "disturbed: steal, neighbor",
     ..., "…"),
    (recorded(cpu_s=16.0, neighbor_s=0.03, cpus=SIXTEEN, neighbor_per_cpu_ns=[0] * 15 + [30 * MS]),
     "disturbed: neighbor", 0.03, "one CPU was taken by someone else for 3.0% of its time…"),
    # Without a group of its own, its stalls leave it open; so do a file system's own writes.
    (recorded(machine_io_stall_ns=50 * MS, io_stall_ns=None), "unverified: I/O pressure", 0.05, "…"),
    (recorded(machine_io_stall_ns=5 * MS, io_stall_ns=None), "clean: ", None, ""),
    (recorded(io_stall_ns=80 * MS, disk_bytes=4_000_000, n_blocks_out=2400), "unverified: I/O", ...,
     "…the machine moved 4.0 MB, its own reads and writes were 1.2 MB…"),
    # What services wrote is not counted, and so no neighbor's.
    (recorded(io_stall_ns=80 * MS, disk_bytes=900_000_000, n_blocks_in=None, n_blocks_out=None), "unverified: I/O",
     ..., "…the machine moved 900.0 MB, its own reads and writes were not counted…"),
    (recorded(n_lost_records=5), "unverified: no switch records", ..., "…dropped 5 records…"),
    # Kernel threads elsewhere hide no neighbor on one CPU.
    (elsewhere(0.3), "unverified: neighbor", 0.3, "one CPU was taken by hog for 30% of its time at most"),
    (elsewhere(0.015), "clean: ", None, ""),
    # Of one task, the time off its CPU bounds the wait: a program that works all the time is clean beside others.
    (recorded(2.0, 1.99, cpus=TWO, machine_busy_ns=4 * S, n_tasks=1, n_switches=5), "clean: ", None, ""),
    (recorded(2.0, 1.7, cpus=TWO, machine_busy_ns=4 * S, n_tasks=1, n_switches=5), "unverified: neighbor", 0.15, "…"),
    (recorded(14.0, values={"requests": [1000], "rate": [100.0], "mean_ns": [40e6], "in_flight": [6.0]}),
     "invalid: Little's law", 1 / 3, "6 requests were in flight, but rate times time is 4…"),
])  # fmt: skip
def test_what_is_told_of_a_run(found: dict[str, Any], judgment: str, amount: Any, text: str) -> None:
    """An amount of ... is not looked at; … stands for any words."""
    judged = verdict_on(found)
    amounts, texts = [cause.amount for cause in judged.causes], [cause.text for cause in judged.causes]
    assert f"{judged.verdict}: {', '.join(cause.cause for cause in judged.causes)}" == judgment
    assert amount is ... or (amounts if isinstance(amount, list) else [*amounts, None][0]) == pytest.approx(amount)
    assert re.fullmatch(".*".join(map(re.escape, text.split("…"))), [*texts, ""][0]), texts


@pytest.mark.parametrize(("figures", "cause"), [
    ({"throttled_ns": 25 * MS}, "quota"),
    ({"throttled_ns": 15 * MS}, None),
    ({"memory_stall_ns": 20 * MS}, "memory pressure"),
    ({"memory_stall_ns": 19 * MS}, None),
    ({"machine_memory_stall_ns": 900 * MS, "memory_stall_ns": 0}, None),  # others stood still
    ({"io_stall_ns": 30 * MS, "disk_bytes": 100_000_000, "n_blocks_in": 10_000}, "I/O"),
    ({"io_stall_ns": 30 * MS, "disk_bytes": 1_000_000, "n_blocks_in": 1953}, None),  # its own reading
    ({"io_stall_ns": 30 * MS, "disk_bytes": None}, None),
    ({"thermal_ns": 40 * MS}, "heat"),
    ({"stopped_ns": 300 * MS}, "stopped"),
    ({"n_swapped_in": 500, "n_major_faults": 40, "memory_stall_ns": 50 * MS}, "memory pressure"),
    ({"n_swapped_in": 500, "n_major_faults": 40}, "swap"),
    ({"n_swapped_in": 500, "n_major_faults": 2}, None),
    ({"clock_step_ns": -3600 * S}, "clock"),
    ({"clock_step_ns": 40 * MS}, "clock"),
    ({"clock_step_ns": 300_000}, None),
    ({"clock_source_changed": True}, "clock"),
    ({"asleep_ns": 5 * S}, "suspend"),
    ({"asleep_ns": 800}, None),
    ({"frequency_hz": 800_000_000}, None),
])  # fmt: skip
def test_what_else_holds_up_a_run(figures: dict[str, Any], cause: str | None) -> None:
    judged = verdict_on(recorded(**figures))
    assert judged.verdict == ("disturbed" if cause else "clean")
    assert not cause or judged.causes[0].cause == cause


@pytest.mark.parametrize(("worst_s", "verdict", "units"), [(0.01, "clean", []), (0.03, "disturbed", ["of time"])])
def test_steal_of_one_cpu_holds_up_the_rest(worst_s: float, verdict: str, units: list[str]) -> None:
    # Less than 1% of what four threads wanted.
    judged = verdict_on(recorded(cpu_s=4.0, steal_s=worst_s, cpus=FOUR, worst_steal_ns=int(worst_s * S)))
    assert (judged.verdict, [cause.unit for cause in judged.causes]) == (verdict, units)


@pytest.mark.parametrize(("busy_s", "cpu_s", "wait_s", "verdict"), [
    (6.0, 3.0, 3.0, "disturbed"),  # two threads shared one CPU throughout, and somebody had the other
    (6.0, 3.0, 0.0, "clean"),  # one thread, which waited for nobody
    (6.0, 5.95, 900.0, "clean"),  # hundreds of threads, which wait for each other
    (4.5, 4.0, 1.0, "unverified"),  # a CPU was idle at times: nobody knows whether it waited for that
    (6.0, 5.7, 900.0, "unverified"),  # the kernel may have done so much for it
])  # fmt: skip
def test_a_neighbor_that_preempts_nobody_keeps_out(busy_s: float, cpu_s: float, wait_s: float, verdict: str) -> None:
    found = recorded(3.0, cpu_s, cpus=TWO, machine_busy_ns=round(busy_s * S), wait_ns=round(wait_s * S))
    judged = verdict_on(found)
    assert judged.verdict == verdict
    assert [cause.cause for cause in judged.causes] == ([] if verdict == "clean" else ["neighbor"])
    found["run"]["machine_busy_ns"] = None
    assert verdict_on(found).verdict == "clean"


def served(taken_s: float, wait_s: float = 0.125, window_s: float = 5.0, cpu_s: float = 0.168, **more: Any) -> Any:
    """A server that a lock limits, and its driver, on two CPUs that others keep busy, as it was recorded."""
    figures = {"cpus": TWO, "machine_busy_ns": 16200 * MS, "n_tasks": 46, "wait_scope": "preemption and wakeup", **more}
    windows = [(window_s, cpu_s, 244)] if isinstance(window_s, float) else window_s
    return recorded(8.1, cpu_s, neighbor_s=taken_s, wait_ns=round(wait_s * S), iterations=windows, **figures)


@pytest.mark.parametrize(("found", "judgment"), [
    # 48.7 requests/s as on a quiet machine: a quarter of what it wanted is 1.3 % of what was measured.
    (served(0.0666), "unverified: neighbor 0.025 of time, at most"),
    (served(0.0853, 0.0853), "clean"),
    (served(0.099, 0.099), "clean"),
    (served(0.101, 0.101), "disturbed: neighbor 0.375 of wanted"),  # 2 % of its window
    (served(0.0666, 0.55), "disturbed: neighbor 0.110 of time"),  # a tenth of its window
    # What leaves no CPU free, slept unseen, or was measured for less, wants its CPU time.
    (served(0.0666, cpus=(0,), machine_busy_ns=8100 * MS), "disturbed: neighbor 0.284 of wanted"),
    (served(0.2, 0.2, cpu_s=8.0), "disturbed: neighbor 0.024 of wanted"),
    (served(0.0666, wait_scope="preemption"), "disturbed: neighbor 0.284 of wanted"),
    (served(0.0666, window_s=1.0), "disturbed: neighbor 0.284 of wanted"),
    # A tick or four of steal, mostly while it slept.
    (served(0.0, 0.0, steal_ns=20 * MS), "clean"),
    (served(0.0, 0.0, steal_ns=40 * MS), "clean"),
    (served(0.0, 0.0, steal_ns=110 * MS), "disturbed: steal 0.396 of wanted"),
])  # fmt: skip
def test_what_is_taken_from_a_run_that_leaves_a_cpu_free(found: dict[str, Any], judgment: str) -> None:
    judged = verdict_on(found)
    causes = [f"{cause.cause} {cause.amount:.3f} {cause.unit}" for cause in judged.causes if cause.amount is not None]
    assert ": ".join([judged.verdict, *causes]) == judgment


def test_a_server_that_lost_2_percent_of_its_rate_is_never_clean() -> None:
    """Requests hold a lock for 20 ms, one after the other; others take the CPU from some of their holders."""
    rng, verdicts = random.Random(5), list[str]()
    for _ in range(300):
        wait_s, share, window_s = rng.choice((0.0002, 0.001, 0.01, 0.05)), rng.random(), 5.0
        at, taken_s, n = 0.0, 0.0, 0
        while at < window_s:
            waited = rng.expovariate(1 / wait_s) if rng.random() < share else 0.0
            at, taken_s, n = at + 0.02 + waited, taken_s + waited, n + 1
        lost = 1 - n * 0.02 / at
        verdicts.append(verdict_on(served(taken_s, taken_s, cpu_s=0.0007 * n)).verdict)
        assert lost < 0.02 or verdicts[-1] == "disturbed"
    assert {*verdicts} == {"clean", "disturbed"} and verdicts.count("clean") > 50


def test_windows_that_overlap_are_measured_once() -> None:
    found = served(0.0666, 0.0666)
    (part,) = found["iterations"]
    clients = {**part, "index": [0, 1, 2], "start_ns": [0, 0, S], "end_ns": [S, S, 2 * S]} | {
        name: part[name] * 3 for name in ("work", "cpu_ns")
    }
    assert verdict_on({**found, "iterations": [clients]}).verdict == "disturbed"  # 3 % of two seconds


@pytest.mark.parametrize(("busy_s", "figures", "verdict"), [
    (4, {"n_tasks": 1, "n_switches": 40}, "unverified"),  # it slept, and whoever woke it may have kept it waiting
    (4, {"n_tasks": 5, "n_switches": 0}, "unverified"),  # children wait for their first CPU, too
    (4, {"n_tasks": 1, "n_switches": 3, "n_preemptions": 3}, "clean"),  # it never slept
    (4, {"n_tasks": 1, "n_switches": 40, "wait_scope": "preemption and wakeup"}, "clean"),  # such waits are seen
    (3, {"n_tasks": 1, "n_switches": 40}, "clean"),  # a CPU was idle at times, which it would have had
])  # fmt: skip
def test_a_wait_after_sleep_beside_others(busy_s: int, figures: dict[str, Any], verdict: str) -> None:
    judged = verdict_on(recorded(2.0, 0.5, cpus=TWO, machine_busy_ns=busy_s * S, **figures))
    assert judged.verdict == verdict
    if verdict == "unverified":
        (cause,) = judged.causes
        assert (cause.cause, cause.unit.endswith("at most")) == ("neighbor", True)
        assert cause.text.startswith("others kept its CPUs busy; after sleeping it may have waited for at most ")


@pytest.mark.parametrize(("n", "asked", "verdict"), [
    (3, Requirements(3, windows=True), "clean"),
    (2, Requirements(3, windows=True), "failed"),
    (4, Requirements(3, windows=False), "failed"),
    (0, Requirements(3, windows=True), "failed"),
    (0, Requirements(3, windows=False), "clean"),
    (0, Requirements(1, windows=True), "clean"),  # a program without events: the run is the iteration
    (2, Requirements(20, windows=True), "failed"),
])  # fmt: skip
def test_a_run_that_did_not_do_what_was_asked_has_failed(n: int, asked: Requirements, verdict: str) -> None:
    judged = verdict_on(recorded(iterations=[(0.1, 0.1, 5)] * n), asked)
    assert judged.verdict == verdict
    if n == 2:
        assert [cause.text for cause in judged.causes] == [f"reported 2 of {asked.iterations} iterations"]


@pytest.mark.parametrize(("ended_s", "cpus", "verdict"), [
    (0.9, (0,), "clean"), (0.5, (0,), "invalid"), (0.5, (0, 1), "clean"),
])  # fmt: skip
def test_a_copy_cannot_end_sooner_than_its_cpu_time_allows(ended_s: float, cpus: tuple[int, ...], verdict: str) -> None:
    found = recorded(1.0, 0.9, cpus=TWO)
    short = {**found["copies"][0], "copy": 1, "user_ns": 900 * MS, "system_ns": 10 * MS, "end_ns": round(ended_s * S)}
    found["copies"].append({**short, "in_force": {**short["in_force"], "cpus": list(cpus)}})
    judged = verdict_on(found)
    assert judged.verdict == verdict
    if verdict == "invalid":
        assert judged.causes[0].text == "copy 1 ended after 0.5 s on 1 CPUs, with 0.91 s of CPU time"


def test_a_copy_that_never_ran_says_nothing_of_its_time() -> None:
    found = recorded()
    found["copies"][0] |= {"start_ns": None, "end_ns": None, "in_force": None, "user_ns": 10**12}
    assert verdict_on(found).verdict == "clean"


@pytest.mark.parametrize(("changes", "is_asked", "verdict"), [
    ({"start_ns": [0, 5], "end_ns": [5, 9]}, False, "clean"),
    # Windows lie within the life of their copy.
    ({"start_ns": [0, 5], "end_ns": [5, 1000]}, False, "invalid"),
    ({"start_ns": [5, 9], "end_ns": [0, 5]}, False, "invalid"),
    ({"start_ns": [-9, 0], "end_ns": [0, 5]}, False, "invalid"),
    # Iterations are numbered one after the other.
    ({}, True, "clean"),
    ({"index": [0, 0]}, True, "failed"),
])  # fmt: skip
def test_windows_and_numbers_of_iterations(changes: dict[str, list[int]], is_asked: bool, verdict: str) -> None:
    found = recorded(iterations=[(0.1, 0.1, 1), (0.1, 0.1, 1)])
    scale = {"start_ns": 100 * MS, "end_ns": 100 * MS}
    found["iterations"][0] |= {name: [x * scale.get(name, 1) for x in values] for name, values in changes.items()}
    assert verdict_on(found, Requirements(2, windows=True) if is_asked else None).verdict == verdict


def tasks(n: int, each_s: float, steal_s: float) -> dict[str, Any]:
    """A run of 2 s with so many windows in its first part."""
    return recorded(2.0, 0.5, steal_s=steal_s, cpus=TWO, iterations=[(each_s, each_s, 1)] * n)


@pytest.mark.parametrize(("found", "asks", "verdict"), [
    (tasks(100, 0.001, 0.1), True, "unverified"),  # 5% of the time is measured: the rest is pauses
    (tasks(100, 0.003, 0.1), True, "disturbed"),  # 15% of it
    (tasks(10, 0.001, 0.1), True, "disturbed"),  # of ten, one that was hit may be the median's neighbor
    (tasks(100, 0.001, 0.1), False, "disturbed"),  # the whole run is what is asked about
    (tasks(100, 0.001, 0.0), True, "clean"),
    (tasks(100, 0.001, 1.5), True, "disturbed"),  # three quarters of what it wanted: no window was spared
])  # fmt: skip
def test_what_was_taken_from_short_tasks_with_long_pauses(found: dict[str, Any], asks: bool, verdict: str) -> None:
    judged = verdict_on(found, Requirements(len(found["iterations"][0]["index"]), asks))
    assert judged.verdict == verdict
    if verdict == "unverified":
        assert judged.causes[0].text.startswith("its windows cover 5.0% of its time; in them or between them: ")
        assert judged.causes[0].cause == "steal"


def test_a_copy_that_reports_nothing_beside_one_that_does_has_failed() -> None:
    found = recorded(iterations=[(0.5, 0.5, 1), (0.5, 0.5, 1)])
    asked = Requirements(2, windows=True)
    assert verdict_on(found, asked).verdict == "clean"
    found["copies"].append({**found["copies"][0], "copy": 1})
    judged = verdict_on(found, asked)
    assert judged.verdict == "failed" and judged.causes[0].text.startswith("copy 1 reported no iteration of 2")
    found["copies"][1]["command"] = 1
    assert verdict_on(found, asked).verdict == "clean", "another command may report nothing"


def ran(outside_s: float | None, *per_cpu_s: float, changed: dict[str, Any] | None = None) -> dict[str, Any]:
    """A run that was given CPU 0."""
    outside_ns = None if outside_s is None else round(outside_s * 1e9)
    found = recorded(cpu_s=sum(per_cpu_s), per_cpu_s=per_cpu_s, outside_ns=outside_ns)
    found["copies"][0]["changed"] = changed
    return found


@pytest.mark.parametrize(("found", "verdict"), [
    (ran(0.0, 1.0, 0.0, changed={}), "clean"),
    (ran(0.07, 0.001, 0.07, changed={"cpus": [1]}), "failed"),
    (ran(0.02, 0.98, 0.02, changed={}), "failed"),  # a child that went elsewhere
    (ran(0.019, 0.98, 0.019, changed={}), "clean"),
    (ran(0.00005, 0.0001, 0.00005, changed={}), "clean"),  # nobody's decision is so short
    (ran(0.0, 1.0, 0.0, changed={"cpus": [1]}), "clean"),  # it went there to end
    (ran(None, 1.0, changed={"cpus": [0, 1]}), "failed"),  # nobody saw where it was
    (ran(None, 1.0, changed={"nice": 5}), "clean"),
    (ran(None, 1.0), "clean"),  # of a probe that does not ask
    (ran(1.0, 1.0, 1.0, changed={"cpus": [0, 1]}), "failed"),  # impossible on one CPU, and known why
])  # fmt: skip
def test_what_ran_outside_its_cpus_is_not_believed(found: dict[str, Any], verdict: str) -> None:
    assert verdict_on(found).verdict == verdict


def test_the_share_and_the_mask_are_told_of_runs_alike_alike() -> None:
    (cause,) = verdict_on(ran(0.07, 0.001, 0.07, changed={"cpus": [1]})).causes
    assert (cause.cause, round(cause.amount or 0, 3), cause.unit) == ("left its CPUs", 0.986, "of CPU time")
    told = "at least 90% of its CPU time was not on CPU 0, which it was given; its mask was CPU 1 at its end"
    assert cause.text == told
    texts = {verdict_on(ran(share, 1 - share, share, changed={})).causes[0].text for share in (0.91, 0.95, 0.99)}
    assert len(texts) == 1


def test_a_copy_may_use_the_cpus_of_another() -> None:
    assert n_cpus(placed({"cpus": [0]}, {"cpus": [3]})) == 2, "those of all copies together"
    found = ran(None, 1.0, changed={"cpus": [1]})
    in_force = {**found["copies"][0]["in_force"], "cpus": [1]}
    found["copies"].append({**found["copies"][0], "copy": 1, "in_force": in_force, "changed": {}})
    assert verdict_on(found).verdict == "clean"


@pytest.mark.parametrize(("outside_s", "told"), [(None, "left its CPUs"), (0.0, "CPU seconds")])
def test_more_cpu_time_than_there_was_names_what_may_be_behind_it(outside_s: float | None, told: str) -> None:
    judged = verdict_on(ran(outside_s, 1.5))
    assert judged.verdict == "invalid" and told in judged.causes[0].text


@pytest.mark.parametrize(("quota", "containment", "verdict"), [
    (0.5, "cgroup", "failed"), (None, "cgroup", "clean"), (0.5, "namespace", "clean"),
])  # fmt: skip
def test_who_leaves_the_cgroup_leaves_the_quota(quota: float | None, containment: str, verdict: str) -> None:
    left = {"what": "cgroup leaf", "why": "processes left it", "fix": "start no container"}
    found = recorded(degraded=[left], quota_cpus=quota)
    found["header"]["containment"] = containment
    assert verdict_on(found).verdict == verdict
