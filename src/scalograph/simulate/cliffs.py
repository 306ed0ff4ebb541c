"""Programs whose time jumps at a known place, or nowhere, and the search for it as the planner makes it."""

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, log

import numpy as np

from scalograph.analysis.cliff import Cliff
from scalograph.analysis.cliff_course import CliffCourse
from scalograph.simulate.noise import FloatArray, Noise
from scalograph.simulate.runs import run_scores

# A search that is not over by then is none.
MOST = 60


@dataclass(frozen=True, slots=True)
class Program:
    """Typical time at each level 1, 2, ..., and the log of the place of its cliff; None where it has none."""

    times: FloatArray
    place: float | None


@dataclass(frozen=True, slots=True)
class Searched:
    """What a search came to: the cliffs that are sure, whether nothing is left open, and runs."""

    sure: list[Cliff]
    decided: bool
    n: int


def jump(rng: np.random.Generator, top: int, factor: float, width: float = 0.0, edge: float = 3.0) -> Program:
    """A jump anywhere but at the ends, over a line in the logs.

    Args:
        rng: for place and trend.
        top: the highest level.
        factor: of the time beyond the place.
        width: relative width of the transition.
        edge: how many times the lowest level (and of the highest, its part) the place keeps away from the ends.
    """
    place = rng.uniform(log(edge), log(top / edge))
    x = np.log(np.arange(1, top + 1))
    height = (x > place).astype(float) if width == 0 else np.clip((x - place) / width + 0.5, 0, 1)
    return Program(np.exp(rng.uniform(-0.1, 0.1) * x + log(factor) * height), place)


def line(rng: np.random.Generator, top: int) -> Program:
    """No cliff: a trend as of `jump`."""
    return Program(np.exp(rng.uniform(-0.1, 0.1) * np.log(np.arange(1, top + 1))), None)


def bend(rng: np.random.Generator, top: int) -> Program:
    """No cliff: time falls up to some level, as with more CPUs, and stays."""
    return Program(1 / np.minimum(np.arange(1, top + 1), exp(rng.uniform(log(3), log(top / 3)))), None)


def curve(rng: np.random.Generator, top: int) -> Program:
    """No cliff: time falls and rises again, smoothly (N. J. Gunther's law, with coherency)."""
    n, sigma, kappa = np.arange(1, top + 1), rng.uniform(0, 0.3), 10 ** rng.uniform(-5, -2)
    return Program((1 + sigma * (n - 1) + kappa * n * (n - 1)) / n, None)


def search(
    program: Program, rng: np.random.Generator, noise: Noise, each: Callable[[], None] = lambda: None
) -> Searched:
    """The search over all levels, each run of one score; `each` is called after every one of them."""
    course = CliffCourse(range(1, program.times.size + 1), int(rng.integers(1 << 30)))
    while (n := course.next_level) is not None and len(course.n) < MOST:
        course.add(n, program.times[n - 1] * float(run_scores(rng, (1,), noise)[0]))
        each()
    return Searched(course.sure, course.decided, len(course.n))


Draw = Callable[[np.random.Generator, int], Program]
