"""Change points of a series, by circular binary segmentation.

The stretch whose mean differs most from the rest (t statistic) is split off if random orders of the same values seldom
differ as much; then its parts are searched. A level that returns is found, too. Values must be exchangeable where
nothing changed: a machine that drifts slowly has changes of its own.

Source: A. B. Olshen, E. S. Venkatraman, R. Lucito and M. Wigler, Circular binary segmentation for the analysis of
array-based DNA copy number data, Biostatistics 5 (2004); S. Holm, A simple sequentially rejective multiple test
procedure, Scand. J. Statist. 6 (1979).
"""

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from scalograph.analysis.center import FloatArray

# Fewer values have too few orders; a level has at least two.
FEWEST, SIDE = 6, 2
_ORDERS = 199
# Of a family: most series are done with the first few, and a change needs many.
_FIRST_ORDERS, _MOST_ORDERS = 19, 2000
# Older levels alarm nobody. A false one, in a few of all series, leaves a rise fewer values to compare with.
_OLDER = 0.001
# Share of the error for rises; the rest is for levels that are cut at a wrong place.
_RISES = 0.8
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
    changes = _changes(np.asarray(values, dtype=np.float64), 0, 1 - confidence, rng, _largest_stretches)
    return sorted(changes, key=lambda change: change.place)


def recent_rises(
    every: Sequence[Sequence[float]], begins: Sequence[int], confidence: float = 0.95, seed: int = 0,
    expected: Sequence[Sequence[int]] = (),
) -> list[list[ChangePoint]]:  # fmt: skip
    """Return the recent rise of each of many series, with one error rate over all, and older change points before it.

    `begins` is the index of the first recent value of each. A rise lasts to the end of the series, and is compared with
    the level before the recent values. `confidence` is one minus the probability that any series without a change has a
    rise; a series with too few values has none, and is no member of the family. `expected` are indices of each where a
    new level is expected: only what departs from these levels is a change.

    >>> steady = [1.0, 1.2, 0.9, 1.1, 1.0, 0.8, 1.1, 0.9, 1.0, 1.2, 0.9, 1.0]
    >>> step = [*steady, *(9.0 + x for x in steady[:4])]
    >>> [[change.place for change in changes] for changes in recent_rises([steady, step, [1.0]], [8, 8, 0])]
    [[], [12], []]
    """
    error = _RISES * (1 - confidence)
    series = [np.asarray(values, dtype=np.float64) for values in every]
    series = [_align(values, cuts) for values, cuts in zip(series, expected or [()] * len(series), strict=True)]
    members = [i for i, values in enumerate(series) if _is_testable(values)]
    changes: list[list[ChangePoint]] = [[] for _ in series]
    rises = []
    for i in members:
        rng = np.random.default_rng((seed, i))
        older = _changes(series[i][: begins[i]], 0, _OLDER, rng, _largest_halves)
        changes[i] = sorted(older, key=lambda change: change.place)
        last = changes[i][-1].place if changes[i] else 0
        if rise := _recent_rise(series[i][last:], begins[i] - last, error / len(members), rng):
            rises.append((rise.p, i, last + rise.place))
    for n_before, (p, i, where) in enumerate(sorted(rises)):
        if p > error / (len(members) - n_before):
            break
        changes[i].append(ChangePoint(where, p))
    return changes


def _align(values: FloatArray, cuts: Sequence[int]) -> FloatArray:
    """Return values as departures from their level, which a cut begins: of a later rise the median sees little."""
    return np.concatenate([part - np.median(part) for part in np.split(values, cuts)]) if cuts else values


def _recent_rise(values: FloatArray, begin: int, alpha: float, rng: np.random.Generator) -> ChangePoint | None:
    """Return the most likely rise to the end of a series; None if it is older than `begin`."""
    first = max(begin, SIDE)
    if not _is_testable(values) or first > values.size - SIDE:
        return None
    _, (_, cut) = _largest_halves(values[np.newaxis], is_rise=True)
    if cut < first:
        return None
    return ChangePoint(cut, _test(values, alpha, rng, partial(_largest_halves, first=first, is_rise=True)).p)


class _Tested(NamedTuple):
    """The p value of a series, and the stretch whose mean differs most from the rest."""

    p: float
    stretch: tuple[int, int]


# The largest squared t statistic of each order, and the stretch that has it in the first.
_Statistic = Callable[[FloatArray], tuple[FloatArray, tuple[int, int]]]


def _is_testable(values: FloatArray) -> bool:
    return values.size >= FEWEST and float(np.ptp(values)) > _NO_SPREAD


def _changes(
    values: FloatArray, begin: int, alpha: float, rng: np.random.Generator, statistic: _Statistic
) -> Iterator[ChangePoint]:
    if not _is_testable(values):
        return
    p, stretch = _test(values, alpha, rng, statistic)
    if p > alpha:
        return
    cuts = [cut for cut in stretch if 0 < cut < values.size]
    yield from (ChangePoint(begin + cut, p) for cut in cuts)
    for low, high in pairwise([0, *cuts, values.size]):
        yield from _changes(values[low:high], begin + low, alpha, rng, statistic)


def _test(values: FloatArray, alpha: float, rng: np.random.Generator, statistic: _Statistic) -> _Tested:
    """Test whether a stretch differs from the rest, with as many orders as `alpha` needs."""
    n_orders, n, n_as_large = max(_ORDERS, math.ceil(2 / alpha) - 1), 0, 0
    (observed,), stretch = statistic(values[np.newaxis])
    n_next = _ORDERS if n_orders == _ORDERS else _FIRST_ORDERS
    while n < n_orders and (1 + n_as_large) / (1 + n_orders) <= alpha:
        orders = rng.permuted(np.tile(values, (min(n_next, n_orders - n), 1)), axis=1)
        n_as_large += int((statistic(orders)[0] >= observed * (1 - 1e-9)).sum())
        n, n_next = n + len(orders), min(10 * n_next, _MOST_ORDERS)
    return _Tested((1 + n_as_large) / (1 + n), stretch)


def _largest_halves(orders: FloatArray, first: int = SIDE, is_rise: bool = False) -> tuple[FloatArray, tuple[int, int]]:
    """Return the same for a series in two: the first half ends at `first` or later, and lies lower if `is_rise`."""
    n = orders.shape[1]
    away = orders - orders.mean(axis=1, keepdims=True)
    ends = np.arange(first, n - SIDE + 1)
    sums = np.cumsum(away, axis=1)[:, ends - 1]
    between = np.square(np.minimum(sums, 0.0) if is_rise else sums) * n / (ends * (n - ends))
    largest = between.max(axis=1)
    whole = np.square(away).sum(axis=1)
    return largest * (n - 2) / np.maximum(whole - largest, _NO_SPREAD), (0, int(ends[between[0].argmax()]))


def _largest_stretches(orders: FloatArray) -> tuple[FloatArray, tuple[int, int]]:
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
