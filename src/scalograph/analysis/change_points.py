"""At which places of a series does its level change?

Circular binary segmentation: the stretch that differs most from the rest, by the t statistic of the two means, is one
of its own where chance seldom brings about as much, by the same values in random orders. Its ends are changes; then all
parts are looked at. So a level that returns to what it was is found, too. Results that follow one another must be
exchangeable where nothing changed: a machine that wanders slowly has changes of its own.

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
    """Where a new level begins.

    Attributes:
        place: of its first value.
        p: share of random orders in which a stretch differs as much, 0 to 1.
    """

    place: int
    p: float


def change_points(values: Sequence[float], confidence: float = 0.95, seed: int = 0) -> list[ChangePoint]:
    """Return where the level changes, in order.

    Args:
        values: in the order in which they were measured, shape (n,), finite; logs where ratios matter.
        confidence: one minus how often a series without any change is said to have one.
        seed: of the random orders; the same seed gives the same result.

    >>> change_points([1.0, 1.1, 0.9, 1.0, 1.1, 2.0, 2.1, 1.9, 2.0, 2.1])[0].place
    5
    >>> change_points([1.0, 2.0, 3.0])
    []
    """
    rng = np.random.default_rng(seed)
    found = _changes(np.asarray(values, dtype=np.float64), 0, 1 - confidence, rng)
    return sorted(found, key=lambda change: change.place)


def _changes(values: FloatArray, begin: int, alpha: float, rng: np.random.Generator) -> Iterator[ChangePoint]:
    if values.size < FEWEST or float(np.ptp(values)) <= _NO_SPREAD:
        return
    orders = np.tile(values, (1 + _ORDERS, 1))
    orders[1:] = rng.permuted(orders[1:], axis=1)
    largest, (first, end) = _most(orders)
    p = float((largest >= largest[0] * (1 - 1e-9)).mean())
    if p > alpha:
        return
    cuts = [cut for cut in (first, end) if 0 < cut < values.size]
    yield from (ChangePoint(begin + cut, p) for cut in cuts)
    for low, high in pairwise([0, *cuts, values.size]):
        yield from _changes(values[low:high], begin + low, alpha, rng)


def _most(orders: FloatArray) -> tuple[FloatArray, tuple[int, int]]:
    """The largest squared t statistic of each order, shape (n_orders,), and the stretch of that of the first."""
    n = orders.shape[1]
    away = orders - orders.mean(axis=1, keepdims=True)
    sums, whole = np.pad(np.cumsum(away, axis=1), ((0, 0), (1, 0))), np.square(away).sum(axis=1)
    between, place = np.zeros(len(orders)), (0, 0)
    for length in range(SIDE, n - SIDE + 1):
        inside = np.square(sums[:, length:] - sums[:, :-length]) * n / (length * (n - length))
        # A stretch ends at an end of the series, or leaves a level there.
        inside[:, [k for k in (1, n - length - 1) if 0 < k < n - length]] = 0.0
        best = inside.max(axis=1)
        if best[0] > between[0]:
            first = int(inside[0].argmax())
            place = (first, first + length)
        between = np.maximum(between, best)
    return between * (n - 2) / np.maximum(whole - between, _NO_SPREAD), place
