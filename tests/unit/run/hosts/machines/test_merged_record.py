"""Records of machines become one: numbers of processes and copies, sums, the parts, and the worst verdict."""

from typing import Any

import pytest
from msgspec.structs import replace

from scalograph.protocol.record import Timeline, Values
from scalograph.protocol.record_processes import HistogramEvent, ProcessEvent
from scalograph.run.hosts.local.probe_process import ProbeProcess
from scalograph.run.hosts.machines.merged_record import merge
from scalograph.run.hosts.machines.shared_gate import MachineRun
from scalograph.verdict.judge import judge
from tests.kit.records import record


def of_machine(*names: str, has_driver: bool = False, **run: Any) -> MachineRun:
    role = "driver" if has_driver else "service"
    whole = record(**run)
    copies = [replace(whole.copies[0], copy_index=i, command=i) for i in range(len(names))]
    processes = [ProcessEvent(command=i, name=name, role=role, cpu_ns=10 + i) for i, name in enumerate(names)]
    part = MachineRun({}, ProbeProcess(["true"]), has_driver)
    part.record = replace(whole, copies=copies, processes=processes)
    return part


def test_processes_and_copies_have_the_numbers_of_the_run() -> None:
    a, b = of_machine("db", "web"), of_machine("driver", has_driver=True)
    assert b.record
    b.record = replace(
        b.record,
        values=[Values(copy_index=0, values={"rate": [5]})],
        histograms=[HistogramEvent(copy_index=0, phase="steady", operation="get", index=[3], count=[2])],
    )
    merged = merge([a, b], [[0, 2], [3]], ["boot", None], None)
    assert [(p.command, p.name) for p in merged.processes] == [(0, "db"), (2, "web"), (3, "driver")]
    assert [(c.copy_index, c.command) for c in merged.copies] == [(0, 0), (1, 2), (2, 3)]
    assert (merged.values[0].copy_index, merged.histograms[0].copy_index) == (2, 2)
    assert [part.commands for part in merged.machines] == [[0, 2], [3]]
    assert [part.boot_id for part in merged.machines] == ["boot", None]


def test_two_machines_of_one_driver_have_copies_of_it() -> None:
    server = of_machine("server")
    drivers = [of_machine("driver", has_driver=True) for _ in range(2)]
    for i, part in enumerate(drivers):
        assert part.record
        part.record = replace(part.record, values=[Values(copy_index=0, values={"rate": [10 * (i + 1)]})])
    merged = merge([server, *drivers], [[0], [1], [2]], [None] * 3, None)
    assert [(part.copy_index, part.values) for part in merged.values] == [(1, {"rate": [10]}), (2, {"rate": [20]})]


def test_what_all_used_is_a_sum_and_unknown_where_one_is() -> None:
    merged = merge(
        [of_machine("a", cpu_ns=3), of_machine("driver", has_driver=True, cpu_ns=4)], [[0], [1]], [None] * 2, None
    )
    assert merged.run.cpu_ns == 7 and merged.run.per_cpu_ns is None
    merged = merge(
        [of_machine("a", cpu_ns=None), of_machine("driver", has_driver=True, cpu_ns=4)], [[0], [1]], [None] * 2, None
    )
    assert merged.run.cpu_ns is None


def judged(*machines: MachineRun) -> tuple[str, str]:
    judgment = judge(merge(machines, [[i] for i in range(len(machines))], [None] * len(machines), None))
    return judgment.verdict, judgment.causes[0].text if judgment.causes else ""


def test_the_worst_machine_decides() -> None:
    quiet = {"wait_scope": "preemption and wakeup", "wait_ns": 0}
    disturbed = {"wait_scope": "preemption and wakeup", "wait_ns": 200_000_000, "neighbor_s": 0.2}
    driver = of_machine("driver", has_driver=True, **quiet)
    assert judged(of_machine("server", **quiet), driver)[0] == judge(record(**quiet)).verdict
    verdict, text = judged(of_machine("server", **disturbed), driver)
    assert verdict == judge(record(**disturbed)).verdict == "disturbed"
    assert text.startswith("machine of server: ")


@pytest.mark.parametrize(("width", "found"), [(1, [3, 7, 5]), (2, [1, 2, 3, 4, 5]), (4, None), (None, None)])
def test_bins_of_another_machine_have_the_width_of_the_drivers(width: int | None, found: list[int] | None) -> None:
    server, driver = of_machine("server"), of_machine("driver", has_driver=True)
    assert server.record and driver.record
    busy = [replace(process, busy_ns=[1, 2, 3, 4, 5]) for process in server.record.processes]
    wide = Timeline(bin_ns=width, cpus=[], busy_ns=[]) if width else None
    server.record = replace(server.record, processes=busy, timeline=wide)
    driver.record = replace(driver.record, timeline=Timeline(bin_ns=2, cpus=[], busy_ns=[]))
    merged = merge([server, driver], [[0], [1]], [None, None], None)
    assert merged.processes[0].busy_ns == found
