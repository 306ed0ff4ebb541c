"""The speed of the CPUs as one number for a run, and what the sentinel takes from nobody."""

from typing import Any

import pytest

from scalograph.verdict.judge import judge
from scalograph.verdict.speed import loop_time, observer_ns
from tests.kit.records import read, recorded

MS = 10**6


def speed(*cpus: tuple[int, int] | None, cost_ns: int = 0) -> dict[str, Any]:
    """Return the figures of a sentinel: mean and number of samples of each CPU."""
    means = [cpu and cpu[0] for cpu in cpus]
    return {"mean_ns": means, "p10_ns": means, "p90_ns": means, "n": [cpu[1] if cpu else 0 for cpu in cpus],
            "cost_ns": cost_ns}  # fmt: skip


@pytest.mark.parametrize(("per_cpu_s", "seen", "expected"), [
    ((1.0,), speed((45_000, 12)), 45_000),
    ((0.5, 0.5), speed((40_000, 12), (60_000, 12)), 48_000),
    ((0.0, 1.0), speed((40_000, 12), (60_000, 12)), 60_000),  # of the CPUs that it used
    ((0.9, 0.1), speed((40_000, 12), None), 40_000),  # 90% of it is known
    ((0.4, 0.6), speed((40_000, 12), None), None),
    ((0.5, 0.5), speed((40_000, 1), (50_000, 1)), None),  # two samples
    ((0.5, 0.5), speed((40_000, 2), (60_000, 1)), 48_000),
    ((), speed((40_000, 12), (60_000, 12)), 48_000),  # nobody knows where it ran
    ((0.0, 0.0), speed((40_000, 12), None), 40_000),
    ((), speed(None, None), None),
    ((1.0,), speed((40_000, 12), (60_000, 12)), None),  # CPUs came or went
    ((1.0,), speed(), None),
    ((1.0,), None, None),
])  # fmt: skip
def test_the_loop_time_is_that_of_the_cpus_that_were_used(
    per_cpu_s: tuple[float, ...], seen: dict[str, Any] | None, expected: float | None
) -> None:
    found = loop_time(read(recorded(per_cpu_s=per_cpu_s, speed=seen)))
    assert found == (None if expected is None else pytest.approx(expected))


def test_arrays_of_a_record_are_of_equal_length() -> None:
    with pytest.raises(ValueError, match="equal length"):
        read(recorded(speed={**speed((1, 1)), "n": []}))


SIXTEEN = tuple(range(16))
# 1 ms on each of sixteen CPUs in 100 ms, and 0.2 ms of the probe itself.
WATCHED = {"speed": speed(*[(45_000, 12)] * 16, cost_ns=16 * MS), "observer_ns": 16_200_000}


def test_the_sentinel_of_other_cpus_hides_no_neighbor() -> None:
    one_thread = read(recorded(0.1, 0.1, neighbor_s=0.0112, cpus=SIXTEEN, **WATCHED))
    assert observer_ns(one_thread.run) == 1_200_000
    assert judge(one_thread).verdict == "disturbed"
    assert judge(read(recorded(0.1, 0.1, neighbor_s=0.0012, cpus=SIXTEEN, **WATCHED))).verdict == "clean"
    gang = read(recorded(0.1, 1.6, neighbor_s=0.0162, cpus=SIXTEEN, **WATCHED))
    assert observer_ns(gang.run) == 16_200_000
    assert judge(gang).verdict == "clean"


def test_of_one_cpu_it_had_its_part_only() -> None:
    names = [{"name": "probe", "observer": True, "taken_ns": 16 * MS}, {"name": "hog", "taken_ns": 25 * MS}]
    taken = [26 * MS, *[MS] * 15]
    run = read(
        recorded(0.1, 1.6, neighbor_s=0.041, cpus=SIXTEEN, neighbors=names, neighbor_per_cpu_ns=taken, **WATCHED)
    )
    assert (observer_ns(run.run), observer_ns(run.run, of_one_cpu=True)) == (16 * MS, 1_200_000)
    assert judge(run).causes[0].text.startswith("one CPU was taken by hog for 24.8%")
