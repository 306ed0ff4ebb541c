"""The times of a grid as a Gaussian process: what each factor does, what pairs of them do, one step, and the rest.

A factor of numbers has a smooth effect over its logarithm, with a rough part; levels of texts are unlike as much as
each other. Hyperparameters lie on grids. A fit climbs from those of the fit before, and weighs all that are one move
off by their likelihood, so that what is not known of them widens what is known of the times. Runs that something slowed
count by the probability that they were not.

Sources: C. E. Rasmussen and C. K. I. Williams, Gaussian Processes for Machine Learning (2006), 2.2, 4.2 and 5.4;
D. Duvenaud et al., Additive Gaussian Processes, NIPS 24 (2011), for the kernel of effects and pairs.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from math import log

import numpy as np

from scalograph.analysis.center import FloatArray
from scalograph.questions.best.model import BestSpace, IntArray

# Standard deviations of log times: of runs, of configurations beside all effects, of pairs of factors, of a factor.
NOISE = (0.003, 0.006, 0.012, 0.025, 0.05, 0.1, 0.2, 0.4)
OWN = (0.001, 0.005, 0.015, 0.04, 0.1)
PAIRS = (0.003, 0.02, 0.06, 0.2, 0.6)
EFFECT = (0.003, 0.02, 0.06, 0.2, 0.6, 1.5)
# Share of a factor's effect that is rough; reach of both parts, in octaves.
ROUGH = (0.0, 0.05, 0.25)
REACH = (0.7, 1.4, 2.8, 5.6)
# The level of all times is not known; how large a step is; the probability of one before anything is measured.
LEVEL, STEP, STEPS = 3.0, 0.6, 0.4
# Usual indexes on the grids, and how far from these is as unlikely as one standard deviation.
USUAL, USUAL_FACTOR, WIDTH = (3, 1, 2, 0), (3, 2), 1.5
# Share of the runs that something slows, and by how much in logs: mean and standard deviation.
SLOWED, SLOWED_BY, SLOWED_SD = 0.05, 0.3, 0.3
# From that probability on the only run of a configuration is repeated.
SUSPECT = 0.1
# What a run counts that was surely slowed; rounds in which the fit tells which runs were slowed, and is made anew.
LEAST_COUNT, ROUNDS = 0.02, 2
# Moves of a fit; parts without a step that are kept, and the least weight of one over the largest; places of a step.
MOST_MOVES, MOST_PARTS, LEAST_WEIGHT, MOST_PLACES = 12, 8, 0.05, 12
SQRT5 = 5**0.5


@dataclass(frozen=True, slots=True)
class Hyper:
    """Hyperparameters, as indexes on their grids.

    Attributes:
        shared: noise, own, pairs, rough.
        effects: size and reach of each factor.
        step: the factor that has a step, and the index of the last level before it; None without one.
    """

    shared: tuple[int, ...]
    effects: tuple[tuple[int, int], ...]
    step: tuple[int, int] | None = None

    @property
    def noise(self) -> float:
        return NOISE[self.shared[0]]

    @property
    def own(self) -> float:
        return OWN[self.shared[1]]


@dataclass(frozen=True, slots=True)
class WeightedFit:
    """One set of hyperparameters: its weight, and what the times are by it: across @ alpha is the mean."""

    weight: float
    hyper: Hyper
    alpha: FloatArray
    inverse: FloatArray


Cache = dict[tuple[int, int, int], FloatArray]


class Kernels:
    """Kernels of a grid: covariances of levels by factor, reach and roughness."""

    def __init__(self, space: BestSpace) -> None:
        self.space = space
        self._tables: Cache = {}
        # What may have a step: factors of numbers, four at least; the order of their levels.
        self.ranks = [None if axis is None else np.argsort(np.argsort(axis)) for axis in space.axes]

    def table(self, j: int, reach: int, rough: int) -> FloatArray:
        """Return the covariance of each two levels of a factor, shape (levels, levels)."""
        key, axis = (j, reach, rough), self.space.axes[j]
        if axis is None:
            return np.eye(len(self.space.levels[j]))
        if key not in self._tables:
            apart, share = np.abs(axis[:, None] - axis[None, :]) / REACH[reach], ROUGH[rough]
            scaled = SQRT5 * apart
            smooth = (1 + scaled + scaled**2 / 3) * np.exp(-scaled)
            self._tables[key] = (1 - share) * smooth + share * np.exp(-apart)
        return self._tables[key]

    def covariance(self, hyper: Hyper, a: IntArray, b: IntArray, cache: Cache | None = None) -> FloatArray:
        """Return the covariance of configurations, by index, shape (a, b); without what each has of its own.

        `cache`: of the parts of the same configurations.
        """
        cache = {} if cache is None else cache
        at, keys = self.space.at, [(j, reach, hyper.shared[3]) for j, (_, reach) in enumerate(hyper.effects)]
        for j, reach, rough in keys:
            if (j, reach, rough) not in cache:
                cache[j, reach, rough] = self.table(j, reach, rough)[at[a, j][:, None], at[b, j]]
        every = [cache[key] for key in keys]
        total = np.full((len(a), len(b)), LEVEL**2)
        for (size, _), kernel in zip(hyper.effects, every, strict=True):
            total += EFFECT[size] ** 2 * kernel
        for first, second in combinations(every, 2):
            total += PAIRS[hyper.shared[2]] ** 2 * first * second
        if hyper.step:
            total += STEP**2 * np.outer(self._indicate(hyper.step, a), self._indicate(hyper.step, b))
        return total

    def variance(self, hyper: Hyper, a: IntArray) -> FloatArray:
        """Return the variance of configurations, with what each has of its own."""
        n = len(hyper.effects)
        plain = LEVEL**2 + sum(EFFECT[size] ** 2 for size, _ in hyper.effects) + hyper.own**2
        plain += n * (n - 1) / 2 * PAIRS[hyper.shared[2]] ** 2
        return np.asarray(plain + (STEP**2 * self._indicate(hyper.step, a) if hyper.step else np.zeros(len(a))))

    def _indicate(self, step: tuple[int, int], a: IntArray) -> FloatArray:
        ranks = self.ranks[step[0]]
        assert ranks is not None
        return np.asarray(ranks[self.space.at[a, step[0]]] > step[1], dtype=np.float64)

    def gaps(self, own: IntArray) -> Iterator[tuple[tuple[int, int], list[int]]]:
        """Yield a step between each two measured levels, and all places that it may have there."""
        for j, ranks in enumerate(self.ranks):
            if ranks is not None and len(ranks) > 3:
                measured = np.unique(ranks[self.space.at[own, j]]).tolist()
                for low, high in pairwise(measured):
                    yield (j, low), list(range(low, high))

    def step_prior(self, step: tuple[int, int] | None, n_places: int) -> float:
        """Return the log probability of a step at any of so many places of a factor, or of none."""
        able = sum(ranks is not None and len(ranks) > 3 for ranks in self.ranks)
        if step is None:
            return log(1 - STEPS)
        return log(STEPS * n_places / able / (len(self.space.levels[step[0]]) - 1))


class TimeSurface:
    """Log times of a grid, fitted to runs.

    Attributes:
        noise: standard deviation of the log time of a run.
        mean, sd: of the log time of each configuration.
        suspects: configurations whose only run may have been slowed, the most probable one first.
        parts: sets of hyperparameters, the most probable one first.
    """

    def __init__(
        self, kernels: Kernels, at: Sequence[int], logs: Sequence[float], earlier: "TimeSurface | None" = None
    ) -> None:
        """Fit log times of runs to the configurations, by index, that they are of. `earlier`: a fit to start from."""
        self._kernels, self._n = kernels, len(kernels.space.names)
        self._own, self._index = np.unique(np.array(at, dtype=np.int64), return_inverse=True)
        self._center = float(np.median(logs))
        self._values = np.array(logs, dtype=np.float64) - self._center
        self._cache: Cache = {}
        self._gaps = dict(kernels.gaps(self._own))
        best: Hyper = self._move_step(earlier.best) if earlier else Hyper(USUAL, (USUAL_FACTOR,) * self._n)
        self._count(np.ones(len(self._index)))
        for _ in range(ROUNDS):
            best = self._climb(best)
            slowed = self._slow_shares(best)
            self._count(1 - slowed)
        is_suspect = (np.bincount(self._index)[self._index] == 1) & (slowed >= SUSPECT)
        order = np.argsort(-np.round(slowed, 9), kind="stable")
        self.suspects = [int(self._own[self._index[i]]) for i in order if is_suspect[i]]
        self.best: Hyper = best
        self.parts = self._weigh(best)
        self.noise = float(sum(part.weight * part.hyper.noise for part in self.parts))
        self.mean, self.sd = self._predict()

    def _move_step(self, hyper: Hyper) -> Hyper:
        """Return the hyperparameters with the step at the measured level before its place."""
        if hyper.step is None or hyper.step in self._gaps:
            return hyper
        j, rank = hyper.step
        return Hyper(hyper.shared, hyper.effects, max(s for s in self._gaps if s[0] == j and s[1] <= rank))

    def _count(self, shares: FloatArray) -> None:
        """Sum up runs, each of which counts for a share."""
        n, self._shares = len(self._own), np.maximum(shares, LEAST_COUNT)
        self._counts = np.bincount(self._index, self._shares, n)
        self._means = np.bincount(self._index, self._shares * self._values, n) / self._counts
        self._within = float((self._shares * (self._values - self._means[self._index]) ** 2).sum())
        self._free = float(np.maximum(self._counts - 1, 0.0).sum())

    def _climb(self, best: Hyper) -> Hyper:
        for _ in range(MOST_MOVES):
            around = [best, *self._neighbors(best)]
            nearest = around[int(np.argmax(np.round(self._likelihoods(around), 6)))]
            if nearest == best:
                break
            best = nearest
        return best

    def _neighbors(self, hyper: Hyper) -> list[Hyper]:
        """Return what is one move off: an index up or down, another step, or none."""
        shared, effects, step = hyper.shared, hyper.effects, hyper.step
        moved = [Hyper(s, effects, step) for s in _moves(shared, (len(NOISE), len(OWN), len(PAIRS), len(ROUGH)))]
        for j, own in enumerate(effects):
            sizes = (len(EFFECT), 1 if self._kernels.ranks[j] is None else len(REACH))
            moved += [Hyper(shared, (*effects[:j], (e[0], e[1]), *effects[j + 1 :]), step) for e in _moves(own, sizes)]
        return [*moved, *(Hyper(shared, effects, s) for s in (None, *self._gaps) if s != step)]

    def _likelihoods(self, every: Sequence[Hyper]) -> FloatArray:
        n, noise = len(self._own), np.array([hyper.noise for hyper in every])
        gram = np.stack([self._kernels.covariance(hyper, self._own, self._own, self._cache) for hyper in every])
        own = np.array([hyper.own for hyper in every])
        gram[:, range(n), range(n)] += own[:, None] ** 2 + noise[:, None] ** 2 / self._counts
        factor = np.linalg.cholesky(gram)
        white = np.linalg.solve(factor, np.broadcast_to(self._means[:, None], (len(every), n, 1)))
        fits = -0.5 * (white[:, :, 0] ** 2).sum(axis=1)
        fits -= np.log(np.diagonal(factor, axis1=1, axis2=2)).sum(axis=1)
        fits -= self._free * np.log(noise) + self._within / (2 * noise**2)
        return np.asarray(fits + [self._prior(hyper) for hyper in every])

    def _prior(self, hyper: Hyper) -> float:
        off = [k - usual for k, usual in zip(hyper.shared, USUAL, strict=True)]
        off[2] *= self._n > 1
        off += [k - usual for own in hyper.effects for k, usual in zip(own, USUAL_FACTOR, strict=True)]
        of_step = self._kernels.step_prior(hyper.step, len(self._gaps[hyper.step]) if hyper.step else 0)
        return of_step - 0.5 * sum((x / WIDTH) ** 2 for x in off)

    def _solve(self, hyper: Hyper) -> tuple[FloatArray, FloatArray]:
        variance = hyper.own**2 + hyper.noise**2 / self._counts
        gram = self._kernels.covariance(hyper, self._own, self._own) + np.diag(variance)
        inverse: FloatArray = np.asarray(np.linalg.inv(gram), dtype=np.float64)
        return inverse, np.asarray(inverse @ self._means)

    def _slow_shares(self, hyper: Hyper) -> FloatArray:
        """Return the probability of each run that it was slowed, given all others; 0 of the median of several."""
        inverse, alpha = self._solve(hyper)
        own, noise = np.diag(inverse), hyper.noise**2
        # Of the time of a configuration without a run: from that without all its runs, and its other runs.
        mean, spread = self._means - alpha / own, np.maximum(1 / own - noise / self._counts, 1e-9)
        others = np.maximum(self._counts[self._index] - self._shares, 0.0)
        sums = self._counts[self._index] * self._means[self._index] - self._shares * self._values
        precision = 1 / spread[self._index] + others / noise
        off = self._values - (mean[self._index] / spread[self._index] + sums / noise) / precision
        slowed = slow_probability(off, noise + 1 / precision)
        # Of several runs the median is right, of two the faster one: most runs that are off were slowed.
        is_median = np.zeros(len(off), dtype=bool)
        for k in range(len(self._own)):
            runs = np.flatnonzero(self._index == k)
            if len(runs) > 1:
                is_median[runs[np.argsort(self._values[runs], kind="stable")[(len(runs) - 1) // 2]]] = True
        return np.where(is_median, 0.0, slowed)

    def is_suspect(self, at: int, log: float) -> bool:
        """Tell whether a further run may have been slowed, by what was known before it."""
        off, variance = log - self.mean[at], self.sd[at] ** 2 + self.noise**2
        return float(slow_probability(np.array([off]), np.array([variance]))[0]) >= SUSPECT

    def _weigh(self, best: Hyper) -> list[WeightedFit]:
        """Weigh what is one move off: the most probable ones without a step, and places of a step by probability."""
        around = [best, *self._neighbors(best)]
        logs = self._likelihoods(around)
        weights = np.round(np.exp(logs - logs.max()), 9)
        plain = [i for i in np.argsort(-weights, kind="stable").tolist() if around[i].step is None][:MOST_PARTS]
        chosen = {i: float(weights[i]) for i in plain if weights[i] >= LEAST_WEIGHT * weights[plain[0]]}
        drawn = self._draw_steps([(around[i], float(weights[i])) for i in range(len(around)) if around[i].step])
        every = [*((around[i], weight) for i, weight in chosen.items()), *drawn]
        total, solved, parts = sum(weight for _, weight in every), dict[Hyper, tuple[FloatArray, FloatArray]](), []
        for hyper, weight in every:
            measured = self._move_step(hyper)
            if measured not in solved:
                solved[measured] = self._solve(measured)
            inverse, alpha = solved[measured]
            parts.append(WeightedFit(weight / total, hyper, alpha, inverse))
        return parts

    def _draw_steps(self, weighed: Sequence[tuple[Hyper, float]]) -> list[tuple[Hyper, float]]:
        """Return places of steps, evenly drawn by weight: each alone is improbable, and all together are not."""
        every = [
            (Hyper(hyper.shared, hyper.effects, (hyper.step[0], rank)), weight / len(self._gaps[hyper.step]))
            for hyper, weight in weighed
            if hyper.step
            for rank in self._gaps[hyper.step]
        ]
        sums = np.cumsum([weight for _, weight in every])
        if not len(sums) or sums[-1] <= 0:
            return []
        marks = (np.arange(MOST_PLACES) + 0.5) / MOST_PLACES * sums[-1]
        return [(every[int(k)][0], float(sums[-1]) / MOST_PLACES) for k in np.searchsorted(sums, marks)]

    def _predict(self) -> tuple[FloatArray, FloatArray]:
        every = np.arange(len(self._kernels.space.at))
        mean, square = np.zeros(len(every)), np.zeros(len(every))
        for part in self.parts:
            across = self._covariance_with_runs(part, every)
            own = across @ part.alpha
            explained = np.einsum("ij,ij->i", across @ part.inverse, across)
            variance = np.maximum(self._kernels.variance(part.hyper, every) - explained, 1e-12)
            mean += part.weight * own
            square += part.weight * (variance + own**2)
        return mean + self._center, np.sqrt(np.maximum(square - mean**2, 1e-12))

    def _covariance_with_runs(self, part: WeightedFit, at: IntArray) -> FloatArray:
        is_own = at[:, None] == self._own[None, :]
        return np.asarray(self._kernels.covariance(part.hyper, at, self._own) + part.hyper.own**2 * is_own)

    def draws(self, at: IntArray, n: int, seed: int) -> FloatArray:
        """Draw log times of some configurations together, shape (draws, configurations)."""
        rng, drawn = np.random.default_rng(seed), []
        for part in self.parts:
            across = self._covariance_with_runs(part, at)
            own = self._kernels.covariance(part.hyper, at, at) - across @ part.inverse @ across.T
            own[np.diag_indices(len(at))] += part.hyper.own**2 + JITTER
            normal = rng.standard_normal((max(1, round(n * part.weight)), len(at)))
            drawn.append(across @ part.alpha + normal @ np.linalg.cholesky(own).T)
        return np.concatenate(drawn) + self._center


# Variance that makes covariances positive in spite of rounding: a hundredth of a percent of the time.
JITTER = 1e-8


def _moves(indexes: Sequence[int], sizes: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield the indexes with one of them a place up or down."""
    for i, (k, size) in enumerate(zip(indexes, sizes, strict=True)):
        yield from ((*indexes[:i], k + step, *indexes[i + 1 :]) for step in (-1, 1) if 0 <= k + step < size)


def slow_probability(off: FloatArray, variance: FloatArray) -> FloatArray:
    """Return the probability that runs were slowed, from how far they are off what is expected, in logs.

    A clock, or a correction for other programs, may make a run too fast as well: a fifth as often.
    """
    prior = np.where(off < 0, SLOWED / 5, SLOWED)
    slowed = prior * _density(np.abs(off) - SLOWED_BY, SLOWED_SD**2 + variance)
    # Further off than both is slowed for sure, where both densities vanish.
    usual = (1 - prior) * _density(off, variance)
    return np.where(slowed + usual > 0, slowed / np.maximum(slowed + usual, 1e-300), 1.0)


def _density(off: FloatArray, variance: FloatArray) -> FloatArray:
    return np.asarray(np.exp(-(off**2) / (2 * variance)) / np.sqrt(variance))
