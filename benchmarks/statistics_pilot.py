"""Do a pilot's proposals reach the precision that was asked for, and at what price against the best there is?"""

from collections.abc import Iterator

import numpy as np
from simulate.noise import NOISES, Noise
from simulate.runs import run_iterations
from statistics_common import Case, Measure, main, share

from scalograph.analysis.allocate import iterations_per_run
from scalograph.analysis.stopping import half_width
from scalograph.questions.pilot.model import MOST_RUNS, Pilot, pilot, runs_for

PRECISION = 0.02
CONFIGURATIONS, RUNS, ITERATIONS = 4, 3, 5
# A start over an iteration: a program in C, a JVM.
STARTS = (1.0, 20.0)


def piloted(rng: np.random.Generator, noise: Noise, runs: int = RUNS) -> Pilot:
    """A pilot as `--pilot` makes it: four configurations of different lengths."""
    levels = (1.0, 0.5, 0.3, 0.2)
    found = pilot([list(run_iterations(rng, level, runs, ITERATIONS, noise)) for level in levels[:CONFIGURATIONS]])
    assert found is not None
    return found


def iterations(known: Pilot, start: float) -> int:
    """What is proposed where an iteration costs 1."""
    if known.spread is None or not known.differ:
        return known.iterations
    return iterations_per_run(start, 1.0, known.spread.within, known.spread.between).iterations or known.iterations


def reached(noise: Noise, sure: float | None, n_configurations: int = 1) -> Measure:
    """Share of studies in which all of so many configurations are as precise as asked; None proposes as we do."""

    def measure(rng: np.random.Generator, n_cases: int) -> tuple[float, float, str]:
        hits, runs = 0, []
        for _ in range(n_cases):
            known = piloted(rng, noise)
            m = iterations(known, STARTS[1])
            kwargs = {} if sure is None else {"sure": sure}
            n = runs_for(known.sd_at(m), known.df, PRECISION, **kwargs) or MOST_RUNS
            runs.append(n)
            hits += all(_narrow(rng, noise, n, m) for _ in range(n_configurations))
        return share(hits, n_cases, f"{np.median(runs):.0f} runs")

    return measure


def _narrow(rng: np.random.Generator, noise: Noise, n: int, m: int) -> bool:
    scores = np.median(run_iterations(rng, 1.0, n, m, noise), axis=1)
    half = half_width(scores)
    return half is not None and half <= PRECISION


def price(noise: Noise, start: float, m: int) -> float:
    """Time for an interval of a given width, in arbitrary units; scores are medians."""
    return (start + m) * noise.score_sd(m) ** 2


def cheap(noise: Noise, start: float) -> Measure:
    """Share of pilots whose iterations cost at most twice what the best cost; and how often noise was told apart."""

    def measure(rng: np.random.Generator, n_cases: int) -> tuple[float, float, str]:
        best = min(price(noise, start, m) for m in range(1, 1001))
        told, hits = 0, 0
        for _ in range(n_cases):
            known = piloted(rng, noise)
            told += known.differ
            hits += price(noise, start, iterations(known, start)) <= 2 * best
        return share(hits, n_cases, f"noise between runs told in {100 * told / n_cases:.0f}%")

    return measure


def falsely_told(rng: np.random.Generator, n_cases: int) -> tuple[float, float, str]:
    """Share of pilots that see noise between runs where there is none."""
    noise = Noise(within=0.03, between=0.0)
    return share(sum(piloted(rng, noise).differ for _ in range(n_cases)), n_cases)


def cases() -> Iterator[Case]:
    """Ours first, then the contrasts."""
    for name, noise in NOISES.items():
        yield Case(f"{name}: +-2%, configurations that reach it", (80.0, 100.0), reached(noise, None))
        yield Case(f"{name}: +-2%, all of 4 configurations reach it", None, reached(noise, None, 4))
        yield Case(f"{name}: the same, planned from the pilot's plain value", None, reached(noise, 0.5))
        for start in STARTS:
            title = f"{name}: a start costs {start:g} iterations, within twice the best"
            yield Case(title, (90.0, 100.0), cheap(noise, start))
    yield Case("noise between runs seen where there is none", (0.0, 6.5), falsely_told)


if __name__ == "__main__":
    main("statistics_pilot", list(cases()), n_long=4_000, n_quick=400)
