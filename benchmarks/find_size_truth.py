"""What does a program need at least? Searches for known needs: does the interval hold them, and how wide is it?

Programs need 0.12 to 1.6 CPUs, or 19 to 410 MB, or both; up to half of their time does not depend on the quota.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from simulate.noise import Noise
from simulate.size import program, search
from statistics_common import Case, Measure, main, share

NOISES = {"1%": Noise(0.0, 0.01), "3%": Noise(0.0, 0.03), "8%": Noise(0.0, 0.08), "slowed": Noise(0.0, 0.03, 0.05)}
AMOUNTS: dict[str, Sequence[str]] = {"quota": ["quota"], "memory": ["memory"], "both": ["quota", "memory"]}
WIDEST = 0.10


def held(noise: Noise, names: Sequence[str]) -> Measure:
    """Share of intervals that hold the need; the note has the runs of a search."""

    def measure(rng: np.random.Generator, n: int) -> tuple[float, float, str]:
        hits, of, runs = 0, 0, []
        for _ in range(n):
            over, need = program(rng, names)
            state = search(over, names, rng, noise)
            for each in state.searches:
                assert each.crossing is not None
                of += 1
                hits += 1 / each.crossing.high <= need[each.factor] <= 1 / each.crossing.low
            runs.append(sum(len(each.at) for each in state.searches))
        return share(hits, of, f"{np.mean(runs):.1f} runs")

    return measure


def narrow(noise: Noise, names: Sequence[str]) -> Measure:
    """Share of intervals whose half is at most 10% of the need; the note has their median."""

    def measure(rng: np.random.Generator, n: int) -> tuple[float, float, str]:
        halves = []
        for _ in range(n):
            over, _ = program(rng, names)
            for each in search(over, names, rng, noise).searches:
                assert each.crossing is not None
                halves.append((each.crossing.high / each.crossing.low) ** 0.5 - 1)
        return share(int(np.sum(np.array(halves) <= WIDEST)), len(halves), f"median {100 * np.median(halves):.1f}%")

    return measure


def confirmed(noise: Noise, shortage: float) -> Measure:
    """Share of searches whose fresh runs name amounts that do keep the limit together; the note has all runs."""

    def measure(rng: np.random.Generator, n: int) -> tuple[float, float, str]:
        hits, runs, tries = 0, [], []
        for _ in range(n):
            over, _ = program(rng, ("quota", "memory"), shortage)
            state = search(over, ("quota", "memory"), rng, noise)
            truth = over(state.confirmation.levels) if state.confirmation else None
            hits += truth is not None and truth <= 1
            tries.append(len(state.tries))
            runs.append(sum(len(each.at) for each in state.searches) + sum(len(each.over) for each in state.tries))
        return share(hits, n, f"{np.mean(runs):.1f} runs, {np.mean(tries):.1f} tries")

    return measure


def cases() -> Iterator[Case]:
    for name, noise in NOISES.items():
        for what, names in AMOUNTS.items():
            text = f"runs differ by {name}, {what}" if name[0].isdigit() else f"1 in 20 runs slowed, {what}"
            yield Case(f"{text}: the interval holds it", (90.0, 100.0), held(noise, names))
            yield Case(f"{text}: half width within 10%", (90.0, 100.0), narrow(noise, names))
        text = f"runs differ by {name}" if name[0].isdigit() else "1 in 20 runs slowed"
        for shortage in (0.0, 0.3):
            what = f"{text}, {100 * shortage:.0f}% longer with the least of both: confirmed, and right"
            yield Case(what, (90.0, 100.0), confirmed(noise, shortage))


if __name__ == "__main__":
    main("find_size_truth", list(cases()), n_long=400, n_quick=40)
