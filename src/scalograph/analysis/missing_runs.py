"""Did all treatments lose runs alike, or did some (the long ones) lose more than others?

A run that takes ten times as long meets ten times as many disturbances. If such runs are left out, the long treatments
rest on quiet moments and the short ones on all moments. So the lost runs are dealt again, at random among the runs of
their block: a busy hour hits a whole block and says nothing about treatments. The same deals answer two questions: are
the shares equal, and do they change with the length of a run?

Source: permutation within strata, P. Good, Permutation, Parametric and Bootstrap Tests of Hypotheses, 3rd ed. 2005; the
trend is N. Mantel's, Chi-square tests with one degree of freedom, JASA 58 (1963): P. Armitage's of Biometrics 11 (1955)
within strata. Both are exact here, even for few runs, unlike chi-square.
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
    """A run that was planned and succeeded: the block it is dealt in, its treatment, and whether it was left out."""

    block: Hashable
    treatment: Hashable
    lost: bool


@dataclass(frozen=True, slots=True)
class Fairness:
    """Whether treatments lost runs alike. Shares are 0 to 1.

    Attributes:
        p_equal: p value of equal shares in all treatments.
        p_trend: p value of shares that do not change with the length of a run, two-sided.
        p_least: the smaller of both in the most lopsided of the deals. If it is large, too few runs were
            lost to tell.
        spread: lowest and highest share of a treatment.
        by_length: share in the shortest third of the treatments, and in the longest third.
    """

    p_equal: float
    p_trend: float
    p_least: float
    spread: tuple[float, float]
    by_length: tuple[float, float]


def fairness(attempts: Sequence[Attempt], length: Mapping[Any, float], seed: int = 0) -> Fairness | None:
    """Test the shares of lost runs against chance.

    Args:
        attempts: planned runs, without those that replaced a lost run.
        length: of a run of each treatment, any unit; only the order counts.
        seed: of the deals; the same seed gives the same result.

    Returns:
        None if there are fewer than two treatments or no run was lost.
    """
    names = sorted({attempt.treatment for attempt in attempts}, key=lambda name: (length[name], str(name)))
    if len(names) < 2 or not any(attempt.lost for attempt in attempts):
        return None
    index_of = {name: index for index, name in enumerate(names)}
    blocks: dict[Hashable, list[tuple[int, bool]]] = {}
    for attempt in attempts:
        blocks.setdefault(attempt.block, []).append((index_of[attempt.treatment], attempt.lost))
    n_runs, n_lost = _count_runs(blocks.values(), len(names))
    shares, counts = n_lost / n_runs, _deal_lost_runs(list(blocks.values()), len(names), seed)
    unequal, trend = _inequality(counts), _trend(counts, _ranks(np.asarray([length[name] for name in names])))
    return Fairness(
        p_equal=_p_value(unequal, unequal[0]),
        p_trend=_p_value(trend, trend[0]),
        p_least=min(_p_value(unequal, unequal.max()), _p_value(trend, trend.max())),
        spread=(float(shares.min()), float(shares.max())),
        by_length=_thirds(n_runs, n_lost),
    )


def _count_runs(blocks: Iterable[Sequence[tuple[int, bool]]], n: int) -> tuple[Counts, Counts]:
    """Count the runs and the lost runs of each of n treatments."""
    runs = [run for block in blocks for run in block]
    indices = np.array([index for index, _ in runs], dtype=int)
    lost = np.array([lost for _, lost in runs], dtype=float)
    runs_of, lost_of = np.bincount(indices, minlength=n), np.bincount(indices, lost, minlength=n)
    return runs_of.astype(np.float64), lost_of.astype(np.float64)


def _deal_lost_runs(blocks: Sequence[Sequence[tuple[int, bool]]], n: int, seed: int) -> Counts:
    """Deal the lost runs of each treatment, shape (deals + 1, n); the first row is what happened."""
    # A block that lost none or all of its runs is the same in every deal.
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
    """Rank each of the first n numbers of each row within it, from 0."""
    if n > _FEW:
        ranks = np.empty(drawn.shape, dtype=np.intp)
        np.put_along_axis(ranks, drawn.argsort(axis=1), np.arange(drawn.shape[1])[None], axis=1)
        return ranks[:, :n].T
    return (np.count_nonzero(drawn < drawn[:, column, None], axis=1) for column in range(n))


def _inequality(counts: Counts) -> Counts:
    """Sum squared deviations, each over its variance under chance; what chance cannot move counts nothing."""
    spread = counts.var(axis=0)
    moved = spread > 0
    far: Counts = ((counts - counts.mean(axis=0)) ** 2)[:, moved] / spread[moved]
    return np.asarray(far.sum(axis=1))


def _trend(counts: Counts, ranks: Counts) -> Counts:
    """Measure how far the lost runs lie toward long or short treatments, in either direction."""
    scored: Counts = counts @ ranks
    return np.asarray(np.abs(scored - scored.mean()))


def _p_value(statistic: Counts, extreme: float) -> float:
    """Return the share of the deals, the real one included, that are as extreme as this."""
    return float((statistic >= extreme * (1 - 1e-9)).mean())


def _thirds(n_runs: Counts, n_lost: Counts) -> tuple[float, float]:
    third = max(1, n_runs.size // 3)
    short, long = slice(None, third), slice(-third, None)
    return float(n_lost[short].sum() / n_runs[short].sum()), float(n_lost[long].sum() / n_runs[long].sum())


def _ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rank values from 1 for the least; equal values share the mean of their ranks."""
    _, index, count = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    ranks: NDArray[np.float64] = (last - (count - 1) / 2)[index]
    return ranks
