"""How many runs until +-1%, and does the interval still hold the truth? Our rule, and the impatient one."""

from collections.abc import Iterator

import numpy as np
from simulate.noise import NOISES, FloatArray, Noise
from simulate.runs import run_scores
from statistics_common import Case, Measure, main

from scalograph.analysis.interval import summarize
from scalograph.analysis.stopping import Stopping, half_width

MOST = 200
PLANNED = {"low": 40, "high": 70}
RUNS = {"low": (0.0, 41.0), "high": (0.0, 70.0)}


def ends(rule: Stopping, samples: FloatArray) -> list[int]:
    """Runs at which the rule ends each sample."""
    first = rule.first_look + 1
    return [next(n for n in range(first, MOST + 1) if n == MOST or rule.is_precise(s[:n])) for s in samples]


def runs(noise: Noise, rule: Stopping) -> Measure:
    """Runs on average."""

    def measure(rng: np.random.Generator, n_cases: int) -> tuple[float, float, str]:
        found = ends(rule, run_scores(rng, (n_cases, MOST), noise))
        return float(np.mean(found)), float(np.std(found)) / n_cases**0.5, f"p95 {np.percentile(found, 95):.0f}"

    return measure


def covers(noise: Noise, rule: Stopping) -> Measure:
    """Share of intervals that hold the median."""

    def measure(rng: np.random.Generator, n_cases: int) -> tuple[float, float, str]:
        samples, truth = run_scores(rng, (n_cases, MOST), noise), noise.truth("median")
        share = np.mean(
            [rule.estimate(s[:n]).contains(truth) for s, n in zip(samples, ends(rule, samples), strict=True)]
        )
        return 100 * float(share), 100 * (share * (1 - share) / n_cases) ** 0.5, ""

    return measure


def impatient(noise: Noise) -> Measure:
    """The wrong way: from three runs on, stop when the interval is narrow."""

    def measure(rng: np.random.Generator, n_cases: int) -> tuple[float, float, str]:
        held, found = 0, []
        for s in run_scores(rng, (n_cases, MOST), noise):
            n = next(n for n in range(3, MOST + 1) if n == MOST or (half_width(s[:n]) or 1.0) <= 0.01)
            held += summarize(s[:n]).contains(noise.truth("median"))
            found.append(n)
        share = held / n_cases
        return 100 * share, 100 * (share * (1 - share) / n_cases) ** 0.5, f"{np.mean(found):.0f} runs"

    return measure


def cases() -> Iterator[Case]:
    """Ours first, then the contrast."""
    for name, noise in NOISES.items():
        rule = Stopping(0.01, PLANNED[name])
        yield Case(f"{name}: +-1%, runs on average (not a share)", RUNS[name], runs(noise, rule))
        yield Case(f"{name}: +-1%, intervals that hold the truth", (94.0, 97.0), covers(noise, rule))
        yield Case(f"{name}: stopped as soon as it is narrow", None, impatient(noise))


if __name__ == "__main__":
    main("statistics_stopping", list(cases()), n_long=6_000, n_quick=400)
