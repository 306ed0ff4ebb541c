"""Does doctor tell a CPU whose speed changes from one that keeps it?"""

import os
import random

import pytest

from scalograph.machine.examine import N_SLICES, check_speed, slow_share, time_slices

RNG = random.Random(1)


def slices(*phases: tuple[int, float]) -> list[float]:
    """So many slices at so many times the fast time, each a little off."""
    return [0.005 * times * RNG.uniform(1.0, 1.04) for n, times in phases for _ in range(n)]


@pytest.mark.parametrize("share", [10, 50, 80])
def test_phases_of_half_the_speed_are_seen(share: int) -> None:
    found = check_speed({0: slices((100, 1.0)), 1: slices((100 - share, 1.0), (share, 1.5))}, is_guest=True)
    assert found.status == "warning" and "CPU 0" not in found.found
    assert f"1.5 times as long in {share}% of 100 slices on CPU 1" in found.found
    assert "another guest on the same core" in found.why and found.fix


def test_a_cpu_that_is_slow_all_the_time_shows_beside_one_of_its_kind() -> None:
    assert slow_share([1.0] * 75 + [2.0] * 25, 1.0) == (0.25, 2.0)
    seen = {0: slices((100, 1.0)), 1: slices((100, 1.5))}
    assert "in 100% of 100 slices on CPU 1" in check_speed(seen, is_guest=True).found
    assert check_speed(seen, is_guest=True, are_alike=False).status == "info"
    assert "guest" not in check_speed({0: slices((50, 1.0), (50, 1.6))}, is_guest=False).why, (
        "of no guest none is to blame"
    )


@pytest.mark.parametrize("phases", [[(100, 1.0)], [(97, 1.0), (3, 4.0)]], ids=["steady", "ticks"])
def test_a_cpu_that_keeps_its_speed_is_steady(phases: list[tuple[int, float]]) -> None:
    found = check_speed({0: slices(*phases), 1: slices((100, 1.0))}, is_guest=True)
    assert (found.status, found.found) == ("info", "steady: CPU 0-1 did equal work in equal time")


def test_a_look_leaves_the_mask_as_it_was() -> None:
    mask = os.sched_getaffinity(0)
    found = time_slices(mask)
    assert os.sched_getaffinity(0) == mask
    assert set(found) == {min(mask), max(mask)} and all(len(times) == N_SLICES for times in found.values())
    assert all(one > 0 for times in found.values() for one in times)
