"""Is what a study says of a server right? Servers with known service times, driven by `scalograph load`.

Twenty-four servers: one, two or four at once, fixed and exponential times, with and without a lock, some that tell of
their servers as of a pool; closed loops, some with so much think time that the clients end it, and open loops below and
above what the server carries. Rates are held against exact solutions of the queueing network, or one run event by event
where service times are fixed.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from command_common import ENVIRONMENT, Figure, command, main
from simulate.throughput import Network, Station, draw_constant, rates, simulate_network

SERVER = Path(__file__).with_name("queueing_server.py")
WORK_S, SHORT_S, CYCLE_S = 0.016, 0.002, 0.05
# What is said where no run counts.
NOTHING: Mapping[str, Any] = {"points": [], "knee": None, "ends": "no run counts", "ended_by": []}
# Loads of an open loop over what the server carries.
BELOW, ABOVE = (0.25, 0.5), (0.5, 0.8, 1.25, 2.0)


@dataclass(frozen=True, slots=True)
class Service:
    """A server, how it is loaded, and what ends it.

    Attributes:
        name: in words.
        network: its stations; think time of the clients.
        shape: of its service times.
        loads: numbers of clients, or rates of an open loop.
        ends: kind of the part that ends it, and its first name.
        is_open: whether loads are rates.
        tells: whether it tells of its first station as of a pool.
    """

    name: str
    network: Network
    shape: str
    loads: tuple[int, ...]
    ends: tuple[str, str] = ("inside", "")
    is_open: bool = False
    tells: bool = False

    def truth(self) -> dict[int, float]:
        """The rate at each load, per second."""
        if self.is_open:
            return {load: min(load, self.network.most) for load in self.loads}
        if self.shape == "exponential":
            return rates(self.network, self.loads)
        rng = np.random.default_rng(1)
        return {n: simulate_network(self.network, n, 30.0, draw_constant(rng))[0] for n in self.loads}


def services() -> Iterator[Service]:
    """Twenty-four, those of a kind one after the other."""
    for shape in ("fixed", "exponential"):
        for c in (1, 2, 4):
            pool = Network((Station("pool", WORK_S, c),))
            yield Service(f"{c} at once", pool, shape, tuple(2**i for i in range(3 + c // 2)))
        for c in (2, 4):
            pool = Network((Station("pool", WORK_S, c),))
            yield Service(
                f"a pool of {c}", pool, shape, tuple(2**i for i in range(3 + c // 2)), ("pool", "pool"), tells=True
            )
        for lock_s in (WORK_S / 2, WORK_S / 4):
            net = Network((Station("pool", WORK_S / 2, 8), Station("lock", lock_s)))
            yield Service(f"a lock for {1e3 * lock_s:g} ms", net, shape, (1, 2, 4, 8, 16))
        for c in (1, 2):
            net = Network((Station("pool", SHORT_S, c),), CYCLE_S - SHORT_S)
            yield Service(f"{c} at once, clients that think", net, shape, (1, 2, 4), ("clients", "clients"))
        for c in (1, 2):
            yield _open(c, shape, ABOVE, ("inside", ""))
        yield _open(4, shape, BELOW, ("clients", "offered"))


def _open(c: int, shape: str, shares: tuple[float, ...], ends: tuple[str, str]) -> Service:
    net = Network((Station("pool", WORK_S, c),))
    loads = tuple(round(net.most * share) for share in shares)
    return Service(f"{c} at once, at a rate", net, shape, loads, ends, is_open=True)


def asked(service: Service, runs: int, steady_s: float) -> Mapping[str, Any]:
    """What the study says of it: the group of the part `throughput`."""
    stations = (f"{one.servers}:{1e3 * one.demand_s:g}" for one in service.network.stations)
    serve = " ".join([sys.executable, str(SERVER), "{port}", service.shape, *stations])
    cycle = ("--cycle", f"fixed:{1e3 * CYCLE_S:g}") if service.network.think_s else ()
    loads = ("--rate" if service.is_open else "--clients", ",".join(map(str, service.loads)))
    times = ("--runs", str(runs), "--ramp", "300ms", "--steady", f"{steady_s}s", "--warmup", "4", "--max-reruns", "0")
    cycle += ("--pool", "/pool") if service.tells else ()
    with tempfile.TemporaryDirectory() as folder:
        what = ("--serve", serve, "--get", "http://127.0.0.1:{port}/", *loads, *cycle, *times)
        argv = command("load", *what, "--json", "-o", f"{folder}/out")
        done = subprocess.run(argv, env=ENVIRONMENT, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 5):
        raise SystemExit(f"{service.name}: exit code {done.returncode}: {done.stderr[-500:]}")
    groups = json.loads(done.stdout)["parts"]["throughput"]["data"]["groups"]
    return dict(groups[0]) if groups else NOTHING


@dataclass(frozen=True, slots=True)
class Compared:
    """How far what was said is from the truth: shares, and whether the part that ends it was named."""

    most: float
    curve: float
    knee: float | None
    is_named: bool
    said: str


def compared(service: Service, found: Mapping[str, Any]) -> Compared:
    """Hold the answer for a service against its truth."""
    truth = service.truth()
    seen = {point["level"]: point["rate"]["value"] for point in found["points"] if point["rate"]["value"]}
    offs = [abs(seen[load] / truth[load] - 1) for load in seen]
    knee = (found["knee"] or {}).get("value")
    true_knee = service.network.most * (service.network.alone_s + service.network.think_s)
    parts = found["ended_by"]
    named = (found["ends"], parts[0]["names"][0] if parts else "")
    most = abs(max(seen.values()) / max(truth.values()) - 1) if seen else 1.0
    return Compared(
        most, max(offs, default=1.0), knee and abs(knee / true_knee - 1), named == service.ends, " ".join(named)
    )


def figures(quick: bool) -> Iterator[Figure]:
    """The highest rate, the curve and the knee beside the truth, and how often the part that ends it is not named."""
    chosen = [one for i, one in enumerate(services()) if not quick or i % 4 == 0]
    told = []
    for one in chosen:
        found = compared(one, asked(one, *((2, 1.0) if quick else (3, 2.0))))
        told.append(found)
        note = f"curve {100 * found.curve:.1f}%, " + ("" if found.is_named else f"not named: {found.said}")
        yield Figure(f"highest rate off: {one.name}, {one.shape}", 100 * found.most, "%", 5, note.removesuffix(", "))
    curve, knees = [one.curve for one in told], [one.knee for one in told if one.knee is not None]
    yield Figure("whole curve off, typically", 100 * median(curve), "%", 5, f"at most {100 * max(curve):.1f}%")
    if knees:
        yield Figure("knee off, typically", 100 * median(knees), "%", 10, f"{len(knees)} told")
    missed = sum(not one.is_named for one in told)
    yield Figure("part that ends it is not named", missed, f"of {len(told)}", len(told) // 20, "")


if __name__ == "__main__":
    main(figures, "six servers of twenty-four, two short runs")
