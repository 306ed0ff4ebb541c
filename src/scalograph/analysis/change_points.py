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
from scalograph.analysis.variance_moderation import FEWEST as FEWEST_VARIANCES
from scalograph.analysis.variance_moderation import fit_prior

# Fewer values have too few orders; a level has at least two.
FEWEST, SIDE = 6, 2
_ORDERS = 199
# Of a family: most series are done with the first few. A change needs so many for each reciprocal of its threshold, and
# half of them where none is as large.
_FIRST_ORDERS, _MOST_ORDERS, _RESOLUTION = 19, 2000, 10
# 2.5 standard deviations of normal values, by their median distance from the median.
_REACH = 2.5 * 1.4826
# Values on a new level from which on normal ones are the reference: fewer may be outliers that came last.
_FEWEST_NORMAL = 3
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
    expected: Sequence[Sequence[int]] = (), kinds: Sequence[str] = (),
) -> list[list[ChangePoint]]:  # fmt: skip
    """Return the recent rise of each of many series, with one error rate over all, and older change points before it.

    `begins` is the index of the first recent value of each. A rise lasts to the end of the series, and is compared with
    the level before the recent values. `confidence` is one minus the probability that any series without a change has a
    rise; a series with too few values has none, and is no member of the family. `expected` are indices of each where a
    new level is expected: only what departs from these levels is a change. Series of one of the `kinds` have variances
    of one distribution, which each is moderated by; all are of one kind where that is empty.

    >>> steady = [1.0, 1.2, 0.9, 1.1, 1.0, 0.8, 1.1, 0.9, 1.0, 1.2, 0.9, 1.0]
    >>> step = [*steady, *(9.0 + x for x in steady[:4])]
    >>> [[change.place for change in changes] for changes in recent_rises([steady, step, [1.0]], [8, 8, 0])]
    [[], [12], []]
    """
    error = _RISES * (1 - confidence)
    series = [np.asarray(values, dtype=np.float64) for values in every]
    series = [_center(values, cuts) for values, cuts in zip(series, expected or [()] * len(series), strict=True)]
    members = [i for i, values in enumerate(series) if _is_testable(values)]
    changes: list[list[ChangePoint]] = [[] for _ in series]
    likely = dict[int, _LikelyRise]()
    for i in members:
        older = _changes(series[i][: begins[i]], 0, _OLDER, np.random.default_rng((seed, i)), _largest_halves)
        changes[i] = sorted(older, key=lambda change: change.place)
        last = changes[i][-1].place if changes[i] else 0
        likely[i] = _LikelyRise(series[i][last:], last, max(begins[i] - last, SIDE))
    priors = {kind: _fit_prior([likely[i] for i in members if not kinds or kinds[i] == kind]) for kind in {*kinds, ""}}
    rises = []
    for i, rise in likely.items():
        rng = np.random.default_rng((seed, i, 1))
        if (p := rise.test(error / len(members), rng, priors[kinds[i] if kinds else ""])) is not None:
            rises.append((p, i, rise.last + rise.cut))
    for n_before, (p, i, where) in enumerate(sorted(rises)):
        if p > error / (len(members) - n_before):
            break
        changes[i].append(ChangePoint(where, p))
    return changes


def _center(values: FloatArray, cuts: Sequence[int]) -> FloatArray:
    """Return values as departures from their levels, which cuts begin: the median of a level sees little of a rise."""
    return np.concatenate([part - np.median(part) for part in np.split(values, cuts)]) if cuts else values


def _bound_outliers(rows: FloatArray) -> FloatArray:
    """Return rows with each value within some standard deviations of the median of its row."""
    middle = np.median(rows, axis=1, keepdims=True)
    reach = _REACH * np.median(np.abs(rows - middle), axis=1, keepdims=True)
    return np.clip(rows, middle - reach, middle + reach)


class _LikelyRise:
    """The most likely rise to the end of the values from index `last` of a series; `first` is the first recent one."""

    def __init__(self, values: FloatArray, last: int, first: int) -> None:
        self.last, self.first, self.cut = last, first, 0
        bounded = _bound_outliers(values[np.newaxis])[0]
        # Where most values are equal, all others would be outliers.
        self.is_smooth = _is_testable(bounded)
        self.values = bounded if self.is_smooth else values
        if _is_testable(values) and first <= values.size - SIDE:
            _, (_, self.cut) = _largest_halves(values[np.newaxis], is_rise=True)
        parts = np.split(self.values, [self.cut] if self.cut else [])
        self.df = values.size - 2
        self.variance = sum(float(np.square(part - part.mean()).sum()) for part in parts) / max(self.df, 1)

    def test(self, alpha: float, rng: np.random.Generator, prior: "_Prior") -> float | None:
        """Return the p value of the rise; None where it is older than the recent values."""
        if self.cut < self.first:
            return None
        n = self.values.size
        statistic = partial(_largest_halves, first=self.first, is_rise=True)
        if not self.is_smooth or n - self.cut < _FEWEST_NORMAL:
            return _test(self.values, alpha, statistic, lambda n_orders: _permute(self.values, n_orders, rng)).p
        shared = _Prior(min(prior.df, self.df), prior.variance)
        draw = partial(prior.draw, n, rng)
        return _test(self.values, alpha, partial(statistic, prior=shared), lambda k: _bound_outliers(draw(k))).p


class _Prior(NamedTuple):
    """What the variances of other series say of the variance of one: a variance with so many degrees of freedom."""

    df: float = 0.0
    variance: float = 1.0

    def draw(self, n: int, rng: np.random.Generator, n_rows: int) -> FloatArray:
        """Draw rows of `n` normal values with variances of the prior."""
        is_known = 0 < self.df < math.inf
        ratio = rng.chisquare(self.df, (n_rows, 1)) / self.df if is_known else np.ones((n_rows, 1))
        return rng.normal(size=(n_rows, n)) * np.sqrt(self.variance / ratio)


def _fit_prior(every: Sequence[_LikelyRise]) -> _Prior:
    """Fit the distribution of the variances of series of one kind; without a prior where there are few."""
    usable = [rise for rise in every if rise.is_smooth and rise.variance > _NO_SPREAD]
    if len(usable) < FEWEST_VARIANCES:
        return _Prior()
    variance, df = fit_prior(np.array([rise.variance for rise in usable]), np.array([rise.df for rise in usable]))
    return _Prior(df, variance)


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
    p, stretch = _test(values, alpha, statistic, lambda n: _permute(values, n, rng))
    if p > alpha:
        return
    cuts = [cut for cut in stretch if 0 < cut < values.size]
    yield from (ChangePoint(begin + cut, p) for cut in cuts)
    for low, high in pairwise([0, *cuts, values.size]):
        yield from _changes(values[low:high], begin + low, alpha, rng, statistic)


def _permute(values: FloatArray, n_orders: int, rng: np.random.Generator) -> FloatArray:
    return rng.permuted(np.tile(values, (n_orders, 1)), axis=1)


def _test(values: FloatArray, alpha: float, statistic: _Statistic, draw: Callable[[int], FloatArray]) -> _Tested:
    """Test whether a stretch differs from the rest, with as many rows of no change, which `draw` gives, as it takes."""
    n_rows, n, n_as_large = max(_ORDERS, math.ceil(_RESOLUTION / alpha) - 1), 0, 0
    (observed,), stretch = statistic(values[np.newaxis])
    n_next = _ORDERS if n_rows == _ORDERS else _FIRST_ORDERS
    while n < n_rows and (1 + n_as_large) / (1 + n_rows) <= alpha and (n_as_large or 2 * n < n_rows):
        rows = draw(min(n_next, n_rows - n))
        n_as_large += int((statistic(rows)[0] >= observed * (1 - 1e-9)).sum())
        n, n_next = n + len(rows), min(10 * n_next, _MOST_ORDERS)
    return _Tested((1 + n_as_large) / (1 + n), stretch)


def _largest_halves(
    orders: FloatArray, first: int = SIDE, is_rise: bool = False, prior: _Prior | None = None
) -> tuple[FloatArray, tuple[int, int]]:
    """Return the same for a series in two: the first half ends at `first` or later, and lies lower if `is_rise`."""
    n = orders.shape[1]
    away = orders - orders.mean(axis=1, keepdims=True)
    ends = np.arange(first, n - SIDE + 1)
    sums = np.cumsum(away, axis=1)[:, ends - 1]
    between = np.square(np.minimum(sums, 0.0) if is_rise else sums) * n / (ends * (n - ends))
    largest = between.max(axis=1)
    whole = np.square(away).sum(axis=1)
    df, variance = prior or (0.0, 0.0)
    within = np.maximum(whole - largest + df * variance, _NO_SPREAD)
    return largest * (n - 2 + df) / within, (0, int(ends[between[0].argmax()]))


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
