"""From which level on nothing is gained, of rates that are known; networks solved exactly are those run by events."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from simulate.throughput import Network, Station, draw_constant, draw_exponential, simulate_network, solve_network

from scalograph.analysis.estimate import Estimate
from scalograph.questions.throughput.model_plateau import Plateau, knee, plateau


def found(rates: Mapping[int, float], noise: float = 0.005, n_runs: int = 5, seed: int = 1) -> Plateau:
    rng = np.random.default_rng(seed)
    made = {n: {i: x * float(np.exp(noise * rng.standard_normal())) for i in range(n_runs)} for n, x in rates.items()}
    told = plateau(made)
    assert told is not None
    return told


@pytest.mark.parametrize(("rates", "noise", "n_runs", "state", "low", "high"), [
    ({1: 100, 2: 200, 4: 300, 8: 300, 16: 300}, 0.005, 5, "found", 4, 4),
    ({1: 100, 2: 100, 4: 100}, 0.005, 5, "found", 1, 1),
    ({1: 100, 2: 190, 4: 350, 8: 600}, 0.005, 5, "rising", 8, None),
    ({1: 100, 2: 300, 4: 320, 8: 200}, 0.005, 5, "found", 4, 4),
    ({1: 100, 2: 200, 4: 210, 8: 210}, 0.01, 5, "between", 2, 4),
    ({1: 100, 2: 105, 4: 103}, 0.2, 3, "inconclusive", None, None),
], ids=["found", "at once", "rising", "falling", "a gain of as much as counts", "noise"])  # fmt: skip
def test_the_least_level_is_told_where_the_runs_show_it(
    rates: Mapping[int, float], noise: float, n_runs: int, state: str, low: int | None, high: int | None
) -> None:
    told = found(rates, noise, n_runs)
    assert (told.state, told.high) == (state, high) and (low is None or told.low == low)
    assert noise > 0.005 or (told.estimate(0.95, 5).value is None) == (high is None)


def test_a_plateau_needs_runs_and_a_rate_that_falls_is_told() -> None:
    assert plateau({1: {0: 1.0}, 2: {0: 2.0}}) is plateau({1: {0: 1.0, 1: 1.0}}) is None
    apart = {n: {10 * n + i: x * (1 + 0.001 * (i % 3)) for i in range(4)} for n, x in {1: 100, 2: 200, 4: 200}.items()}
    told = plateau(apart)
    assert told is not None and (told.state, told.low) == ("found", 2)
    falls = found({1: 100, 2: 300, 4: 300, 8: 200}).falls
    assert falls is not None and falls.contains(2 / 3)
    assert found({1: 100, 2: 200, 4: 200}).falls is None


def test_the_knee_has_the_error_of_both() -> None:
    most, alone = Estimate(100.0, 95.0, 105.0), Estimate(0.02, 0.018, 0.022)
    told = knee(most, alone, 0.0)
    assert told.value == 2.0 and told.low is not None and told.low < 1.8
    thinking = knee(most, alone, 10.0)  # think time is known, and most of the cycle
    assert thinking.low == pytest.approx(1002 * 0.95, rel=0.01)
    assert knee(most, Estimate(0.02), 0.0).low is None
    assert knee(replace(most, value=None), alone, 0.0).value is None


def test_one_server_is_the_machine_repairman_and_bounds_of_every_network_hold() -> None:
    """M/M/1//N: the rate is one minus the probability that all think, over the service time (Erlang's loss formula)."""
    found = solve_network(Network((Station("a", 1.0),), think_s=4.0), 3)
    weights = [4.0**k / np.prod([1, *range(1, k + 1)]) for k in range(4)]
    assert found[2] == pytest.approx(1 - weights[3] / sum(weights))
    network = Network((Station("a", 0.3, 2), Station("b", 0.1), Station("c", 0.4, 4)), think_s=1.0)
    found, n = solve_network(network, 64), np.arange(1, 65)
    assert network.narrowest.name == "a"
    assert (found <= np.minimum(network.most, n / (network.alone_s + 1.0)) * (1 + 1e-9)).all()
    assert found[0] == pytest.approx(1 / (network.alone_s + 1.0)) and found[-1] == pytest.approx(network.most)


@pytest.mark.parametrize("clients", [1, 4, 12])
def test_events_come_to_the_exact_solution(clients: int) -> None:
    network = Network((Station("a", 0.002, 2), Station("b", 0.0008)), think_s=0.004)
    rate, took = simulate_network(network, clients, 8.0, draw_exponential(np.random.default_rng(5)))
    assert rate == pytest.approx(solve_network(network, clients)[-1], rel=0.05)
    assert rate * (took + network.think_s) == pytest.approx(clients, rel=0.05)


def test_fixed_times_queue_less_and_a_lock_serves_one_at_a_time() -> None:
    network = Network((Station("a", 0.002), Station("b", 0.002)))
    rate, _ = simulate_network(network, 2, 4.0, draw_constant(np.random.default_rng(5)))
    assert rate > 1.2 * solve_network(network, 2)[-1]
    network = Network((Station("a", 0.001, 4), Station("lock", 0.001, on="a")))
    rate, _ = simulate_network(network, 12, 4.0, draw_exponential(np.random.default_rng(5)))
    assert rate == pytest.approx(1000, rel=0.05)
    one = Network((Station("a", 0.001, 1), Station("lock", 0.001, on="a")))
    assert simulate_network(one, 12, 4.0, draw_exponential(np.random.default_rng(5)))[0] == pytest.approx(500, rel=0.05)
