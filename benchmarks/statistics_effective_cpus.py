"""How many runs until the CPUs that help are known, and is the answer right? With the model, without it, and mixed.

Calibration: of programs with any cap and any serial share, how often is the answer right, by the probability stated?
"""

from collections.abc import Callable, Iterator
from functools import cache

import numpy as np
from simulate.effective_cpus import (
    Answer,
    amdahl_times,
    any_serial_times,
    capped_times,
    is_least_level,
    model_result,
    search_bisection,
    search_model,
)
from simulate.noise import NOISES, FloatArray, Noise
from simulate.runs import lock_collapse, usl
from statistics_common import SEED, Case, Measure, main, share

CPUS = range(1, 13)
TARGETS = {"low": (95.0, 100.0), "high": (93.0, 100.0)}
Program = Callable[[np.random.Generator], FloatArray]


def capped_here(rng: np.random.Generator) -> FloatArray:
    """On these CPUs."""
    return capped_times(rng, CPUS)


def whole_tasks(rng: np.random.Generator) -> FloatArray:
    """Twelve equal tasks, each on one CPU from its start to its end, on m CPUs at most."""
    return np.array([np.ceil(12 / min(k, cap)) / 12 for cap in (rng.integers(2, 13),) for k in CPUS])


def coherency(rng: np.random.Generator) -> FloatArray:
    """The universal scalability law: beyond some CPUs it gets slower."""
    sigma, kappa = rng.uniform(0, 0.1), rng.uniform(0.005, 0.03)
    return np.array([1 / usl(k, sigma, kappa) for k in CPUS])


def collapse(rng: np.random.Generator) -> FloatArray:
    """Linear up to some CPUs, then at half of the best speed."""
    at = int(rng.integers(4, 12))
    return np.array([1 / lock_collapse(k, at, (at - 1) / 2) for k in CPUS])


def near(times: FloatArray, answer: int | None) -> bool:
    """Whether the answer costs no more than 7%: the margin of 5%, and what noise adds to it."""
    return answer is not None and bool(times[answer - 1] <= 1.07 * times.min())


def runs(method: Callable[..., Answer], program: Program, noise: Noise) -> Measure:
    """Runs on average."""

    def measure(rng: np.random.Generator, n_cases: int) -> tuple[float, float, str]:
        found = [method(program(rng), rng, noise)[1] for _ in range(n_cases)]
        return float(np.mean(found)), float(np.std(found)) / n_cases**0.5, f"p95 {np.percentile(found, 95):.0f}"

    return measure


def right(
    method: Callable[..., Answer], program: Program, noise: Noise, is_right: Callable[[FloatArray, int | None], bool]
) -> Measure:
    """Share of right answers; the note counts those that were not decided."""

    def measure(rng: np.random.Generator, n_cases: int) -> tuple[float, float, str]:
        hits = open_ = 0
        for _ in range(n_cases):
            times = program(rng)
            answer = method(times, rng, noise)[0]
            hits, open_ = hits + is_right(times, answer), open_ + (answer is None)
        return share(hits, n_cases, f"{100 * open_ / n_cases:.1f}% not decided")

    return measure


def published(noise: Noise) -> Measure:
    """Threads with the same work each, mapped onto two kernel threads, 1 to 12 of them on 12 CPUs."""
    times = np.ceil(np.arange(1, 13) / 2)

    def measure(rng: np.random.Generator, n_cases: int) -> tuple[float, float, str]:
        found = [search_model(times, rng, noise, rounds=True) for _ in range(n_cases)]
        return share(sum(k == 2 for k, _ in found), n_cases, f"{np.mean([n for _, n in found]):.1f} runs")

    return measure


@cache
def outcomes(n_cpus: int, n_cases: int) -> FloatArray:
    """Stated probability, and whether the answer was right, of programs with any cap and serial share, in any noise.

    Every other program has no cap.
    """
    rng, found = np.random.default_rng([SEED, n_cpus]), []
    for case in range(n_cases):
        times = any_serial_times(rng, range(1, n_cpus + 1), capped=bool(case % 2))
        told = model_result(times, rng, list(NOISES.values())[rng.integers(len(NOISES))])
        found += [] if told.misfit else [(told.probability, is_least_level(times, told.k_eff))]
    return np.array(found)


def calibration(n_cpus: int, low: float, high: float) -> Measure:
    """Points between the probability stated and the share that is right, among those stated between two ends."""

    def measure(rng: np.random.Generator, n_cases: int) -> tuple[float, float, str]:
        said, right = outcomes(n_cpus, n_cases).T
        inside = (said >= low) & (said < high)
        if not inside.any():
            return 0.0, 0.0, "none stated"
        p, was = float(said[inside].mean()), float(right[inside].mean())
        error = 100 * (p * (1 - p) / int(inside.sum())) ** 0.5
        return 100 * (was - p), error, f"stated {100 * p:.1f}%, right {100 * was:.1f}% of {int(inside.sum())}"

    return measure


def serial_but_sure(n_cpus: int, serial: float) -> Measure:
    """Share of almost serial programs without a cap whose answer is stated with 95% and wrong."""

    def measure(rng: np.random.Generator, n_cases: int) -> tuple[float, float, str]:
        times = amdahl_times(n_cpus, serial, range(1, n_cpus + 1))
        told = [model_result(times, rng, NOISES["low"]) for _ in range(n_cases)]
        sure = [one.k_eff for one in told if one.probability >= 0.95 and not one.misfit]
        wrong = sum(not is_least_level(times, answer) for answer in sure)
        return share(wrong, n_cases, f"{len(sure)} of {n_cases} stated with 95%")

    return measure


OTHERS = {"whole tasks": whole_tasks, "coherency": coherency, "collapse": collapse}


def cases() -> Iterator[Case]:
    """The model on its own ground, bisection alone, the published case, and programs that are none of the model's."""
    for name, noise in NOISES.items():
        yield Case(f"{name}: runs on average (not a share)", (0.0, 13.0), runs(search_model, capped_here, noise))
        yield Case(f"{name}: exact answers", TARGETS[name], right(search_model, capped_here, noise, is_least_level))
        yield Case(
            f"{name}: model-free, runs on average (not a share)",
            (0.0, 25.0),
            runs(search_bisection, capped_here, noise),
        )
        yield Case(
            f"{name}: model-free, answers within 7% of the best",
            (93.0, 100.0),
            right(search_bisection, capped_here, noise, near),
        )
        yield Case(f"{name}: the published case, two kernel threads", (95.0, 100.0), published(noise), 0.5)
        for other, program in OTHERS.items():
            yield Case(
                f"{name}: {other}, runs on average (not a share)", None, runs(search_model, program, noise), 0.25
            )
            yield Case(f"{name}: {other}, within 7% of the best", None, right(search_model, program, noise, near), 0.25)

    for n_cpus, part in {2: 0.4, 4: 0.4, 8: 0.4, 16: 0.4, 32: 0.1, 64: 0.02}.items():
        for low, high in ((0.0, 0.75), (0.75, 0.95), (0.95, 1.01)):
            # A bin of a few programs tells nothing within 5 points.
            name = f"calibration, {n_cpus} CPUs, stated {100 * low:.0f} to {min(100, 100 * high):.0f}% (points)"
            yield Case(name, (-5.0, 5.0), calibration(n_cpus, low, high), part)
        for serial in (0.9, 0.95):
            name = f"{100 * serial:.0f}% serial, {n_cpus} CPUs: stated with 95% and wrong"
            yield Case(name, (0.0, 5.0), serial_but_sure(n_cpus, serial), part / 4)


if __name__ == "__main__":
    main("statistics_effective_cpus", list(cases()), n_long=1_000, n_quick=100)
