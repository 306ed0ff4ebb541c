"""Test of drift: do successive blocks of a study resemble each other?

Every block holds each configuration once, so drift moves whole blocks and cancels in comparisons within blocks. It
makes the interval of a single configuration too narrow. The series of all configurations are judged by their common
lag-1 autocorrelation, against the same blocks in random order.

Source: serial correlation by permutation, A. Wald and J. Wolfowitz, An exact test for randomness in the non-parametric
case based on serial correlation, Annals of Mathematical Statistics 14 (1943); the variance of a mean under AR(1),
G. Box, G. Jenkins, G. Reinsel, Time Series Analysis, 4th ed. 2008, section 2.1.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

ORDERS = 1999
# Of more blocks the moments of all orders replace random ones: a cell for each two blocks is too much memory.
MOST_DRAWN = 1000
FEWEST_BLOCKS = 6  # 720 orders
_HIGHEST = 0.9  # a short series cannot distinguish a higher autocorrelation from a trend

Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Drift:
    """Result of the test.

    Attributes:
        p: share of random orders of the blocks whose autocorrelation is as large, 0 to 1.
        correlation: of a configuration's run with its run in the next block, minus the one due to chance.
        interval_factor: factor by which the interval of a single configuration is too narrow under an AR(1), at least
            1; too small if blocks drift slowly, since a short series cannot show how slowly.
    """

    p: float
    correlation: float
    interval_factor: float


def drift(scores: Sequence[Sequence[float]] | Matrix, seed: int = 0) -> Drift | None:
    """Test whether scores move together from block to block; None below six blocks or without variation.

    Scores have a row for each configuration and a column for each block in the order of measurement; they are above
    zero, NaN without a run that counts.

    >>> slow = [[1.0 + 0.01 * block for block in range(10)]] * 3
    >>> drift(slow).p < 0.01
    True
    >>> drift([[1.0, 1.1, 1.0]]) is None
    True
    """
    moves = _moves(np.log(np.asarray(scores, dtype=np.float64)))
    n, total = moves.shape[1], float(np.square(moves).sum())
    if n < FEWEST_BLOCKS or total <= 0:
        return None
    p, correlation = _test_by_permutation(moves, total, seed) if n <= MOST_DRAWN else _test_by_moments(moves, total)
    bounded = min(max(correlation, 0.0), _HIGHEST)
    return Drift(p, correlation, math.sqrt((1 + bounded) / (1 - bounded)))


def _test_by_permutation(moves: Matrix, total: float, seed: int) -> tuple[float, float]:
    likeness = moves.T @ moves  # of each pair of blocks
    n, rng = len(likeness), np.random.default_rng(seed)
    orders = np.tile(np.arange(n), (1 + ORDERS, 1))
    orders[1:] = rng.permuted(orders[1:], axis=1)
    lag = likeness[orders[:, :-1], orders[:, 1:]].sum(axis=1) / total
    return float((lag >= lag[0] - 1e-12).mean()), float(lag[0] - lag[1:].mean())


def _test_by_moments(moves: Matrix, total: float) -> tuple[float, float]:
    """Return p and the correlation of many blocks: over all orders the sum over neighbors is nearly normal.

    Each configuration sums to 0 over the blocks, so that sums over pairs, triples and quadruples of distinct blocks
    follow from the squares of all likenesses (the same for configurations as for blocks) and those of blocks with
    themselves.
    """
    n = moves.shape[1]
    lag = float((moves[:, :-1] * moves[:, 1:]).sum())
    every = float(np.square(moves @ moves.T).sum())
    own = float(np.square(np.square(moves).sum(axis=0)).sum())
    variance = (every - own) / n + (total**2 - 2 * own) / (n * (n - 1)) - (total / n) ** 2
    away = lag + total / n
    p = math.erfc(away / math.sqrt(2 * variance)) / 2 if variance > 0 else 1.0
    return p, away / total


def _moves(logs: Matrix) -> Matrix:
    """Standardize each configuration by its mean and standard deviation; a missing run is on the mean."""
    present = ~np.isnan(logs)
    n = np.maximum(present.sum(axis=1, keepdims=True), 1)
    away = np.where(present, logs - np.where(present, logs, 0.0).sum(axis=1, keepdims=True) / n, 0.0)
    sd = np.sqrt((away**2).sum(axis=1, keepdims=True) / n)
    # A difference within rounding is no variation.
    moves: Matrix = np.divide(away, sd, out=np.zeros_like(away), where=sd > 1e-9)
    return moves
