"""Objections beside the numbers, also to first runs that read from disk, and what they do to the trust."""

from pathlib import Path
from typing import Any

import pytest

from scalograph.protocol.findings import Findings
from scalograph.text.warning_catalog import Caveat
from tests.kit.findings import ONE_FACTOR, Made, findings_of, point_at, texts
from tests.kit.records import recorded
from tests.kit.studies import VALID

Run = tuple[dict[str, object], dict[str, object]]


def study(times: dict[int, tuple[float, float, int]], n_cpus: int = 4) -> list[Run]:
    """Twelve blocks; threads -> wall, CPU time and work."""
    made: list[Run] = []
    for block in range(12):
        jitter = 1 + 0.002 * (block % 3)
        for n, (wall, cpu, work) in times.items():
            window = [(wall * jitter, cpu * jitter, work)]
            made.append(({"threads": n}, recorded(1.1 * wall, cpu, cpus=tuple(range(n_cpus)), iterations=window)))
    return made


def test_only_work_that_grows_with_the_threads_is_flagged_and_doubted(tmp_path: Path) -> None:
    found = findings_of(tmp_path, study({1: (1.0, 1.0, 60), 2: (0.55, 1.05, 60), 4: (0.3, 1.1, 60)}), ONE_FACTOR)
    assert found.trust.level == "reliable"
    assert [texts(point.flags) for point in found.curves[0].points] == [[], [], []]
    found = findings_of(tmp_path, study({1: (1.0, 1.0, 60), 2: (0.6, 1.1, 90)}), ONE_FACTOR)
    flag = "does 90 units of work where 1 does 60: more workers, other work: not the same program"
    assert texts(point_at(found, 2).flags) == [f"work differs: {flag}"]
    assert texts(point_at(found, 1).flags) == []
    assert [point_at(found, n).doubt for n in (1, 2)] == ["", "work differs"]
    assert found.trust.level == "caution"
    assert Caveat("physics", {"n": 1, "of": 2}).text in found.trust.causes


def test_a_speedup_above_the_cpus_is_doubted_and_a_baseline_that_waits_is_told(tmp_path: Path) -> None:
    found = findings_of(tmp_path, study({1: (1.0, 1.0, 60), 2: (0.4, 0.8, 60)}), ONE_FACTOR)
    assert len(texts(point_at(found, 2).flags)) == 1 and "above 2" in texts(point_at(found, 2).flags)[0]
    assert found.trust.level == "caution"
    found = findings_of(tmp_path, study({1: (1.0, 0.8, 60), 2: (0.6, 0.8, 60)}), ONE_FACTOR)
    assert texts(point_at(found, 1).flags)[0].startswith(
        "baseline off the CPU: the baseline was on a CPU for at most 80"
    )
    assert found.trust.level == "reliable"


def test_cpu_time_of_one_worker_is_compared_across_cpu_counts(tmp_path: Path) -> None:
    text = VALID.replace('[factors.lock]\nlevels = ["none", "cas"]', '[factors.lock]\nlevels = "1,2"\ncontrol = "cpus"')
    made = [
        ({**configuration, "lock": n_cpus}, found)
        for n_cpus, cpu in ((1, 1.0), (2, 1.5))
        for configuration, found in study({1: (cpu, cpu, 60), 2: (cpu, cpu, 60)}, n_cpus)
    ]
    found = findings_of(tmp_path, made, text)
    flags = {curve.group["lock"]: texts(curve.points[0].flags) for curve in found.curves}
    assert flags[1] == [] and len(flags[2]) == 1
    assert flags[2][0].startswith("CPU time depends on the CPUs: the baseline takes 1.5 s of CPU time on 2 CPUs and 1")


PROCESSES = """\
[[workload.process]]
name = "server"
role = "service"
argv = ["serve"]
ready = { line = "ready" }

[[workload.process]]
name = "driver"
role = "driver"
argv = ["drive", "{threads}"]
"""


def test_clients_of_a_service_are_no_workers_on_its_cpus(tmp_path: Path) -> None:
    """A service that waits for something else answers four clients at once, on whatever CPUs it has."""
    driven = ONE_FACTOR.replace('[workload]\ncommand = ["./prog", "-t", "{threads}"]\n', PROCESSES)
    made = [*study({1: (1.6, 0.1, 60), 4: (0.4, 0.1, 60)}, n_cpus=2), *study({1: (1.6, 0.1, 61)}, n_cpus=2)]
    found = findings_of(tmp_path, made, driven)
    point = point_at(found, 4)
    assert point.speedup is not None and point.speedup.value == pytest.approx(4)
    assert point.efficiency is not None and point.efficiency.value == pytest.approx(1)
    assert [texts(point.flags) for point in found.curves[0].points] == [[], []] and point.doubt == ""


JITTER = (0.998, 1.002, 1.0, 1.001, 0.999, 1.0)
MB = 1_000_000


def run(wall_s: float, **figures: int) -> dict[str, Any]:
    made = recorded(wall_s, wall_s, cpus=(0, 1, 2, 3))
    made["run"] |= {"n_blocks_in": 0, "n_major_faults": 0, **figures}
    return made


def cold_study(cold: dict[int, dict[str, Any]]) -> Made:
    """Six blocks of threads 1, 2 and 4; the runs with these numbers are 20% slower and read."""
    made = []
    for number in range(18):
        n = (1, 2, 4)[number % 3]
        wall = JITTER[number // 3] / n
        made.append(({"threads": n}, run(1.2 * wall, **cold[number]) if number in cold else run(wall)))
    return made


def doubts(found: Findings) -> list[str]:
    return [text for text in found.trust.causes if "from disk" in text]


def blocks(megabytes: int) -> dict[str, int]:
    return {"n_blocks_in": megabytes * MB // 512}


def test_only_reading_that_slows_is_a_doubt(tmp_path: Path) -> None:
    found = findings_of(tmp_path, cold_study({}), ONE_FACTOR)
    assert doubts(found) == [] and texts(point_at(found, 1).flags) == []
    made = cold_study({})
    made[0] = (made[0][0], run(JITTER[0], **blocks(300)))
    assert doubts(findings_of(tmp_path, made, ONE_FACTOR)) == []
    (told,) = doubts(findings_of(tmp_path, cold_study({0: {"n_major_faults": 900}}), ONE_FACTOR))
    assert told.startswith("Cold first runs of the study (1) waited for 900 pages from disk, later runs none; their")


def test_first_runs_of_the_study_that_read_are_a_doubt_with_its_cure(tmp_path: Path) -> None:
    found = findings_of(tmp_path, cold_study({0: blocks(200), 1: blocks(140)}), ONE_FACTOR)
    (told,) = doubts(found)
    assert told == (
        "Cold first runs of the study (2) read 340 MB from disk, later runs none; their values differ by +20%"
    )
    assert found.trust.level == "caution"
    assert texts(point_at(found, 1).flags) == [
        "Cold first runs (1) read 200 MB from disk, later runs none; their values differ by +20%"
    ]
    assert texts(point_at(found, 4).flags) == []


def test_a_configuration_with_files_of_its_own_is_flagged(tmp_path: Path) -> None:
    found = findings_of(
        tmp_path, cold_study({2: blocks(50)}), ONE_FACTOR.replace("runs = 3", "runs = 3\nwarmup_runs = 2")
    )
    assert doubts(found) == []
    assert "cold" in found.trust.codes
    assert point_at(found, 4).doubt == "its first runs were cold" and point_at(found, 1).doubt == ""
    assert texts(point_at(found, 4).flags) and texts(point_at(found, 1).flags) == []


@pytest.mark.parametrize("missing", ["n_blocks_in", "n_major_faults"])
def test_what_was_not_measured_is_not_claimed(tmp_path: Path, missing: str) -> None:
    made = cold_study({0: {"n_blocks_in": 10 * MB, "n_major_faults": 900}})
    for _, found in made:
        found["run"].pop(missing)
    assert len(doubts(findings_of(tmp_path, made, ONE_FACTOR))) == 1
    for _, found in made:
        found["run"].pop("n_major_faults", None)
        found["run"].pop("n_blocks_in", None)
    assert doubts(findings_of(tmp_path, made, ONE_FACTOR)) == []
