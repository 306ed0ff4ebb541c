"""What the Python probe reads of pressure, quotas, heat, swap and clocks: recorded trees, before and after."""

from pathlib import Path
from typing import Any

import pytest

from scalograph.run.hosts.python_probe.conditions import between, conditions, stall_ns

MOUNTS = """\
29 1 0:26 / /sys/fs/cgroup/cpu rw - cgroup none rw,cpu,cpuacct
30 1 0:27 / /sys/fs/cgroup/unified rw - cgroup2 none rw
"""
CLOCK = "sys/devices/system/clocksource/clocksource0/current_clocksource"


def tree(folder: Path, n: int, clock: str = "tsc") -> Path:
    files = {
        "proc/pressure/memory": f"some avg10=0.00 total={n}\nfull avg10=0.00 total=1\n",
        "proc/vmstat": f"pgpgin {n}\npgpgout {n}\npswpin {n}\nodd line of four\n",
        "proc/self/mountinfo": MOUNTS,
        "proc/self/cgroup": "3:cpu,cpuacct:/box/inner\n0::/deep\n",
        "sys/fs/cgroup/cpu/box/cpu.stat": f"nr_throttled 7\nthrottled_time {n * 5}\n",
        "sys/fs/cgroup/cpu/cpu.stat": "nr_throttled 9\nthrottled_time 1000000\n",
        "sys/fs/cgroup/unified/deep/cpu.stat": f"usage_usec 1\nthrottled_usec {n}\n",
        "sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_total_time_ms": f"{n}\n",
        CLOCK: f"{clock}\n",
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.fixture(autouse=True)
def _one_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda pid: {0})


def found(before: Path, after: Path) -> dict[str, Any]:
    return between(conditions(before), conditions(after))


def test_what_happened_is_a_difference(tmp_path: Path) -> None:
    figures = found(tree(tmp_path / "before", 10), tree(tmp_path / "after", 30))
    assert figures["machine_memory_stall_ns"] == 20_000
    assert figures["machine_io_stall_ns"] is None
    assert (figures["n_swapped_in"], figures["disk_bytes"]) == (20, 40 * 1024)
    assert figures["throttled_ns"] == 20_000  # the longest of both hierarchies, whatever was long ago
    assert figures["thermal_ns"] == 20_000_000
    assert figures["clock_source_changed"] is False


def test_a_machine_that_tells_nothing(tmp_path: Path) -> None:
    figures = found(tmp_path, tree(tmp_path / "after", 1, "hpet"))
    unknown = ("machine_memory_stall_ns", "throttled_ns", "thermal_ns", "n_swapped_in", "disk_bytes")
    assert [figures[name] for name in unknown] == [None] * 5
    assert figures["clock_source_changed"] is True


def test_a_clock_that_is_set_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = conditions(tree(tmp_path, 1))
    after = {
        **before,
        "clock_step_ns": before["clock_step_ns"] - 3_600_000_000_000,
        "asleep_ns": before["asleep_ns"] - 5,
    }
    figures = between(before, after)
    assert (figures["clock_step_ns"], figures["asleep_ns"]) == (-3_600_000_000_000, 0)


def test_pressure_without_the_line() -> None:
    assert stall_ns("full avg10=0.00 total=5\n") is None
