"""Simulate services with a known maximum throughput and bottleneck."""

import heapq
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from scalograph.findings.answer import Answer
from scalograph.findings.driven_runs import DrivenRun, PoolUse, ProcessUse
from scalograph.findings.row import Row
from scalograph.findings.sample import samples_by_configuration
from scalograph.findings.table import Table
from scalograph.questions.throughput.answer import answer_runs
from scalograph.questions.throughput.document import LoadedGroup, Throughputs
from scalograph.questions.throughput.model_plateau import GAIN
from scalograph.study.load import parse
from simulate.noise import FloatArray, Noise


@dataclass(frozen=True, slots=True)
class Station:
    """A part that requests queue for.

    Attributes:
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
        """Return the station that saturates first."""
        return max(self.stations, key=lambda station: station.demand_s / station.servers)

    @property
    def most(self) -> float:
        """Return the rate that no number of clients exceeds, per second."""
        return self.narrowest.servers / self.narrowest.demand_s

    @property
    def alone_s(self) -> float:
        """Return the response time of a single client, s."""
        return sum(station.demand_s for station in self.stations)


def solve_network(network: Network, most: int) -> FloatArray:
    """Solve a network with exponential service times, as if locks had CPUs of their own.

    Rate with 1, 2, .. `most` clients, per second, shape (most,).

    >>> solve_network(Network((Station("a", 0.5),)), 3).tolist()
    [2.0, 2.0, 2.0]
    """
    unit = 1 / network.most  # in which no term of a sum is far from one
    steps = np.arange(1, most + 1)
    shares = np.concatenate([[1.0], np.cumprod(network.think_s / unit / steps)])
    for station in network.stations:
        waits = np.concatenate([[1.0], np.cumprod(station.demand_s / unit / np.minimum(steps, station.servers))])
        shares = np.convolve(shares, waits)[: most + 1]
        shares /= shares.max()
    return np.asarray(shares[:-1] / shares[1:] / unit)


class NetworkEvent(NamedTuple):
    """A client that finishes: thinking (-1) or at a station."""

    at_s: float
    client: int
    station: int


def simulate_network(
    network: Network, clients: int, seconds: float, draw: Callable[[float], float]
) -> tuple[float, float]:
    """Simulate a network event by event: requests per second, and their mean response time, s.

    `network`: its stations in the order in which requests visit them; `seconds`: for which it runs; the first fifth
    does not count; `draw`: from the mean of a service or think time to one such time.
    """
    return _Simulation(network, clients, draw).run(seconds)


class _Simulation:
    """State of a simulation; a lock is held from before its holder gets a CPU until it has used it."""

    def __init__(self, network: Network, clients: int, draw: Callable[[float], float]) -> None:
        self._stations, self._draw, self._think_s = network.stations, draw, network.think_s
        self._free = [station.servers for station in self._stations]
        self._queues = [deque[tuple[int, int]]() for _ in self._stations]
        self._begun = [0.0] * clients
        start = [draw(self._think_s) if self._think_s else 0.0 for _ in range(clients)]
        self._events = [NetworkEvent(at, i, -1) for i, at in enumerate(start)]
        heapq.heapify(self._events)
        self._names = {station.name: i for i, station in enumerate(self._stations)}

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
        """Give a server to who waits first; a lock's holder waits in the queue of the CPUs."""
        if not self._queues[station]:
            self._free[station] += 1
            return
        client, wanted = self._queues[station].popleft()
        if wanted != station or not self._stations[station].on:
            self._serve(now, client, wanted)
        else:
            self._free[station] += 1
            self._enter(now, client, station)


def draw_exponential(rng: np.random.Generator) -> Callable[[float], float]:
    """Return a generator of exponential times."""
    return lambda mean: float(rng.exponential(mean))


def draw_constant(rng: np.random.Generator) -> Callable[[float], float]:
    """Return a generator of the mean, but for a thousandth that keeps clients from marching in step."""
    return lambda mean: float(mean * (1 + 0.001 * rng.standard_normal()))


def rates(network: Network, levels: Sequence[int]) -> dict[int, float]:
    """Solve a network with exponential service times for these numbers of clients, per second."""
    solved = solve_network(network, max(levels))
    return {n: float(solved[n - 1]) for n in levels}


# Kind of network -> what ends it, and whose it is.
ENDS: Mapping[str, tuple[str, str]] = {
    "one service": ("cpu", "web"), "a database": ("cpu", "database"), "before a database": ("cpu", "web"),
    "a quota": ("quota", "database"), "a lock": ("inside", ""), "a driver": ("driver", "driver"),
    "think time": ("clients", "clients"), "a pool": ("pool", "pool"), "a pool before a database": ("cpu", "database"),
}  # fmt: skip
QUIET = Noise(0.0, 0.01)
# By how much the narrowest part is narrower than the others, at least; and what share of the last is beyond the knee.
MARGIN = 1.3
_STUDY = """
version = 1
name = "simulated"
title = "What is its maximum throughput?"
question = "throughput"
work = "total"
seed = 0
[workload]
command = ["p", "{clients}"]
[factors.clients]
levels = [%s]
[responses.rate]
from = "value.rate"
unit = "1/s"
better = "higher"
[protocol]
runs = %d
"""


def network(rng: np.random.Generator, kind: str) -> Network:
    """Draw a network of a kind of `ENDS`, whose bottleneck is `MARGIN` times narrower than the next, or more."""
    narrow = rng.uniform(0.5e-3, 5e-3)
    wide = [narrow / rng.uniform(MARGIN, 5.0) for _ in range(3)]
    c = [int(x) for x in rng.choice([1, 2, 4], 2)]
    think = float(rng.choice([0.0, 5.0, 20.0])) * narrow
    web, data = Station("web", wide[0] * c[0], c[0]), Station("database", wide[1] * c[1], c[1])
    driver = Station("driver", wide[2] / 3)
    if kind == "one service":
        return Network((driver, Station("web", narrow * c[0], c[0])), think)
    if kind == "a database":
        return Network((driver, web, Station("database", narrow * c[1], c[1])), think)
    if kind == "a quota":
        return Network((driver, web, Station("database", narrow, quota=float(rng.choice([0.25, 0.5, 0.75])))), think)
    if kind == "before a database":
        return Network((driver, Station("web", narrow * c[0], c[0]), data), think)
    if kind == "a lock":
        # The holder uses a CPU of the service, whose other work is beside that.
        rest = max(wide[0] * c[0] * 2 - narrow, 0.1 * narrow)
        return Network((driver, Station("web", rest, 2 * c[0]), Station("lock", narrow, on="web")), think)
    if kind == "a pool":
        # What has one of it waits for somebody elsewhere.
        return Network((driver, web, Station("pool", narrow * c[1], c[1])), think)
    if kind == "a pool before a database":
        return Network((driver, web, Station("database", narrow * c[1], c[1])), think, pool=2 * c[1])
    if kind == "a driver":
        return Network((Station("driver", narrow), web), think)
    return Network((driver, web, data), 40 * rng.uniform(1.0, 3.0) * narrow)


def levels(net: Network, kind: str) -> list[int]:
    """List clients, doubled, from one to far beyond the knee; where clients limit, to far before it."""
    knee = net.most * (net.alone_s + net.think_s)
    top = 0.15 * knee if kind == "think time" else 4 * knee
    return [2**i for i in range(max(4, int(np.ceil(np.log2(top))) + 1) if kind != "think time" else 3)]


def least_level(carried: Mapping[int, float]) -> int:
    """Find the true least level beyond which none carries 5% more."""
    return next(n for n in sorted(carried) if max(x for m, x in carried.items() if m >= n) <= (1 + GAIN) * carried[n])


def study(
    rng: np.random.Generator, net: Network, clients: Sequence[int], n_runs: int = 5, noise: Noise = QUIET,
    carried: Mapping[int, float] | None = None,
) -> tuple[Table, dict[str, DrivenRun]]:  # fmt: skip
    """Simulate a study, every number of clients once in each block, and what each run reports."""
    true = carried or rates(net, clients)
    simulated = parse(_STUDY % (", ".join(map(str, clients)), n_runs))
    rows, driven = [], {}
    for block in range(n_runs):
        for n in clients:
            name = f"r{n}-{block}"
            driven[name] = run(rng, net, n, true[n] * float(np.exp(noise.run_logs(rng, (1,))[0])))
            scores = {"rate": driven[name].rate}
            rows.append(Row(name, block, block, False, {"clients": n}, "ok", None, "clean", (), {}, scores))
    return Table(simulated, "simulated", {}, [{"clients": n} for n in clients], [n_runs] * len(clients), rows), driven


def run(rng: np.random.Generator, net: Network, clients: int, rate: float) -> DrivenRun:
    """Simulate a run of 10 s, each value a little off."""
    rate = min(rate, clients / (net.alone_s + net.think_s) * 1.02)
    took = max(clients / rate - net.think_s, 0.98 * net.alone_s)
    off = 1 + 0.005 * rng.standard_normal(3)
    used: dict[str, float] = {}
    for station in net.stations:
        used[station.on or station.name] = used.get(station.on or station.name, 0.0) + rate * station.demand_s * (
            station.quota or 1.0
        )
    driver = min(1.0, used.pop("driver") * off[0])
    used.pop("pool", None)
    granted = {station.name: station for station in net.stations}
    cpus = iter(range(1, 64))
    processes = [
        ProcessUse(
            name, "service", frozenset(next(cpus) for _ in range(granted[name].servers)), min(x, granted[name].servers),
            0.05, 16, quota=granted[name].quota, throttled=0.3 if granted[name].quota else None,
        )
        for name, x in used.items()
    ]  # fmt: skip
    return DrivenRun(
        rate=rate, sent=rate, n_requests=int(10 * rate), response_s=took, in_flight=rate * took * off[1],
        quantiles_s={"p50": 0.7 * took, "p90": 2.3 * took, "p99": 4.6 * took}, clients=float(clients),
        think_s=net.think_s, late=0.0, driver=driver,
        processes=(*processes, ProcessUse("load", "driver", frozenset([0]), driver)), pool=_pool(net, rate, took),
    )  # fmt: skip


def _pool(net: Network, rate: float, took: float) -> PoolUse | None:
    """Simulate a pool: connections are in use while the last station serves them, or they wait there."""
    last = net.stations[-1]
    if last.name == "pool":
        return PoolUse(last.servers, rate * last.demand_s, max(0.0, took - net.alone_s))
    at_last = rate * (took - net.alone_s + last.demand_s)
    return PoolUse(net.pool, min(net.pool, at_last), max(0.0, at_last - net.pool) / rate) if net.pool else None


def answer_study(table: Table, driven: Mapping[str, DrivenRun]) -> tuple[Answer, LoadedGroup]:
    """Answer a simulated study."""
    reply = answer_runs(table, samples_by_configuration(table), driven)
    assert isinstance(reply.document, Throughputs)
    return reply, reply.document.groups[0]


def is_named(kind: str, group: LoadedGroup) -> bool:
    """Tell whether the bottleneck found is the true one."""
    ends, name = ENDS[kind]
    names = group.ended_by[0].names if group.ended_by else [""]
    return (group.ends, names[0]) == (ends, name)
