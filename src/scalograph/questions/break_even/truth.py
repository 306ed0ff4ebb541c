"""Programs whose parallel version pays from a known line on, and the search for that line as the planner makes it."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import exp, log

import numpy as np
from scipy.stats import qmc

from scalograph.questions.break_even.model import SURE, RatioSurface, line, straddle
from scalograph.questions.break_even.model_mean import Axis, Role
from scalograph.questions.break_even.search_state import EVEN, BreakEvenCourse
from scalograph.simulate.noise import FloatArray, Noise
from scalograph.simulate.runs import run_scores

# Elements, cost of each, parallelism, clients: lowest and highest level, as powers of two.
RANGES = {"n": (4, 18), "q": (0, 10), "p": (0, 6), "c": (0, 4)}


@dataclass(frozen=True, slots=True)
class ForkJoin:
    """Times of a sequential loop and of its fork-join version, in units of the work of one element of cost 1.

    Attributes:
        cpus: that the machine has.
        start: of a task that is divided.
        worker: of each worker that takes part, to the power of `spread`.
        spread: how the cost of workers grows with their number.
        scaling: work goes by the workers (up to the CPUs of a client) to this power.
        call: of the sequential version, beside its work.
        crowded: what each doubling of the workers beyond the CPUs adds to the work, as a share.
        memory: work per worker that is the same in both versions from there on: beyond 2**12 elements, a share of it.
    """

    cpus: int
    start: float
    worker: float
    spread: float
    scaling: float
    call: float
    crowded: float = 0.0
    memory: float = 0.0

    def log_ratio(self, x: FloatArray) -> FloatArray:
        """Log of the parallel time over the sequential one; x: log2 of n, q, p and, where there is one, c, by row."""
        n, q, p = (2.0 ** x[:, i] for i in range(3))
        clients = 2.0 ** x[:, 3] if x.shape[1] > 3 else np.ones(len(x))
        # Clients share the CPUs in both versions; the pool's workers are shared too.
        own = np.minimum(p, np.maximum(self.cpus / clients, 1.0))
        slower = np.maximum(clients / self.cpus, 1.0)
        over = 1 + self.crowded * np.log2(np.maximum(p * clients / self.cpus, 1.0))
        bound = self.memory * n / (1 + (4096 / n) ** 2)
        parallel = self.start + self.worker * p**self.spread + n * q * slower * over / own**self.scaling + bound
        return np.log(parallel / (self.call + n * q * slower + bound))

    def lines(self, others: FloatArray, low: float, high: float) -> FloatArray:
        """Log2 of n from which on parallel wins, for each row of the other axes; nan where it never does."""
        a, b = np.full(len(others), low), np.full(len(others), high)
        crossed = (self._at(a, others) > 0) & (self._at(b, others) < 0)
        for _ in range(40):
            middle = (a + b) / 2
            slower = self._at(middle, others) > 0
            a, b = np.where(slower, middle, a), np.where(slower, b, middle)
        return np.where(crossed, (a + b) / 2, np.nan)

    def _at(self, n: FloatArray, others: FloatArray) -> FloatArray:
        return self.log_ratio(np.column_stack([n, others]))


def fork_join(rng: np.random.Generator, odd: bool = False) -> ForkJoin:
    """Drawn: 4 to 32 CPUs, a start worth 2,000 to 40,000 elements, workers worth 50 to 2,000 each.

    Args:
        rng: draws.
        odd: crowds and memory get in the way, which no mean knows of.
    """
    return ForkJoin(
        cpus=int(2 ** rng.integers(2, 6)),
        start=exp(rng.uniform(log(2e3), log(4e4))),
        worker=exp(rng.uniform(log(50), log(2e3))),
        spread=rng.uniform(0.8, 1.3),
        scaling=rng.uniform(0.75, 1.0),
        call=rng.uniform(0, 50),
        crowded=rng.uniform(0.05, 0.3) if odd else 0.0,
        memory=rng.uniform(0.5, 4) if odd else 0.0,
    )


def pair(program: ForkJoin, x: FloatArray, rng: np.random.Generator, noise: Noise) -> float:
    """Log ratio of one interleaved pair of runs at a point."""
    parallel, sequential = run_scores(rng, (2,), noise)
    return float(program.log_ratio(x[None, :])[0] + log(parallel / sequential))


def axes(d: int) -> tuple[Axis, ...]:
    """Elements, cost, workers, and clients where there are four."""
    roles: tuple[Role, ...] = ("size", "size", "workers", "clients")
    pairs = zip(roles[:d], RANGES.values(), strict=False)
    return tuple(Axis(role, float(low), float(high)) for role, (low, high) in pairs)


def spread_points(d: int, n: int, rng: np.random.Generator) -> FloatArray:
    """Points that fill the ranges evenly (a scrambled Sobol sequence)."""
    low, high = np.array([*RANGES.values()], dtype=float)[:d].T
    drawn = qmc.Sobol(d, rng=rng).random_base2(int(np.ceil(np.log2(n))))[:n]
    return np.asarray(low + (high - low) * drawn)


def search(
    program: ForkJoin, d: int, n_pairs: int, rng: np.random.Generator, noise: Noise, known: Sequence[Axis] | None = None
) -> RatioSurface:
    """The search: four points an axis, then where the sign is least sure.

    Args:
        program: with a known line.
        d: axes, 3 or 4.
        n_pairs: all of them.
        rng: of points and noise.
        noise: of the scores.
        known: what the search believes of the axes; None: the truth.
    """
    told = axes(d) if known is None else known
    x, candidates = spread_points(d, 4 * d, rng), spread_points(d, 2048, rng)
    g = np.array([pair(program, point, rng, noise) for point in x])
    surface = RatioSurface(x, g, told, program.cpus)
    while len(x) < n_pairs:
        point = candidates[straddle(surface, candidates)]
        x, g = np.vstack([x, point]), np.append(g, pair(program, point, rng, noise))
        surface = RatioSurface(x, g, told, program.cpus, surface)
    return surface


def errors(program: ForkJoin, surface: RatioSurface, rng: np.random.Generator, n: int = 60) -> FloatArray:
    """Relative errors of the elements from which on parallel wins, at random others where that is inside the range."""
    d = len(surface.mean.axes)
    others = spread_points(d, n, rng)[:, 1:]
    true = program.lines(others, *map(float, RANGES["n"]))
    inside = np.isfinite(true)
    found = line(surface, others[inside])
    return np.where(
        np.isfinite(found), np.abs(2.0 ** (np.where(np.isfinite(found), found, 0.0) - true[inside]) - 1), 1.0
    )


# `isolines.RANGES` as levels of a study (first, behind the last, step), and what is fixed where a factor does not vary.
RANGES_OF_LEVELS = ((4, 19, 1), (0, 11, 2), (0, 7, 1), (0, 5, 1))
MIDDLE = (10.0, 4.0, 3.0, 0.0)
# A log ratio of so much is near the line.
NEAR = 0.3


@dataclass(frozen=True, slots=True)
class AskedPairs:
    """What a search as the laboratory makes it came to.

    Attributes:
        decided: it ended with an answer.
        n: pairs.
        wrong: share of the points told wrongly: the slower version wins, by more than `EVEN`, or both are even.
        held: share of the points near the line whose true ratio lies in its interval.
        slowest: longest time from a pair to the next question, in seconds.
    """

    decided: bool
    n: int
    wrong: float
    held: float
    slowest: float


def asked(program: ForkJoin, d: int, rng: np.random.Generator, noise: Noise) -> AskedPairs:
    """The search over a grid of levels until it ends, arguments as of `search`; two axes are elements and workers."""
    free = {1: (0,), 2: (0, 2), 3: (0, 1, 2), 4: (0, 1, 2, 3)}[d]
    at = np.array([*product(*(np.arange(*RANGES_OF_LEVELS[i]) for i in free))], dtype=float)
    whole = np.tile(np.array(MIDDLE), (len(at), 1))
    whole[:, free] = at
    whole = whole[:, : max(d, 3)]
    course = BreakEvenCourse([axes(4)[i] for i in free], at, program.cpus, int(rng.integers(1 << 30)))
    slowest = 0.0
    while (index := course.next_level) is not None:
        score = pair(program, whole[index], rng, noise)
        begin = time.perf_counter()
        course.add(index, score)
        slowest = max(slowest, time.perf_counter() - begin)
    assert course.surface is not None
    true, (mean, sd) = program.log_ratio(whole), course.surface(at)
    known, even = np.abs(mean) > SURE * sd, np.abs(true) < log(1 + EVEN)
    wrong = np.where(known, (np.sign(mean) != np.sign(true)) & ~even, ~even & ~course.is_open(mean, sd))
    near = np.abs(true) < NEAR
    held = np.abs(mean - true) <= SURE * sd
    return AskedPairs(course.decided, len(course.asked), float(wrong.mean()), float(held[near].mean()), slowest)
