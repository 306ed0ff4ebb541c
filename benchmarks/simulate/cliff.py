"""Programs whose time jumps at a known place, or nowhere, and simulated searches for it."""

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, log

import numpy as np

from scalograph.questions.cliff.model import Cliff
from scalograph.questions.cliff.search_state import CliffState
from simulate.noise import FloatArray, Noise
from simulate.runs import run_scores

# A search that is not over by then is none.
MOST = 60


@dataclass(frozen=True, slots=True)
class JumpingProgram:
    """A program with a cliff, or none.

    Attributes:
        times: typical time at each level 1, 2, ...
        place: log of the level of its cliff; None where it has none.
        moves: standard deviation of that from run to run.
        factor: of the time beyond it, where it moves.
    """

    times: FloatArray
    place: float | None
    moves: float = 0.0
    factor: float = 1.0

    def run(self, level: int, rng: np.random.Generator, noise: Noise) -> float:
        """Draw the time of a run."""
        time = float(self.times[level - 1]) * float(run_scores(rng, (1,), noise)[0])
        if self.moves and self.place is not None and log(level) > self.place + self.moves * rng.standard_normal():
            time *= self.factor
        return time


@dataclass(frozen=True, slots=True)
class CliffSearch:
    """Outcome of a simulated search: sure cliffs, whether it is decided, runs, and where a place moves."""

    sure: list[Cliff]
    decided: bool
    n: int
    wandering: tuple[int, int] | None = None


def jump(rng: np.random.Generator, top: int, factor: float, width: float = 0.0, edge: float = 3.0) -> JumpingProgram:
    """Draw a program that jumps anywhere but at the ends, over a line in the logs.

    `factor`: of the time beyond the place. `width`: relative, of the transition. `edge`: how many times the lowest
    level (and of the highest, its part) the place keeps away from the ends.
    """
    location = rng.uniform(log(edge), log(top / edge))
    x = np.log(np.arange(1, top + 1))
    height = (x > location).astype(float) if width == 0 else np.clip((x - location) / width + 0.5, 0, 1)
    return JumpingProgram(np.exp(rng.uniform(-0.1, 0.1) * x + log(factor) * height), location)


def moving(rng: np.random.Generator, top: int, factor: float, sd: float) -> JumpingProgram:
    """Draw a program whose jump has a place drawn anew for each run, with this standard deviation of its log."""
    x = np.log(np.arange(1, top + 1))
    location = rng.uniform(log(10), log(top / 4))
    return JumpingProgram(np.exp(rng.uniform(-0.1, 0.1) * x), location, sd, factor)


def line(rng: np.random.Generator, top: int) -> JumpingProgram:
    """Draw a program without a cliff: a line in the logs."""
    return JumpingProgram(np.exp(rng.uniform(-0.1, 0.1) * np.log(np.arange(1, top + 1))), None)


def bend(rng: np.random.Generator, top: int) -> JumpingProgram:
    """Draw a program without a cliff whose time falls up to some level, as with more CPUs, and stays."""
    return JumpingProgram(1 / np.minimum(np.arange(1, top + 1), exp(rng.uniform(log(3), log(top / 3)))), None)


def curve(rng: np.random.Generator, top: int) -> JumpingProgram:
    """Draw a program without a cliff whose time falls and rises smoothly (N. J. Gunther's law, with coherency)."""
    n, sigma, kappa = np.arange(1, top + 1), rng.uniform(0, 0.3), 10 ** rng.uniform(-5, -2)
    return JumpingProgram((1 + sigma * (n - 1) + kappa * n * (n - 1)) / n, None)


def search(
    program: JumpingProgram, rng: np.random.Generator, noise: Noise, each: Callable[[], None] = lambda: None
) -> CliffSearch:
    """Simulate a search over all levels, each run of one score; call `each` after every one."""
    state = CliffState(range(1, program.times.size + 1), int(rng.integers(1 << 30)))
    while (n := state.next_level) is not None and len(state.n) < MOST:
        state.observe(n, program.run(n, rng, noise))
        each()
    return CliffSearch(state.sure, state.is_decided, len(state.n), state.wandering)


Draw = Callable[[np.random.Generator, int], JumpingProgram]
