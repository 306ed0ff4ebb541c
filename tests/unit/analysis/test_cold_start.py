"""First runs that read from disk."""

import numpy as np
import pytest

from scalograph.analysis.cold_start import find_cold_start

STILL = [1.0, 1.002, 0.998, 1.001, 0.999, 1.0]


def test_cold_runs_are_counted_with_what_they_read() -> None:
    found = find_cold_start([200.0, 140.0, 0, 0, 0, 0, 0, 0], [1.3, 1.1, *STILL], least=1)
    assert found and (found.n, found.read, found.later) == (2, 340.0, 0.0)
    assert found.change == pytest.approx(0.2, abs=0.01)
    found = find_cold_start([300.0, 12.0, 0, 0, 0, 0], [1.5, *STILL[1:]], least=1)
    assert found and found.n == 1


@pytest.mark.parametrize(
    ("read", "scores"),
    [
        ([300, 0, 0, 0, 0, 0], STILL),
        ([0, 0, 0, 0, 0, 0], [1.5, *STILL[1:]]),
        ([0, 300, 0, 0, 0, 0], [1.0, 1.5, *STILL[2:]]),
        ([300, 280, 310, 305, 290, 300], [1.5, *STILL[1:]]),
        ([300, 300, 300, 300, 0, 0], [1.5, 1.5, 1.5, 1.5, 1.0, 1.0]),
        ([300, 0, 0, 0, 0, 0], [1.2, 0.8, 1.3, 1.0, 1.1, 0.9]),
        ([300, 0], [1.5, 1.0]),
        ([300, 0, 0, 0], [1.5, 0.0, 1.0, 1.0]),
        ([], []),
    ],
    ids=["no harm", "no cause", "not first", "all read", "most read", "within the noise", "few", "no log", "none"],
)
def test_what_is_no_cold_start(read: list[float], scores: list[float]) -> None:
    assert find_cold_start(read, scores, least=1) is None


@pytest.mark.parametrize("n", [5, 20])
def test_false_alarms_are_rare_where_only_the_reading_differs(n: int) -> None:
    rng = np.random.default_rng(n)
    read = [300.0] + [0.0] * (n - 1)
    noise = np.exp(0.03 * rng.standard_normal((1000, n)))
    alarms = sum(find_cold_start(read, scores.tolist(), least=1) is not None for scores in noise)
    assert alarms <= 22  # 1 % is 10; as many happen once in 2000 such tests
