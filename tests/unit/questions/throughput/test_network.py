"""Networks that are solved exactly are those that are run event by event."""

import numpy as np
import pytest
from simulate.throughput import (
    Network,
    Station,
    draw_constant,
    draw_exponential,
    simulate_network,
    solve_network,
)


def test_one_server_and_think_time_is_the_machine_repairman() -> None:
    """M/M/1//N: the rate is one minus the probability that all think, over the service time (Erlang's loss formula)."""
    found = solve_network(Network((Station("a", 1.0),), think_s=4.0), 3)
    weights = [4.0**k / np.prod([1, *range(1, k + 1)]) for k in range(4)]
    assert found[2] == pytest.approx(1 - weights[3] / sum(weights))


def test_bounds_of_every_network_hold() -> None:
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


def test_fixed_times_queue_less() -> None:
    network = Network((Station("a", 0.002), Station("b", 0.002)))
    rate, _ = simulate_network(network, 2, 4.0, draw_constant(np.random.default_rng(5)))
    assert rate > 1.2 * solve_network(network, 2)[-1]


def test_a_lock_serves_one_at_a_time_however_many_cpus_there_are() -> None:
    network = Network((Station("a", 0.001, 4), Station("lock", 0.001, on="a")))
    rate, _ = simulate_network(network, 12, 4.0, draw_exponential(np.random.default_rng(5)))
    assert rate == pytest.approx(1000, rel=0.05)
    one = Network((Station("a", 0.001, 1), Station("lock", 0.001, on="a")))
    assert simulate_network(one, 12, 4.0, draw_exponential(np.random.default_rng(5)))[0] == pytest.approx(500, rel=0.05)
