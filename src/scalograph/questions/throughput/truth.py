"""Studies of services of which it is known how much they carry, and what ends it."""

from collections.abc import Mapping, Sequence

import numpy as np

from scalograph.findings.answer import Answer
from scalograph.findings.row import Row
from scalograph.findings.sample import samples
from scalograph.findings.table import Table
from scalograph.questions.throughput.answer import told
from scalograph.questions.throughput.document import LoadedGroup, Throughputs
from scalograph.questions.throughput.model_driven import DrivenRun, PoolUse, ProcessUse
from scalograph.questions.throughput.model_plateau import GAIN
from scalograph.questions.throughput.truth_network import Network, Station, rates
from scalograph.simulate.noise import Noise
from scalograph.study.load import parse

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
title = "How much does it carry?"
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
    """Draw a network of a kind of `ENDS`: its narrowest part is `MARGIN` times as narrow as the next, or more."""
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
    """Clients, doubled, from one to far beyond the knee; where clients end it, to far before it."""
    knee = net.most * (net.alone_s + net.think_s)
    top = 0.15 * knee if kind == "think time" else 4 * knee
    return [2**i for i in range(max(4, int(np.ceil(np.log2(top))) + 1) if kind != "think time" else 3)]


def least_level(carried: Mapping[int, float]) -> int:
    """The least level beyond which none carries 5 % more, as it is."""
    return next(n for n in sorted(carried) if max(x for m, x in carried.items() if m >= n) <= (1 + GAIN) * carried[n])


def study(
    rng: np.random.Generator, net: Network, clients: Sequence[int], n_runs: int = 5, noise: Noise = QUIET,
    carried: Mapping[int, float] | None = None,
) -> tuple[Table, dict[str, DrivenRun]]:  # fmt: skip
    """Make a study up: every number of clients once in each block.

    Args:
        rng: source of randomness.
        net: that is loaded.
        clients: levels.
        n_runs: blocks.
        noise: of the runs' rates.
        carried: true rates; those of exponential service times where they are not given.

    Returns:
        The runs, and what each says, by its name.
    """
    true = carried or rates(net, clients)
    made = parse(_STUDY % (", ".join(map(str, clients)), n_runs))
    rows, driven = [], {}
    for block in range(n_runs):
        for n in clients:
            name = f"r{n}-{block}"
            driven[name] = run(rng, net, n, true[n] * float(np.exp(noise.run_logs(rng, (1,))[0])))
            scores = {"rate": driven[name].rate}
            rows.append(Row(name, block, block, False, {"clients": n}, "ok", None, "clean", (), {}, scores))
    return Table(made, "simulated", {}, [{"clients": n} for n in clients], [n_runs] * len(clients), rows), driven


def run(rng: np.random.Generator, net: Network, clients: int, rate: float) -> DrivenRun:
    """What a run of 10 s says, each figure a little off."""
    rate = min(rate, clients / (net.alone_s + net.think_s) * 1.02)
    took = max(clients / rate - net.think_s, 0.98 * net.alone_s)
    off = 1 + 0.005 * rng.standard_normal(3)
    used: dict[str, float] = {}
    for one in net.stations:
        used[one.on or one.name] = used.get(one.on or one.name, 0.0) + rate * one.demand_s * (one.quota or 1.0)
    driver = min(1.0, used.pop("driver") * off[0])
    used.pop("pool", None)
    granted = {one.name: one for one in net.stations}
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
    """What a service tells of a pool: connections are in use while the last station serves them, or they wait there."""
    last = net.stations[-1]
    if last.name == "pool":
        return PoolUse(last.servers, rate * last.demand_s, max(0.0, took - net.alone_s))
    at_last = rate * (took - net.alone_s + last.demand_s)
    return PoolUse(net.pool, min(net.pool, at_last), max(0.0, at_last - net.pool) / rate) if net.pool else None


def answered(table: Table, driven: Mapping[str, DrivenRun]) -> tuple[Answer, LoadedGroup]:
    """Ask the question of such a study."""
    said = told(table, samples(table), driven)
    assert isinstance(said.document, Throughputs)
    return said, said.document.groups[0]


def is_named(kind: str, found: LoadedGroup) -> bool:
    """Whether the part that ends it is the one that does."""
    ends, name = ENDS[kind]
    names = found.ended_by[0].names if found.ended_by else [""]
    return (found.ends, names[0]) == (ends, name)
