"""Weigh hypothetical programs against runs; where none fits, bisect over CPU counts without a model.

The bisection holds each count against the best known. As good is what takes at most 5% longer: with the five runs that
each side gets at most, 2% could not be seen. It assumes only that time falls up to some CPU count and does not fall
again beyond. Where runs differ by more than about 6%, five a side cannot show 5% either, and it ends without an answer.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb, log
from statistics import median

import numpy as np
from numpy.typing import NDArray

from scalograph.analysis.center import FloatArray
from scalograph.questions.effective_cpus.model_programs import STEP, IntArray, Programs, select_programs, split_cells

# What is believed of the noise before: 3%, worth two runs (inverse gamma of shape 1), so that data soon outweigh it.
NOISE_SD = 0.03
NOISE_SHAPE = 1.0
# Runs that something slowed, and the density of the log of how much: evenly up to three times.
SLOWED = 0.03
SLOW_DENSITY = 1 / np.log(3.0)
# Runs of which any two may be slowed.
SUSPECTS = 8
# Numbers in one array, which a cache holds beside a few others.
CHUNK = 60_000


@dataclass(frozen=True, slots=True)
class Evidence:
    """Evidence of the runs for each program.

    Attributes:
        weights: posterior share of each program, sum 1.
        log_first: expected log time on one CPU, under each program.
        slowed: probability that a run was slowed, for each run.
    """

    weights: FloatArray
    log_first: FloatArray
    slowed: FloatArray


def evidence(candidates: Programs, at: IntArray, logs: FloatArray) -> Evidence:
    """Return the posterior over programs, from the log score of each run and the index of its level."""
    n = logs.size
    drops = [drop for size in range(min(most_slowed(n), 1) + 1) for drop in combinations(range(n), size)]
    seen = _posterior(candidates, at, logs, drops)
    if most_slowed(n) < 2:
        return seen
    suspects = sorted(np.argsort(-seen.slowed, kind="stable")[:SUSPECTS].tolist())
    return _posterior(candidates, at, logs, [*drops, *combinations(suspects, 2)])


def _posterior(candidates: Programs, at: IntArray, logs: FloatArray, drops: list[tuple[int, ...]]) -> Evidence:
    from scipy.special import logsumexp  # it takes a tenth of a second, and most studies do not ask

    kept = np.array([[i not in drop for i in range(logs.size)] for drop in drops], dtype=float)
    pairs = np.array([(drop[0], drop[-1]) for drop in drops if drop], dtype=int).reshape(-1, 2)
    step = max(1, CHUNK // len(drops))
    parts = [
        _weigh(candidates, slice(i, i + step), at, logs, kept, pairs) for i in range(0, len(candidates.caps), step)
    ]
    weights, firsts = (np.concatenate(arrays) for arrays in zip(*((p[0], p[1]) for p in parts), strict=True))
    total = float(logsumexp(weights))
    choices = logsumexp([part[2] for part in parts], axis=0) - total
    return Evidence(np.exp(weights - total), firsts, np.exp(choices) @ (1 - kept))


def most_slowed(n: int) -> int:
    """Return how many of n runs may have been slowed: two, and always at most one in three."""
    return min(2, n // 3)


def _weigh(
    candidates: Programs, part: slice, at: IntArray, logs: FloatArray, kept: FloatArray, pairs: IntArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return log weight and log T1 of some programs, and the log weight of each choice of slowed runs.

    `kept` has a row for each choice; `pairs` the first and last slowed run of each but the first choice, which is none.
    """
    rest = logs[:, None] - candidates.log_times[part].T[at]
    middle = rest.mean(axis=0)
    rest -= middle
    n = kept.sum(axis=1)[:, None]
    mean = kept @ rest / n
    squares = np.maximum(kept @ rest**2 - n * mean**2, 0.0)
    weights = candidates.log_prior[part] + marginal(n, squares) + slowed_log_prior(n, logs.size)
    # A slowed run is slower, never faster.
    weights[1:][np.minimum(rest[pairs[:, 0]], rest[pairs[:, 1]]) <= mean[1:]] = -np.inf
    # One exponential of the whole array serves both sums; a choice that no program likes has weight 0.
    top = weights.max(axis=0)
    weights -= top
    shares = np.exp(weights, out=weights)
    sums = shares.sum(axis=0)
    firsts = middle + (shares * mean).sum(axis=0) / sums
    with np.errstate(divide="ignore"):
        choices = top.max() + np.log(shares @ np.exp(top - top.max()))
    return top + np.log(sums), firsts, choices


def marginal(n: FloatArray, squares: FloatArray) -> FloatArray:
    """Return the log density of n normal values around an unknown mean (flat) with an unknown variance."""
    from scipy.special import gammaln

    shape, scale = NOISE_SHAPE + (n - 1) / 2, NOISE_SHAPE * NOISE_SD**2
    constant = NOISE_SHAPE * np.log(scale) - gammaln(NOISE_SHAPE) + gammaln(shape)
    return np.asarray(constant - np.log(n) / 2 - (n - 1) / 2 * np.log(2 * np.pi) - shape * np.log(scale + squares / 2))


def slowed_log_prior(n_kept: FloatArray, n: int) -> FloatArray:
    """Return the log weight of so many runs that were not slowed, of n."""
    return np.asarray((n - n_kept) * np.log(SLOWED * SLOW_DENSITY) + n_kept * np.log(1 - SLOWED))


# Time that may be lost by fewer CPUs.
MARGIN = 0.05
# Runs of each side of a comparison, at least and at most.
FEWEST, MOST = 3, 5
# Standard errors at which it is over early.
CLEAR = 2.0

Scores = Mapping[int, FloatArray]


@dataclass(frozen=True, slots=True)
class Bisection:
    """State of a search without a model.

    Attributes:
        k_eff: least CPU count that is as good as the best, within 5%; None while it is not found, or cannot be.
        best: CPU count that it was held against.
        next_level: where a run is wanted; None when it has ended.
        n: runs, all that were given.
    """

    k_eff: int | None
    best: int
    next_level: int | None
    n: int

    @property
    def sure(self) -> bool:
        return self.k_eff is not None


def search(k: Sequence[int], times: Sequence[float], levels: Sequence[int]) -> Bisection:
    """Bisect over the levels; earlier runs of any search count too. Arguments are those of `effective_cpus`.

    >>> search([1, 4, 2] * 3, [1.0, 0.5, 0.5] * 3, [1, 2, 4]).k_eff
    2
    """
    scores = {level: np.log([t for at, t in zip(k, times, strict=True) if at == level]) for level in levels}
    at, best, wanted = _bisect(scores, levels)
    while wanted is None and at + 1 < len(levels):  # what is better than all CPUs may have better ones above
        longer, wanted = _longer(scores, levels[at + 1], levels[at])
        if wanted is None and longer >= -np.log1p(MARGIN):
            break
        at, best = (at, best) if wanted is not None else (at + 1, levels[at + 1])
    is_found = wanted is None and _standard_error(scores, MOST, MOST) <= np.log1p(MARGIN)
    return Bisection(levels[at] if is_found else None, best, wanted, len(k))


def _bisect(scores: Scores, levels: Sequence[int]) -> tuple[int, int, int | None]:
    """Return the index of the least level as good as the best, the best, and the level of a run still wanted."""
    typical = {level: median(logs.tolist()) for level, logs in scores.items() if logs.size}
    least = min(typical, key=lambda level: typical[level], default=levels[-1])
    shorter = levels[-1] in typical and typical[least] < typical[levels[-1]] - np.log1p(MARGIN)
    best = least if shorter else levels[-1]
    low, high = 0, levels.index(best)
    while low < high:
        middle = (low + high) // 2
        longer, wanted = _longer(scores, levels[middle], best)
        if wanted is not None:
            return high, best, wanted
        if longer <= np.log1p(MARGIN):
            high = middle
            best = levels[middle] if longer < -np.log1p(MARGIN) else best
        else:
            low = middle + 1
    return high, best, None


def _longer(scores: Scores, level: int, best: int) -> tuple[float, int | None]:
    """Return the log of a level's time over the best one's, and where a run is wanted before it counts."""
    ours, theirs = scores[level], scores[best]
    fewer = best if theirs.size < ours.size else level
    if min(ours.size, theirs.size) < FEWEST:
        return 0.0, fewer
    longer = median(ours.tolist()) - median(theirs.tolist())
    error = _standard_error(scores, ours.size, theirs.size)
    clear = abs(abs(longer) - np.log1p(MARGIN)) > CLEAR * error
    return longer, None if clear or scores[fewer].size >= MOST else fewer


def _standard_error(scores: Scores, n: int, m: int) -> float:
    return _noise(scores) * float(np.sqrt(np.pi / 2 * (1 / n + 1 / m)))


def _noise(scores: Scores) -> float:
    """Return the standard deviation of log scores within levels: the usual one, worth two runs, and the repeats.

    A slowed run counts as one that lies three usual deviations off.
    """
    levels = [logs - median(logs.tolist()) for logs in scores.values() if logs.size > 1]
    off = np.concatenate(levels) if levels else np.zeros(0)
    usual = max(NOISE_SD, 1.4826 * median(np.abs(off).tolist())) if off.size else NOISE_SD
    squares = float((np.clip(off, -3 * usual, 3 * usual) ** 2).sum())
    return float(np.sqrt((2 * NOISE_SHAPE * NOISE_SD**2 + squares) / (2 * NOISE_SHAPE + off.size - len(levels))))


# A run that is more probably slowed than not.
LIKELY = 0.5
# Time on one CPU, cap, serial share.
PARAMETERS = 3


def suspect_levels(at: IntArray, slowed: FloatArray) -> list[int]:
    """Return levels whose only run was probably slowed: a second one tells a slow run from a slow level."""
    return sorted({int(level) for level in at[slowed >= LIKELY] if np.count_nonzero(at == level) == 1})


def fit_probability(candidates: Programs, seen: Evidence, at: IntArray, logs: FloatArray) -> float:
    """Return the probability of a misfit as large as the best program's; 1 where too few levels are measured."""
    # Slowed runs do not count where another run of their level was not: where all are slow, the level is.
    slowed = seen.slowed >= LIKELY
    kept = [not (s and (~slowed & (at == level)).any()) for s, level in zip(slowed, at, strict=True)]
    at, logs = at[kept], logs[kept]
    levels, where, counts = np.unique(at, return_inverse=True, return_counts=True)
    if levels.size <= PARAMETERS:
        return 1.0
    means = np.bincount(where, logs) / counts
    within = float(((logs - means[where]) ** 2).sum())
    df = 2 * NOISE_SHAPE + logs.size - levels.size
    noise = (2 * NOISE_SHAPE * NOISE_SD**2 + within) / df
    off = means[None, :] - candidates.log_times[:, levels]
    off = off - (off @ counts / counts.sum())[:, None]
    lack = float(((off**2) @ counts).min()) / (levels.size - PARAMETERS)
    from scipy.special import fdtrc  # it takes a tenth of a second, and most studies do not ask

    return float(fdtrc(levels.size - PARAMETERS, df, lack / noise))


# Parts of a cell: a fifth of what is known after many runs.
PARTS = 10
# Log weight below the best at which a program is left out.
DEPTH = 12.0
# Times in one array; after few runs, which leave more programs than that, noise hides what finer ones would tell.
ROOM = 4_000_000


def select_plausible(candidates: Programs, at: IntArray, logs: FloatArray) -> Programs:
    """Select the programs that the runs leave possible, in fine cells, from every program in cells of a step."""
    kept = _possible(candidates, at, logs, STEP / 2)
    parts = min(PARTS, ROOM // (int(np.count_nonzero(kept)) * len(candidates.levels)))
    if parts > 1:
        candidates = split_cells(candidates, kept, parts)
        kept = _possible(candidates, at, logs, 0.0)
    return select_programs(candidates, kept)


def _possible(candidates: Programs, at: IntArray, logs: FloatArray, slack: float) -> NDArray[np.bool_]:
    """Mark the programs that may be probable, if the log of each time may be off by `slack`.

    Whatever runs were slowed, leaving out the slowest ones leaves the smallest squares.
    """
    n = logs.size
    rest = np.sort(logs - candidates.log_times[:, at], axis=1)
    least, most = np.full(len(rest), -np.inf), np.full(len(rest), -np.inf)
    for n_slowed in range(most_slowed(n) + 1):
        kept = rest[:, : n - n_slowed]
        size = np.array(float(n - n_slowed))
        off = np.sqrt(kept.var(axis=1) * size)
        near = np.maximum(off - slack * np.sqrt(size), 0.0)
        prior = candidates.log_prior + slowed_log_prior(size, n)
        least = np.maximum(least, prior + marginal(size, off**2))
        most = np.maximum(most, prior + marginal(size, near**2) + log(comb(n, n_slowed)))
    return np.asarray(most >= least.max() - DEPTH)
