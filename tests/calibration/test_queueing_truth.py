"""The server of benchmarks/queueing_truth.py, on a clock of its own: it carries what the queueing network says."""

import heapq
import random
from collections.abc import Sequence
from typing import Any

import pytest

from tests.kit.scripts import Benchmarks


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
