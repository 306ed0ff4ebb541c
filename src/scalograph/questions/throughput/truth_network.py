"""Closed queueing networks: how much they carry with N clients, solved exactly or run event by event.

Each request thinks, then goes through all stations; a station has a number of servers and one queue. The exact solution
holds for exponential service times: J. P. Buzen, Computational algorithms for closed queueing networks with exponential
servers, CACM 16 (1973), with servers as in M. Reiser and S. S. Lavenberg, JACM 27 (1980). Event by event, a station may
need the CPU of another one while it is held, as a critical section does, and service times may be fixed.
"""

import heapq
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from scalograph.simulate.noise import FloatArray


@dataclass(frozen=True, slots=True)
class Station:
    """A part that requests queue for.

    Attributes:
        name: of the process, or of the lock.
        demand_s: time of each request there, without waiting.
        servers: requests that it works on at once.
        on: the station whose CPUs a lock's holder uses; empty for CPUs.
        quota: CPUs' worth of time that its one server is granted: it stands still for the rest; None: whole CPUs.
    """

    name: str
    demand_s: float
    servers: int = 1
    on: str = ""
    quota: float | None = None


@dataclass(frozen=True, slots=True)
class Network:
    """Stations, the think time of clients between an answer and the next request, s, and connections to the last one.

    These are enough for its servers, so they change no rate.
    """

    stations: tuple[Station, ...]
    think_s: float = 0.0
    pool: int | None = None

    @property
    def narrowest(self) -> Station:
        """The station that is full first."""
        return max(self.stations, key=lambda one: one.demand_s / one.servers)

    @property
    def most(self) -> float:
        """Rate that no number of clients exceeds, per second."""
        return self.narrowest.servers / self.narrowest.demand_s

    @property
    def alone_s(self) -> float:
        """Response time of a single client."""
        return sum(one.demand_s for one in self.stations)


def carried(network: Network, most: int) -> FloatArray:
    """Solve a network with exponential service times, as if locks had CPUs of their own.

    Returns:
        Rate with 1, 2, .. `most` clients, per second, shape (most,).

    >>> carried(Network((Station("a", 0.5),)), 3).tolist()
    [2.0, 2.0, 2.0]
    """
    unit = 1 / network.most  # in which no term of a sum is far from one
    steps = np.arange(1, most + 1)
    shares = np.concatenate([[1.0], np.cumprod(network.think_s / unit / steps)])
    for one in network.stations:
        waits = np.concatenate([[1.0], np.cumprod(one.demand_s / unit / np.minimum(steps, one.servers))])
        shares = np.convolve(shares, waits)[: most + 1]
        shares /= shares.max()
    return np.asarray(shares[:-1] / shares[1:] / unit)


class NetworkEvent(NamedTuple):
    """A client that is done somewhere: with thinking (-1) or at a station."""

    at_s: float
    client: int
    station: int


def simulated(network: Network, clients: int, seconds: float, draw: Callable[[float], float]) -> tuple[float, float]:
    """Run a network event by event.

    Args:
        network: its stations in the order in which requests visit them.
        clients: of the closed loop.
        seconds: for which it runs; the first fifth does not count.
        draw: from the mean of a service or think time to one such time.

    Returns:
        Requests per second and their mean response time, s.
    """
    return _Simulation(network, clients, draw).run(seconds)


class _Simulation:
    """A lock is held from before its holder gets a CPU until it has used it."""

    def __init__(self, network: Network, clients: int, draw: Callable[[float], float]) -> None:
        self._stations, self._draw, self._think_s = network.stations, draw, network.think_s
        self._free = [one.servers for one in self._stations]
        self._queues = [deque[tuple[int, int]]() for _ in self._stations]
        self._begun = [0.0] * clients
        start = [draw(self._think_s) if self._think_s else 0.0 for _ in range(clients)]
        self._events = [NetworkEvent(at, i, -1) for i, at in enumerate(start)]
        heapq.heapify(self._events)
        self._names = {one.name: i for i, one in enumerate(self._stations)}

    def run(self, seconds: float) -> tuple[float, float]:
        n, took = 0, 0.0
        while self._events[0].at_s < seconds:
            now, client, station = heapq.heappop(self._events)
            if station >= 0:
                self._leave(now, station)
            if station + 1 < len(self._stations):
                self._begun[client] = now if station < 0 else self._begun[client]
                self._enter(now, client, station + 1)
                continue
            if now > seconds / 5:
                n, took = n + 1, took + now - self._begun[client]
            heapq.heappush(
                self._events, NetworkEvent(now + (self._draw(self._think_s) if self._think_s else 0.0), client, -1)
            )
        return n / (0.8 * seconds), took / max(1, n)

    def _enter(self, now: float, client: int, station: int) -> None:
        """Ask for what a station needs: itself, and for a lock then a CPU."""
        if not self._free[station]:
            self._queues[station].append((client, station))
            return
        self._free[station] -= 1
        cpu = self._stations[station].on
        if not cpu:
            self._serve(now, client, station)
        elif self._free[self._names[cpu]]:
            self._free[self._names[cpu]] -= 1
            self._serve(now, client, station)
        else:
            self._queues[self._names[cpu]].append((client, station))

    def _serve(self, now: float, client: int, station: int) -> None:
        demand = self._draw(self._stations[station].demand_s)
        heapq.heappush(self._events, NetworkEvent(now + demand, client, station))

    def _leave(self, now: float, station: int) -> None:
        cpu = self._stations[station].on
        if cpu:
            self._release(now, self._names[cpu])
        self._release(now, station)

    def _release(self, now: float, station: int) -> None:
        """Give it to who waits for it first; a lock's holder waits in the queue of the CPUs."""
        if not self._queues[station]:
            self._free[station] += 1
            return
        client, wanted = self._queues[station].popleft()
        if wanted != station or not self._stations[station].on:
            self._serve(now, client, wanted)
        else:
            self._free[station] += 1
            self._enter(now, client, station)


def exponential(rng: np.random.Generator) -> Callable[[float], float]:
    """Draw times of any length."""
    return lambda mean: float(rng.exponential(mean))


def fixed(rng: np.random.Generator) -> Callable[[float], float]:
    """Draw the mean, but for a thousandth that keeps clients from marching in step."""
    return lambda mean: float(mean * (1 + 0.001 * rng.standard_normal()))


def rates(network: Network, levels: Sequence[int]) -> dict[int, float]:
    """Solve a network with exponential service times for these numbers of clients, per second."""
    found = carried(network, max(levels))
    return {n: float(found[n - 1]) for n in levels}
