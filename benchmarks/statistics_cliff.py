"""How many runs until a cliff is found, and is it where it is? Beside a grid, bisection, and a knee finder.

Programs over 1 to 512 threads, with a trend of their own; noise as `simulate.noise` has it. A place counts as found
within 5%, or between the same two levels. False cliffs are counted on lines, bends and smooth curves.
"""

import time
from collections.abc import Callable, Iterator
from functools import partial
from math import exp, log, sqrt

import numpy as np
from simulate.cliff import Draw, JumpingProgram, bend, curve, jump, line, moving, search
from simulate.noise import NOISES, FloatArray, Noise
from simulate.runs import run_scores
from statistics_common import Case, Measure, main, share

TOP, NEAR = 512, 0.05
# Milliseconds below which nothing was weighed: the first levels are known.
TRIVIAL = 1.0
TWICE, HALF, THIRD = partial(jump, factor=2.0), partial(jump, factor=1.5), partial(jump, factor=1.3)
# A place, None where there is none; and runs.
Answer = tuple[float | None, int]
Method = Callable[[JumpingProgram, np.random.Generator, Noise], Answer]


def ours(program: JumpingProgram, rng: np.random.Generator, noise: Noise) -> Answer:
    """The search as the planner makes it; the clearest cliff where it finds several."""
    found = search(program, rng, noise)
    largest = max(found.sure, key=lambda cliff: abs(log(cliff.factor[1])), default=None)
    return (largest.location if largest else None), found.n


def grid(program: JumpingProgram, rng: np.random.Generator, noise: Noise, levels: int, repeats: int) -> Answer:
    """Evenly in the log of the level; the largest rise between neighbors, by medians."""
    at = np.unique(np.geomspace(1, program.times.size, levels).round().astype(int))
    logs = [float(np.median(np.log(scores(program, rng, noise, n, repeats)))) for n in at]
    place = int(np.argmax(np.diff(logs)))
    return sqrt(at[place] * at[place + 1]), at.size * repeats


def bisection(program: JumpingProgram, rng: np.random.Generator, noise: Noise, repeats: int = 5) -> Answer:
    """Halves, in the log, by medians: above the middle of both ends is beyond the place."""
    ends = [float(np.median(np.log(scores(program, rng, noise, n, repeats)))) for n in (1, program.times.size)]
    low, high, n = 1, program.times.size, 2 * repeats
    while high - low > 1 and log(high / low) > NEAR:
        middle = min(max(round(sqrt(low * high)), low + 1), high - 1)
        seen = float(np.median(np.log(scores(program, rng, noise, middle, repeats))))
        low, high, n = (low, middle, n + repeats) if seen > sum(ends) / 2 else (middle, high, n + repeats)
    return sqrt(low * high), n


def knee(program: JumpingProgram, rng: np.random.Generator, noise: Noise) -> Answer:
    """The knee finder of `kneed` over every level, once each."""
    from kneed import KneeLocator  # type: ignore[import-not-found]

    at = np.arange(1, program.times.size + 1)
    seen = np.concatenate([scores(program, rng, noise, n, 1) for n in at])
    return KneeLocator(at, seen, curve="convex", direction="increasing").knee, at.size


def scores(program: JumpingProgram, rng: np.random.Generator, noise: Noise, n: int, repeats: int) -> FloatArray:
    """So many runs at a level."""
    return program.times[n - 1] * run_scores(rng, (repeats,), noise)


def right(program: JumpingProgram, place: float | None) -> bool:
    """Whether it is where the truth is, none where there is none."""
    if program.place is None or place is None:
        return program.place is None and place is None
    return abs(log(place) - program.place) <= NEAR or int(place) == int(exp(program.place))


def answers(method: Method, draw: Draw, noise: Noise) -> Measure:
    """Share of right answers."""

    def measure(rng: np.random.Generator, n_cases: int) -> tuple[float, float, str]:
        found = [(p := draw(rng, TOP), method(p, rng, noise)) for _ in range(n_cases)]
        runs = [n for _, (_, n) in found]
        note = f"{np.mean(runs):.1f} runs, p95 {np.percentile(runs, 95):.0f}"
        return share(sum(right(program, place) for program, (place, _) in found), n_cases, note)

    return measure


def false(draw: Draw, noise: Noise) -> Measure:
    """Share of cliffs that are none."""

    def measure(rng: np.random.Generator, n_cases: int) -> tuple[float, float, str]:
        found = [ours(draw(rng, TOP), rng, noise) for _ in range(n_cases)]
        return share(
            sum(place is not None for place, _ in found), n_cases, f"{np.mean([n for _, n in found]):.1f} runs"
        )

    return measure


def told_to_move(draw: Draw, noise: Noise) -> Measure:
    """Share of searches that tell the place to move."""

    def measure(rng: np.random.Generator, n_cases: int) -> tuple[float, float, str]:
        found = [search(draw(rng, TOP), rng, noise) for _ in range(n_cases)]
        note = f"{np.mean([one.n for one in found]):.1f} runs"
        return share(sum(one.wandering is not None for one in found), n_cases, note)

    return measure


def runs(draw: Draw, noise: Noise, of: Callable[[list[int]], float]) -> Measure:
    """Runs of the search: a mean or a quantile."""

    def measure(rng: np.random.Generator, n_cases: int) -> tuple[float, float, str]:
        found = [ours(draw(rng, TOP), rng, noise)[1] for _ in range(n_cases)]
        return float(of(found)), float(np.std(found)) / n_cases**0.5, f"at most {max(found)}"

    return measure


def asked(noise: Noise, of: Callable[[list[float]], float]) -> Measure:
    """Milliseconds from a score to the next level."""

    def measure(rng: np.random.Generator, n_cases: int) -> tuple[float, float, str]:
        taken: list[float] = []
        for _ in range(n_cases):
            last = time.perf_counter()

            def each() -> None:
                nonlocal last
                now = time.perf_counter()
                taken.append(1e3 * (now - last))
                last = now

            search(TWICE(rng, TOP), rng, noise, each=each)
        weighed = [ms for ms in taken if ms > TRIVIAL]
        return float(of(weighed)), float(np.std(weighed)) / len(weighed) ** 0.5, f"{len(weighed)} asks"

    return measure


def mean(values: list[int]) -> float:
    """The mean."""
    return float(np.mean(values))


def p95(values: list[int]) -> float:
    """The 95% quantile."""
    return float(np.percentile(values, 95))


def cases() -> Iterator[Case]:
    """Ours against its targets, then what is no cliff, then the others."""
    for name, noise in NOISES.items():
        for size, draw in (("x2", TWICE), ("x1.3", THIRD)):
            yield Case(f"{name}, {size}: runs on average (not a share)", (0.0, 23.0), runs(draw, noise, mean))
            yield Case(f"{name}, {size}: runs, 95% quantile (not a share)", (0.0, 36.0), runs(draw, noise, p95))
            yield Case(f"{name}, {size}: found", (95.0, 100.0), answers(ours, draw, noise))
        for shape, draw in (("line", line), ("bend", bend), ("curve", curve)):
            yield Case(f"{name}, {shape}: false cliffs", (0.0, 5.0), false(draw, noise))
        for sd in (0.05, 0.15, 0.3):
            draw = partial(moving, factor=2.0, sd=sd)
            yield Case(f"{name}, x2, moves by {sd}: told to move", None, told_to_move(draw, noise))
        for size, draw in (("x2", TWICE), ("x1.5", HALF), ("x1.3", THIRD)):
            yield Case(f"{name}, {size}, stays: told to move", (0.0, 5.0), told_to_move(draw, noise))
        others: dict[str, Method] = {
            "grid of 12 x 2": partial(grid, levels=12, repeats=2),
            "grid of 82 x 5": partial(grid, levels=120, repeats=5),
            "bisection, median of 5": bisection,
        }
        for other, method in others.items():
            yield Case(f"{name}, x2: found by a {other}", None, answers(method, TWICE, noise))
            yield Case(f"{name}, x1.3: found by a {other}", None, answers(method, THIRD, noise))
        if has_kneed():
            yield Case(f"{name}, x2: found by kneed over all levels", None, answers(knee, TWICE, noise))
    yield Case("ms until the next level, median (not a share)", (0.0, 50.0), asked(NOISES["high"], np.median), 0.1)
    yield Case("ms until the next level, at most (not a share)", (0.0, 500.0), asked(NOISES["high"], max), 0.1)


def has_kneed() -> bool:
    """Whether the contrast is at hand; `pip install kneed` brings it."""
    try:
        import kneed  # noqa: F401
    except ImportError:
        return False
    return True


if __name__ == "__main__":
    main("statistics_cliff", list(cases()), n_long=300, n_quick=20)
