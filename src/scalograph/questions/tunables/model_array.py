"""Orthogonal arrays of three symbols: in any two columns each pair of symbols stands equally often.

OA(9), OA(27) and OA(81) hold 4, 13 and 40 columns: the points of a space over the field of three elements, and one
column for each of its directions. Factors of other than three levels take a column all the same: each block fills its
three symbols with the default and two further levels in turn; of two levels one stands for two symbols, the default in
the first block.
"""

from collections.abc import Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from scalograph.analysis.center import FloatArray

IntArray = NDArray[np.int64]
# A setting of all factors: the place of each one's level, 0 being the default.
Settings = tuple[int, ...]
SYMBOLS = 3
# Dimensions of the largest array: 81 rows.
MOST_DIMENSIONS = 4


def orthogonal_array(n_factors: int) -> IntArray:
    """Return the smallest array with a column for each factor, shape (rows, columns), of symbols 0, 1, 2.

    Source: C. R. Rao, Factorial experiments derivable from combinatorial arrangements of arrays, J. R. Statist. Soc.
    Suppl. 9 (1947): linear functions over GF(3), one of each direction.

    >>> [orthogonal_array(n).shape for n in (3, 4, 5, 13, 14)]
    [(9, 4), (9, 4), (27, 13), (27, 13), (81, 40)]
    """
    dimensions = next(m for m in range(2, MOST_DIMENSIONS + 1) if n_columns(m) >= n_factors)
    points = np.array(list(product(range(SYMBOLS), repeat=dimensions)))
    directions = [d for d in product(range(SYMBOLS), repeat=dimensions) if next((x for x in d if x), 0) == 1]
    return np.asarray(points @ np.array(directions).T % SYMBOLS, dtype=np.int64)


def n_columns(dimensions: int) -> int:
    """Return how many columns an array of 3^dimensions rows has."""
    return int(SYMBOLS**dimensions - 1) // (SYMBOLS - 1)


def block_rows(n_levels: Sequence[int], number: int, seed: int) -> list[Settings]:
    """Return the runs of a block in their order: columns, symbols and rows of the array permuted anew.

    Args:
        n_levels: of each factor, two or more.
        number: of the block, from 0 on.
        seed: of the study.
    """
    draw = np.random.default_rng([seed % 2**63, number])
    array = orthogonal_array(len(n_levels))
    chosen = draw.permutation(array.shape[1])[: len(n_levels)]
    columns = [
        _filled(n, number, draw)[array[:, column]] for n, column in zip(n_levels, chosen, strict=True)
    ]  # fmt: skip
    rows = np.stack(columns, axis=1)[draw.permutation(len(array))]
    return [tuple(int(x) for x in row) for row in rows]


def n_rotations(n_levels: Sequence[int]) -> int:
    """Return the number of blocks after which each level has been tried."""
    return max((n // 2 for n in n_levels), default=1)


def _filled(n_levels: int, number: int, draw: np.random.Generator) -> IntArray:
    """Choose the level of each symbol."""
    others = n_levels - 1
    two = (1, number % 2) if others == 1 else (1 + 2 * number % others, 1 + (2 * number + 1) % others)
    return draw.permutation(np.array([0, *two], dtype=np.int64))


def dummies(rows: Sequence[Settings], n_levels: Sequence[int]) -> tuple[FloatArray, list[tuple[int, int]]]:
    """Return one column for each setting that is no default and has a run, shape (runs, settings), and which it is.

    Args:
        rows: the runs.
        n_levels: of each factor.

    Returns:
        The columns, 1.0 where a run has the setting, and the factor and the level of each.
    """
    at = np.array(rows, dtype=np.int64).reshape(len(rows), len(n_levels))
    names = [(j, level) for j, n in enumerate(n_levels) for level in range(1, n) if bool(np.any(at[:, j] == level))]
    if not names:
        return np.zeros((len(rows), 0)), []
    return np.stack([(at[:, j] == level).astype(np.float64) for j, level in names], axis=1), names


def indicators(blocks: Sequence[int]) -> FloatArray:
    """Return one column for each block, shape (runs, blocks): 1.0 where a run is of it."""
    at = np.asarray(blocks)
    return np.stack([(at == block).astype(np.float64) for block in np.unique(at)], axis=1)
