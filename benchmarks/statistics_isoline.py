"""How many pairs of runs until the line of break-even is known, and by how much is it off?

Fork-join programs over elements, cost of each, workers, and clients; an error is that of the elements from which on
parallel wins, at random others. Beside: without knowing what the axes are, pairs at random points, a grid of as many
pairs, and a whole grid of 12288.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from itertools import product
from statistics import mean

import numpy as np
from isoline_grid import N_PAIRS
from isoline_grid import errors as errors_of_whole_grid
from simulate.break_even import (
    RANGES,
    ForkJoin,
    SearchOutcome,
    axes,
    errors,
    fork_join,
    search,
    simulate_pair,
    spread_points,
)
from simulate.break_even import simulate_search as asked_until_it_ends
from simulate.noise import NOISES, FloatArray, Noise
from statistics_common import SEED, Case, Measure, main

from scalograph.questions.break_even.model import RatioSurface
from scalograph.questions.break_even.model_mean import Axis

Method = Callable[[ForkJoin, int, int, np.random.Generator, Noise], RatioSurface]


def blind(program: ForkJoin, d: int, n: int, rng: np.random.Generator, noise: Noise) -> RatioSurface:
    """The same search without a word about what the axes are."""
    unknown: Sequence[Axis] = [Axis("other", axis.low, axis.high) for axis in axes(d)]
    return search(program, d, n, rng, noise, unknown)


def at_random(program: ForkJoin, d: int, n: int, rng: np.random.Generator, noise: Noise) -> RatioSurface:
    """The same surface from pairs that are spread evenly."""
    return _measured(program, spread_points(d, n, rng), d, rng, noise)


def grid(program: ForkJoin, d: int, n: int, rng: np.random.Generator, noise: Noise) -> RatioSurface:
    """The same surface from a grid of about as many pairs."""
    side = round(n ** (1 / d))
    levels = [np.linspace(low, high, side) for low, high in [*RANGES.values()][:d]]
    return _measured(program, np.array([*product(*levels)]), d, rng, noise)


def _measured(program: ForkJoin, x: FloatArray, d: int, rng: np.random.Generator, noise: Noise) -> RatioSurface:
    g = np.array([simulate_pair(program, point, rng, noise) for point in x])
    return RatioSurface(x, g, axes(d), program.cpus)


def error(method: Method, d: int, n: int, noise: Noise, at: float, odd: bool = False) -> Measure:
    """A quantile of the errors over all points of all programs, in percent."""

    def one(program: ForkJoin, rng: np.random.Generator) -> FloatArray:
        return errors(program, method(program, d, n, rng, noise), rng)

    return error_of(one, at, odd)


def error_of(one: Callable[[ForkJoin, np.random.Generator], FloatArray], at: float, odd: bool = False) -> Measure:
    """A quantile of the errors that something makes, over all programs."""

    def measure(rng: np.random.Generator, n_cases: int) -> tuple[float, float, str]:
        found = [one(fork_join(rng, odd), rng) for _ in range(n_cases)]
        each = [np.quantile(e, at) for e in found if e.size]
        spread = float(np.std(each)) / len(each) ** 0.5
        return 100 * float(np.quantile(np.concatenate(found), at)), 100 * spread, f"{n_cases} programs"

    return measure


def asked(d: int, n: int, of: Callable[[list[float]], float]) -> Measure:
    """Milliseconds from a pair to the next one."""

    def measure(rng: np.random.Generator, n_cases: int) -> tuple[float, float, str]:
        taken = []
        for _ in range(n_cases):
            begin = time.perf_counter()
            search(fork_join(rng), d, n, rng, NOISES["high"])
            taken.append(1e3 * (time.perf_counter() - begin) / (n - 4 * d))
        return float(of(taken)), float(np.std(taken)) / n_cases**0.5, f"of {n_cases} searches, on average over each"

    return measure


@cache
def searches(d: int, noise: str, n_cases: int) -> list[SearchOutcome]:
    """Searches as the laboratory makes them, over a grid of levels until they end: made once for all their figures."""
    rng = np.random.default_rng([SEED, d, list(NOISES).index(noise)])
    return [asked_until_it_ends(fork_join(rng), d, rng, NOISES[noise]) for _ in range(n_cases)]


def ended(d: int, noise: str, of: Callable[[list[SearchOutcome]], float]) -> Measure:
    """A figure of these."""

    def measure(_: np.random.Generator, n_cases: int) -> tuple[float, float, str]:
        found = searches(d, noise, n_cases)
        return of(found), float(np.std([of([one]) for one in found])) / n_cases**0.5, f"{n_cases} programs"

    return measure


def cases() -> Iterator[Case]:
    """Ours against its targets, on its own ground and off it, then the contrasts."""
    for name, noise in NOISES.items():
        yield Case(f"{name}, 3 axes, 60 pairs: error, 90%", (0.0, 10.0), error(search, 3, 60, noise, 0.9))
        yield Case(
            f"{name}, 3 axes, 60 pairs, crowds and memory: error, 90%", None, error(search, 3, 60, noise, 0.9, True)
        )
        n = {"low": 80, "high": 160}[name]
        yield Case(f"{name}, 4 axes, {n} pairs: error, median", (0.0, 5.0), error(search, 4, n, noise, 0.5), 0.4)
        yield Case(
            f"{name}, 4 axes, 160 pairs: error, 90% (a stretch)", (0.0, 10.0), error(search, 4, 160, noise, 0.9), 0.4
        )
        for other, method in {"axes unknown": blind, "at random": at_random, "a grid": grid}.items():
            yield Case(f"{name}, 3 axes, 60 pairs, {other}: error, 90%", None, error(method, 3, 60, noise, 0.9))
        yield Case(f"{name}, 3 axes, 120 pairs, axes unknown: error, 90%", None, error(blind, 3, 120, noise, 0.9), 0.5)
        whole = partial(errors_of_whole_grid, noise=noise)
        yield Case(f"{name}, 3 axes, whole grid of {N_PAIRS} pairs: error, 90%", None, error_of(whole, 0.9))
        for d in (1, 2, 3, 4):
            few = 0.4 if d == 4 else 1.0
            on = f"{name}, {d} ax{'i' if d == 1 else 'e'}s, until it ends"
            for figure, target, of in (
                ("pairs (not a share)", None, lambda all_: mean(a.n for a in all_)),
                ("decided", None, lambda all_: 100 * mean(a.decided for a in all_)),
                ("points wrong", (0.0, 2.5), lambda all_: 100 * mean(a.wrong for a in all_)),
                ("truth near the line in its interval", (90.0, 100.0), lambda all_: 100 * mean(a.held for a in all_)),
            ):
                yield Case(f"{on}: {figure}", target, ended(d, name, of), few)
        yield Case(
            f"{name}, 4 axes: longest ms until the next pair (not a share)", (0.0, 500.0),
            ended(4, name, lambda all_: 1e3 * max(a.slowest for a in all_)), 0.4,
        )  # fmt: skip
    for d, n in ((3, 60), (4, 160)):
        yield Case(f"ms until the next pair, {d} axes (not a share)", (0.0, 50.0), asked(d, n, np.median), 0.2)


if __name__ == "__main__":
    main("statistics_isoline", list(cases()), n_long=60, n_quick=10)
