"""Simulate searches for the fastest configuration, on surfaces whose best is known."""

from dataclasses import dataclass
from itertools import product
from math import exp, log, log2

import numpy as np
from numpy.typing import NDArray

from scalograph.questions.best.model import BestSpace, read_space
from scalograph.questions.best.search_state import BestState
from scalograph.study.scalars import Level

KINDS = ("usl", "cliff", "interaction", "two optima")
Grid = tuple[tuple[str, tuple[Level, ...]], ...]
GRIDS: dict[str, Grid] = {
    "threads": (("threads", tuple(range(1, 65))),),
    "threads x batch": (("threads", tuple(range(1, 33))), ("batch", (1, 2, 4, 8, 16, 32, 64))),
    "threads x batch x option": (
        ("threads", tuple(range(1, 65))), ("batch", (1, 8, 64)), ("option", ("-O2", "-O3")),
    ),
}  # fmt: skip


@dataclass(frozen=True)
class BestProgram:
    """A program: its grid, and the true log time of each configuration."""

    space: BestSpace
    logs: NDArray[np.float64]

    def regret(self, index: int) -> float:
        """Return by how much the time of a configuration exceeds the least, as a share."""
        return float(np.expm1(self.logs[index] - self.logs.min()))


def program(rng: np.random.Generator, kind: str, grid: Grid) -> BestProgram:
    """Draw a program of a kind over a grid of threads, a batch size and an option."""
    configurations = [dict(zip(dict(grid), levels, strict=True)) for levels in product(*(own for _, own in grid))]
    space = read_space(configurations, {})
    threads = np.array([t["threads"] for t in configurations], dtype=float)
    batch = np.log2(np.array([t.get("batch", 1) for t in configurations], dtype=float))
    most = float(threads.max())
    option = np.array([t.get("option", "-O2") == "-O3" for t in configurations], dtype=float)
    best = np.full(len(threads), 2 ** rng.uniform(1, log2(most) + 0.5))
    if kind == "interaction":
        best *= 2 ** (rng.uniform(-0.4, 0.4) * (batch - 3))
        best *= 2 ** (rng.uniform(-1, 1) * option)
    logs = two_wells(rng, threads, most) if kind == "two optima" else usl(rng, threads, best)
    logs = logs + rng.uniform(0.005, 0.08) * (batch - rng.uniform(0, 6)) ** 2
    logs += rng.uniform(-0.1, 0.1) * option
    if kind == "interaction":
        logs += rng.uniform(-0.05, 0.05) * option * batch
    if kind == "cliff":
        logs += log(rng.uniform(1.2, 3)) * (threads > 2 ** rng.uniform(1, log2(most)))
    return BestProgram(space, logs)


def usl(rng: np.random.Generator, threads: NDArray[np.float64], best: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return log times of the universal scalability law with its least at `best` threads."""
    sigma = rng.uniform(0, 0.15)
    kappa = (1 - sigma) / best**2
    return np.asarray(np.log((1 + sigma * (threads - 1) + kappa * threads * (threads - 1)) / threads))


def two_wells(rng: np.random.Generator, threads: NDArray[np.float64], most: float) -> NDArray[np.float64]:
    """Return log times with two minima along the threads, 3 to 15% apart."""
    at = np.log2(threads)
    low = rng.uniform(0.5, log2(most) / 2 - 0.5)
    high = rng.uniform(log2(most) / 2 + 0.5, log2(most))
    depths = np.array([0.6, 0.6 - rng.uniform(0.03, 0.15)])
    rng.shuffle(depths)
    widths = rng.uniform(0.5, 1.0, 2)
    logs = np.zeros(len(threads))
    for place, depth, width in zip((low, high), depths, widths, strict=True):
        logs -= depth * np.exp(-0.5 * ((at - place) / width) ** 2)
    return logs


def draw_run(rng: np.random.Generator, truth: float, noise: float, slow_share: float = 0.03) -> float:
    """Draw the log time of a run; few are slowed by half."""
    return truth + noise * rng.standard_normal() + log(1.5) * (rng.random() < slow_share)


def search(made: BestProgram, rng: np.random.Generator, noise: float) -> BestState:
    """Search as the planner does, up to the fresh runs."""
    state = BestState(made.space, [1] * len(made.logs), int(rng.integers(1 << 30)))
    while not state.confirmed and not state.over and (level := state.next_level) is not None:
        state.observe(level, exp(draw_run(rng, made.logs[level], noise)))
    return state
