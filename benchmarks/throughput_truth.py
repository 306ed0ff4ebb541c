"""How often is what a study of throughput says right? Services as queueing networks whose rates are known.

Nine kinds of service, by what ends them, with one, two or four servers each and think times; runs of several noises.
Service times are exponential, solved exactly, or fixed or with a lock that needs a CPU, run event by event.
"""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from simulate.noise import HIGH, LOW, Noise
from simulate.throughput import (
    ENDS,
    QUIET,
    Network,
    answer_study,
    draw_constant,
    draw_exponential,
    is_named,
    least_level,
    levels,
    network,
    rates,
    simulate_network,
    study,
)
from statistics_common import Case, Measure, main, share

from scalograph.questions.throughput.document import LoadedGroup
from scalograph.questions.throughput.model_plateau import plateau

NOISES = {"quiet": QUIET, "low": LOW, "high": HIGH}
DRAWS = {"exponential": draw_exponential, "fixed": draw_constant}
# Requests of a simulated run, about.
N_REQUESTS = 4000
Rates = Callable[[np.random.Generator, Network, list[int]], dict[int, float]]


def exact(rng: np.random.Generator, net: Network, clients: list[int]) -> dict[int, float]:
    """Rates of exponential service times."""
    return rates(net, clients)


def by_events(draw: str, rng: np.random.Generator, net: Network, clients: list[int]) -> dict[int, float]:
    """Rates of a run of some thousand requests."""
    found = {}
    for n in clients:
        least = min(net.most, n / (net.alone_s + net.think_s))
        found[n] = simulate_network(net, n, N_REQUESTS / least, DRAWS[draw](rng))[0]
    return found


def asked(
    rng: np.random.Generator, kind: str, noise: Noise, n: int, carried: Rates
) -> Iterator[tuple[Network, dict[int, float], LoadedGroup]]:
    for _ in range(n):
        net = network(rng, kind)
        clients = levels(net, kind)
        true = carried(rng, net, clients)
        yield net, true, answer_study(*study(rng, net, clients, noise=noise, carried=true))[1]


def named(kind: str, noise: Noise, carried: Rates) -> Measure:
    """Share of services of which the part that ends them is named."""

    def measure(rng: np.random.Generator, n: int) -> tuple[float, float, str]:
        found = [one for _, _, one in asked(rng, kind, noise, n, carried)]
        wrong = sum(one.ends not in ("inconclusive", "not known") and not is_named(kind, one) for one in found)
        return share(sum(is_named(kind, one) for one in found), n, f"another one named: {100 * wrong / n:.1f}%")

    return measure


def held(kind: str, noise: Noise, carried: Rates, one_level: bool) -> Measure:
    """Share of plateaus whose interval, or whose single level, is the true one."""

    def measure(rng: np.random.Generator, n: int) -> tuple[float, float, str]:
        told = [(one, least_level(true)) for _, true, one in asked(rng, kind, noise, n, carried)]
        known = [
            (one, true) for one, true in told if one.state == "found" or (not one_level and one.state == "between")
        ]
        hits = sum((one.plateau.low or 0) <= true <= (one.plateau.high or 0) for one, true in known)
        return share(hits, max(1, len(known)), f"told of {len(known)} of {n}")

    return measure


def uneven(n_runs: int, one_level: bool) -> Measure:
    """The same of runs that differ by 1 to 6%, more at some levels than at others, over any number of levels."""

    def measure(rng: np.random.Generator, n: int) -> tuple[float, float, str]:
        told = []
        for _ in range(n):
            net = network(rng, "one service")
            true = rates(net, levels(net, "one service"))
            spread = {level: float(np.exp(rng.uniform(np.log(0.01), np.log(0.06)))) for level in true}
            found = plateau(
                {
                    k: {b: x * float(np.exp(spread[k] * rng.standard_normal())) for b in range(n_runs)}
                    for k, x in true.items()
                }
            )
            told += [(found, least_level(true))] if found and found.high is not None else []
        known = [(one, true) for one, true in told if not one_level or one.state == "found"]
        hits = sum(one.low <= true <= (one.high or 0) for one, true in known)
        return share(hits, max(1, len(known)), f"told of {len(known)} of {n}")

    return measure


def rising(noise: Noise) -> Measure:
    """Share of rates without a plateau, each level carrying 6 to 100% more than the one before, that are told one."""

    def measure(rng: np.random.Generator, n: int) -> tuple[float, float, str]:
        wrong = 0
        for _ in range(n):
            true = np.cumprod(np.exp(rng.uniform(np.log(1.06), np.log(2.0), 5)))
            found = plateau({i: dict(enumerate(x * np.exp(noise.run_logs(rng, (5,))))) for i, x in enumerate(true, 1)})
            wrong += found is not None and found.high is not None
        return share(wrong, n)

    return measure


def knees(kind: str, noise: Noise) -> Measure:
    """Share of knees whose interval holds where the asymptotes meet, within 2%."""

    def measure(rng: np.random.Generator, n: int) -> tuple[float, float, str]:
        told = [(net, one.knee) for net, _, one in asked(rng, kind, noise, n, exact) if one.knee]
        true = [net.most * (net.alone_s + net.think_s) for net, _ in told]
        off = [(knee.value or 0) / x - 1 for (_, knee), x in zip(told, true, strict=True)]
        hits = sum(
            (knee.low or 0) * 0.98 <= x <= (knee.high or 0) * 1.02 for (_, knee), x in zip(told, true, strict=True)
        )
        note = f"off by {100 * np.median(off):+.1f}%, at most {100 * np.max(np.abs(off)):.1f}%, of {len(told)}"
        return share(hits, max(1, len(told)), note)

    return measure


def cases() -> Iterator[Case]:
    for name, noise in NOISES.items():
        for kind in ENDS:
            yield Case(f"{name}: {kind}, the part is named", (95.0, 100.0), named(kind, noise, exact))
        for kind in ("one service", "a database", "a lock"):
            yield Case(f"{name}: {kind}, plateau holds", (95.0, 100.0), held(kind, noise, exact, one_level=False))
            yield Case(f"{name}: {kind}, one level, right", (95.0, 100.0), held(kind, noise, exact, one_level=True))
        yield Case(f"{name}: no plateau, one is told", (0.0, 5.0), rising(noise))
        yield Case(f"{name}: one service, knee holds", (95.0, 100.0), knees("one service", noise))
    for n_runs in (3, 5, 10):
        yield Case(f"uneven, {n_runs} runs: plateau holds", (95.0, 100.0), uneven(n_runs, one_level=False))
        yield Case(f"uneven, {n_runs} runs: one level, right", (95.0, 100.0), uneven(n_runs, one_level=True))
    for draw in DRAWS:
        for kind in ("one service", "a database", "a lock"):
            found = named(kind, QUIET, partial(by_events, draw))
            yield Case(f"by events, {draw}: {kind}, the part is named", (95.0, 100.0), found, 0.1)


if __name__ == "__main__":
    main("throughput_truth", list(cases()), n_long=400, n_quick=40)
