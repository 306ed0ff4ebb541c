"""Programs whose break-even line is known, and simulated searches for it."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import exp, log

import numpy as np
from scipy.stats import qmc

from scalograph.questions.break_even.model import SURE, RatioSurface, straddle_score
from scalograph.questions.break_even.model_mean import Axis, Role
from scalograph.questions.break_even.search_state import EVEN, BreakEvenState
from simulate.noise import FloatArray, Noise
from simulate.runs import run_scores

# Elements, cost of each, parallelism, clients: lowest and highest level, as powers of two.
RANGES = {"n": (4, 18), "q": (0, 10), "p": (0, 6), "c": (0, 4)}


@dataclass(frozen=True, slots=True)
class ForkJoin:
    """Times of a sequential loop and its fork-join version; costs in units of one element of cost 1.

    Attributes:
        worker: cost of each worker, to the power of `spread`.
        spread: how the cost of workers grows with their number.
        scaling: work is divided by the workers (up to the CPUs of a client) to this power.
        call: cost of the sequential version, beside its work.
        crowded: work added by each doubling of the workers beyond the CPUs, as a share.
        memory: work per worker that both versions share: beyond 2**12 elements, a share of it.
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
        """Return the log of parallel over sequential time; x: log2 of n, q, p and optionally c, by row."""
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
        """Return log2 of n from which parallel wins, for each row of the other axes; nan where it never does."""
        a, b = np.full(len(others), low), np.full(len(others), high)
        crossed = (self._log_ratio_at(a, others) > 0) & (self._log_ratio_at(b, others) < 0)
        for _ in range(40):
            middle = (a + b) / 2
            slower = self._log_ratio_at(middle, others) > 0
            a, b = np.where(slower, middle, a), np.where(slower, b, middle)
        return np.where(crossed, (a + b) / 2, np.nan)

    def _log_ratio_at(self, n: FloatArray, others: FloatArray) -> FloatArray:
        return self.log_ratio(np.column_stack([n, others]))


def fork_join(rng: np.random.Generator, odd: bool = False) -> ForkJoin:
    """Draw a program: 4 to 32 CPUs, a start worth 2,000 to 40,000 elements, workers worth 50 to 2,000 each.

    `odd`: crowds and memory get in the way, which no mean knows of.
    """
    return ForkJoin(
        cpus=int(2 ** rng.integers(2, 6)),
        start=exp(rng.uniform(log(2e3), log(4e4))), worker=exp(rng.uniform(log(50), log(2e3))),
        spread=rng.uniform(0.8, 1.3), scaling=rng.uniform(0.75, 1.0), call=rng.uniform(0, 50),
        crowded=rng.uniform(0.05, 0.3) if odd else 0.0, memory=rng.uniform(0.5, 4) if odd else 0.0,
    )  # fmt: skip


def simulate_pair(program: ForkJoin, x: FloatArray, rng: np.random.Generator, noise: Noise) -> float:
    """Draw the log ratio of one interleaved pair of runs at a point."""
    parallel, sequential = run_scores(rng, (2,), noise)
    return float(program.log_ratio(x[None, :])[0] + log(parallel / sequential))


def axes(d: int) -> tuple[Axis, ...]:
    """Return d axes: elements, cost, workers, and clients where there are four."""
    roles: tuple[Role, ...] = ("size", "size", "workers", "clients")
    pairs = zip(roles[:d], RANGES.values(), strict=False)
    return tuple(Axis(role, float(low), float(high)) for role, (low, high) in pairs)


def spread_points(d: int, n: int, rng: np.random.Generator) -> FloatArray:
    """Draw points that fill the ranges evenly (a scrambled Sobol sequence)."""
    low, high = np.array([*RANGES.values()], dtype=float)[:d].T
    drawn = qmc.Sobol(d, rng=rng).random_base2(int(np.ceil(np.log2(n))))[:n]
    return np.asarray(low + (high - low) * drawn)


def straddle_index(surface: RatioSurface, candidates: FloatArray) -> int:
    """Return the index of the candidate where one more pair tells most of the line; ties to the first."""
    return int(np.argmax(straddle_score(*surface(candidates))))


def open_share(surface: RatioSurface, candidates: FloatArray) -> float:
    """Return the share of the candidates whose interval of g holds 0."""
    mean, sd = surface(candidates)
    return float(np.mean(np.abs(mean) <= SURE * sd))


def line(surface: RatioSurface, others: FloatArray, axis: int = 0, steps: int = 256) -> FloatArray:
    """Return log2 of the level of one factor from which parallel wins, for each row of log2 of all other factors.

    nan where parallel never wins for sure, minus infinity where it always does; `steps` points of the range are tried.
    """
    low, high = surface.mean.axes[axis].low, surface.mean.axes[axis].high
    at = np.linspace(low, high, steps)
    return np.array([_crossing(at, *surface(np.insert(np.tile(o, (steps, 1)), axis, at, axis=1))) for o in others])


def _crossing(at: FloatArray, g: FloatArray, sd: FloatArray) -> float:
    """Interpolate where g falls below 0 for good."""
    if not np.any(g + SURE * sd < 0):
        return np.nan
    above = np.flatnonzero(g > 0)
    if not above.size:
        return -np.inf
    last = int(above[-1])
    if last + 1 == at.size:
        return np.nan
    return float(at[last] + (at[last + 1] - at[last]) * g[last] / (g[last] - g[last + 1]))


def search(
    program: ForkJoin, d: int, n: int, rng: np.random.Generator, noise: Noise, believed: Sequence[Axis] | None = None
) -> RatioSurface:
    """Simulate a search over random points of d axes, 3 or 4: four points an axis, then by the straddle rule.

    `n`: pairs. `believed`: what the search believes of the axes; None: the truth.
    """
    model_axes = axes(d) if believed is None else believed
    x, candidates = spread_points(d, 4 * d, rng), spread_points(d, 2048, rng)
    g = np.array([simulate_pair(program, point, rng, noise) for point in x])
    surface = RatioSurface(x, g, model_axes, program.cpus)
    while len(x) < n:
        point = candidates[straddle_index(surface, candidates)]
        x, g = np.vstack([x, point]), np.append(g, simulate_pair(program, point, rng, noise))
        surface = RatioSurface(x, g, model_axes, program.cpus, surface)
    return surface


def errors(program: ForkJoin, surface: RatioSurface, rng: np.random.Generator, n: int = 60) -> FloatArray:
    """Return relative errors of the break-even elements, at random others where the true line is inside the range."""
    d = len(surface.mean.axes)
    others = spread_points(d, n, rng)[:, 1:]
    true = program.lines(others, *map(float, RANGES["n"]))
    inside = np.isfinite(true)
    estimates = line(surface, others[inside])
    is_finite = np.isfinite(estimates)
    return np.where(is_finite, np.abs(2.0 ** (np.where(is_finite, estimates, 0.0) - true[inside]) - 1), 1.0)


# `isolines.RANGES` as levels of a study (first, behind the last, step), and what is fixed where a factor does not vary.
RANGES_OF_LEVELS = ((4, 19, 1), (0, 11, 2), (0, 7, 1), (0, 5, 1))
MIDDLE = (10.0, 4.0, 3.0, 0.0)
# A log ratio of so much is near the line.
NEAR = 0.3


@dataclass(frozen=True, slots=True)
class SearchOutcome:
    """Outcome of a simulated search.

    Attributes:
        wrong: share of the points with a wrong winner: the slower one, by more than `EVEN`, or both are even.
        held: share of the points near the line whose true ratio lies in its interval.
        slowest: longest time from a pair to the next question, in seconds.
    """

    decided: bool
    n: int
    wrong: float
    held: float
    slowest: float


def simulate_search(program: ForkJoin, d: int, rng: np.random.Generator, noise: Noise) -> SearchOutcome:
    """Simulate the search over a grid of levels; two axes are elements and workers."""
    free = {1: (0,), 2: (0, 2), 3: (0, 1, 2), 4: (0, 1, 2, 3)}[d]
    at = np.array([*product(*(np.arange(*RANGES_OF_LEVELS[i]) for i in free))], dtype=float)
    whole = np.tile(np.array(MIDDLE), (len(at), 1))
    whole[:, free] = at
    whole = whole[:, : max(d, 3)]
    state = BreakEvenState([axes(4)[i] for i in free], at, program.cpus, int(rng.integers(1 << 30)))
    slowest = 0.0
    while (index := state.next_level) is not None:
        score = simulate_pair(program, whole[index], rng, noise)
        begin = time.perf_counter()
        state.observe(index, score)
        slowest = max(slowest, time.perf_counter() - begin)
    assert state.surface is not None
    true, (mean, sd) = program.log_ratio(whole), state.surface(at)
    is_sure, even = np.abs(mean) > SURE * sd, np.abs(true) < log(1 + EVEN)
    wrong = np.where(is_sure, (np.sign(mean) != np.sign(true)) & ~even, ~even & ~state.is_open(mean, sd))
    near = np.abs(true) < NEAR
    held = np.abs(mean - true) <= SURE * sd
    return SearchOutcome(state.is_decided, len(state.asked), float(wrong.mean()), float(held[near].mean()), slowest)
