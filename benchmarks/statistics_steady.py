"""Is a warm-up seen where there is one, and none where there is none? Runs of known course under known noise."""

import math
from collections.abc import Callable, Iterator

import numpy as np
from simulate.noise import NOISES, FloatArray, Noise
from statistics_common import Case, Measure, main

from scalograph.analysis.steady import Steady, steady


def courses(noise: Noise, n: int, change: Callable[[FloatArray], None], right: Callable[[Steady], bool]) -> Measure:
    """Share of runs of `n` iterations, changed in place, whose class is right."""

    def measure(rng: np.random.Generator, n_cases: int) -> tuple[float, float, str]:
        found = 0
        for _ in range(n_cases):
            logs = noise.iteration_logs(rng, (n,))
            change(logs)
            found += right(steady(np.exp(logs)))
        share = found / n_cases
        return 100 * share, 100 * (share * (1 - share) / n_cases) ** 0.5, ""

    return measure


def still(logs: FloatArray) -> None:
    """Nothing changes."""


def warming(factor: float) -> Callable[[FloatArray], None]:
    """The first fifth takes longer."""

    def change(logs: FloatArray) -> None:
        logs[: logs.size // 5] += math.log(factor)

    return change


def disturbed(logs: FloatArray) -> None:
    """One iteration in thirty takes twice as long."""
    logs[::30] += math.log(2)


def cases() -> Iterator[Case]:
    """False alarms first, then what must be seen."""
    for name, noise in NOISES.items():
        for n in (30, 100, 1000):
            alarm = courses(noise, n, still, lambda found: found.kind != "flat")
            yield Case(f"{name}: {n} still iterations, false alarms", (0.0, 5.0), alarm)
        alarm = courses(noise, 300, disturbed, lambda found: found.kind != "flat")
        yield Case(f"{name}: 300 iterations, one in 30 disturbed, false alarms", (0.0, 5.0), alarm)
        for factor in (1.2, 1.5, 3.0):
            seen = courses(noise, 100, warming(factor), lambda found: found.kind == "warm-up" and near(found.warmup))
            yield Case(f"{name}: 20 of 100 take x{factor}, warm-up seen and placed within 3", (90.0, 100.0), seen)


def near(warmup: int | None) -> bool:
    """Whether the end of the warm-up was found within three iterations."""
    return warmup is not None and abs(warmup - 20) <= 3


if __name__ == "__main__":
    main("statistics_steady", list(cases()), n_long=2_000, n_quick=200)
