"""Simultaneous intervals: the confidence of each single one with which all columns of a table hold at once.

Columns that share a baseline err together. The largest of their t statistics (max-t) is simulated under "no
difference anywhere", with the actual sample sizes and spreads; its quantile sets all intervals. The statistics
have different degrees of freedom, so they are compared as p values.
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from statistics import NormalDist

import numpy as np

from scalograph.analysis.center import Center, FloatArray
from scalograph.analysis.estimate import check_confidence

DRAWS = 8192
SEED = 20_260_101  # fixed: the same data give the same bands
MOST_PAIRS = 32
RHO_STEP = 0.05
DUNNETT = 0.5  # correlation of two columns when all spreads are equal


def welch_level(base: Center, columns: Sequence[Center], confidence: float, draws: int = DRAWS) -> float:
    """Return the confidence of each single Welch interval so that all hold together with `confidence`.

    It lies between `confidence` and Bonferroni's level. Mean logs have one or more degrees of freedom; `draws` is the
    number of simulated tables.

    Source: C. W. Dunnett, J. Am. Statist. Assoc. 50 (1955); M. Hasler and L. A. Hothorn, Multiple contrast
    tests in the presence of heteroscedasticity, Biometrical Journal 50 (2008); compared by smallest p as in
    P. H. Westfall and S. S. Young, Resampling-based multiple testing, Wiley 1993.

    >>> even = Center(0.0, 0.01, 4)
    >>> 0.95 < welch_level(even, [even] * 4, 0.95) < 0.9875
    True
    """
    check_confidence(confidence)
    rng = np.random.default_rng(SEED)
    mean0, var0 = _draw(rng, base, draws)
    smallest = np.ones(draws)
    for column in columns:
        mean, var = _draw(rng, column, draws)
        if base.se == 0 and column.se == 0:
            continue  # a clock too coarse to show a spread: this one differs, or does not, with certainty
        total = np.maximum(var0 + var, np.finfo(float).tiny)
        df = total**2 / np.maximum(var0**2 / base.df + var**2 / column.df, np.finfo(float).tiny)
        _lower(smallest, np.abs(mean0 - mean) / np.sqrt(total), df, 1 - confidence)
    return _level(smallest, len(columns), confidence)


def paired_level(n_pairs: Sequence[int], rho: float, confidence: float, draws: int = DRAWS) -> float:
    """Return the confidence of each single paired interval so that all hold together with `confidence`.

    Tables of one shape share their draws: the counts of pairs are sorted and capped at `MOST_PAIRS`, beyond which p
    values hardly depend on them, and the correlation is rounded down to a step of `RHO_STEP`, which is the safe side.

    Each column has two pairs or more; `rho` is the correlation of two columns within a block.

    >>> paired_level([5], 0.5, 0.95)
    0.95
    """
    check_confidence(confidence)
    shape = tuple(sorted(min(n, MOST_PAIRS) for n in n_pairs))
    return _paired_level(shape, math.floor(rho / RHO_STEP + 1e-9) * RHO_STEP, confidence, draws)


@lru_cache(maxsize=1024)
def _paired_level(n_pairs: tuple[int, ...], rho: float, confidence: float, draws: int) -> float:
    if len(n_pairs) <= 1:
        return confidence
    rng = np.random.default_rng(SEED)
    shared = math.sqrt(rho) * rng.standard_normal((draws, max(n_pairs)))
    smallest = np.ones(draws)
    for n in n_pairs:
        x = shared[:, :n] + math.sqrt(1 - rho) * rng.standard_normal((draws, n))
        t = np.abs(x.mean(axis=1)) / x.std(axis=1, ddof=1) * math.sqrt(n)
        _lower(smallest, t, np.full(draws, n - 1.0), 1 - confidence)
    return _level(smallest, len(n_pairs), confidence)


def shared_correlation(columns: FloatArray) -> float:
    """Return the mean correlation of the columns over complete blocks, shape (n_blocks, n_columns), within [0, 0.5].

    Few blocks do not support a matrix; above the correlation of equal spreads a lucky sample would narrow the bands.
    """
    if columns.shape[0] < 3 or columns.shape[1] < 2:
        return 0.0
    centered = columns - columns.mean(axis=0)
    norms = np.sqrt(np.square(centered).sum(axis=0))
    if bool(np.any(norms == 0)):
        return 0.0
    matrix = (centered / norms).T @ (centered / norms)
    k = matrix.shape[0]
    return float(np.clip((matrix.sum() - k) / (k * (k - 1)), 0.0, DUNNETT))


def _draw(rng: "np.random.Generator", c: Center, draws: int) -> tuple[FloatArray, FloatArray]:
    return c.se * rng.standard_normal(draws), c.se**2 * rng.chisquare(c.df, draws) / c.df


def _lower(smallest: FloatArray, t: FloatArray, df: FloatArray, alpha: float) -> None:
    """Lower the smallest p values to those of a further column, up to 2 alpha.

    Above that the quantile is cut off at alpha whatever they are. Student's tails are never lighter than normal ones,
    so all others lie beyond the normal quantile; they are a tenth or so.
    """
    from scipy.special import stdtr  # it takes a tenth of a second

    at = np.flatnonzero(t >= NormalDist().inv_cdf(1 - alpha))
    smallest[at] = np.minimum(smallest[at], 2 * stdtr(df[at], -t[at]))


def _level(smallest: FloatArray, k: int, confidence: float) -> float:
    alpha = 1 - confidence
    if k <= 1:
        return confidence
    return 1 - float(np.clip(np.quantile(smallest, alpha), alpha / k, alpha))
