"""Known courses of iterations, and what they are called."""

import numpy as np
import pytest

from scalograph.analysis.steady import steady

RNG = np.random.default_rng


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


def test_slowdowns_and_no_steady_state() -> None:
    found = steady(course((30, 1.0), (100, 1.2)))
    assert (found.kind, found.warmup) == ("slowdown", 30)
    assert steady(course((20, 2.0), (30, 0.9), (100, 1.0))).kind == "slowdown"
    found = steady(course((90, 1.0), (10, 1.3)))
    assert (found.kind, found.warmup) == ("no steady state", None) and "10 of 100" in found.why


def test_small_or_single_differences_are_no_state() -> None:
    assert steady(course((500, 1.0), (500, 1.005), noise=0.001)).kind == "flat"
    times = course((200, 1.0))
    times[[3, 50, 120, 190]] *= 5
    assert steady(times).kind == "flat" and steady([1.0] * 50).kind == "flat"
    assert steady([1.0] * 20 + [2.0] * 40).kind == "slowdown"


def test_a_long_run_is_looked_at_in_blocks() -> None:
    found = steady(course((30_000, 1.5), (70_000, 1.0)))
    assert found.kind == "warm-up" and found.warmup == pytest.approx(30_000, abs=200)


@pytest.mark.parametrize("times", [[], [1.0] * 29, [0.0] * 50, [float("nan")] * 100])
def test_too_little_is_not_assessed(times: list[float]) -> None:
    found = steady(times)
    assert (found.kind, found.warmup) == ("not assessed", None) and found.why


@pytest.mark.parametrize(("n", "gap", "share"), [(100, 0.1, 0.4), (300, 0.05, 0.3), (300, 0.5, 1 / 30)])
def test_iterations_on_two_levels_in_no_order_are_flat(n: int, gap: float, share: float) -> None:
    rng = RNG(7)
    kinds = [steady(np.exp(gap * (rng.random(n) < share) + 0.002 * rng.standard_normal(n))).kind for _ in range(40)]
    assert kinds.count("flat") >= 37
