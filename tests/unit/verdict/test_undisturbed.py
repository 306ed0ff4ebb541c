"""What a run would have taken had nobody else had its CPUs: from its record, and never where that cannot tell."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scalograph.verdict.judge import Requirements, judge
from scalograph.verdict.undisturbed import Ends, corrected_times, undisturbed_run, undisturbed_windows
from tests.kit.records import read, recorded

MS, S = 10**6, 10**9
WALL = Requirements(1, True, "window.wall")
DAEMON = {"pid": 9, "name": "daemon", "n_wakes": 4, "taken_ns": 0}
HOG = [{"pid": 7, "name": "hog", "taken_ns": 400 * MS}]


def alone(wall_s: float = 1.0, wait_s: float = 0.4, *, asleep_s: float = 0.0, **figures: Any) -> dict[str, Any]:
    """A run of one task that waited, and slept; all else of the time it had its CPU."""
    on_cpu = wall_s - wait_s - asleep_s
    usual = {
        "neighbor_s": wait_s, "per_cpu_s": (on_cpu, 0.0), "n_tasks": 1, "wait_ns": round(wait_s * S),
        "wait_scope": "preemption", "cpu_source": "cgroup", "neighbors": HOG,
    }  # fmt: skip
    return recorded(wall_s, figures.pop("cpu_s", on_cpu), **{**usual, **figures})


def threads(wall_s: float, low_s: float, high_s: float, **figures: Any) -> dict[str, Any]:
    """A run of two threads on two CPUs, whose records were replayed."""
    replay = {"low_ns": round(low_s * S), "high_ns": round(high_s * S), "overlap_ns": round(low_s * S),
              "sleep_ns": 0, "n_wakes": 9}  # fmt: skip
    usual = {"neighbor_s": 0.9, "n_tasks": 2, "cpus": (0, 1), "neighbors": HOG, "wait_ns": S}
    return recorded(wall_s, 1.0, **{**usual, "replay": {**replay, **figures.pop("replay", {})}, **figures})


@pytest.mark.parametrize(("run", "low_ms", "high_ms"), [
    (alone(), 600, 600),
    (alone(n_tasks=20), None, None),  # of several tasks nobody knows which one the others waited for
    (alone(wait_ns=None), None, None),
    (alone(n_lost_records=3), None, None),
    (alone(neighbor_s=None), None, None),
    (alone(asleep_s=0.005), 595, 600),  # after a sleep it may have waited, for as long as it had no CPU
    (alone(asleep_s=0.2), 400, 1000),  # a sleep that ends by a timer may have absorbed the wait
    (alone(steal_s=0.05, cpu_s=0.57), 570, 570),  # of 50 ms in ticks it lost 30: records less CPU time
    (alone(steal_s=0.05, cpu_s=0.57, cpu_source="records"), None, None),
    (alone(steal_s=0.4, cpu_s=0.3), None, None),  # more steal than kept runs verify
    (alone(neighbors=[*HOG, {**HOG[0], "kernel": True, "taken_ns": 50 * MS}]), 600, 650),  # for the run?
    (alone(neighbors=[*HOG, {**HOG[0], "kernel": True, "taken_ns": 5 * MS}]), 600, 600),
    (threads(1.0, 0.5, 0.54), 500, 540),
    (threads(1.0, 0.1, 0.49), 500, 500),  # two CPUs need half of the CPU time
    (threads(1.0, 0.0, 0.3), None, None),  # so much CPU time cannot be had in that time
    (alone(wait_ns=900 * MS), None, None),
    (alone(steal_s=0.02, cpu_source="records"), 570, 600),  # up to two ticks, and what the third had begun
    (threads(1.0, 0.5, 1.4), 500, 1000),
    (threads(1.0, 0.5, 0.54, replay={"sleep_ns": 30 * MS}), 500, 1000),
    (threads(1.0, 0.5, 0.54, replay={"partners": [DAEMON]}), None, None),  # it works with the run
    (threads(1.0, 0.6, 0.6, replay={"overlap_ns": 5 * MS}, steal_s=0.03, cpu_source="cgroup", per_cpu_s=(0.7, 0.33)),
     570, 570),  # one task at a time: all steal was on its path
    (threads(1.0, 0.6, 0.6, steal_s=0.03, cpu_source="cgroup", per_cpu_s=(0.7, 0.33)), 570, 600),
])  # fmt: skip
def test_a_time_lies_between_ends_that_the_record_decides(
    run: dict[str, Any], low_ms: float | None, high_ms: float | None
) -> None:
    ends = undisturbed_run(read(run))
    found = ends and (round(ends.low_ns / MS, 6), round(ends.high_ns / MS, 6))
    assert found == (None if low_ms is None else (low_ms, high_ms))


@pytest.mark.parametrize(("run", "verdict"), [
    (alone(), "corrected"),
    (alone(wait_s=0.01), "clean"),
    (alone(asleep_s=0.2), "disturbed"),
    (alone(n_tasks=2), "disturbed"),
    (alone(memory_stall_ns=100 * MS), "disturbed"),  # want of memory is corrected by nothing
    (alone(throttled_ns=100 * MS), "disturbed"),
    (alone(asleep_ns=100 * MS), "disturbed"),  # a suspended machine
    (threads(1.0, 0.5, 0.54), "corrected"),
    (threads(1.0, 0.5, 0.9), "disturbed"),  # ends too far apart to be a time
])  # fmt: skip
def test_what_others_took_is_corrected_and_all_else_disturbs(run: dict[str, Any], verdict: str) -> None:
    judgment = judge(read(run), WALL)
    assert judgment.verdict == verdict
    assert bool(judgment.causes) is (verdict != "clean")
    assert judge(read(run), Requirements(1, True)).verdict == verdict.replace("corrected", "disturbed")


def test_iterations_are_corrected_where_the_probe_replayed_each() -> None:
    run = threads(1.0, 0.5, 0.52, iterations=[(0.4, 0.4, 1), (0.6, 0.6, 1)])
    assert undisturbed_windows(read(run)) is None
    assert judge(read(run), Requirements(2, True, "window.wall")).verdict == "disturbed"
    run["iterations"][0] |= {"low_ns": [200 * MS, 300 * MS], "high_ns": [200 * MS, 312 * MS],
                             "sleep_ns": [0, 0]}  # fmt: skip
    assert undisturbed_windows(read(run)) == [Ends(200 * MS, 200 * MS), Ends(300 * MS, 312 * MS)]
    assert judge(read(run), Requirements(2, True, "window.wall")).verdict == "corrected"
    assert corrected_times(read(run), "window.wall", 1) == [pytest.approx(0.306, abs=1e-3)]


def test_a_planner_takes_the_time_itself_of_a_run_that_lost_little() -> None:
    assert corrected_times(read(alone()), "run.wall", 0) == [pytest.approx(0.6)]
    assert corrected_times(read(alone(wait_s=0.015)), "run.wall", 0) == []


@given(st.floats(0.01, 5), st.floats(0, 1), st.floats(0, 1), st.floats(0, 3), st.floats(0, 6), st.integers(1, 3))
def test_it_is_never_above_wall_time_nor_below_what_its_cpus_need(
    wall_s: float, waited: float, slept: float, low: float, high: float, cpus: int
) -> None:
    wait_s, asleep_s = wall_s * waited, wall_s * (1 - waited) * slept
    cpu_s = wall_s - wait_s - asleep_s
    runs = [alone(wall_s, wait_s, asleep_s=asleep_s),
            threads(wall_s, low, max(low, high), cpus=tuple(range(cpus)), neighbor_s=wait_s)]  # fmt: skip
    for run, need_s in zip(runs, (cpu_s, 1.0 / cpus), strict=True):
        ends = undisturbed_run(read(run))
        if ends is not None:
            assert ends.low_ns <= ends.high_ns <= wall_s * S + 1
            assert ends.low_ns >= min(need_s, wall_s) * S - 10
