from typing import Any

import pytest

from scalograph.verdict.judge import Judgment, Requirements, judge
from scalograph.verdict.saturation import n_cpus
from tests.kit.records import read, recorded

FOUR = (0, 1, 2, 3)


def verdict_on(found: dict[str, Any], asked: Requirements | None = None) -> Judgment:
    return judge(read(found), asked)


def busy(seconds: float, found: dict[str, Any]) -> dict[str, Any]:
    found["run"]["machine_busy_ns"] = round(seconds * 1e9)
    return found


@pytest.mark.parametrize(("found", "verdict"), [
    (recorded(), "clean"),
    (recorded(cpu_s=0.98, neighbor_s=0.0199), "clean"),
    (recorded(cpu_s=0.98, neighbor_s=0.02), "disturbed"),
    (recorded(neighbor_s=0.03, cpus=FOUR), "disturbed"),  # one thread: the other CPUs do not make it less
    (recorded(cpu_s=4.0, neighbor_s=0.03, cpus=FOUR), "clean"),  # 0.7 % of what four threads wanted
    (recorded(cpu_s=0.002, neighbor_s=0.001), "clean"),  # it slept: a third of what it wanted, 0.1 % of its time
    (recorded(steal_s=0.01), "clean"),  # it may be two ticks: less than 2 % all the same
    (recorded(steal_s=0.02), "unverified"),  # it may be three
    (recorded(wall_s=0.2, cpu_s=0.2, steal_s=0.01), "unverified"),
    (recorded(steal_s=0.03), "disturbed"),
    (recorded(neighbor_s=None), "unverified"),
    (recorded(1.0, 1.2), "invalid"),
    (recorded(1.0, 1.2, cpus=(0, 1)), "clean"),
    (recorded(status="timeout", reason="still running"), "failed"),
    (recorded(0.001, 0.02), "clean"),  # CPU time is counted in ticks: a short run may show two too many
    (recorded(0.0, 0.0), "clean"),
    (recorded(0.0, 1.0), "invalid"),
])  # fmt: skip
def test_verdicts(found: dict[str, Any], verdict: str) -> None:
    assert verdict_on(found).verdict == verdict


def test_each_cause_has_its_amount_and_words() -> None:
    causes = verdict_on(recorded(cpu_s=0.75, neighbor_s=0.25, steal_s=0.25)).causes
    assert [(c.cause, c.amount) for c in causes] == [("neighbor", 0.25), ("steal", 0.25)]
    assert causes[0].text == "preempted by someone else for 25.0 % of the CPU time that it wanted"


@pytest.mark.parametrize(("worst_s", "verdict"), [(0.01, "clean"), (0.03, "disturbed")])
def test_steal_of_one_cpu_holds_up_the_rest(worst_s: float, verdict: str) -> None:
    found = recorded(cpu_s=4.0, steal_s=worst_s, cpus=FOUR)  # less than 1 % of what four threads wanted
    found["run"]["worst_steal_ns"] = int(worst_s * 1e9)
    judged = verdict_on(found)
    assert judged.verdict == verdict
    assert [c.unit for c in judged.causes] == (["of time"] if verdict == "disturbed" else [])


@pytest.mark.parametrize(("busy_s", "cpu_s", "wait_s", "verdict"), [
    (6.0, 3.0, 3.0, "disturbed"),  # two threads shared one CPU throughout, and somebody had the other
    (6.0, 3.0, 0.0, "clean"),  # one thread, which waited for nobody
    (6.0, 5.95, 900.0, "clean"),  # hundreds of threads, which wait for each other
    (4.5, 4.0, 1.0, "unverified"),  # a CPU was idle at times: nobody knows whether it waited for that
    (6.0, 5.7, 900.0, "unverified"),  # the kernel may have done so much for it
])  # fmt: skip
def test_a_neighbor_that_preempts_nobody_keeps_out(busy_s: float, cpu_s: float, wait_s: float, verdict: str) -> None:
    found = busy(busy_s, recorded(3.0, cpu_s, cpus=(0, 1)))
    found["run"]["wait_ns"] = round(wait_s * 1e9)
    judged = verdict_on(found)
    assert judged.verdict == verdict
    assert [c.cause for c in judged.causes] == ([] if verdict == "clean" else ["neighbor"])
    found["run"]["machine_busy_ns"] = None
    assert verdict_on(found).verdict == "clean"


def test_a_neighbor_that_was_seen_is_told_once() -> None:
    found = busy(6.0, recorded(3.0, 3.0, neighbor_s=2.0, cpus=(0, 1)))
    found["run"]["wait_ns"] = 3 * 10**9
    (told,) = verdict_on(found).causes
    assert told.text.startswith("preempted by ")


@pytest.mark.parametrize(("busy_s", "figures", "verdict"), [
    (4.0, {"n_tasks": 1, "n_switches": 40}, "unverified"),  # it slept, and whoever woke it may have kept it waiting
    (4.0, {"n_tasks": 5, "n_switches": 0}, "unverified"),  # children wait for their first CPU, too
    (4.0, {"n_tasks": 1, "n_switches": 3, "n_preemptions": 3}, "clean"),  # it never slept
    (4.0, {"n_tasks": 1, "n_switches": 40, "wait_scope": "preemption and wakeup"}, "clean"),  # such waits are seen
    (3.0, {"n_tasks": 1, "n_switches": 40}, "clean"),  # a CPU was idle at times, which it would have had
])  # fmt: skip
def test_a_wait_after_sleep_that_no_record_shows_leaves_it_open_on_cpus_that_others_fill(
    busy_s: float, figures: dict[str, Any], verdict: str
) -> None:
    judged = verdict_on(with_figures(busy(busy_s, recorded(2.0, 0.5, cpus=(0, 1))), **figures))
    assert judged.verdict == verdict
    if verdict == "unverified":
        (cause,) = judged.causes
        assert (cause.cause, cause.unit.endswith("at most")) == ("neighbor", True)
        assert cause.text.startswith("others kept its CPUs busy; after sleeping it may have waited for at most ")


def test_a_task_that_slept_for_a_moment_waited_no_longer() -> None:
    """Of one task, the time off its CPU bounds the wait: a program that works all the time is clean beside others."""
    for cpu_s, verdict in ((1.99, "clean"), (1.7, "unverified")):
        found = with_figures(busy(4.0, recorded(2.0, cpu_s, cpus=(0, 1))), n_tasks=1, n_switches=5)
        assert verdict_on(found).verdict == verdict
    assert verdict_on(with_figures(found, n_tasks=1)).causes[0].amount == pytest.approx(0.15)


def test_a_bound_of_a_wait_is_rounded_up() -> None:
    (cause,) = verdict_on(with_figures(busy(4.0, recorded(2.0, 1.752, cpus=(0, 1))), n_tasks=1, n_switches=5)).causes
    assert cause.amount == pytest.approx(0.124) and "for at most 13 % of " in cause.text


def test_what_the_hypervisor_took_while_a_program_slept_is_no_share_of_what_it_wanted() -> None:
    (cause,) = verdict_on(recorded(2.0, 0.002, steal_s=0.05)).causes
    assert cause.text == "the hypervisor took its CPUs for 50 ms; it used them for 2 ms"


@pytest.mark.parametrize(("wall_s", "cpu_s", "amount", "text"), [
    (0.12, 0.119, 0.02 / 0.139, "for less than 15 % of the CPU time that it wanted"),
    (0.2, 0.002, 0.1, "for less than 10 % of its time"),  # it slept: a share of what it wanted tells nothing
    (0.001, 0.001, 0.02 / 0.021, "for an unknown part of its 1 ms: that is counted in 10 ms"),
], ids=["works", "sleeps", "shorter than a tick"])  # fmt: skip
def test_a_tick_of_steal_is_told_as_what_it_may_be_of_the_run(
    wall_s: float, cpu_s: float, amount: float, text: str
) -> None:
    (cause,) = verdict_on(recorded(wall_s, cpu_s, steal_s=0.01)).causes
    assert cause.amount == pytest.approx(amount) and cause.text == f"the hypervisor took the CPU {text}"


def test_what_the_probe_used_while_threads_waited_keeps_nobody_out() -> None:
    found = busy(6.0, recorded(3.0, 5.7, cpus=(0, 1)))
    found["run"].update(wait_ns=10**12, observer_ns=250_000_000)
    assert verdict_on(found).verdict == "clean"


def test_the_probe_is_no_neighbor() -> None:
    found = recorded(cpu_s=0.98, neighbor_s=0.03)
    assert verdict_on(found).verdict == "disturbed"
    found["run"]["observer_ns"] = 15_000_000
    assert verdict_on(found).verdict == "clean"


def test_an_undecided_run_says_why() -> None:
    found = recorded(neighbor_s=None)
    found["run"]["degraded"] = [{"what": "switch records", "why": "too many", "fix": ""}]
    assert verdict_on(found).causes[0].text == "too many"


@pytest.mark.parametrize(("found", "verdict"), [
    (busy(4.0, recorded(4.0, 4.0, neighbor_s=None)), "clean"),  # nobody else used the CPU for long enough to matter
    (busy(1.0, recorded(1.0, 1.0, neighbor_s=None)), "unverified"),  # two ticks are 2 % of a second
    (busy(8.0, recorded(4.0, 7.5, neighbor_s=None, cpus=(0, 1))), "disturbed"),  # never idle, half a second gone
    (busy(6.0, recorded(4.0, 4.0, neighbor_s=None, cpus=(0, 1))), "unverified"),  # it may have run where we did not
])  # fmt: skip
def test_without_switch_records_the_busy_time_bounds_what_others_had(found: dict[str, Any], verdict: str) -> None:
    assert verdict_on(found).verdict == verdict


def test_an_undecided_run_says_below_what() -> None:
    (cause,) = verdict_on(busy(1.1, recorded(1.0, 1.0, neighbor_s=None, cpus=(0, 1)))).causes
    assert cause.amount == pytest.approx(0.14 / 1.14)
    assert cause.text.endswith("others used the CPUs for less than 13 % of the CPU time that it wanted")


def test_cpu_time_of_a_tree_that_lives_on_has_the_whole_time() -> None:
    found = recorded(0.1, 1.0)
    assert verdict_on(found).verdict == "invalid"
    found["run"]["tree_wall_ns"] = 1_000_000_000
    assert verdict_on(found).verdict == "clean"


@pytest.mark.parametrize(("n", "asked", "verdict"), [
    (3, Requirements(3, windows=True), "clean"),
    (2, Requirements(3, windows=True), "failed"),
    (4, Requirements(3, windows=False), "failed"),
    (0, Requirements(3, windows=True), "failed"),
    (0, Requirements(3, windows=False), "clean"),
    (0, Requirements(1, windows=True), "clean"),  # a program without events: the run is the iteration
])  # fmt: skip
def test_a_run_that_did_not_do_what_was_asked_has_failed(n: int, asked: Requirements, verdict: str) -> None:
    found = recorded(1.0, 1.0, iterations=[(0.1, 0.1, 5)] * n)
    assert verdict_on(found, asked).verdict == verdict


def test_it_says_how_many_iterations_there_were() -> None:
    (cause,) = verdict_on(recorded(iterations=[(0.1, 0.1, 5)] * 2), Requirements(20, windows=True)).causes
    assert cause.text == "reported 2 of 20 iterations"


def test_cpus_are_those_of_all_copies_together() -> None:
    found = recorded(cpus=(0,))
    found["copies"].append(
        {**found["copies"][0], "copy": 1, "in_force": {**found["copies"][0]["in_force"], "cpus": [3]}}
    )
    assert n_cpus(read(found)) == 2


def with_figures(found: dict[str, Any], **figures: Any) -> dict[str, Any]:
    found["run"] |= figures
    return found


def neighbor(name: str | None, seconds: float, kernel: bool = False) -> dict[str, Any]:
    return {"pid": None if name is None else 7, "name": name, "kernel": kernel, "taken_ns": round(seconds * 1e9)}


@pytest.mark.parametrize(("figures", "cause"), [
    ({"throttled_ns": 25_000_000}, "quota"),
    ({"throttled_ns": 15_000_000}, None),
    ({"memory_stall_ns": 20_000_000}, "memory pressure"),
    ({"memory_stall_ns": 19_000_000}, None),
    ({"machine_memory_stall_ns": 900_000_000, "memory_stall_ns": 0}, None),  # others stood still
    ({"io_stall_ns": 30_000_000, "disk_bytes": 100_000_000, "n_blocks_in": 10_000}, "I/O"),
    ({"io_stall_ns": 30_000_000, "disk_bytes": 1_000_000, "n_blocks_in": 1953}, None),  # its own reading
    ({"io_stall_ns": 30_000_000, "disk_bytes": None}, None),
    ({"thermal_ns": 40_000_000}, "heat"),
    ({"stopped_ns": 300_000_000}, "stopped"),
    ({"n_swapped_in": 500, "n_major_faults": 40, "memory_stall_ns": 50_000_000}, "memory pressure"),
    ({"n_swapped_in": 500, "n_major_faults": 40}, "swap"),
    ({"n_swapped_in": 500, "n_major_faults": 2}, None),
    ({"clock_step_ns": -3_600_000_000_000}, "clock"),
    ({"clock_step_ns": 40_000_000}, "clock"),
    ({"clock_step_ns": 300_000}, None),
    ({"clock_source_changed": True}, "clock"),
    ({"asleep_ns": 5_000_000_000}, "suspend"),
    ({"asleep_ns": 800}, None),
    ({"frequency_hz": 800_000_000}, None),
])  # fmt: skip
def test_what_else_holds_up_a_run(figures: dict[str, Any], cause: str | None) -> None:
    judgment = verdict_on(with_figures(recorded(), **figures))
    assert judgment.verdict == ("disturbed" if cause else "clean")
    assert not cause or judgment.causes[0].cause == cause


def test_without_a_group_of_its_own_the_stalls_of_the_machine_leave_it_open() -> None:
    judgment = verdict_on(with_figures(recorded(), machine_io_stall_ns=50_000_000, io_stall_ns=None))
    assert (judgment.verdict, judgment.causes[0].amount) == ("unverified", 0.05)
    assert verdict_on(with_figures(recorded(), machine_io_stall_ns=5_000_000, io_stall_ns=None)).verdict == "clean"


def test_a_neighbor_has_a_name() -> None:
    taken = [neighbor("cc1", 0.2), neighbor("ld", 0.03), neighbor("kswapd0", 0.01, kernel=True), neighbor(None, 0.01)]
    judgment = verdict_on(with_figures(recorded(cpu_s=0.75, neighbor_s=0.25), neighbors=taken))
    assert judgment.causes[0].text.startswith("preempted by cc1 and ld for 24.2 %")


def test_threads_of_the_kernel_are_no_neighbors_and_leave_it_open() -> None:
    found = with_figures(recorded(cpu_s=0.9, neighbor_s=0.1), neighbors=[neighbor("kworker/0:1", 0.095, kernel=True)])
    judgment = verdict_on(found)
    assert (judgment.verdict, judgment.causes[0].cause) == ("unverified", "kernel threads")
    assert judgment.causes[0].text.startswith("kworker/0:1 had 9.5 %")


def test_a_gang_is_held_up_by_the_member_that_has_it_worst() -> None:
    found = recorded(cpu_s=16.0, neighbor_s=0.03, cpus=tuple(range(16)))
    assert verdict_on(found).verdict == "clean"
    judgment = verdict_on(with_figures(found, neighbor_per_cpu_ns=[0] * 15 + [30_000_000]))
    assert judgment.verdict == "disturbed" and judgment.causes[0].unit == "of time"
    found["run"]["neighbor_per_cpu_ns"] = [1_900_000] * 16
    assert verdict_on(found).verdict == "clean"


@pytest.mark.parametrize(
    ("ended_s", "cpus", "verdict"), [(0.9, (0,), "clean"), (0.5, (0,), "invalid"), (0.5, (0, 1), "clean")]
)
def test_a_copy_cannot_end_sooner_than_its_cpu_time_allows(ended_s: float, cpus: tuple[int, ...], verdict: str) -> None:
    found = recorded(1.0, 0.9, cpus=(0, 1))
    short = {**found["copies"][0], "copy": 1, "user_ns": 900_000_000, "system_ns": 10_000_000}
    short |= {"end_ns": round(ended_s * 1e9), "in_force": {**short["in_force"], "cpus": list(cpus)}}
    found["copies"].append(short)
    judgment = verdict_on(found)
    assert judgment.verdict == verdict
    if verdict == "invalid":
        assert judgment.causes[0].text == "copy 1 ended after 0.5 s on 1 CPUs, with 0.91 s of CPU time"


def test_a_copy_that_never_ran_says_nothing_of_its_time() -> None:
    found = recorded()
    found["copies"][0] |= {"start_ns": None, "end_ns": None, "in_force": None, "user_ns": 10**12}
    assert verdict_on(found).verdict == "clean"


def test_a_file_systems_own_writes_leave_it_open() -> None:
    judgment = verdict_on(with_figures(recorded(), io_stall_ns=80_000_000, disk_bytes=4_000_000, n_blocks_out=2400))
    assert (judgment.verdict, judgment.causes[0].cause) == ("unverified", "I/O")
    assert "the machine moved 4.0 MB, its own reads and writes were 1.2 MB" in judgment.causes[0].text


def test_what_services_wrote_is_not_counted_and_so_no_neighbor_s() -> None:
    figures = {"io_stall_ns": 80_000_000, "disk_bytes": 900_000_000, "n_blocks_in": None, "n_blocks_out": None}
    judgment = verdict_on(with_figures(recorded(), **figures))
    assert (judgment.verdict, [cause.cause for cause in judgment.causes]) == ("unverified", ["I/O"])
    assert "the machine moved 900.0 MB, its own reads and writes were not counted" in judgment.causes[0].text


def test_only_what_the_probe_itself_took_is_not_a_neighbors() -> None:
    probe = {**neighbor("scalograph-prob", 0.01), "observer": True}
    taken = [neighbor("cc1", 0.05), probe]
    found = with_figures(recorded(cpu_s=0.94, neighbor_s=0.06), neighbors=taken, observer_ns=60_000_000)
    judgment = verdict_on(found)
    assert judgment.verdict == "disturbed" and judgment.causes[0].text.startswith("preempted by cc1 for 5.1 %")


def test_a_probe_that_is_in_the_way_says_so() -> None:
    probe = {**neighbor("scalograph-prob", 0.1), "observer": True}
    judgment = verdict_on(with_figures(recorded(cpu_s=0.9, neighbor_s=0.1), neighbors=[probe]))
    assert (judgment.verdict, judgment.causes[0].cause) == ("disturbed", "observer")


def test_small_takers_are_not_named_and_the_nameless_are() -> None:
    taken = [neighbor(None, 0.2), neighbor("cron", 0.001)]
    text = verdict_on(with_figures(recorded(cpu_s=0.8, neighbor_s=0.2), neighbors=taken)).causes[0].text
    assert text.startswith("preempted by processes that have ended for")


def test_lost_records_are_no_records() -> None:
    judgment = verdict_on(with_figures(recorded(), n_lost_records=5))
    assert judgment.verdict == "unverified" and "dropped 5 records" in judgment.causes[0].text


def test_survivors_make_the_busy_time_no_bound() -> None:
    found = busy(3.0, recorded(3.0, 3.0, neighbor_s=None))
    assert verdict_on(found).verdict == "clean"
    assert verdict_on(with_figures(found, n_survivors=1)).verdict == "unverified"


def test_without_any_figures_nothing_can_tell() -> None:
    assert verdict_on(with_figures(recorded(), wall_ns=None, cpu_ns=None)).verdict == "unverified"


@pytest.mark.parametrize(("start", "end", "verdict"), [
    ([0, 5], [5, 9], "clean"), ([0, 5], [5, 1000], "invalid"), ([5, 9], [0, 5], "invalid"),
    ([-9, 0], [0, 5], "invalid"),
])  # fmt: skip
def test_windows_lie_within_the_life_of_their_copy(start: list[int], end: list[int], verdict: str) -> None:
    found = recorded(iterations=[(0.1, 0.1, 1), (0.1, 0.1, 1)])
    found["iterations"][0] |= {"start_ns": [s * 10**8 for s in start], "end_ns": [e * 10**8 for e in end]}
    assert verdict_on(found).verdict == verdict


def test_iterations_are_numbered_one_after_the_other() -> None:
    found = recorded(iterations=[(0.1, 0.1, 1), (0.1, 0.1, 1)])
    assert verdict_on(found, Requirements(2, True)).verdict == "clean"
    found["iterations"][0]["index"] = [0, 0]
    assert verdict_on(found, Requirements(2, True)).verdict == "failed"


def test_a_stall_longer_than_the_run_cannot_be() -> None:
    assert verdict_on(with_figures(recorded(), memory_stall_ns=2**62)).verdict == "invalid"


def test_a_neighbor_is_named_beside_steal_without_records_too() -> None:
    found = recorded(4.0, 2.0, neighbor_s=None, steal_s=0.3)
    found["run"]["machine_busy_ns"] = 3_700_000_000
    assert [c.cause for c in verdict_on(found).causes] == ["steal", "neighbor"]


def tasks(n: int, each_s: float, steal_s: float) -> dict[str, Any]:
    """A run of 2 s with so many windows in its first part."""
    return recorded(2.0, 0.5, steal_s=steal_s, cpus=(0, 1), iterations=[(each_s, each_s, 1)] * n)


@pytest.mark.parametrize(("found", "asks", "verdict"), [
    (tasks(100, 0.001, 0.1), True, "unverified"),  # 5 % of the time is measured: the rest is pauses
    (tasks(100, 0.003, 0.1), True, "disturbed"),  # 15 % of it
    (tasks(10, 0.001, 0.1), True, "disturbed"),  # of ten, one that was hit may be the median's neighbor
    (tasks(100, 0.001, 0.1), False, "disturbed"),  # the whole run is what is asked about
    (tasks(100, 0.001, 0.0), True, "clean"),
    (tasks(100, 0.001, 1.5), True, "disturbed"),  # three quarters of what it wanted: no window was spared
])  # fmt: skip
def test_what_was_taken_from_short_tasks_with_long_pauses(found: dict[str, Any], asks: bool, verdict: str) -> None:
    n = len(found["iterations"][0]["index"])
    judged = verdict_on(found, Requirements(n, asks))
    assert judged.verdict == verdict
    if verdict == "unverified":
        assert judged.causes[0].text.startswith("its windows cover 5.0 % of its time; in them or between them: ")
        assert judged.causes[0].cause == "steal"


def test_pressure_bounds_a_run_without_switch_records_too() -> None:
    found = busy(4.02, recorded(5.0, 4.0, neighbor_s=None))
    assert verdict_on(found).verdict == "clean"
    found["run"] |= {"machine_memory_stall_ns": 4_900_000_000, "machine_io_stall_ns": 4_900_000_000}
    found["run"] |= {"memory_stall_ns": None, "io_stall_ns": None}
    assert verdict_on(found).verdict == "unverified"


def test_a_copy_that_reports_nothing_beside_one_that_does_has_failed() -> None:
    found = recorded(iterations=[(0.5, 0.5, 1), (0.5, 0.5, 1)])
    asked = Requirements(2, windows=True)
    assert verdict_on(found, asked).verdict == "clean"
    found["copies"].append({**found["copies"][0], "copy": 1})
    judged = verdict_on(found, asked)
    assert judged.verdict == "failed" and judged.causes[0].text.startswith("copy 1 reported no iteration of 2")
    found["copies"][1]["command"] = 1
    assert verdict_on(found, asked).verdict == "clean", "another command may report nothing"


@pytest.mark.parametrize(("hog_ns", "verdict"), [(300_000_000, "unverified"), (15_000_000, "clean")])
def test_kernel_threads_elsewhere_hide_no_neighbor_on_one_cpu(hog_ns: int, verdict: str) -> None:
    sixteen = tuple(range(16))
    found = recorded(1.0, 15.4, neighbor_s=0.3 + hog_ns / 1e9, cpus=sixteen)
    found["run"]["neighbor_per_cpu_ns"] = [hog_ns, *[20_000_000] * 15]
    kworkers = {"pid": 9, "name": "kworker", "kernel": True, "observer": False, "taken_ns": 300_000_000}
    hog = {"pid": 7, "name": "hog", "kernel": False, "observer": False, "taken_ns": hog_ns}
    found["run"]["neighbors"] = [hog, kworkers]
    judged = verdict_on(found)
    assert judged.verdict == verdict
    assert all(c.text == "one CPU was taken by hog for 30 % of its time at most" for c in judged.causes)
