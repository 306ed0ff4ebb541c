"""What iterations did, beside the numbers that they make."""

from pathlib import Path

from ..records import record
from .made import ONE_FACTOR, Made, at, found_in

TEXT = ONE_FACTOR.replace("runs = 3", "runs = 3\niterations = 60\nwarmup = 5")


def study(*courses: list[float]) -> Made:
    """Three blocks of threads 1 and 2, whose iterations take these times."""
    runs = []
    for block in range(3):
        for n, times in zip((1, 2), courses, strict=True):
            windows = [(t * (1 + 0.002 * ((i + block) % 3)) / n, t, 7) for i, t in enumerate(times)]
            runs.append(({"threads": n}, record(sum(times) + 1, sum(times), cpus=(0, 1, 2, 3), iterations=windows)))
    return runs


def test_flat_iterations_are_no_news(tmp_path: Path) -> None:
    found = found_in(tmp_path, study([1.0] * 60, [1.0] * 60), TEXT)
    assert [point.flags for point in found.curves[0].points] == [[], []]


def test_a_warm_up_within_the_declared_one_is_no_news(tmp_path: Path) -> None:
    warming = [3.0] * 5 + [1.0] * 55
    found = found_in(tmp_path, study(warming, warming), TEXT)
    assert [point.flags for point in found.curves[0].points] == [[], []]


def test_a_longer_warm_up_is_flagged_and_doubted(tmp_path: Path) -> None:
    found = found_in(tmp_path, study([1.0] * 60, [2.0] * 25 + [1.0] * 35), TEXT)
    assert at(found, 2).flags == ["still warming up in 3 of 3 runs: steady from iteration 25 on"]
    assert "1 of 2 treatments warm up for more iterations than the 5 left out" in found.trust.causes
    assert found.trust.level == "doubt"


def test_no_steady_state_is_flagged_and_doubted(tmp_path: Path) -> None:
    found = found_in(tmp_path, study([1.0] * 60, [1.0] * 52 + [1.5] * 8), TEXT)
    assert at(found, 2).flags == ["no steady state in 3 of 3 runs: the median iteration stands for none"]
    assert "1 of 2 treatments reach no steady state in most of their runs" in found.trust.causes


def test_a_slowdown_is_told(tmp_path: Path) -> None:
    found = found_in(tmp_path, study([1.0] * 60, [0.5] * 10 + [1.0] * 50), TEXT)
    assert "becomes slower in 3 of 3 runs before it is steady" in at(found, 2).flags
