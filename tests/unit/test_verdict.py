from typing import Any

import pytest

from scalograph.analysis.verdict import Asked, judge, n_cpus

from .records import record

FOUR = (0, 1, 2, 3)


def busy(seconds: float, found: dict[str, Any]) -> dict[str, Any]:
    found["run"]["machine_busy_ns"] = round(seconds * 1e9)
    return found


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        (record(), "clean"),
        (record(cpu_s=0.98, neighbor_s=0.0199), "clean"),
        (record(cpu_s=0.98, neighbor_s=0.02), "contaminated"),
        (record(neighbor_s=0.03, cpus=FOUR), "contaminated"),  # one thread: the other CPUs do not make it less
        (record(cpu_s=4.0, neighbor_s=0.03, cpus=FOUR), "clean"),  # 0.7 % of what four threads wanted
        (record(cpu_s=0.002, neighbor_s=0.001), "clean"),  # it slept: a third of what it wanted, and 0.1 % of its time
        (record(steal_s=0.02), "clean"),  # two ticks say nothing
        (record(steal_s=0.03), "contaminated"),
        (record(neighbor_s=None), "undecided"),
        (record(1.0, 1.2), "impossible"),
        (record(1.0, 1.2, cpus=(0, 1)), "clean"),
        (record(status="timeout", reason="still running"), "failed"),
        (record(0.001, 0.02), "clean"),  # CPU time is counted in ticks: a short run may show two too many
        (record(0.0, 0.0), "clean"),
        (record(0.0, 1.0), "impossible"),
    ],
)
def test_verdicts(found: dict[str, Any], verdict: str) -> None:
    assert judge(found).verdict == verdict


def test_each_cause_has_its_amount_and_words() -> None:
    causes = judge(record(cpu_s=0.75, neighbor_s=0.25, steal_s=0.25)).causes
    assert [(c["cause"], c["amount"]) for c in causes] == [("neighbor", 0.25), ("steal", 0.25)]
    assert causes[0]["text"] == "preempted by someone else for 25.0 % of the CPU time that it wanted"


def test_the_probe_is_no_neighbor() -> None:
    found = record(cpu_s=0.98, neighbor_s=0.03)
    assert judge(found).verdict == "contaminated"
    found["run"]["observer_ns"] = 15_000_000
    assert judge(found).verdict == "clean"


def test_an_undecided_run_says_why() -> None:
    found = record(neighbor_s=None)
    found["run"]["degraded"] = [{"what": "switch records", "why": "too many", "fix": ""}]
    assert judge(found).causes[0]["text"] == "too many"


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        (busy(4.0, record(4.0, 4.0, neighbor_s=None)), "clean"),  # nobody else used the CPU for long enough to matter
        (busy(1.0, record(1.0, 1.0, neighbor_s=None)), "undecided"),  # two ticks are 2 % of a second
        (busy(8.0, record(4.0, 7.5, neighbor_s=None, cpus=(0, 1))), "contaminated"),  # never idle, half a second gone
        (busy(6.0, record(4.0, 4.0, neighbor_s=None, cpus=(0, 1))), "undecided"),  # it may have run where we did not
    ],
)
def test_without_switch_records_the_busy_time_bounds_what_others_had(found: dict[str, Any], verdict: str) -> None:
    assert judge(found).verdict == verdict


def test_an_undecided_run_says_below_what() -> None:
    (cause,) = judge(busy(1.1, record(1.0, 1.0, neighbor_s=None, cpus=(0, 1)))).causes
    assert cause["amount"] == pytest.approx(0.14 / 1.14)
    assert cause["text"].endswith("others used the CPUs for less than 12 % of the CPU time that it wanted")


def test_cpu_time_of_a_tree_that_lives_on_has_the_whole_time() -> None:
    found = record(0.1, 1.0)
    assert judge(found).verdict == "impossible"
    found["run"]["tree_wall_ns"] = 1_000_000_000
    assert judge(found).verdict == "clean"


@pytest.mark.parametrize(
    ("n", "asked", "verdict"),
    [
        (3, Asked(3, windows=True), "clean"),
        (2, Asked(3, windows=True), "failed"),
        (4, Asked(3, windows=False), "failed"),
        (0, Asked(3, windows=True), "failed"),
        (0, Asked(3, windows=False), "clean"),
        (0, Asked(1, windows=True), "clean"),  # a program without events: the run is the iteration
    ],
)
def test_a_run_that_did_not_do_what_was_asked_has_failed(n: int, asked: Asked, verdict: str) -> None:
    found = record(1.0, 1.0, iterations=[(0.1, 0.1, 5)] * n)
    assert judge(found, asked).verdict == verdict


def test_it_says_how_many_iterations_there_were() -> None:
    (cause,) = judge(record(iterations=[(0.1, 0.1, 5)] * 2), Asked(20, windows=True)).causes
    assert cause["text"] == "reported 2 of 20 iterations"


def test_cpus_are_those_of_all_copies_together() -> None:
    found = record(cpus=(0,))
    found["copies"].append(
        {**found["copies"][0], "copy": 1, "in_force": {**found["copies"][0]["in_force"], "cpus": [3]}}
    )
    assert n_cpus(found) == 2
