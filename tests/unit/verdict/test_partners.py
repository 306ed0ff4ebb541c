"""Which processes outside a run work for it, which disturb it, and which may do either."""

from typing import Any

import pytest

from scalograph.verdict.judge import Requirements, judge
from scalograph.verdict.partners import PauseLog, find_partners
from scalograph.verdict.undisturbed import undisturbed_run
from tests.kit.records import read, recorded

MS, S = 10**6, 10**9
SEEN, UNSEEN = "preemption and wakeup", "preemption"


def other(pid: int, name: str, cpu_s: float, n_wakes: int = 0, **more: float) -> dict[str, Any]:
    """A process outside the run; of `more`, times are in s and counts are plain."""
    numbers = {key: number if key == "n_pauses" else round(number * S) for key, number in more.items()}
    return {"pid": pid, "name": name, "cpu_ns": round(cpu_s * S), "n_wakes": n_wakes, **numbers}


def beside(*others: dict[str, Any], taken_s: float = 0.3, scope: str = SEEN, **figures: Any) -> dict[str, Any]:
    """A run of 1 s from which the first of these processes took its CPUs."""
    first = others[0]
    names = [{"pid": 99, "name": first["name"], "taken_ns": round(taken_s * S), "family": first["pid"]}]
    usual = {"wait_scope": scope, "cpus": (0, 1), "neighbors": names if scope == SEEN else None}
    beside = {"from_ns": 0, "to_ns": S, "processes": list(others)}
    return recorded(1.0, 0.5, neighbor_s=taken_s, others=beside, **{**usual, **figures})


AT_REST = {"before_ns": 1.0, "age_ns": 1000.0}  # seconds: it hardly worked before the run
BUSY = {"before_ns": 400.0, "age_ns": 1000.0}
QUIET_PAUSES = {"between_ns": 0.001, "pause_ns": 2.0, "n_pauses": 6}
BUSY_PAUSES = {"between_ns": 0.8, "pause_ns": 2.0, "n_pauses": 6}


@pytest.mark.parametrize(("process", "is_sure", "verdict"), [
    (other(7, "postgres", 0.4, 50, **AT_REST), True, "clean"),
    (other(7, "postgres", 0.4, 50, **BUSY, **QUIET_PAUSES), True, "clean"),  # pauses say more than its life
    (other(7, "hog", 0.4, **BUSY), None, "disturbed"),
    (other(7, "hog", 0.4, **AT_REST), None, "disturbed"),  # it began, and nothing says that it works for the run
    (other(7, "hog", 0.4, 50, **BUSY), None, "disturbed"),  # a steady load, whomever it wakes
    (other(7, "hog", 0.4, 50, **AT_REST, **BUSY_PAUSES), None, "disturbed"),
    (other(7, "hog", 0.4, 1, **AT_REST), None, "disturbed"),  # a single wake-up may be a lock of the kernel
    (other(7, "postgres", 0.4, 1, **QUIET_PAUSES), True, "clean"),  # what it started for the run has ended
    (other(7, "hog", 0.4, 1, **AT_REST, **BUSY_PAUSES), None, "disturbed"),
    (other(7, "shared", 0.4, 50, before_ns=100.0, age_ns=1000.0), False, "unverified"),  # it has other clients too
    (other(7, "new", 0.4, 50), False, "unverified"),  # nothing is known of its rest
    (other(7, "container", 0.4, **QUIET_PAUSES), False, "unverified"),
    (other(7, "container", 0.4, **{**QUIET_PAUSES, "n_pauses": 3}), None, "disturbed"),  # by chance
    (other(7, "container", 0.4, **{**QUIET_PAUSES, "pause_ns": 0.1}), None, "disturbed"),  # too short a rest
])  # fmt: skip
def test_a_process_works_for_the_run_or_disturbs_it(
    process: dict[str, Any], is_sure: bool | None, verdict: str
) -> None:
    record = read(beside(process))
    assert [partner.is_sure for partner in find_partners(record.run)] == ([] if is_sure is None else [is_sure])
    judgment = judge(record)
    assert judgment.verdict == verdict
    assert all(process["name"] in cause.text for cause in judgment.causes)
    assert ("may work for the run" in "".join(cause.text for cause in judgment.causes)) is (is_sure is False)


DAEMON, MAYBE, HOG = other(7, "daemon", 0.4, 50, **AT_REST), other(7, "maybe", 0.4, 50), other(8, "hog", 0.4, **BUSY)


@pytest.mark.parametrize(("run", "verdict"), [
    # Interference beside a partner stays interference, and is not reduced by what the partner took.
    (beside(DAEMON, HOG, taken_s=0.6, neighbors=[
        {"pid": 7, "name": "daemon", "taken_ns": 300 * MS, "family": 7},
        {"pid": 8, "name": "hog", "taken_ns": 300 * MS, "family": 8}]), "disturbed"),
    (beside(MAYBE, HOG, taken_s=0.6, neighbors=[
        {"pid": 7, "name": "maybe", "taken_ns": 300 * MS, "family": 7},
        {"pid": 8, "name": "hog", "taken_ns": 300 * MS, "family": 8}]), "disturbed"),
    (beside(MAYBE, steal_s=0.1), "disturbed"),  # no process explains steal
    # Without names nobody knows who took it: what a process that may be a partner used bounds it.
    (beside(other(7, "daemon", 0.4, **QUIET_PAUSES), scope=UNSEEN), "unverified"),
    (beside(other(7, "daemon", 0.4, **QUIET_PAUSES), scope=UNSEEN, taken_s=0.5), "disturbed"),
    (beside(other(7, "daemon", 0.4, 50, **AT_REST), scope=UNSEEN), "disturbed"),  # its wake-ups were not recorded
    # A partner keeps CPUs busy while threads of the run wait.
    (beside(other(7, "daemon", 1.46, 50, **AT_REST), taken_s=0.0, machine_busy_ns=2 * S, wait_ns=S), "clean"),
    (beside(other(7, "hog", 1.4, **BUSY), taken_s=0.0, machine_busy_ns=2 * S, wait_ns=S), "disturbed"),
])  # fmt: skip
def test_what_others_took_beside_a_partner_still_counts(run: dict[str, Any], verdict: str) -> None:
    assert judge(read(run)).verdict == verdict


def test_a_run_with_a_partner_is_never_corrected() -> None:
    alone = {"n_tasks": 1, "wait_ns": 300 * MS, "per_cpu_s": (0.7, 0.0), "cpu_source": "cgroup", "scope": UNSEEN}
    for process, is_corrected in ((other(7, "hog", 0.4, **BUSY), True), (other(7, "d", 0.4, **QUIET_PAUSES), False)):
        record = read(beside(process, **alone))
        assert (undisturbed_run(record) is not None) is is_corrected
        judgment = judge(record, Requirements(1, True, "run.wall"))
        assert judgment.verdict == ("corrected" if is_corrected else "unverified")


def session(*seen: list[tuple[int, str, float, float]]) -> list[Any]:
    """Runs of 1 s with pauses of 1 s: of each process pid, name, CPU time before the run, and in it; all in s."""
    log, runs = PauseLog(), []
    for i, processes in enumerate(seen):
        list_ = [
            other(pid, name, cpu_s, before_ns=before_s, age_ns=0.5 if name == "new" else before_s and 1000.0)
            for pid, name, before_s, cpu_s in processes
        ]
        others = {"from_ns": 2 * i * S, "to_ns": (2 * i + 1) * S, "processes": list_}
        runs.append(log.annotate(read(recorded(others=others))).run.others)
    return [[(p.between_ns / S, p.pause_ns / S, p.n_pauses) for p in run.processes] for run in runs]


@pytest.mark.parametrize(("seen", "last"), [
    ([[(7, "daemon", 5.0 + 0.4 * i, 0.4)] for i in range(4)], (0.0, 3.0, 3)),
    ([[(7, "hog", 5.0 + 0.8 * i, 0.4)] for i in range(4)], (1.2, 3.0, 3)),
    ([[(7, "daemon", 5.0, 0.4)], [(7, "new", 9.0, 0.4)]], (0.0, 0.0, 0)),  # the number was taken anew
    ([[(7, "daemon", 5.0, 0.4)], [(7, "daemon", 5.39, 0.4)]], (0.0, 1.0, 1)),  # by ticks, a little less
    ([[(7 + i, "container", 0.0, 0.4)] for i in range(4)], (0.0, 3.0, 3)),  # a new process in each run
    ([[(7, "cc", 0.0, 0.4)], [(8, "cc", 1.0, 0.4)], [(9, "cc", 0.0, 0.4)]], (0.0, 0.0, 0)),  # between runs as well
])  # fmt: skip
def test_pauses_between_runs_are_added_up(
    seen: list[list[tuple[int, str, float, float]]], last: tuple[float, float, int]
) -> None:
    assert session(*seen)[-1][0] == pytest.approx(last)


def test_a_probe_that_reports_no_other_processes_is_taken_as_it_is() -> None:
    record = read(recorded(neighbor_s=0.3))
    assert PauseLog().annotate(record) is record and find_partners(record.run) == []
