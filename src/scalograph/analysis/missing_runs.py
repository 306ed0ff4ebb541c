"""Permutation tests of excluded runs: are their shares equal in all configurations, or larger in long ones?

A run that takes ten times as long meets ten times as many disturbances; if such runs are excluded, long configurations
rest on quiet moments. The exclusions are permuted within blocks, since a busy hour hits a whole block.

Source: permutation within strata, P. Good, Permutation, Parametric and Bootstrap Tests of Hypotheses, 3rd ed. 2005; the
trend is N. Mantel's, Chi-square tests with one degree of freedom, JASA 58 (1963). Both are exact, even for few runs.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

DEALS = 999
FEWEST = 199  # enough for p = 0.005
_WORK = 20_000_000  # deals times runs, at most: about a second
_FEW = 8  # numbers whose ranks are counted sooner than their rows are sorted

Counts = NDArray[np.float64]


class Attempt(NamedTuple):
    """A planned run that succeeded: its block, its configuration, and whether it was excluded."""

    block: Hashable
    configuration: Hashable
    lost: bool


@dataclass(frozen=True, slots=True)
class Fairness:
    """Tests of the shares of excluded runs, 0 to 1.

    Attributes:
        p_equal: p value of equal shares in all configurations.
        p_trend: two-sided p value of no trend with the length of a run.
        p_least: the smaller of both in the most lopsided permutation; if large, too few runs are excluded to tell.
        spread: lowest and highest share of a configuration.
        by_length: share in the shortest third of the configurations, and in the longest third.
    """

    p_equal: float
    p_trend: float
    p_least: float
    spread: tuple[float, float]
    by_length: tuple[float, float]


def fairness(attempts: Sequence[Attempt], length: Mapping[Any, float], seed: int = 0) -> Fairness | None:
    """Test the shares of excluded runs against chance; None below two configurations or without excluded runs.

    Args:
        attempts: planned runs, without those that replaced an excluded run.
        length: of a run of each configuration, any unit; only the order counts.
        seed: of the permutations.
    """
    names = sorted({attempt.configuration for attempt in attempts}, key=lambda name: (length[name], str(name)))
    if len(names) < 2 or not any(attempt.lost for attempt in attempts):
        return None
    index_of = {name: index for index, name in enumerate(names)}
    blocks: dict[Hashable, list[tuple[int, bool]]] = {}
    for attempt in attempts:
        blocks.setdefault(attempt.block, []).append((index_of[attempt.configuration], attempt.lost))
    n_runs, n_lost = _count_runs(blocks.values(), len(names))
    shares, counts = n_lost / n_runs, _deal_lost_runs(list(blocks.values()), len(names), seed)
    third = max(1, n_runs.size // 3)
    unequal, trend = _inequality(counts), _trend(counts, _ranks(np.asarray([length[name] for name in names])))
    return Fairness(
        p_equal=_p_value(unequal, unequal[0]),
        p_trend=_p_value(trend, trend[0]),
        p_least=min(_p_value(unequal, unequal.max()), _p_value(trend, trend.max())),
        spread=(float(shares.min()), float(shares.max())),
        by_length=(_share(n_runs, n_lost, slice(None, third)), _share(n_runs, n_lost, slice(-third, None))),
    )


def _count_runs(blocks: Iterable[Sequence[tuple[int, bool]]], n: int) -> tuple[Counts, Counts]:
    runs = [run for block in blocks for run in block]
    indices = np.array([index for index, _ in runs], dtype=int)
    lost = np.array([lost for _, lost in runs], dtype=float)
    runs_of, lost_of = np.bincount(indices, minlength=n), np.bincount(indices, lost, minlength=n)
    return runs_of.astype(np.float64), lost_of.astype(np.float64)


def _deal_lost_runs(blocks: Sequence[Sequence[tuple[int, bool]]], n: int, seed: int) -> Counts:
    """Permute the excluded runs of each configuration, shape (deals + 1, n); the first row is what happened."""
    # A block that lost none or all of its runs is the same in every permutation.
    mixed = [block for block in blocks if len({lost for _, lost in block}) == 2]
    size = sum(map(len, mixed))
    deals = 1 + int(np.clip(_WORK // max(size, 1), FEWEST, DEALS))
    counts, rng, dealt = np.zeros((deals, n)), np.random.default_rng(seed), np.arange(1, deals)
    for block in mixed:
        indices = np.array([index for index, _ in block])
        happened = indices[[lost for _, lost in block]]
        np.add.at(counts[0], happened, 1)
        for rank in _rank_rows(rng.random((deals, len(block)))[1:], happened.size):
            counts[dealt, indices[rank]] += 1
    return counts


def _rank_rows(drawn: Counts, n: int) -> Iterable[NDArray[np.intp]]:
    if n > _FEW:
        ranks = np.empty(drawn.shape, dtype=np.intp)
        np.put_along_axis(ranks, drawn.argsort(axis=1), np.arange(drawn.shape[1])[None], axis=1)
        return ranks[:, :n].T
    return (np.count_nonzero(drawn < drawn[:, column, None], axis=1) for column in range(n))


def _inequality(counts: Counts) -> Counts:
    """Sum the squared deviations, each over its variance over all permutations."""
    spread = counts.var(axis=0)
    moved = spread > 0
    far: Counts = ((counts - counts.mean(axis=0)) ** 2)[:, moved] / spread[moved]
    return np.asarray(far.sum(axis=1))


def _trend(counts: Counts, ranks: Counts) -> Counts:
    scored: Counts = counts @ ranks
    return np.asarray(np.abs(scored - scored.mean()))


def _p_value(statistic: Counts, extreme: float) -> float:
    return float((statistic >= extreme * (1 - 1e-9)).mean())


def _share(n_runs: Counts, n_lost: Counts, part: slice) -> float:
    return float(n_lost[part].sum() / n_runs[part].sum())


def _ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rank values from 1 for the least; equal values share the mean of their ranks."""
    _, index, count = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    ranks: NDArray[np.float64] = (last - (count - 1) / 2)[index]
    return ranks
