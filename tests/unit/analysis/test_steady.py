"""Known courses of iterations and what they are called; first runs that read from disk."""

import numpy as np
import pytest

from scalograph.analysis.cold_start import find_cold_start
from scalograph.analysis.steady import steady

RNG = np.random.default_rng
STILL = [1.0, 1.002, 0.998, 1.001, 0.999, 1.0]


def course(*states: tuple[int, float], noise: float = 0.01, seed: int = 1) -> np.ndarray:
    typical = np.concatenate([np.full(n, time) for n, time in states])
    return typical * np.exp(noise * RNG(seed).standard_normal(typical.size))


@pytest.mark.parametrize("seed", range(5))
def test_flat(seed: int) -> None:
    found = steady(course((100, 1.0), seed=seed))
    assert (found.kind, found.warmup) == ("flat", 0)


@pytest.mark.parametrize("n", [10, 20, 50])
def test_warm_up_ends_where_it_ends(n: int) -> None:
    found = steady(course((n, 1.5), (100, 1.0)))
    assert found.kind == "warm-up" and found.warmup == pytest.approx(n, abs=2)


def test_slowdowns_no_steady_state_and_long_runs() -> None:
    found = steady(course((30, 1.0), (100, 1.2)))
    assert (found.kind, found.warmup) == ("slowdown", 30)
    assert steady(course((20, 2.0), (30, 0.9), (100, 1.0))).kind == "slowdown"
    found = steady(course((90, 1.0), (10, 1.3)))
    assert (found.kind, found.warmup) == ("no steady state", None) and "10 of 100" in found.why
    found = steady(course((30_000, 1.5), (70_000, 1.0)))
    assert found.kind == "warm-up" and found.warmup == pytest.approx(30_000, abs=200)


def test_small_or_single_differences_are_no_state() -> None:
    assert steady(course((500, 1.0), (500, 1.005), noise=0.001)).kind == "flat"
    times = course((200, 1.0))
    times[[3, 50, 120, 190]] *= 5
    assert steady(times).kind == "flat" and steady([1.0] * 50).kind == "flat"
    assert steady([1.0] * 20 + [2.0] * 40).kind == "slowdown"


@pytest.mark.parametrize("times", [[], [1.0] * 29, [0.0] * 50, [float("nan")] * 100])
def test_too_little_is_not_assessed(times: list[float]) -> None:
    found = steady(times)
    assert (found.kind, found.warmup) == ("not assessed", None) and found.why


@pytest.mark.parametrize(("n", "gap", "share"), [(100, 0.1, 0.4), (300, 0.05, 0.3), (300, 0.5, 1 / 30)])
def test_iterations_on_two_levels_in_no_order_are_flat(n: int, gap: float, share: float) -> None:
    rng = RNG(7)
    kinds = [steady(np.exp(gap * (rng.random(n) < share) + 0.002 * rng.standard_normal(n))).kind for _ in range(40)]
    assert kinds.count("flat") >= 37


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
    assert alarms <= 22  # 1% is 10; as many happen once in 2000 such tests
