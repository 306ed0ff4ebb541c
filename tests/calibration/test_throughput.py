"""The short version of benchmarks/{throughput,queueing}_truth.py: services that are known, and what is said of them."""

import heapq
import random
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
import pytest
from simulate.noise import LOW, Noise
from simulate.throughput import ENDS, QUIET, Network, answer_study, is_named, least_level, levels, network, rates, study

from scalograph.questions.throughput.document import LoadedGroup
from scalograph.questions.throughput.model_plateau import plateau
from tests.calibration.sequential import is_share
from tests.kit.scripts import Benchmarks


def asked(kind: str, noise: Noise = QUIET) -> Iterator[tuple[Network, dict[int, float], LoadedGroup]]:
    """One service after the other, what it carries, and what is said of it."""
    rng = np.random.default_rng(53)
    while True:
        net = network(rng, kind)
        clients = levels(net, kind)
        true = rates(net, clients)
        yield net, true, answer_study(*study(rng, net, clients, noise=noise, carried=true))[1]


@pytest.mark.parametrize("kind", ENDS)
def test_the_part_that_ends_it_is_named(kind: str) -> None:
    assert is_share((is_named(kind, found) for _, _, found in asked(kind)), 0.95, rather_than=0.7)


def test_a_part_is_not_named_where_another_ends_it() -> None:
    assert not any(is_named("a lock", found) for _, _, found in islice(asked("one service"), 5))


@pytest.mark.parametrize("noise", [QUIET, LOW], ids=["quiet", "low"])
def test_the_plateau_holds_the_least_level(noise: Noise) -> None:
    def held() -> Iterator[bool]:
        for _, true, found in asked("one service", noise):
            low, high = found.plateau.low, found.plateau.high
            if low is not None and high is not None:
                yield low <= least_level(true) <= high

    assert is_share(held(), 0.95, rather_than=0.7)


def test_a_plateau_told_as_one_level_is_that_level_and_the_knee_where_asymptotes_meet() -> None:
    told = ((true, found) for _, true, found in asked("a database") if found.state == "found")
    assert is_share((found.plateau.value == least_level(true) for true, found in told), 0.95, rather_than=0.7)
    knees = [
        found.knee.value / (net.most * (net.alone_s + net.think_s))
        for net, _, found in islice(asked("one service"), 10)
        if found.knee is not None and found.knee.value is not None
    ]
    assert len(knees) >= 8 and max(abs(np.log(knees))) <= 0.05


def test_a_rate_that_rises_has_no_plateau() -> None:
    rng = np.random.default_rng(3)

    def risen() -> Iterator[bool]:
        while True:
            made = {n: {b: n * float(np.exp(LOW.run_logs(rng, (1,))[0])) for b in range(5)} for n in (1, 2, 4)}
            found = plateau(made)
            yield found is not None and found.high is None

    assert is_share(risen(), 0.95, rather_than=0.7)


def carried(stations: Sequence[Any], clients: int, think_s: float, seconds: float) -> float:
    """Requests per second of clients that go from station to station, and think."""
    events, n = [(0.0, i, 0) for i in range(clients)], 0
    while events[0][0] < seconds:
        now, client, station = heapq.heappop(events)
        if station < len(stations):
            heapq.heappush(events, (stations[station].done(now), client, station + 1))
        else:
            n += 1
            heapq.heappush(events, (now + think_s, client, 0))
    return n / seconds


def test_servers_carry_what_the_network_carries(b: Benchmarks) -> None:
    server = b.queueing_server
    for one in [one for one in b.queueing_truth.services() if not one.is_open][::3]:
        for load, true in one.truth().items():
            stations = [
                server.Station(part.servers, server.times(one.shape, part.demand_s, random.Random(load)))
                for part in one.network.stations
            ]
            assert carried(stations, load, one.network.think_s, 30.0) == pytest.approx(true, rel=0.04), (one, load)


def test_servers_of_four_ends_are_asked(b: Benchmarks) -> None:
    every = list(b.queueing_truth.services())
    assert len(every) >= 20 and len({(one.name, one.shape, one.loads) for one in every}) == len(every)
    ends = {("inside", ""), ("clients", "clients"), ("clients", "offered"), ("pool", "pool")}
    assert {one.ends for one in every} == ends


def test_an_answer_is_held_against_the_truth(b: Benchmarks) -> None:
    one = next(b.queueing_truth.services())
    points = [{"level": n, "rate": {"value": rate * 1.02}} for n, rate in one.truth().items()]
    found = b.queueing_truth.compared(one, {"points": points, "knee": {"value": 1.1}, "ended_by": [], "ends": "inside"})
    assert (found.most, found.knee, found.is_named) == (pytest.approx(0.02), pytest.approx(0.1), True)
    driver = {"points": points, "knee": None, "ends": "driver", "ended_by": [{"names": ["driver"]}]}
    assert not b.queueing_truth.compared(one, driver).is_named


def test_a_station_tells_what_was_in_use_and_waited_for(b: Benchmarks) -> None:
    server = b.queueing_server
    station = server.Station(2, server.times("fixed", 0.01, random.Random(1)))
    assert [station.done(0.0) for _ in range(3)] == [0.01, 0.01, 0.02]
    # Two were served, and the third for half of its time after it had waited for theirs: ns, of two servers.
    assert station.told(0.015) == b"15000000 2 25000000 10000000 3"
    assert station.told(0.02) == b"20000000 2 30000000 10000000 3" == station.told(0.02)
