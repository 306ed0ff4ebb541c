"""What a response reads of one process of several: its copies together, in the window of the driver."""

from typing import Any

import pytest

from scalograph.protocol.record import Record
from scalograph.study.responses import observe, windows
from tests.kit.records import read, recorded

TIMELINE = {"source": "records", "bin_ns": 100_000_000, "cpus": [0], "busy_ns": [[0] * 10]}


def driven(**more: Any) -> Record:
    """A run of 1 s with two servers, in whose first half the driver has its window."""
    server = {"command": 0, "name": "web", "role": "service", "cpu_ns": 300_000_000, "ready_ns": 5_000_000_000}
    processes = [
        {**server, "busy_ns": [40_000_000] * 5 + [0] * 5, "max_rss_bytes": 1000},
        {**server, "command": 1, "busy_ns": [20_000_000] * 5 + [0] * 5, "ready_ns": 7_000_000_000},
        {"command": 2, "name": "driver", "role": "driver", "cpu_ns": None},
    ]
    made = recorded(iterations=[(0.5, 0.1, 7)])
    return read({**made, "processes": processes, "timeline": TIMELINE, **more})


@pytest.mark.parametrize(("source", "expected"), [
    ("process.web.cpu", [0.6]),
    ("process.web.cpu_percent", [60.0]),
    ("process.web.cpu_per_work", [0.3 / 7]),
    ("process.driver.cpu_per_work", []),
    ("process.web.ready", [7.0]),
    ("process.web.max_rss", []),
    ("process.web.wait", []),
    ("process.driver.cpu_percent", []),
    ("process.nobody.cpu", []),
])  # fmt: skip
def test_a_figure_of_a_process_is_that_of_its_copies_or_of_none(source: str, expected: list[float]) -> None:
    record = driven()
    assert list(observe(source, record, windows(record), 0)) == pytest.approx(expected)


def test_without_bins_in_the_window_the_whole_run_counts() -> None:
    record = driven(timeline=None)
    assert list(observe("process.web.cpu_percent", record, windows(record), 0)) == pytest.approx([60.0])
    record = driven(timeline={**TIMELINE, "bin_ns": 200_000_000}, iterations=[])
    assert list(observe("process.web.cpu_percent", record, windows(record), 0)) == pytest.approx([60.0])


def test_drivers_are_told_from_services_and_a_service_that_failed_speaks_for_itself() -> None:
    record = driven()
    copy = record.copies[0]
    copies = [
        {"copy": i, "command": command, "stderr_tail": said}
        for i, (command, said) in enumerate([(0, "out of paper\n"), (2, "refused\n")])
    ]
    record = driven(copies=copies).mark_failed("service web ended while drivers worked (exit code 7)")
    assert [one.command for one in record.driver_copies()] == [2] and copy.command == 0
    assert record.last_words(6) == "out of" and record.mark_failed("killed").last_words(99) == "refused"
