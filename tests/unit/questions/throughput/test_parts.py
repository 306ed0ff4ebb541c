"""How long the parts of a run took, of a record whose times are known."""

from typing import Any

import pytest

from scalograph.protocol.record_processes import EndedService, ServicesEnded
from scalograph.questions.throughput.model_driven import RunPart, run_parts, stop_parts
from scalograph.questions.throughput.tables import parts_table
from tests.kit.records import read, recorded

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


def test_a_run_of_one_program_has_no_parts() -> None:
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
