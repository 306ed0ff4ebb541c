"""How well does each program explain the runs? Noise of unknown size, and a few runs that something slowed.

The log of a score is log T1 + log f(k) + noise; T1 and the size of the noise are integrated out, so that a posterior
is a sum over programs. Up to two runs may be slowed: each program is weighed with every choice of them, which is a
mixture and no exclusion (a run is left out by cause, never by value).
Source: A. Gelman et al., Bayesian Data Analysis, 3rd ed. (2013), ch. 3 (normal data, unknown mean and variance).
"""

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from scalograph.analysis.center import FloatArray
from scalograph.questions.effective_cpus.model_programs import IntArray, Programs

# What is believed of the noise before: 3 %, worth two runs (inverse gamma of shape 1), so that data soon outweigh it.
NOISE_SD = 0.03
NOISE_SHAPE = 1.0
# Runs that something slowed, and the density of the log of how much: evenly up to three times.
SLOWED = 0.03
SLOW_DENSITY = 1 / np.log(3.0)
# Numbers in one array, which a cache holds beside a few others: a machine of 512 CPUs has 80,000 programs, and 24 runs
# have 301 choices of slowed ones.
CHUNK = 60_000


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the runs say of each program.

    Attributes:
        weights: posterior share of each program, sum 1.
        log_first: expected log time on one CPU, under each program.
        slowed: probability that a run was slowed, for each run.
    """

    weights: FloatArray
    log_first: FloatArray
    slowed: FloatArray


def evidence(found: Programs, at: IntArray, logs: FloatArray) -> Evidence:
    """The posterior over programs.

    Args:
        found: the programs.
        at: index of each run's level.
        logs: log score of each run.
    """
    from scipy.special import logsumexp  # it takes a tenth of a second, and most studies do not ask

    drops = _choices(logs.size)
    kept = np.array([[i not in drop for i in range(logs.size)] for drop in drops], dtype=float)
    pairs = np.array([(drop[0], drop[-1]) for drop in drops if drop], dtype=int).reshape(-1, 2)
    step = max(1, CHUNK // len(drops))
    parts = [_weigh(found, slice(i, i + step), at, logs, kept, pairs) for i in range(0, len(found.caps), step)]
    weights, firsts = (np.concatenate(arrays) for arrays in zip(*((p[0], p[1]) for p in parts), strict=True))
    total = float(logsumexp(weights))
    choices = logsumexp([part[2] for part in parts], axis=0) - total
    return Evidence(np.exp(weights - total), firsts, np.exp(choices) @ (1 - kept))


def _choices(n: int) -> list[tuple[int, ...]]:
    """Runs that may have been slowed: none, one, two; always at most two in five."""
    return [drop for size in range(min(2, n // 3) + 1) for drop in combinations(range(n), size)]


def _weigh(
    found: Programs, part: slice, at: IntArray, logs: FloatArray, kept: FloatArray, pairs: IntArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Log weight and log T1 of some programs, and the log weight of each choice of slowed runs.

    `kept` has a row for each choice; `pairs` the first and last slowed run of each but the first choice, which is none.
    """
    rest = logs[:, None] - found.log_times[part].T[at]
    middle = rest.mean(axis=0)
    rest -= middle
    n = kept.sum(axis=1)[:, None]
    mean = kept @ rest / n
    squares = np.maximum(kept @ rest**2 - n * mean**2, 0.0)
    weights = found.log_prior[part] + _marginal(n, squares) + _of_slowed(n, logs.size)
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


def _marginal(n: FloatArray, squares: FloatArray) -> FloatArray:
    """Log density of n normal values around an unknown mean (flat) with an unknown variance."""
    from scipy.special import gammaln

    shape, scale = NOISE_SHAPE + (n - 1) / 2, NOISE_SHAPE * NOISE_SD**2
    known = NOISE_SHAPE * np.log(scale) - gammaln(NOISE_SHAPE) + gammaln(shape)
    return np.asarray(known - np.log(n) / 2 - (n - 1) / 2 * np.log(2 * np.pi) - shape * np.log(scale + squares / 2))


def _of_slowed(n_kept: FloatArray, n: int) -> FloatArray:
    return np.asarray((n - n_kept) * np.log(SLOWED * SLOW_DENSITY) + n_kept * np.log(1 - SLOWED))
