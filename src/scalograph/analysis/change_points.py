"""Change points of a series, by circular binary segmentation.

The stretch whose mean differs most from the rest (t statistic) is split off if random orders of the same values seldom
differ as much; then its parts are searched. A level that returns is found, too. Values must be exchangeable where
nothing changed: a machine that drifts slowly has changes of its own.

Source: A. B. Olshen, E. S. Venkatraman, R. Lucito and M. Wigler, Circular binary segmentation for the analysis of
array-based DNA copy number data, Biostatistics 5 (2004).
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from scalograph.analysis.center import FloatArray

# Fewer values have too few orders; a level has at least two.
FEWEST, SIDE = 6, 2
_ORDERS = 199
_NO_SPREAD = 1e-12


class ChangePoint(NamedTuple):
    """Index of the first value of a new level, and its p value over random orders."""

    place: int
    p: float


def change_points(values: Sequence[float], confidence: float = 0.95, seed: int = 0) -> list[ChangePoint]:
    """Return the change points of a series, in order.

    Values are finite, in the order of measurement; `confidence` is one minus the probability of a false change point.

    >>> change_points([1.0, 1.1, 0.9, 1.0, 1.1, 2.0, 2.1, 1.9, 2.0, 2.1])[0].place
    5
    >>> change_points([1.0, 2.0, 3.0])
    []
    """
    rng = np.random.default_rng(seed)
    changes = _changes(np.asarray(values, dtype=np.float64), 0, 1 - confidence, rng)
    return sorted(changes, key=lambda change: change.place)


def _changes(values: FloatArray, begin: int, alpha: float, rng: np.random.Generator) -> Iterator[ChangePoint]:
    if values.size < FEWEST or float(np.ptp(values)) <= _NO_SPREAD:
        return
    orders = np.tile(values, (1 + _ORDERS, 1))
    orders[1:] = rng.permuted(orders[1:], axis=1)
    largest, (first, end) = _largest_statistics(orders)
    p = float((largest >= largest[0] * (1 - 1e-9)).mean())
    if p > alpha:
        return
    cuts = [cut for cut in (first, end) if 0 < cut < values.size]
    yield from (ChangePoint(begin + cut, p) for cut in cuts)
    for low, high in pairwise([0, *cuts, values.size]):
        yield from _changes(values[low:high], begin + low, alpha, rng)


def _largest_statistics(orders: FloatArray) -> tuple[FloatArray, tuple[int, int]]:
    """Return the largest squared t statistic of each order, and the stretch that has it in the first."""
    n = orders.shape[1]
    away = orders - orders.mean(axis=1, keepdims=True)
    sums, whole = np.pad(np.cumsum(away, axis=1), ((0, 0), (1, 0))), np.square(away).sum(axis=1)
    between, stretch = np.zeros(len(orders)), (0, 0)
    for length in range(SIDE, n - SIDE + 1):
        inside = np.square(sums[:, length:] - sums[:, :-length]) * n / (length * (n - length))
        # A stretch ends at an end of the series, or leaves a level there.
        inside[:, [k for k in (1, n - length - 1) if 0 < k < n - length]] = 0.0
        best = inside.max(axis=1)
        if best[0] > between[0]:
            first = int(inside[0].argmax())
            stretch = (first, first + length)
        between = np.maximum(between, best)
    return between * (n - 2) / np.maximum(whole - between, _NO_SPREAD), stretch
