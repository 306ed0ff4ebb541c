"""What a run's record says of its load, how long its parts took, and which records cannot be of one window."""

from dataclasses import replace
from typing import Any

import pytest

from scalograph.findings.bottleneck import is_driver_short
from scalograph.findings.driven_runs import DrivenRun, PoolUse, RunPart, driven_run, run_parts, stop_parts
from scalograph.protocol.record_processes import EndedService, ServicesEnded
from scalograph.protocol.response_times import middle_s
from scalograph.questions.throughput.tables import parts_table
from tests.kit.records import read, recorded

VALUES: dict[str, list[float]] = {
    "requests": [1000], "errors": [0], "rate": [100.0], "mean_ns": [40e6], "p50_ns": [30e6], "p90_ns": [60e6],
    "p99_ns": [90e6], "in_flight": [4.0], "clients": [8], "cycle_ns": [40e6], "late_share": [0.002],
    "driver_cpu_ns": [2.5e9], "threads": [1],
}  # fmt: skip


def driven(*copies: dict[str, list[float]], parts: dict[str, Any] | None = None, **values: list[float]) -> DrivenRun:
    """A driver that tells these values; further copies of it tell theirs, and a record has further parts."""
    one = recorded(14.0, iterations=[(10.0, 2.5, 1000)], values={**VALUES, **values})
    others = [{"copy": i, "values": {**VALUES, **more}} for i, more in enumerate(copies, 1)]
    found = driven_run(read({**one, "values": [*one["values"], *others], **(parts or {})}))
    assert found is not None
    return found


def with_processes(*processes: dict[str, Any], **parts: Any) -> DrivenRun:
    usual = {"role": "service", "wait_ns": 0, "n_tasks": 4}
    return driven(parts={"processes": [{**usual, "command": i, **each} for i, each in enumerate(processes)], **parts})


def test_a_driver_tells_rates_and_times_and_without_a_rate_nothing() -> None:
    found = driven()
    assert (found.rate, found.sent, found.n_requests, found.n_errors) == (100.0, 100.0, 1000, 0)
    assert found.response_s == 0.04 and found.quantiles_s == {"p50": 0.03, "p90": 0.06, "p99": 0.09}
    assert found.driver == 0.25  # of one CPU, in the steady window of 10 s
    assert found.deviation == 0 and found.is_lawful
    assert driven(errors=[100], rate=[90.0]).sent == 100.0
    assert driven_run(read(recorded(1.0, values={"other": [1.0]}))) is driven_run(read(recorded(1.0))) is None


# Wrong answers are in flight too, but right ones are not more than were. Those of an open loop may wait before.
@pytest.mark.parametrize(("values", "is_lawful"), [
    ({"in_flight": [4.4]}, False), ({"in_flight": [3.6]}, False), ({"clients": [9.0]}, False),
    ({"cycle_ns": [45e6]}, False), ({"errors": [100], "rate": [90.0]}, True),
    ({"errors": [100], "rate": [110.0]}, False),
    ({"offered_rate": [100.0], "in_flight": [2.0], "cycle_ns": []}, True),
    ({"offered_rate": [100.0], "in_flight": [6.0], "cycle_ns": []}, False),
])  # fmt: skip
def test_what_breaks_littles_law_is_not_lawful(values: dict[str, list[float]], is_lawful: bool) -> None:
    found = driven(**values)
    assert found.is_lawful == is_lawful and (found.deviation > 0.05 or is_lawful)


def test_few_requests_may_overlap_the_ends_of_the_window() -> None:
    few = replace(driven(in_flight=[4.4]), n_requests=60)
    assert few.is_lawful and not replace(few, n_requests=600).is_lawful


def test_several_copies_of_a_driver_are_taken_together() -> None:
    found = driven({"mean_ns": [80e6], "requests": [3000], "rate": [300.0]})
    assert (found.rate, found.clients, found.response_s, found.quantiles_s) == (400.0, 16.0, 0.07, {})
    # They see one counter of dropped connections, and one pool.
    assert driven({"listen_drops": [4]}, listen_drops=[3]).dropped == 4 and driven().dropped is None
    pool = {"pool_size": [4.0], "pool_busy": [3.5], "pool_wait_ns": [2e6]}
    assert driven(pool, **pool).pool == PoolUse(4.0, 3.5, 0.002)
    assert driven().pool is None and driven(pool_size=[4.0]).pool is None
    told = [
        {"copy": i, "phase": phase, "operation": "get", "index": [bucket], "count": [500]}
        for i, phase, bucket in ((0, "steady", 100), (1, "steady", 127), (1, "ramp", 1))
    ]
    found = driven({}, parts={"histograms": told})
    assert found.counts == {100: 500, 127: 500}
    assert found.quantiles_s == pytest.approx({"p50": 100.5e-9, "p90": 127.5e-9, "p99": 127.5e-9})


@pytest.mark.parametrize(
    ("values", "late", "by_driver"),
    [({"late_share": [0.02]}, 0.02, 0.02), ({"late_share": [0.05], "own_late_share": [0.0]}, 0.05, 0.0),
     ({"late_share": [0.05], "own_late_share": [0.02]}, 0.05, 0.02)],
    ids=["late", "had no CPU in time", "its own fault"],
)  # fmt: skip
def test_a_driver_is_late_alone_or_without_a_cpu(values: dict[str, list[float]], late: float, by_driver: float) -> None:
    found = driven(**values)
    assert (found.late, found.late_by_driver) == (late, by_driver)


def test_the_first_wrong_answer_is_told_in_the_drivers_words() -> None:
    tail = "GET http://h/x answered 500\nload: 12 of 1,000 had none; first: GET http://h/x answered \x1b500\n"
    copies = [{**copy, "stderr_tail": tail} for copy in recorded()["copies"]]
    assert driven(errors=[12], parts={"copies": copies}).first_wrong == "GET http://h/x answered ?500"
    assert driven(errors=[12]).first_wrong == ""


@pytest.mark.parametrize(
    ("more", "is_short"),
    [({"ceiling": [200.0]}, True), ({"ceiling": [400.0]}, False), ({}, False), ({"driver_cpu_ns": [4e9]}, True)],
)
def test_a_driver_needs_three_times_the_rate_to_spare(more: dict[str, list[float]], is_short: bool) -> None:
    assert is_driver_short([driven(**more)]) is is_short


def test_a_process_is_weighed_in_the_steady_window_where_its_cpu_time_is_known() -> None:
    bins = [0] * 2 + [9 * 10**8] * 8 + [10**8] * 4  # of a second; the window is 0 to 10 s
    web = {"name": "web", "cpu_ns": 10**10, "busy_ns": bins, "wait_ns": 10**10, "io_stall_ns": 7 * 10**9}
    timeline = {"bin_ns": 10**9, "cpus": [0], "busy_ns": [bins]}
    (whole,), (steady,) = with_processes(web).processes, with_processes(web, timeline=timeline).processes
    assert whole.used == pytest.approx(10 / 14)
    assert steady.used == pytest.approx(0.72)
    assert (steady.waited, steady.cpus, steady.stalls) == (0.5, frozenset({0}), {"io": 0.5})
    found = with_processes({"name": "web", "cpu_ns": None}, {"name": "load", "role": "driver", "cpu_ns": 1})
    assert [one.name for one in found.processes] == ["load"]


def test_a_bucket_is_within_a_hundredth_of_every_time_in_it() -> None:
    for ns in (1, 127, 128, 129, 255, 256, 10**6, 10**9, 2**62):
        shift = max(ns.bit_length() - 8, 0)
        assert middle_s(128 * shift + (ns >> shift)) * 1e9 == pytest.approx(ns, rel=0.008, abs=0.5)


def test_copies_of_a_service_are_one_process_and_a_driver_without_times_is_not_checked() -> None:
    web = {"name": "web", "cpu_ns": 500_000_000, "wait_ns": 500_000_000, "n_tasks": 3}
    (single,) = with_processes(web).processes
    (both,) = with_processes(web, web).processes
    assert both.used == pytest.approx(2 * single.used) and both.waited == single.waited
    assert (both.n_tasks, single.n_tasks) == (6, 3)
    found = driven(in_flight=[], cycle_ns=[], late_share=[])
    assert (found.is_checked, found.is_lawful, found.deviation, found.late) == (False, True, 0.0, None)
    assert driven().is_checked and driven(in_flight=[]).is_checked


S = 10**9


def service(name: str, start_s: float, ready_s: float, stop_s: float) -> dict[str, Any]:
    times = {"start_ns": round(start_s * S), "ready_ns": round(ready_s * S), "stop_ns": round(stop_s * S)}
    return {"name": name, "role": "service", "cpu_ns": 1, "wait_ns": 0, "n_tasks": 1, **times}


PROCESSES = [
    service("database", -4.0, 1.5, 0.25),
    service("page", -2.5, 1.0, 0.5),
    service("page", -1.5, 1.0, 0.5),
    {"name": "driver", "role": "driver", "start_ns": 0, "cpu_ns": 1, "wait_ns": 0, "n_tasks": 1},
]
PHASES = [{"name": "ramp", "start_ns": 3 * S, "end_ns": 4 * S}, {"name": "steady", "start_ns": 4 * S, "end_ns": 9 * S}]


def test_every_part_of_a_run_is_timed_and_copies_count_together() -> None:
    processes = [{"command": i, **one} for i, one in enumerate(PROCESSES)]
    one = {**recorded(9.5), "processes": processes, "phases": [{"copy": 3, "phases": PHASES}]}
    found = run_parts(read(one))
    assert found == [
        ("database", "start until ready", 1.5),
        ("page", "start until ready", 2.0),
        # From when the last one was ready, half a second before the gate.
        ("driver", "start, warm-up", 3.5),
        ("driver", "ramp", 1.0),
        ("driver", "steady", 5.0),
        ("driver", "end", 0.5),
        ("page", "stop", 1.0),
        ("database", "stop", 0.25),
        ("", "whole run", 14.75),
    ]
    assert sum(part.seconds for part in found[:-1]) == pytest.approx(found[-1].seconds)
    (table,) = parts_table([found, found[:2]])
    assert table.rows[0] == ["database", "start until ready", 1.5, 1.5, 1.5, 2]
    assert table.rows[-1] == ["all", "whole run", 14.75, 14.75, 14.75, 1]
    assert run_parts(read(recorded(9.5))) == [] and parts_table([[]]) == parts_table([]) == []


def test_services_that_stayed_up_tell_when_they_were_ended_and_the_sum_is_the_last_row() -> None:
    times = {"database": 0.25, "page": 0.5}
    services = [
        EndedService(name=name, stop_signal="TERM", stopped_by="TERM", stop_ns=round(s * S))
        for name, s in [*times.items(), ("page", 0.5)]
    ]
    stops = stop_parts(ServicesEnded(block=0, services=[*services, EndedService(name="front", stop_signal="TERM")]))
    assert stops == [("page", "stop", 1.0), ("database", "stop", 0.25)]
    (table,) = parts_table([[RunPart("page", "start until ready", 1.0), RunPart("", "whole run", 2.0)], stops])
    assert [row[1] for row in table.rows] == ["start until ready", "stop", "stop", "whole run"]
