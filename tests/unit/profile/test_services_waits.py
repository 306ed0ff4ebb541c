"""Made-up recordings of several services: who waits for whom."""

import pytest

from scalograph.profile.cpu_budget import split_capacity
from scalograph.profile.explain_recorder import count_cpus
from scalograph.profile.level_losses import LevelRuns, compare_levels
from scalograph.protocol.explanation import LossPart, Share
from scalograph.text.explained import cause_text
from tests.kit.perf import CONDITION, DISK, MS, Recording
from tests.kit.records import read, recorded

SOCKET = ["schedule ([kernel.kallsyms])", "sk_wait_data ([kernel.kallsyms])", "tcp_recvmsg ([kernel.kallsyms])"]
NAMES = {1: "driver", 2: "app", 3: "database"}


def recorded_stack(database_stack=()):
    """The driver asks the app, which asks the database; the database works, or waits for `database_stack`."""
    recording = Recording()
    recording.stay(10, 1, 2, SOCKET, pid=1)
    recording.stay(20, 1, 3, SOCKET, pid=2)
    recording.stay(30, 1, 4 if database_stack else 21, database_stack, works="run_query", pid=3)
    if database_stack:
        recording.wake(99, 19, 30, ["blk_mq_complete ([kernel.kallsyms])"])
        recording.stay(30, 19, 21, works="run_query", pid=3)
    recording.wake(30, 21, 20)
    recording.stay(20, 21, 23, works="answer", pid=2)
    recording.wake(20, 23, 10)
    recording.stay(10, 23, 25, pid=1)
    return recording.parse().cut(NAMES, 1 * MS, 25 * MS)


def milliseconds(trace, n_cpus=2, beside=()):
    parts = {}
    for cause, seconds in split_capacity(trace, n_cpus, beside).parts.items():
        key = cause.waiter, cause.service, cause.kind
        parts[key] = round(parts.get(key, 0) + 1000 * seconds, 2)
    return {key: ms for key, ms in parts.items() if ms >= 0.01}


def test_who_waits_for_a_service_is_named_with_it():
    parts = milliseconds(recorded_stack())
    # From 3 to 21 ms the app waits for the database, which works; then the driver waits for the app.
    assert parts["app", "database", "serial"] == 18.0
    assert parts["driver", "app", "serial"] == 2.0
    assert (parts["", "database", "user"], parts["", "app", "user"]) == (20.0, 4.0)


def test_what_it_takes_to_hand_a_request_over_is_no_work_of_who_asks():
    recording = Recording()
    recording.stay(10, 1, 2, SOCKET, works="prepare", pid=1)
    recording.stay(20, 1, 1.5, SOCKET, pid=2)
    for at in (2, 4, 6, 8):
        recording.wake(10, at, 20)
        recording.stay(20, at + 0.4, at + 1, SOCKET, works="answer", pid=2)
        recording.wake(20, at + 1, 10)
        recording.stay(10, at + 1.4, at + 2, SOCKET, works="prepare", pid=1)
    parts = milliseconds(recording.parse().cut(NAMES, 1 * MS, 10 * MS), 1)
    assert parts["", "app", "network"] == parts["", "driver", "network"] == pytest.approx(1.6)
    assert not any(kind == "serial" for _, _, kind in parts)


def test_an_idle_cpu_is_first_that_of_a_task_that_is_ready():
    recording = Recording()
    recording.stay(20, 1, 5, SOCKET, works="answer", pid=2)
    recording.wake(20, 5, 10)
    recording.stay(10, 1, 2, SOCKET, pid=1, cpu=1)
    recording.stay(30, 1, 20, SOCKET, works="prepare", pid=1)
    recording.wake(30, 20, 20)
    recording.stay(20, 20, 25, pid=2)
    recording.stay(10, 40, 41, pid=1, cpu=1)
    parts = milliseconds(recording.parse().cut(NAMES, 1 * MS, 41 * MS))
    # From 5 to 20 ms one computes, who waits for it comes next, and others have the CPU of the third, which is ready.
    assert parts["", "", "others"] > 15
    assert parts.get(("app", "driver", "serial"), 0.0) == 0.0


def test_a_driver_with_a_cpu_of_its_own_counts_only_where_its_services_wait_for_it():
    recording = Recording()
    recording.stay(10, 1, 10, SOCKET, works="next_request", pid=1)
    recording.stay(20, 1, 2, SOCKET, pid=2)
    recording.wake(10, 9, 20)
    recording.stay(20, 9, 30, works="answer", pid=2)
    recording.wake(20, 30, 10)
    recording.stay(10, 30, 40, pid=1)
    trace = recording.parse().cut(NAMES, 1 * MS, 30 * MS)
    assert milliseconds(trace, 1, {"driver"}) == {("", "app", "user"): 22.0, ("app", "driver", "serial"): 7.0}


@pytest.mark.parametrize(
    ("service", "driver", "expected"), [([0], [1], (1, {"driver"})), ([0, 1], [1], (2, set())), ([0], [0], (1, set()))]
)
def test_cpus_of_the_driver_are_none_of_its_services(service, driver, expected):
    run = recorded()
    (copy,) = run["copies"]
    placed = [
        {**copy, "copy": i, "command": i, "in_force": {**copy["in_force"], "cpus": cpus}}
        for i, cpus in enumerate((service, driver))
    ]
    processes = [{"command": i, "name": name, "role": name} for i, name in enumerate(("service", "driver"))]
    assert count_cpus(read({**run, "copies": placed, "processes": processes})) == expected
    assert count_cpus(read({**run, "copies": placed}))[1] == frozenset()


def test_a_chain_through_services_ends_at_what_the_last_one_waits_for():
    parts = milliseconds(recorded_stack(DISK))
    assert parts["app", "database", "disk"] + parts["", "database", "disk"] == pytest.approx(30.0)
    assert parts["app", "database", "disk"] > 0


def test_a_wait_inside_a_service_crosses_none():
    recording = Recording()
    recording.stay(10, 0, 2, CONDITION, pid=3)
    recording.stay(20, 0, 20, pid=3)
    recording.wake(20, 20, 10)
    recording.stay(10, 20, 22, pid=3)
    assert milliseconds(recording.parse().cut(NAMES, 0, 22 * MS))["", "database", "serial"] == 20.0


def test_causes_of_services_are_told_apart_and_said_by_name():
    before, after = (LevelRuns(2, [split_capacity(recorded_stack(stack), 2)], [1.0]) for stack in ((), DISK))
    parts = compare_levels(before, after, 0.95).parts
    assert {part.service for part in parts} == {"driver", "app", "database"}
    assert {part.what for part in parts if part.service == "app" and not part.waiter} == {"answer", "spin"}

    def text(kind, **fields):
        return cause_text(LossPart(kind=kind, share=Share(value=1.0), before_s=0, after_s=1, **fields))

    assert text("disk", service="db", waiter="app") == "app waits for db: waiting for the disk"
    assert text("serial", service="db", waiter="app", what="query") == "app waits for db: work in query"
    assert text("serial", service="db", what="query") == "idle while db works in query"
    assert text("lock", service="db", what="query") == "db: waiting for a lock in query"
